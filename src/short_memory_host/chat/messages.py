"""The messages of a conversation: as they are kept, and as a model gets them.

What the host says to the model, and what tools gave, stands in the conversation, so that consecutive requests share
their beginning. A model that may not see notes gets the words of the two sides and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, Literal

from short_memory import prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Role = Literal["user", "assistant", "tool", "host"]


@dataclass(frozen=True, slots=True)
class Message:
    """One kept message.

    `content` by role: user `text`; assistant `text`, `calls` (id, name, arguments), `stopped`, `failed` (a code); tool
    `call`, `name`, `text`, `code`, `proposal`, `change`, `opened`; host `lines` and the `proposals` they are about.
    `id` is 0 before it is kept.
    """

    role: Role
    content: dict[str, Any] = field(default_factory=dict)
    id: int = 0


def wire(messages: Sequence[Message], *, sees_notes: bool, framed: bool = True) -> list[dict[str, Any]]:
    """Return the messages in the OpenAI format, valid whatever a stop left behind.

    Every call is followed by its result: servers refuse a conversation in which one is missing.

    Args:
        messages: In the order in which they were kept.
        sees_notes: Whether the model may get what came from notes. Otherwise no tool result, no call and no line of
            the host is among them.
        framed: Whether topics stand in their frame; the guided step has a frame of its own.
    """
    found: list[dict[str, Any]] = []
    for position, message in enumerate(messages):
        if message.role == "user":
            lines = _lines(islice(messages, position + 1, None)) if sees_notes else []
            found.append({"role": "user", "content": _with_lines(message.content["text"], lines)})
        elif message.role == "assistant":
            calls = message.content.get("calls") or [] if sees_notes else []
            answered = _answered(calls, islice(messages, position + 1, None))
            found += _assistant(message.content["text"], answered, framed=framed)
    return found


def whole(text: str) -> str:
    """Replace halves of characters, which JSON can carry and no file can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def merged(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join messages of one side that follow one another: many chat templates take only turns that alternate."""
    found: list[dict[str, Any]] = []
    for message in messages:
        role, last = message["role"], found[-1] if found else {}
        if role in _SIDES and last.get("role") == role and "tool_calls" not in last | message:
            found[-1] = {"role": role, "content": f"{last['content']}\n\n{message['content']}"}
        else:
            found.append(message)
    return found


def waits(messages: Sequence[Message]) -> bool:
    """Whether the person's last message has not even the beginning of an answer."""
    return next((one.role for one in reversed(messages) if one.role in _SIDES), "") == "user"


_SIDES = ("user", "assistant")


_Answered = list[tuple[dict[str, str], dict[str, Any]]]


def _answered(calls: list[dict[str, str]], later: Iterable[Message]) -> _Answered:
    """Pair calls with their results; a call that a stop left without one is not among them."""
    results = [one.content for one in takewhile(lambda one: one.role != "assistant", later) if one.role == "tool"]
    found = []
    for call in calls:
        # Some models give every call the same id: each result counts once, in order.
        result = next((one for one in results if one["call"] == call["id"]), None)
        if result is not None:
            results.remove(result)
            found.append((call, result))
    return found


def _assistant(text: str, answered: _Answered, *, framed: bool) -> list[dict[str, Any]]:
    if not answered:
        return [{"role": "assistant", "content": text}] if text else []
    calls = [
        {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": one["arguments"]}}
        for one, _ in answered
    ]
    results = [
        {"role": "tool", "tool_call_id": one["id"], "content": _result(result, framed=framed)}
        for one, result in answered
    ]
    return [{"role": "assistant", "content": text or None, "tool_calls": calls}, *results]


def _result(content: dict[str, Any], *, framed: bool) -> str:
    text: str = content["text"]
    return prompt.framed(text) if framed and content["opened"] else text


def _lines(later: Iterable[Message]) -> list[str]:
    """Return what the host says to the person's message before."""
    own = takewhile(lambda one: one.role not in _SIDES, later)
    return [line for one in own if one.role == "host" for line in one.content["lines"]]


def _with_lines(text: str, lines: list[str]) -> str:
    # They belong to the person's message: many chat templates take no further system message.
    said = "\n".join(lines)
    return f"(From the host, not from the person: {said})\n\n{text}" if lines else text
