"""The messages of a conversation: as they are kept, and as a model gets them.

What the host says to the model, and what tools gave, stands in the conversation, so that consecutive requests share
their beginning. A model that may not see notes gets the words of the two sides and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from short_memory import prompt

Role = Literal["user", "assistant", "tool", "host"]


@dataclass(frozen=True, slots=True)
class Message:
    """One kept message.

    `content` by role: user `text`; assistant `text`, `calls` (id, name, arguments), `stopped`, `failed` (a code); tool
    `call`, `name`, `text`, `code`, `proposal`, `change`, `opened`; host `lines`. `id` is 0 before it is kept.
    """

    role: Role
    content: dict[str, Any] = field(default_factory=dict)
    id: int = 0


def wire(messages: list[Message], *, sees_notes: bool, framed: bool = True) -> list[dict[str, Any]]:
    """Return the messages in the OpenAI format.

    Args:
        messages: In the order in which they were kept.
        sees_notes: Whether the model may get what came from notes. Otherwise no tool result, no call and no line of
            the host is among them.
        framed: Whether topics stand in their frame; the guided step has a frame of its own.
    """
    found: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "user":
            found.append({"role": "user", "content": message.content["text"]})
        elif message.role == "assistant":
            found += _assistant(message.content, sees_notes=sees_notes)
        elif sees_notes:
            _add_from_host(found, message, framed=framed)
    return found


def _assistant(content: dict[str, Any], *, sees_notes: bool) -> list[dict[str, Any]]:
    calls = content.get("calls") or [] if sees_notes else []
    if not calls and not content["text"]:
        return []
    said: dict[str, Any] = {"role": "assistant", "content": content["text"] or None}
    if calls:
        said["tool_calls"] = [
            {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": one["arguments"]}}
            for one in calls
        ]
    return [said]


def _add_from_host(found: list[dict[str, Any]], message: Message, *, framed: bool) -> None:
    content = message.content
    if message.role == "tool":
        text = prompt.framed(content["text"]) if framed and content["opened"] else content["text"]
        found.append({"role": "tool", "tool_call_id": content["call"], "content": text})
        return
    # It belongs to the person's message before it: many chat templates take no further system message.
    lines = "\n".join(content["lines"])
    found[-1]["content"] = f"(From the host, not from the person: {lines})\n\n{found[-1]['content']}"
