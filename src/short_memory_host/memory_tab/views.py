"""What the Memory tab shows, as values: shelves as rows, change sets, the state of the add-on.

A row is an index, a topic, an entry whose file is not there, or a file that no entry names. Pure: nothing is read here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from short_memory import caps, index
from short_memory.scopes import INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from short_memory.access import AddonGrant, Grants
    from short_memory.bundle import Manifest
    from short_memory.changes import ChangeSet
    from short_memory.notebook import Note, Shelf
    from short_memory.scopes import Scope
    from short_memory_host.addons import Health, RunningAddon

# From this share of a cap on, a file is marked as nearly full.
NEARLY = 0.9


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a shelf. `note` is None only for an entry whose file is not there."""

    kind: Literal["index", "topic", "dangling", "unlisted"]
    path: str
    name: str
    gist: str
    note: Note | None

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]

    @property
    def fill(self) -> Literal["", "nearly", "over"]:
        """How close the file is to its cap."""
        return "" if self.note is None or self.note.why_not else filled(self.note)


@dataclass(frozen=True, slots=True)
class ShelfView:
    """The notes of one scope; `name` is the agent's id or the conversation's, empty for the person's own.

    `why_empty` says what stands in the way of its folder, if something does.
    """

    scope: Scope
    name: str
    rows: tuple[Row, ...]
    why_empty: str


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One change set in the list: `who` is a key below `memory.who.` in the locales."""

    change: ChangeSet
    who: str
    undone: bool

    @property
    def paths(self) -> str:
        """The paths of its files."""
        return ", ".join(one.path for one in self.change.files)


@dataclass(frozen=True, slots=True)
class AddonView:
    """The add-on as the person sees it. Without a `grant` they never agreed to it."""

    manifest: Manifest
    grant: AddonGrant | None
    health: Health

    @property
    def asks(self) -> bool:
        """Whether it asks for what the person has not agreed to."""
        return self.grant is None or self.grant.digest != self.manifest.capabilities_digest


def filled(note: Note) -> Literal["", "nearly", "over"]:
    """Say how close a note is to its cap."""
    if not note.size.fits(note.cap):
        return "over"
    share = max(note.size.lines / note.cap.lines, note.size.bytes / note.cap.bytes)
    return "nearly" if share >= NEARLY else ""


def addon(running: RunningAddon, grants: Grants) -> AddonView:
    """Return the add-on of this host beside what one person allows it."""
    manifest = running.addon.manifest
    return AddonView(manifest, grants.addon(manifest.id), running.health)


def shelf(found: Shelf, why_empty: str) -> ShelfView:
    """Return a shelf as rows: its index, its entries in their order, then the files that no entry names."""
    return ShelfView(found.scope, found.name, tuple(_rows(found)), why_empty)


def change(one: ChangeSet, taken_back: Mapping[str, str]) -> ChangeView:
    """Return a change set as the list shows it."""
    by_model = one.cause == "revert" and one.actor.kind == "model"
    return ChangeView(one, "revert-by-model" if by_model else one.cause, one.id in taken_back)


def changes(found: Sequence[ChangeSet], taken_back: Mapping[str, str]) -> list[ChangeView]:
    """Return change sets as the list shows them."""
    return [change(one, taken_back) for one in found]


def _rows(found: Shelf) -> Iterator[Row]:
    notes = {note.file: note for note in found.notes}
    own = notes.get(INDEX)
    if own is not None:
        yield Row("index", own.path, "", "", own)
    for entry in index.entries(caps.normal(own.text)) if own is not None else []:
        path, note = found.scope.path(entry.file), notes.get(entry.file)
        if entry.file != INDEX:
            yield Row("dangling" if note is None else "topic", path, entry.name, entry.gist, note)
    for file in found.unlisted:
        yield Row("unlisted", found.scope.path(file), "", "", notes[file])
