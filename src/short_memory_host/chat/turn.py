"""One turn: the loop, read from top to bottom.

The block and the tools come from the notes' door, and only for a model that may see notes: to any other goes no block,
no tool, and nothing that a tool gave earlier, and no call of its is run. Calls are answered, at most `ROUNDS` times;
then the model answers without tools. What is yielded is for the stream; `Kept` is for the conversation.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from short_memory import reading, tools
from short_memory.errors import AlreadyDeclinedError
from short_memory_host import guided
from short_memory_host.chat.messages import Message, merged, whole, wire
from short_memory_host.chat.system_text import SKILL_READ, skill_tool, system_text
from short_memory_host.upstream import Text, ToolCall, UpstreamError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import tzinfo

    from short_memory.bundle import Skill
    from short_memory.memory import Memory
    from short_memory.proposals import Proposal
    from short_memory.reading import Topic, Turn
    from short_memory.scopes import Conversation
    from short_memory_host.upstream import Upstream, Upstreams

ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be answered: the chat, the model, the kept messages up to the person's last, and their time zone."""

    conversation: Conversation
    upstream: Upstream
    messages: list[Message]
    zone: tzinfo
    skills: tuple[Skill, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A message to keep."""

    message: Message


@dataclass(frozen=True, slots=True)
class Opened:
    """The model opened these topics."""

    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposed:
    """The model proposed this; the person decides on its card."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The model took back the last confirmed change of this chat, by this change set."""

    change: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The model could not answer, or not to the end. `text` says what the person can do."""

    code: str
    text: str


Event = Text | Opened | Proposed | TakenBack | Failed | Kept


@dataclass(slots=True)
class _Notes:
    """What the notes give to this turn; nothing, for a model that may not see them."""

    turn: Turn | None = None
    news: list[Proposal] = field(default_factory=list)
    skills: tuple[Skill, ...] = ()

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools that the turn offers."""
        names = () if self.turn is None else self.turn.tools
        return [*tools.offered(names), *([skill_tool(self.skills)] if self.skills else [])]


async def run_turn(memory: Memory, upstreams: Upstreams, asked: Asked) -> AsyncGenerator[Event]:
    """Answer the person's last message."""
    notes = await asyncio.to_thread(_notes, memory, asked)
    messages = list(asked.messages)
    news = _untold(notes.news, messages)
    if news:
        messages.append(Message("host", {"lines": [_news(one) for one in news], "proposals": [one.id for one in news]}))
        yield Kept(messages[-1])
    if notes.news:
        await asyncio.to_thread(memory.told, notes.news)
    try:
        async with aclosing(_rounds(memory, upstreams, asked, notes, messages)) as events:
            async for event in events:
                yield event
    except UpstreamError as error:
        yield Failed(error.code, str(error))


async def _rounds(
    memory: Memory, upstreams: Upstreams, asked: Asked, notes: _Notes, messages: list[Message]
) -> AsyncGenerator[Event]:
    for number in range(ROUNDS + 1):
        said, calls = "", []
        async with aclosing(_heard(upstreams, asked, notes, messages, number)) as parts:
            async for part in parts:
                if isinstance(part, Text):
                    said += part.text
                    yield part
                else:
                    calls.append(part)
        if not calls and _is_decision(asked, number):
            continue
        if not calls and not said.strip():
            _check_shown(asked, messages)
        messages.append(Message("assistant", {"text": said, "calls": [_call(one) for one in calls]}))
        yield Kept(messages[-1])
        if not calls:
            return
        for call in calls:
            result = await asyncio.to_thread(_run, memory, asked, notes, call)
            messages.append(_kept(call, result))
            yield Kept(messages[-1])
            for event in await asyncio.to_thread(_shown, memory, asked, result):
                yield event
            spoken = guided.words_after(call.name, result.text) if _is_decision(asked, number) else None
            if spoken is not None:
                yield Text(spoken)
                yield Kept(Message("assistant", {"text": spoken, "calls": []}))
                return


async def _heard(
    upstreams: Upstreams, asked: Asked, notes: _Notes, messages: list[Message], number: int
) -> AsyncGenerator[Text | ToolCall]:
    """Ask the model once and yield what it says. Where no call may be answered, none is heard."""
    if _is_decision(asked, number):
        for call in await _guided_call(upstreams, asked, notes):
            yield _whole_call(call)
        return
    may_call = asked.upstream.sees_notes and asked.upstream.tools == "native" and number < ROUNDS
    offered = notes.tools if may_call else []
    async with aclosing(upstreams.stream(asked.upstream, _wire(asked, notes, messages), tools=offered)) as parts:
        async for part in parts:
            if isinstance(part, Text):
                yield Text(whole(part.text))
            elif may_call:
                yield _whole_call(part)


def _whole_call(call: ToolCall) -> ToolCall:
    return ToolCall(whole(call.id), whole(call.name), whole(call.arguments))


def _is_decision(asked: Asked, number: int) -> bool:
    return number == 0 and asked.upstream.tools == "guided"


def _untold(news: list[Proposal], messages: list[Message]) -> list[Proposal]:
    """Leave out what stands in the conversation already: a stop came before it was marked as told."""
    told = {name for one in messages if one.role == "host" for name in one.content["proposals"]}
    return [one for one in news if one.id not in told]


def _check_shown(asked: Asked, messages: list[Message]) -> None:
    """Let a model be silent only where a card or a receipt of this turn speaks for it."""
    made = messages[len(asked.messages) :]
    if not any(one.content.get("proposal") or one.content.get("change") for one in made):
        text = f"{asked.upstream.name} gave an empty answer. Try again; if it stays so, choose another model."
        raise UpstreamError("bad-answer", text)


def _notes(memory: Memory, asked: Asked) -> _Notes:
    if not asked.upstream.sees_notes:
        return _Notes()
    turn = memory.turn(asked.conversation, can_call=True)
    return _Notes(turn, memory.news(asked.conversation), asked.skills if turn.scopes else ())


def _wire(asked: Asked, notes: _Notes, messages: list[Message]) -> list[dict[str, Any]]:
    is_guided = asked.upstream.tools == "guided"
    block = "" if notes.turn is None else notes.turn.block
    proposes = not is_guided and notes.turn is not None and reading.PROPOSE_CHANGE in notes.turn.tools
    text = system_text(block, () if is_guided else notes.skills, proposes=proposes)
    said = wire(messages, sees_notes=asked.upstream.sees_notes, framed=not is_guided)
    found = [{"role": "system", "content": text}, *said]
    return merged(guided.fold(found) if is_guided else found)


async def _guided_call(upstreams: Upstreams, asked: Asked, notes: _Notes) -> list[ToolCall]:
    """Ask a guided model for its one decision; without notes there is nothing to decide."""
    if notes.turn is None or not notes.turn.tools:
        return []
    words = [(one.role, one.content["text"]) for one in asked.messages if one.role in ("user", "assistant")]
    situation = guided.Situation(
        topics=tuple(_guided_topic(one) for one in notes.turn.topics),
        may_read=reading.CONTEXT_READ in notes.turn.tools,
        may_propose=tuple(dict.fromkeys(one.kind for one in notes.turn.scopes if one.may_propose)),
        previous=tuple(word for word in words[:-1] if word[1])[-2:],
        text=words[-1][1],
    )
    call = await guided.next_call(upstreams, asked.upstream, situation)
    return [] if call is None else [call]


def _guided_topic(topic: Topic) -> guided.Topic:
    return guided.Topic(topic.scope.kind, topic.name, topic.gist, topic.path.rpartition("/")[2])


def _run(memory: Memory, asked: Asked, notes: _Notes, call: ToolCall) -> tools.ToolResult:
    if call.name == SKILL_READ and notes.skills:
        return _read_skill(notes.skills, call.arguments)
    return tools.call(memory, asked.conversation, call.name, call.arguments, zone=asked.zone)


def _read_skill(skills: Sequence[Skill], arguments: str) -> tools.ToolResult:
    try:
        name = json.loads(arguments)["name"]
    except (ValueError, RecursionError, KeyError, TypeError):
        name = None
    body = next((one.body for one in skills if one.name == name), None)
    listed = ", ".join(one.name for one in skills)
    return tools.ToolResult(body if body is not None else f"No such skill here. Skills: {listed}.")


def _kept(call: ToolCall, result: tools.ToolResult) -> Message:
    return Message(
        "tool",
        {
            "call": call.id,
            "name": call.name,
            "text": result.text,
            "code": None if result.error is None else result.error.code,
            "proposal": _card_of(result),
            "change": result.change,
            "opened": list(result.opened),
        },
    )


def _card_of(result: tools.ToolResult) -> str | None:
    """Name the proposal whose card belongs to this result; of a declined one, the card on which it can come back."""
    if isinstance(result.error, AlreadyDeclinedError):
        return result.error.proposal
    return None if result.proposal is None else result.proposal.id


def _shown(memory: Memory, asked: Asked, result: tools.ToolResult) -> list[Event]:
    if result.opened:
        return [Opened(result.opened)]
    if result.proposal is not None:
        return [Proposed(result.proposal)]
    if isinstance(result.error, AlreadyDeclinedError):
        return [Proposed(memory.proposal(asked.conversation.owner, result.error.proposal))]
    return [TakenBack(result.change)] if result.change else []


def _news(proposal: Proposal) -> str:
    change = f" as change {proposal.change}" if proposal.change else ""
    return f"the person's answer to your proposal {proposal.id}: {proposal.state}{change}."


def _call(call: ToolCall) -> dict[str, str]:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}
