"""What the pages of the chat need: which model answers, the thread as it is shown, and the running of a turn."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from short_memory.errors import AlreadyDeclinedError
from short_memory.scopes import Conversation
from short_memory_host import logs
from short_memory_host.chat import queries
from short_memory_host.chat.messages import Message, waits, whole
from short_memory_host.chat.turn import Asked, Failed, Kept, Opened, Proposed, TakenBack, run_turn
from short_memory_host.upstream import BUILT_IN, Text
from short_memory_host.web import cards, markdown, templates, upstreams
from short_memory_host.web.errors import HostError, InvalidInputError
from short_memory_host.web.own_addon import agreed_skills

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from short_memory.proposals import Proposal
    from short_memory_host.chat.queries import Chat
    from short_memory_host.chat.turn import Event
    from short_memory_host.upstream import Upstream
    from short_memory_host.web.held import Held
    from short_memory_host.web.people import Person

MOST_BYTES = 65_536
TITLE_CHARACTERS = 60
STOPPING_STEPS, STOPPING_STEP_S = 20, 0.05


class BusyError(HostError):
    """This conversation is being answered already."""

    code, status = "busy", 409


class NoModelError(HostError):
    """There is no model that could answer."""

    code, status = "no-model", 409


@dataclass(frozen=True, slots=True)
class Shown:
    """One piece of a thread: who says it, and its markup or text."""

    kind: Literal["user", "assistant", "chip", "piece", "failed"]
    text: str


def conversation(chat: Chat) -> Conversation:
    """Return the conversation as the notes know it."""
    return Conversation(chat.id, chat.person, chat.agent)


def models(host: Held, person: Person) -> list[Upstream]:
    """Return the models that this person can choose, the built-in one first."""
    built_in = host.built_in
    own = [] if built_in is None or built_in.upstream is None else [built_in.upstream]
    with host.database.read() as connection:
        return own + upstreams.all_for(connection, person.id)


def chosen(found: list[Upstream], wanted: str | None) -> Upstream | None:
    """Return the model that was chosen, or the first one where none was.

    Where the chosen one is gone or not ready there is none: no other model gets a person's words by itself.
    """
    if wanted is None:
        return found[0] if found else None
    return next((one for one in found if one.id == wanted), None)


def is_awaited(host: Held, wanted: str | None) -> bool:
    """Say whether the model that was chosen, or nobody chose yet, is the built-in one and is being made ready.

    Until then no other model is chosen in its place: it could be one that runs elsewhere.
    """
    built_in = host.built_in
    return wanted in (None, BUILT_IN) and built_in is not None and built_in.state in ("fetching", "starting")


def checked(text: str) -> str:
    """Return what the person wrote.

    Raises:
        InvalidInputError: It is empty or too long.
    """
    if not text.strip():
        raise InvalidInputError("empty-message")
    words = whole(text)
    if len(words.encode()) > MOST_BYTES:
        raise InvalidInputError("long-message", most=MOST_BYTES)
    return words


def title_of(text: str) -> str:
    """Return the title that a conversation gets from its first message."""
    line = " ".join(whole(text).split())
    return line if len(line) <= TITLE_CHARACTERS else f"{line[: TITLE_CHARACTERS - 1].rstrip()}…"


def messages_of(host: Held, chat: Chat) -> list[Message]:
    """Return the kept messages of a conversation."""
    with host.database.read() as connection:
        return queries.messages(connection, chat.id)


def thread(host: Held, person: Person, chat: Chat, messages: list[Message]) -> list[Shown]:
    """Return a conversation as it is shown, with its cards as they stand now."""
    proposals = {one.id: one for one in host.memory.proposals_of(conversation(chat))}
    undone = host.notebook.taken_back([one.change for one in proposals.values() if one.change])
    found: list[Shown] = []
    for message in messages:
        content = message.content
        if message.role == "user":
            found.append(Shown("user", content["text"]))
        elif message.role == "assistant":
            found += _answer(content)
        elif message.role == "tool" and content["opened"]:
            found.append(Shown("chip", templates.t("chat.opened", topics=", ".join(content["opened"]))))
        elif message.role == "tool" and content["proposal"] in proposals:
            proposal = proposals.pop(content["proposal"])
            found.append(Shown("piece", _card(host, person, proposal, undone=proposal.change in undone)))
        elif message.role == "tool" and content["code"] == AlreadyDeclinedError.code:
            found += _card_elsewhere(host, person, chat, content["proposal"])
        elif message.role == "tool" and content["change"]:
            found.append(Shown("piece", _receipt(host, person, content["change"])))
    # Those that the person proposed again stand at the end: no message of the model made them.
    found += [Shown("piece", _card(host, person, one, undone=one.change in undone)) for one in proposals.values()]
    return found


def keep(host: Held, chat: Chat, message: Message) -> None:
    """Add a message to a conversation."""
    with host.database.write() as connection:
        queries.keep(connection, chat.id, message, now=host.clock())


async def is_free(host: Held, chat: Chat) -> bool:
    """Say whether nobody answers in this conversation; an answer that was just stopped gets a moment to end."""
    for _ in range(STOPPING_STEPS):
        if chat.id not in host.answering:
            return True
        await asyncio.sleep(STOPPING_STEP_S)
    return False


async def answer(host: Held, person: Person, chat: Chat, upstream: Upstream) -> AsyncGenerator[dict[str, str]]:
    """Answer the last message of a conversation, and keep what is said, also when the person stops it.

    Yields:
        Events for the page: `kind` is text, said, chip, piece, failed or done. Only the last where the message has an
        answer already.
    """
    asked = await asyncio.to_thread(_asked, host, person, chat, upstream)
    if waits(asked.messages):
        async with aclosing(_turn(host, person, chat, asked)) as events:
            async for event in events:
                yield event
    yield {"kind": "done"}
    await asyncio.to_thread(host.notebook.absorb, person.id)


def _asked(host: Held, person: Person, chat: Chat, upstream: Upstream) -> Asked:
    zone = ZoneInfo(person.time_zone or "UTC")
    return Asked(conversation(chat), upstream, messages_of(host, chat), zone, agreed_skills(host, person.id))


async def _turn(host: Held, person: Person, chat: Chat, asked: Asked) -> AsyncGenerator[dict[str, str]]:
    said, began = "", False
    try:
        async with aclosing(run_turn(host.memory, host.upstreams, asked)) as events:
            async for event in events:
                if isinstance(event, Text):
                    said += event.text
                    yield {"kind": "text", "text": event.text}
                    continue
                message = _to_keep(event, said)
                if message is not None:
                    began = began or message.role != "host"
                    said = said if message.role in ("tool", "host") else ""
                    # What was begun is kept whole, also when the person goes away meanwhile.
                    await asyncio.shield(asyncio.to_thread(keep, host, chat, message))
                if isinstance(event, Failed):
                    logs.write("turn-failed", person=person.id, conversation=chat.id, code=event.code)
                for shown in await asyncio.to_thread(_events, host, person, event):
                    yield shown
    finally:
        if said or not began:
            # The person stopped it, or went away: what they saw is kept, and that they did, so that nobody asks the
            # model again by itself. The task may be cancelled, so it waits for nobody.
            keep(host, chat, Message("assistant", {"text": said, "stopped": True}))


def _to_keep(event: Event, said: str) -> Message | None:
    if isinstance(event, Kept):
        return event.message
    if isinstance(event, Failed):
        return Message("assistant", {"text": said, "failed": event.code, "problem": event.text})
    return None


def _answer(content: dict[str, str]) -> list[Shown]:
    found = [Shown("assistant", str(markdown.rendered(content["text"])))] if content["text"] else []
    if content.get("stopped"):
        found.append(Shown("failed", templates.t("chat.stopped")))
    if content.get("failed"):
        found.append(Shown("failed", content["problem"]))
    return found


def _card_elsewhere(host: Held, person: Person, chat: Chat, name: str) -> list[Shown]:
    """Show the declined card of another chat: the model asked for the same, and the person may change their mind."""
    proposal = host.memory.proposal(person.id, name)
    return [Shown("piece", _card(host, person, proposal))] if proposal.conversation.id != chat.id else []


def _events(host: Held, person: Person, event: Event) -> list[dict[str, str]]:
    if isinstance(event, Opened):
        return [{"kind": "chip", "text": templates.t("chat.opened", topics=", ".join(event.topics))}]
    if isinstance(event, Proposed):
        return [{"kind": "piece", "html": _card(host, person, event.proposal)}]
    if isinstance(event, TakenBack):
        return [{"kind": "piece", "html": _receipt(host, person, event.change)}]
    if isinstance(event, Failed):
        return [{"kind": "failed", "text": event.text}]
    if isinstance(event, Kept) and event.message.role == "assistant":
        return [{"kind": "said", "html": str(markdown.rendered(event.message.content["text"]))}]
    return []


def _receipt(host: Held, person: Person, change: str) -> str:
    undone = bool(host.notebook.taken_back([change]))
    return cards.receipt(host.notebook.change(person.id, change), undone=undone)


def _card(host: Held, person: Person, proposal: Proposal, *, undone: bool = False) -> str:
    return cards.card(proposal, now=host.clock(), time_zone=person.time_zone, undone=undone)
