"""The store of all owners' notes: read, list, apply, history, under one lock an owner.

Files are the present text, the journal is the authority for what happened. `apply` writes both as one unit: an intent,
the files, the mark that they are in place. Opening the store reads nothing; the journal opens at its first use.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from short_memory.errors import ShortMemoryError, StorageError
from short_memory.store import grants, lock
from short_memory.store.files import Files, HardLinkedError, Signature, check_folder, signature
from short_memory.store.staging import Staging

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from short_memory.access import Grants
    from short_memory.changes import ChangeSet
    from short_memory.proposals import Proposal
    from short_memory.store.journal import Journal

log = logging.getLogger(__name__)

# A file that was written this recently may be written again within the same tick of its time stamp.
YOUNG_NS = 100_000_000


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of some files when they were read, to be asked later whether they are still the same."""

    states: tuple[tuple[str, Signature], ...]

    def and_(self, other: Seen) -> Seen:
        """Return both together."""
        return Seen(self.states + other.states)

    def still(self) -> bool:
        """Say whether every file is as it was."""
        return all(signature(place) == state for place, state in self.states)

    def settled(self) -> bool:
        """Say whether the files are old enough for `still` to notice any later write."""
        newest = max((state[1] for _, state in self.states if state is not None), default=0)
        return time.time_ns() - newest > YOUNG_NS


class NoteStore:
    """The notes of every owner in one data folder."""

    def __init__(self, data: Path) -> None:
        self._data = data
        # mkdir gives its mode to the last folder only.
        for folder in (data, data / "files", data / "grants", data / "locks"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._staging_lock = data / "locks" / "staging"
        self.files = Files(data / "files")
        self._staging = Staging(data / "files", self.files)
        self._opening = threading.Lock()

    @cached_property
    def _open_journal(self) -> Journal:
        from short_memory.store.journal import Journal  # noqa: PLC0415 - SQLAlchemy costs what a read must not pay

        return Journal(self._data / "journal.db")

    @property
    def journal(self) -> Journal:
        """The journal, opened at its first use."""
        with self._opening:
            return self._open_journal

    def close(self) -> None:
        """Close the journal, if it was opened."""
        if "_open_journal" in self.__dict__:
            self._open_journal.close()

    # Reading

    def read(self, owner: str, path: str) -> bytes | None:
        """Return a note's bytes; None if it is not there.

        Raises:
            UnreadableError: It is not a plain file of the owner's.
        """
        try:
            return self.files.read(owner, path)
        except HardLinkedError:
            if lock.is_mine(self._lock(owner)):
                raise
        # A new file has two names for the moment in which it is put in place, which the lock outlasts.
        with self.locked(owner):
            return self.files.read(owner, path)

    def list(self, owner: str, folders: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """Return the notes and the folders in one folder of the owner's."""
        return self.files.names(owner, folders)

    def grants(self, owner: str) -> Grants:
        """Return what the owner allows."""
        return grants.load(self._data / "grants", owner)

    def seen(self, owner: str, paths: Sequence[str]) -> Seen:
        """Return the present state of these files."""
        places = [self.files.place(owner, path) for path in paths]
        return Seen(tuple((place, signature(place)) for place in places))

    def seen_grants(self, owner: str) -> Seen:
        """Return the present state of what the owner allows."""
        place = grants.place(self._data / "grants", owner)
        return Seen(((place, signature(place)),))

    # Writing

    @contextmanager
    def locked(self, owner: str) -> Iterator[None]:
        """Hold the owner's lock; what a killed process left half done is settled first."""
        with lock.held(self._lock(owner)):
            for change in self.journal.intents(owner):
                self._settle(change)
            yield

    def recover(self) -> int:
        """Settle everything that a killed process left, and return how many change sets that were.

        What one owner's disk refuses now does not keep the others waiting.
        """
        found = self.journal.intents()
        for owner in sorted({change.owner for change in found}):
            try:
                with self.locked(owner):
                    pass
            except StorageError:
                log.exception("could not be settled now; the next write tries", extra={"facts": {"owner": owner}})
        with lock.alone(self._staging_lock) as nobody_stages:
            if nobody_stages:
                self._sweep()
        return len(found)

    def save_grants(self, owner: str, allowed: Grants) -> None:
        """Keep what the owner allows; in force from the next turn on. The caller holds the owner's lock."""
        try:
            grants.save(self._data / "grants", owner, allowed)
        except OSError as error:
            raise StorageError(str(error.strerror)) from error

    def apply(self, change: ChangeSet, *, decided: Proposal | None = None) -> None:
        """Write a change set, whole or not at all. The caller holds the owner's lock.

        Args:
            change: What to write, with the bytes that each file has now.
            decided: The proposal that it carries out, as it is once the change set is in place.

        Raises:
            ConflictError: A file is not as the change set saw it. Nothing was kept.
            StorageError: The disk refused. Nothing was kept.
        """
        with lock.shared(self._staging_lock):
            self._apply(change, decided)

    def _apply(self, change: ChangeSet, decided: Proposal | None) -> None:
        try:
            self._staging.stage(change)
        except OSError as error:
            raise StorageError(str(error.strerror)) from error
        try:
            self.journal.intend(change, decided)
        except StorageError:
            # The intent may still come back with the database's log; without its files in place it is void.
            self._staging.clear(change.id)
            raise
        try:
            self._staging.place(change)
        except OSError as error:
            self._take_back(change)
            # A dead disk may let us neither sync nor take back: what is whole then stays, so it is not called failed.
            if not self._staging.stands(change):
                raise StorageError(str(error.strerror)) from error
        except ShortMemoryError:
            self._take_back(change)
            raise
        # From here on the change is whole and stays, whatever becomes of the mark.
        try:
            self.journal.applied(change.id)
        except StorageError:
            self._staging.mark_placed(change)
        else:
            self._staging.clear(change.id)

    def record(self, change: ChangeSet) -> None:
        """Write down an edit that somebody made from outside. The caller holds the owner's lock."""
        self.journal.record(change)

    def _take_back(self, change: ChangeSet) -> None:
        try:
            self._staging.abort(change)
            self.journal.failed(change.id)
            self._staging.clear(change.id)
        except (OSError, StorageError):
            log.exception("taking back failed; the next write or start does it", extra={"facts": {"change": change.id}})

    def _sweep(self) -> None:
        """Remove what is staged without an intent: it was never promised to anybody."""
        pending = {change.id for change in self.journal.intents()}
        for name in self._staging.leftovers():
            if name not in pending:
                self._staging.clear(name)

    def _settle(self, change: ChangeSet) -> None:
        try:
            forward = self._staging.settle(change)
        except OSError as error:
            raise StorageError(str(error.strerror)) from error
        (self.journal.applied if forward else self.journal.failed)(change.id)
        self._staging.clear(change.id)
        facts = {"change": change.id, "forward": forward}
        log.warning("settled a change set that was left half done", extra={"facts": facts})

    def _lock(self, owner: str) -> Path:
        check_folder(owner)
        return self._data / "locks" / f"{owner}.lock"
