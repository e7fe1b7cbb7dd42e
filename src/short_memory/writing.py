"""What every way of writing shares: time and names of change sets, and edits from outside.

What somebody edited by hand is journaled first: a revert must give back their text, not an older one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from short_memory.changes import ChangeSet, FileChange
from short_memory.errors import UnreadableError
from short_memory.scopes import OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from short_memory.store.note_store import NoteStore

Clock = Callable[[], datetime]


def moment(clock: Clock) -> datetime:
    """Return the time in UTC, in whole milliseconds, as the journal keeps it."""
    now = clock().astimezone(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def new_id() -> str:
    """Return a name that nobody can guess: 128 bits in hexadecimal."""
    return secrets.token_hex(16)


def absorb(store: NoteStore, owner: str, paths: Iterable[str], now: datetime) -> ChangeSet | None:
    """Journal what these files became by other hands, as one change set. The caller holds the owner's lock."""
    moved = tuple(
        FileChange(path, known, raw)
        for path, known in store.journal.known(owner, paths).items()
        if known != (raw := _plain(store, owner, path, known))
    )
    if not moved:
        return None
    change = ChangeSet(new_id(), owner, now, OUTSIDE, "outside", moved)
    store.record(change)
    return change


def _plain(store: NoteStore, owner: str, path: str, known: bytes | None) -> bytes | None:
    """Return the bytes of a plain file; what is none, such as a link, is no edit of a note and changes nothing."""
    try:
        return store.read(owner, path)
    except UnreadableError:
        return known
