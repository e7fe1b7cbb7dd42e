"""The three tools that a turn may offer a model: their schemas, and the dispatch of a call.

Every answer is a value, also a refusal: the model reads it and can do better in its next call. There is no tool that
confirms.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from short_memory import caps
from short_memory.errors import BadArgumentsError, NoToolError, ShortMemoryError
from short_memory.proposals import Edit, Proposal
from short_memory.reading import CONTEXT_READ, PROPOSE_CHANGE, REVERT_CHANGE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from short_memory.memory import Memory
    from short_memory.scopes import Conversation

_TOPIC = {"type": "string", "description": "A name from the list of topics, or scope/name."}
_TOPICS = {"type": "array", "items": _TOPIC, "minItems": 1, "maxItems": caps.TOPICS_A_CALL}
_EDIT = {
    "type": "object",
    "properties": {
        "file": {"type": "string", "description": "index.md, or a topic's file such as food.md. A new one is made."},
        "old": {
            "type": "string",
            "description": "Text that stands in the file exactly once. Empty: append `new` as a line.",
        },
        "new": {
            "type": "string",
            "description": "What takes its place, or the line to append, such as `- no lactose`.",
        },
        "text": {
            "type": ["string", "null"],
            "description": "Instead of old and new: the whole new text; null deletes.",
        },
    },
    "required": ["file"],
    "additionalProperties": False,
}

SCHEMAS: dict[str, dict[str, Any]] = {
    CONTEXT_READ: {
        "description": (
            "Open topics of the person's notes. Do this before you answer whenever one could change the answer."
        ),
        "parameters": {
            "type": "object",
            "properties": {"topic": {"anyOf": [_TOPIC, _TOPICS]}},
            "required": ["topic"],
            "additionalProperties": False,
        },
    },
    PROPOSE_CHANGE: {
        "description": (
            "Propose a change of the notes. Nothing is written: the person sees a card and confirms or declines it. "
            "Append one fact with an empty `old`; the host adds the day, and the index line of a new topic."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "scope": {"type": "string", "enum": ["user", "agent", "channel"], "description": "Whose notes."},
                "edits": {"type": "array", "items": _EDIT, "minItems": 1, "maxItems": caps.PROPOSAL_EDITS},
                "why": {
                    "type": "string",
                    "maxLength": caps.WHY_CHARACTERS,
                    "description": "One line: why this is worth a note.",
                },
            },
            "required": ["scope", "edits", "why"],
            "additionalProperties": False,
        },
    },
    REVERT_CHANGE: {
        "description": "Take back the last change that the person confirmed in this chat, when they ask for it.",
        "parameters": {
            "type": "object",
            "properties": {"change": {"type": "string", "description": "Its id; without one, the last of this chat."}},
            "additionalProperties": False,
        },
    },
}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave: the text for the model, and what the host shows of it.

    `error` is the refusal; its code is stable. `opened` are the topics that were read, `change` the change set of a
    taking back.
    """

    text: str
    error: ShortMemoryError | None = None
    proposal: Proposal | None = None
    change: str | None = None
    opened: tuple[str, ...] = ()


def offered(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the tools of a turn in the wire format of function calling."""
    return [{"type": "function", "function": {"name": name, **SCHEMAS[name]}} for name in names]


def call(memory: Memory, conversation: Conversation, name: str, arguments: str, *, zone: tzinfo) -> ToolResult:
    """Run one call of a model.

    Args:
        memory: The notes.
        conversation: The chat that the model answers in; what it may do is asked anew.
        name: The tool as the model named it.
        arguments: JSON as the model wrote it.
        zone: The person's time zone.
    """
    try:
        tools = memory.turn(conversation, can_call=True).tools
        if name not in tools:
            raise NoToolError(tools)
        return _RUN[name](memory, conversation, _object(arguments), zone)
    except ShortMemoryError as error:
        return ToolResult(error.text, error=error)


def _read(memory: Memory, conversation: Conversation, given: dict[str, Any], _zone: tzinfo) -> ToolResult:
    topic = given.get("topic")
    names: object = [topic] if isinstance(topic, str) else topic
    if not _are_strings(names) or not 0 < len(names) <= caps.TOPICS_A_CALL:
        raise BadArgumentsError(f"`topic` must be a name, or a list of 1 to {caps.TOPICS_A_CALL} names.")
    return ToolResult(memory.read(conversation, names), opened=tuple(dict.fromkeys(names)))


def _propose(memory: Memory, conversation: Conversation, given: dict[str, Any], zone: tzinfo) -> ToolResult:
    scope, why = given.get("scope"), given.get("why", "")
    if not isinstance(scope, str) or not isinstance(why, str):
        raise BadArgumentsError("`scope` must be user, agent or channel, and `why` one line of text.")
    proposal = memory.propose(conversation, scope, _edits(given.get("edits")), why=why, zone=zone)
    return ToolResult(_proposed(proposal), proposal=proposal)


def _revert(memory: Memory, conversation: Conversation, given: dict[str, Any], _zone: tzinfo) -> ToolResult:
    change = given.get("change") or None
    if change is not None and not isinstance(change, str):
        raise BadArgumentsError("`change` must be the id of a change set, or be left out.")
    back = memory.revert_own(conversation, change)
    return ToolResult("Taken back: the notes are as they were before that change.", change=back.id)


_RUN = {CONTEXT_READ: _read, PROPOSE_CHANGE: _propose, REVERT_CHANGE: _revert}


def _proposed(proposal: Proposal) -> str:
    files = "\n".join(f"{one.path}:\n{'(deleted)' if one.after is None else one.new}" for one in proposal.files)
    return (
        "Proposed, not saved. The person decides on the card in the chat or in the inbox until "
        f"{proposal.end:%Y-%m-%d %H:%M} UTC. Proposal {proposal.id}. The whole text as it would be:\n{files}"
    )


def _object(arguments: str) -> dict[str, Any]:
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise BadArgumentsError("The arguments must be one JSON object. Call the tool again with valid JSON.")
    return given


def _edits(given: object) -> list[Edit]:
    rows = [given] if isinstance(given, dict) else given
    if not isinstance(rows, list):
        raise BadArgumentsError("`edits` must be a list of objects with `file` and either `old` and `new`, or `text`.")
    return [_edit(row) for row in rows]


def _edit(row: object) -> Edit:
    if not isinstance(row, dict) or not isinstance(row.get("file"), str):
        raise BadArgumentsError("Each edit is an object with `file` and either `old` and `new`, or `text`.")
    file, keys = row["file"], set(row) - {"file"}
    if keys == {"old", "new"} and _are_strings([row["old"], row["new"]]):
        return Edit(file, old=row["old"], new=row["new"])
    if keys == {"text"} and isinstance(row["text"], str | None):
        return Edit(file, text=row["text"])
    raise BadArgumentsError(
        f"The edit of {len(keys)} keys beside `file` needs `old` and `new` as text, or `text` alone."
    )


def _are_strings(values: object) -> TypeGuard[list[str]]:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
