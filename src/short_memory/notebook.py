"""Notebook, the door for an owner's own hands: open, save and delete notes, look back, take back.

A write names the version that the person saw; another present one is refused and nothing is lost. Each write is one
change set. Only here is a secret finding overruled, by the owner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from short_memory import access, caps, changes, facts, index, proposals, secret_scan, text_safety
from short_memory.changes import ChangeSet, FileChange, RevertPlan
from short_memory.errors import BadFileError, ConflictError, NoChangeError, StaleError, UnchangedError, UnreadableError
from short_memory.scopes import INDEX, OWNER, Channel, ContextFile, Conversation, Scope, is_file
from short_memory.writing import absorb, moment, new_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from short_memory.store.note_store import NoteStore
    from short_memory.writing import Clock

_HOLES = {
    "{agent}": r"(?P<agent>[a-z0-9][a-z0-9_-]*)",
    "{binding}-{hash}": r"(?P<binding>[a-z0-9_-]+)-(?P<hash>[a-z0-9]{16,64})",
}


@dataclass(frozen=True, slots=True)
class Note:
    """One note as it stands: its text, the version to name when it is saved, and its cap.

    `why_not` says why the file is left out of every chat, where it is; its text is then empty.
    """

    path: str
    scope: Scope
    text: str
    version: str
    why_not: str = ""

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]

    @property
    def cap(self) -> caps.Cap:
        """Its most lines and bytes."""
        return self.scope.cap_of(self.file)

    @property
    def size(self) -> caps.Size:
        """Its lines and bytes, counted as the contract does."""
        return caps.size(caps.normal(self.text))


@dataclass(frozen=True, slots=True)
class Shelf:
    """The notes of one scope: `name` is the agent's id, or the binding and the conversation's opaque name.

    `dangling` are entries of the index whose file is not there; `unlisted` are files that no entry names.
    """

    scope: Scope
    name: str
    notes: tuple[Note, ...]
    dangling: tuple[str, ...]
    unlisted: tuple[str, ...]


class Notebook:
    """The notes of every owner in one store, as the owners themselves use them."""

    def __init__(self, store: NoteStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def shelves(self, owner: str) -> list[Shelf]:
        """Return every scope of the owner that an add-on declares, with its notes; the user scope also when empty."""
        found = [
            (scope, name)
            for addon in self._store.grants(owner).addons
            for file in addon.files
            for scope, name in self._places(owner, file)
        ]
        return [self._shelf(owner, scope, name) for scope, name in found]

    def open(self, owner: str, path: str) -> Note:
        """Return a note as it stands; an empty one with an empty version where no file is.

        Raises:
            BadFileError: No add-on of the owner's keeps notes there.
        """
        return self._note(owner, self._scope_of(owner, path), path)

    def save(self, owner: str, path: str, text: str, *, version: str, keep_secrets: bool = False) -> ChangeSet:
        """Write a note by the owner's hand; a new topic gets its index entry in the same change set.

        Args:
            owner: Whose note it is.
            path: Relative to the owner's files.
            text: The whole new text.
            version: The version that the person saw, empty for a file that was not there.
            keep_secrets: The owner read the warning and keeps the line.

        Raises:
            BadFileError, ConflictError, UnchangedError, OverCapError, BadTextError, SecretError, StorageError.
        """
        scope = self._scope_of(owner, path)
        with self._store.locked(owner):
            now = moment(self._clock)
            before = self._check_version(owner, path, version, now)
            files = [FileChange(path, before, text_safety.encoded(caps.normal(text), path))]
            if files[0].before == files[0].after:
                raise UnchangedError
            if before is None and not path.endswith(f"/{INDEX}"):
                files += self._with_entry(owner, scope, files[0])
            for one in files:
                proposals.check_text(one, scope.cap_of(one.file), keep_secrets=keep_secrets)
            return self._apply(owner, tuple(files), now)

    def delete(self, owner: str, path: str, *, version: str) -> ChangeSet:
        """Delete a note and, for a topic, its index entry. Errors as `save`."""
        scope = self._scope_of(owner, path)
        with self._store.locked(owner):
            now = moment(self._clock)
            before = self._check_version(owner, path, version, now)
            if before is None:
                raise UnchangedError
            files = [FileChange(path, before, None), *self._without_entry(owner, scope, path)]
            return self._apply(owner, tuple(files), now)

    def history(self, owner: str, *, limit: int, before: str | None = None) -> list[ChangeSet]:
        """Return the owner's change sets, latest first, at most `limit`, those before the named one if one is named."""
        return self._store.journal.changes(owner, limit=limit, before=before)

    def taken_back(self, names: Sequence[str]) -> dict[str, str]:
        """Return which of these change sets are taken back now, and by which: a taking back can be taken back too."""
        found = self._store.journal.taken_back(names)
        again = self.taken_back(list(found.values())) if found else {}
        return {name: back for name, back in found.items() if back not in again}

    def change(self, owner: str, name: str) -> ChangeSet:
        """Return one change set of the owner.

        Raises:
            NoChangeError: There is none of this name for this owner.
        """
        found = self._store.journal.change(owner, name)
        if found is None:
            raise NoChangeError
        return found

    def plan_revert(self, owner: str, name: str) -> RevertPlan:
        """Plan the taking back of a change set, whoever made it.

        Raises:
            NoChangeError: There is none, or nothing of it is left to take back.
            ChangedError: Later work touches the same lines; holds both texts.
            OverCapError, SecretError: What stood before may not come back.
        """
        with self._store.locked(owner):
            return self._plan(owner, self.change(owner, name), moment(self._clock))

    def revert(self, owner: str, name: str, *, digest: str | None) -> ChangeSet:
        """Take back a change set as its plan says.

        Args:
            owner: Whose change set it is.
            name: The change set.
            digest: The plan that the person saw; None takes back only what an exact plan gives.

        Raises:
            StaleError: The plan is another one by now, or was not shown and is not exact. Errors as `plan_revert`.
        """
        with self._store.locked(owner):
            now = moment(self._clock)
            plan = self._plan(owner, self.change(owner, name), now)
            if digest != plan.digest and not (digest is None and plan.exact):
                raise StaleError(redrawn=True)
            back = ChangeSet(new_id(), owner, now, OWNER, "revert", plan.files, reverts=name)
            self._store.apply(back)
        return back

    def absorb(self, owner: str) -> ChangeSet | None:
        """Journal what other programs did to the owner's notes since they were last seen."""
        with self._store.locked(owner):
            present = [note.path for shelf in self.shelves(owner) for note in shelf.notes if not note.why_not]
            paths = sorted({*present, *self._store.journal.paths(owner)})
            return absorb(self._store, owner, paths, moment(self._clock))

    # How

    def _apply(self, owner: str, files: tuple[FileChange, ...], now: datetime) -> ChangeSet:
        change = ChangeSet(new_id(), owner, now, OWNER, "edit", files)
        self._store.apply(change)
        return change

    def _check_version(self, owner: str, path: str, version: str, now: datetime) -> bytes | None:
        absorb(self._store, owner, [path], now)
        raw = self._store.read(owner, path)
        if changes.version(raw) != version:
            raise ConflictError(path, None if raw is None else changes.shown(raw))
        return raw

    def _plan(self, owner: str, change: ChangeSet, now: datetime) -> RevertPlan:
        paths = [one.path for one in change.files]
        absorb(self._store, owner, paths, now)
        plan = changes.plan_revert(change, {path: self._store.read(owner, path) for path in paths})
        if not plan.files:
            raise NoChangeError
        for one in plan.files:
            self._check_comes_back(owner, one)
        return plan

    def _check_comes_back(self, owner: str, one: FileChange) -> None:
        """A secret does not come back, nor a file over its cap; what no add-on declares any more is not judged."""
        try:
            scope = self._scope_of(owner, one.path)
        except BadFileError:
            return
        proposals.check_comes_back(one, scope.cap_of(one.file))

    def _with_entry(self, owner: str, scope: Scope, topic: FileChange) -> Iterator[FileChange]:
        before = self._store.read(owner, scope.path(INDEX))
        text, file = caps.normal(changes.shown(before)), topic.file
        gist = facts.gist(topic.new)
        # A secret that the owner keeps in a topic does not go into every prompt.
        hint = "…" if secret_scan.scan(gist) else gist
        if not index.has_file(text, file):
            yield FileChange(scope.path(INDEX), before, index.with_topic(text, file, hint).encode())

    def _without_entry(self, owner: str, scope: Scope, path: str) -> Iterator[FileChange]:
        before = self._store.read(owner, scope.path(INDEX))
        if before is None or path == scope.index:
            return
        text = caps.normal(changes.shown(before))
        left = index.without_file(text, path.rpartition("/")[2])
        if left != text:
            yield FileChange(scope.path(INDEX), before, left.encode())

    def _places(self, owner: str, file: ContextFile) -> Iterator[tuple[Scope, str]]:
        """Yield the scopes of a context file that have a folder, and the user scope in any case."""
        folder = file.index.removesuffix(f"/{INDEX}")
        parent = tuple(folder.split("/")[:-1])
        names = [""] if file.scope == "user" else self._store.list(owner, parent)[1]
        for name in names:
            path = file.index if file.scope == "user" else "/".join((*parent, name, INDEX))
            scope = _scope_at(file, owner, path)
            if scope is not None:
                yield scope, name

    def _shelf(self, owner: str, scope: Scope, name: str) -> Shelf:
        files = self._store.list(owner, tuple(scope.folder.split("/")))[0]
        notes = [self._note(owner, scope, scope.path(file)) for file in files]
        listed = {entry.file for note in notes if note.file == INDEX for entry in index.entries(caps.normal(note.text))}
        dangling = tuple(sorted(listed - set(files)))
        unlisted = tuple(file for file in files if file not in listed and file != INDEX)
        return Shelf(scope, name, tuple(notes), dangling, unlisted)

    def _note(self, owner: str, scope: Scope, path: str) -> Note:
        try:
            raw = self._store.read(owner, path)
            text = "" if raw is None else raw.decode()
        except UnreadableError as error:
            return Note(path, scope, "", "", error.why)
        except UnicodeDecodeError:
            return Note(path, scope, "", "", "it is not UTF-8")
        return Note(path, scope, text, changes.version(raw))

    def _scope_of(self, owner: str, path: str) -> Scope:
        folder, _, name = path.rpartition("/")
        if is_file(name):
            for addon in self._store.grants(owner).addons:
                for file in addon.files:
                    scope = _scope_at(file, owner, f"{folder}/{INDEX}")
                    if scope is not None:
                        return scope
        raise BadFileError(
            "That is no place for a note. A note is index.md or a topic such as food.md in one of the folders on this "
            "page: lower-case letters, digits and hyphens."
        )


def _scope_at(file: ContextFile, owner: str, path: str) -> Scope | None:
    """Return the scope whose index lies at this path, if the template of the context file fits it."""
    pattern = re.escape(file.index)
    for hole, group in _HOLES.items():
        pattern = pattern.replace(re.escape(hole), group)
    found = re.fullmatch(pattern, path)
    if found is None:
        return None
    named = found.groupdict()
    channel = Channel(named["binding"], named["hash"]) if "binding" in named else None
    return access.placed(file, Conversation("", owner, named.get("agent"), channel))
