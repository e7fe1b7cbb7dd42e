"""What the adapter answers: values of the engine in the form of the protocol."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from short_memory import caps

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from short_memory.bundle import Skill
    from short_memory.changes import ChangeSet
    from short_memory.errors import ShortMemoryError
    from short_memory.proposals import Proposal
    from short_memory.reading import Turn
    from short_memory.tools import ToolResult
    from short_memory_host.conformance.request import RequestError

Answer = dict[str, Any]

# What an error tells beside its text.
FACTS = ("entries", "rule", "line")


def refused(error: RequestError | ShortMemoryError) -> Answer:
    """Answer with an error."""
    facts = {name: getattr(error, name) for name in FACTS if hasattr(error, name)}
    return {"ok": False, "error": {"code": error.code, "text": error.text, **facts}}


def turn(begun: Turn, *, news: Iterable[Proposal], skills: Iterable[Skill]) -> Answer:
    """Tell what the model of a turn gets."""
    sizes = [(section, caps.size(section.text)) for section in begun.sections]
    return {
        "context": begun.block,
        "tools": list(begun.tools),
        "sections": [
            {"scope": section.scope.kind, "bytes": size.bytes, "lines": size.lines, "cut": section.cut}
            for section, size in sizes
        ],
        "paths": {scope.kind: scope.index for scope in begun.scopes},
        "news": [{"proposal": one.id, "outcome": one.state, "change": one.change} for one in news],
        "skills": [{"name": one.name, "description": one.description} for one in skills],
    }


def tool(result: ToolResult) -> Answer:
    """Tell what a call gave that was not refused."""
    if result.proposal is not None:
        return {"text": result.text, "proposal": result.proposal.id, "end": iso(result.proposal.end)}
    return {"text": result.text} | ({} if result.change is None else {"change": result.change})


def card(proposal: Proposal) -> Answer:
    """Tell what a card shows."""
    edits = [{"path": one.path, "text": None if one.after is None else one.new} for one in proposal.files]
    return {"proposal": proposal.id, "digest": proposal.digest, "end": iso(proposal.end), "edits": edits}


def change(made: ChangeSet) -> Answer:
    """Name a change set and its files."""
    return {"id": made.id, "files": [file.path for file in made.files]}


def iso(moment: datetime) -> str:
    """Write a time in UTC, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
