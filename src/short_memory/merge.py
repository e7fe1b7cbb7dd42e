"""A three-way merge of texts by lines, for a revert that has later edits on top.

Changes that both sides made alike count once. Different changes whose places overlap or touch are a conflict, because
nobody can know their order: the caller then shows both texts. The merge is the same whichever side is named first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise, takewhile

# difflib takes minutes on thousands of equal lines. Above this many comparisons a side counts as one large change.
_COMPARISONS = 4_000_000


@dataclass(frozen=True, slots=True, order=True)
class _Change:
    """The lines `start` up to `end` of the base became `lines`; an insertion has `start == end`."""

    start: int
    end: int
    lines: tuple[str, ...]


def lines_of(text: str) -> list[str]:
    """Split at LF alone and keep it; str.splitlines would also split where a note merely holds a form feed."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def merge(base: str, ours: str, theirs: str) -> str | None:
    """Put the changes of both sides into the base.

    Args:
        base: What both sides started from, with LF line ends; a last line without one is a line of its own kind.
        ours: One side.
        theirs: The other side.

    Returns:
        The merged text, or None where the sides changed the same or adjacent lines in different ways.

    """
    lines = lines_of(base)
    changes = sorted(_changes(lines, lines_of(ours)) | _changes(lines, lines_of(theirs)))
    # Changes of one side never touch each other, and those that both sides made are one element of the set.
    if any(later.start <= earlier.end for earlier, later in pairwise(changes)):
        return None
    for change in reversed(changes):
        lines[change.start : change.end] = change.lines
    return "".join(lines)


def _changes(base: list[str], side: list[str]) -> set[_Change]:
    head = _alike(base, side)
    tail = _alike(base[head:][::-1], side[head:][::-1])
    old = base[head : len(base) - tail]
    new = side[head : len(side) - tail]
    return {
        _Change(head + start, head + end, tuple(new[first:last])) for start, end, first, last in _differences(old, new)
    }


def _alike(one: list[str], other: list[str]) -> int:
    """Count the lines that both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _differences(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    counts = Counter(new)
    if sum(counts[line] for line in old) * min(len(old), len(new)) > _COMPARISONS:
        return [(0, len(old), 0, len(new))]
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(start, end, first, last) for tag, start, end, first, last in codes if tag != "equal"]
