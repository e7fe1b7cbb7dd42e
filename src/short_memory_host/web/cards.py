"""Cards and receipts: a proposal, and what became of it, as the person sees it, wherever it is shown.

Everything but the labelled reason is the host's own words and the files' own bytes. The files are shown as source text,
every line, so that reading the card back gives the bytes that will be written.
"""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from short_memory import text_safety
from short_memory.merge import lines_of
from short_memory_host.web import templates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime, timedelta

    from short_memory.changes import ChangeSet, FileChange
    from short_memory.proposals import Proposal
    from short_memory.text_safety import Badge

CARRIAGE_RETURN = "\u240d"
MOST_COMPARISONS = 250_000

Kind = Literal["added", "removed", "context"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a diff. `ended` is false for a last line without a line end."""

    kind: Kind
    text: str
    ended: bool


@dataclass(frozen=True, slots=True)
class FileView:
    """One file of a change: its path, what happens to it, and every line of it before and after."""

    path: str
    what: Literal["new", "changed", "deleted"]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class CardView:
    """A proposal as its card shows it.

    `undone` says that its change set was taken back; `look_alikes` are the words of its new text that mix scripts.
    """

    proposal: Proposal
    title: str
    files: tuple[FileView, ...]
    time_left: str
    undone: bool
    look_alikes: tuple[Badge, ...]


def card(proposal: Proposal, *, now: datetime, time_zone: str, undone: bool = False) -> str:
    """Return the card of a proposal as it stands, as a piece of a page."""
    return templates.fragment("cards/card.html", card=view(proposal, now=now, undone=undone), time_zone=time_zone)


def view(proposal: Proposal, *, now: datetime, undone: bool = False) -> CardView:
    """Return what the card of a proposal shows."""
    files = file_views(proposal.files)
    left = _left(proposal.end - now) if proposal.state == "open" else ""
    mixed = [badge for one in proposal.files for badge in text_safety.mixed_script_words(one.new)]
    look_alikes = tuple({badge.word: badge for badge in mixed}.values())
    title = f"card.{'title' if proposal.state == 'open' else 'done'}.{_deed(files)}"
    return CardView(proposal, templates.t(title), files, left, undone, look_alikes)


def receipt(change: ChangeSet, *, undone: bool = False) -> str:
    """Return the host's own line about a change set, with its Undo, as a piece of a page."""
    return templates.fragment("cards/receipt.html", change=change, undone=undone)


def file_views(files: Sequence[FileChange]) -> tuple[FileView, ...]:
    """Return what a person sees of the files of a change."""
    return tuple(FileView(one.path, _what(one), tuple(lines(one.old, one.new))) for one in files)


def lines(old: str, new: str) -> Iterator[Line]:
    """Compare two texts by lines; nothing is left out and nothing is joined."""
    before, after = lines_of(old), lines_of(new)
    for tag, from_old, to_old, from_new, to_new in _steps(before, after):
        if tag == "equal":
            yield from _marked("context", before[from_old:to_old])
            continue
        yield from _marked("removed", before[from_old:to_old])
        yield from _marked("added", after[from_new:to_new])


def _steps(before: list[str], after: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    # Comparing takes minutes on thousands of equal lines, which only another program writes into a note: then all of it
    # is shown as removed and as added.
    counts = Counter(after)
    if sum(counts[line] for line in before) > MOST_COMPARISONS:
        return [("replace", 0, len(before), 0, len(after))]
    return difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()


def _marked(kind: Kind, parts: Sequence[str]) -> Iterator[Line]:
    for part in parts:
        # A page reads a carriage return as a line end; a mark keeps the line one and the return in sight.
        yield Line(kind, part.removesuffix("\n").replace("\r", CARRIAGE_RETURN), ended=part.endswith("\n"))


def _what(one: FileChange) -> Literal["new", "changed", "deleted"]:
    if one.before is None:
        return "new"
    return "deleted" if one.after is None else "changed"


def _deed(files: Sequence[FileView]) -> str:
    """Name what the card does by its topics; the index only follows them."""
    deeds = [file.what for file in files if not file.path.endswith("/index.md")] or [file.what for file in files]
    return deeds[0] if len(set(deeds)) == 1 else "changed"


def _left(span: timedelta) -> str:
    minutes = max(0, int(span.total_seconds()) // 60)
    if minutes < 60:  # noqa: PLR2004 - an hour
        return templates.t("card.minutes_left", minutes=minutes)
    return templates.t("card.hours_left", hours=minutes // 60, minutes=minutes % 60)
