"""A change set: what one confirmation, one edit, or one taking back wrote, as one unit with the bytes before and after.

intent -> applied | failed. What was reported as failed never appears. Pure: it reads no clock and no disk.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from short_memory import merge
from short_memory.errors import ChangedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from short_memory.scopes import Actor

Cause = Literal["proposal", "edit", "outside", "revert"]
VERSION_DIGITS = 10


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a change: its path relative to the owner's files, its bytes before and after; None is no file."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]

    @property
    def old(self) -> str:
        """The text before; no file reads as empty."""
        return shown(self.before)

    @property
    def new(self) -> str:
        """The text after; no file reads as empty."""
        return shown(self.after)


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """One unit of writing. `conversation`, `proposal` and `reverts` say where it came from, if from there."""

    id: str
    owner: str
    made: datetime
    actor: Actor
    cause: Cause
    files: tuple[FileChange, ...]
    conversation: str | None = None
    proposal: str | None = None
    reverts: str | None = None

    @property
    def size_bytes(self) -> int:
        """The bytes that its files have after it, together."""
        return sum(len(one.after or b"") for one in self.files)


@dataclass(frozen=True, slots=True)
class RevertPlan:
    """What taking back a change set would write now.

    An exact plan gives the bytes before; one that is not exact merges later work and is shown before it is done. The
    digest names what was shown.
    """

    change: str
    exact: bool
    files: tuple[FileChange, ...]
    digest: str


def shown(raw: bytes | None) -> str:
    """Return bytes as the text a person sees; what is not UTF-8 shows as U+FFFD."""
    return "" if raw is None else raw.decode("utf-8", "replace")


def version(raw: bytes | None) -> str:
    """Return the version of a file: ten hex digits of its SHA-256, empty for no file."""
    return "" if raw is None else hashlib.sha256(raw).hexdigest()[:VERSION_DIGITS]


def digest(name: str, files: Sequence[FileChange], *more: str) -> str:
    """Return the SHA-256 of what a card shows: its name, further lines, and every byte before and after."""
    rows = [[one.path, _hex(one.before), _hex(one.after)] for one in files]
    return hashlib.sha256(json.dumps([name, *more, rows]).encode()).hexdigest()


def plan_revert(change: ChangeSet, present: Mapping[str, bytes | None]) -> RevertPlan:
    """Plan the taking back of a change set.

    Args:
        change: The change set.
        present: The bytes that each of its files has now.

    Raises:
        ChangedError: Later work touches the same lines; holds the present text and the text before, by path.
    """
    exact = all(present[one.path] == one.after for one in change.files)
    back, clash = [], {}
    for one in change.files:
        now = present[one.path]
        fits, merged = _merged(one, now)
        if not fits:
            clash[one.path] = (_text(now), _text(one.before))
        elif merged != now:
            back.append(FileChange(one.path, now, merged))
    if clash:
        raise ChangedError(clash)
    return RevertPlan(change.id, exact, tuple(back), digest(change.id, back))


def _merged(one: FileChange, now: bytes | None) -> tuple[bool, bytes | None]:
    """Return whether the taking back of one file fits its present bytes, and the bytes it gives."""
    if now == one.after:
        return True, one.before
    if now == one.before:
        return True, now
    if not all(map(_is_text, (now, one.before, one.after))):
        return False, None
    text = merge.merge(one.new, shown(now), one.old)
    return text is not None, None if text is None else text.encode()


def _is_text(raw: bytes | None) -> bool:
    """Say whether there is a file, and one that a merge by lines gives back byte by byte."""
    return raw is not None and shown(raw).encode() == raw


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else shown(raw)


def _hex(raw: bytes | None) -> str | None:
    return None if raw is None else raw.hex()
