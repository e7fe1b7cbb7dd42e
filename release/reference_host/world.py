"""What the reference host holds, all in memory: files, add-ons, agents, chats, proposals and change sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from release.reference_host.faults import FAULTS

if TYPE_CHECKING:
    from short_memory.bundle.manifest import Manifest

Path = tuple[str, str]


class RefusalError(Exception):
    """What the host refuses, as the adapter answers it."""

    def __init__(self, code: str, text: str, **more: object) -> None:
        super().__init__(code)
        self.error: dict[str, Any] = {"code": code, "text": text, **more}


@dataclass(slots=True)
class Installed:
    """An add-on of one owner. `on` is the owner's choice, `alive` says whether its process runs."""

    manifest: Manifest
    on: bool = True
    alive: bool = True


@dataclass(slots=True)
class Chat:
    """A chat and what decides which notes it sees."""

    id: str
    owner: str
    agent: str | None
    channel: dict[str, str] | None
    shared: bool
    user_notes: bool


@dataclass(frozen=True, slots=True)
class Edit:
    """One file of a card: the whole text it had and the whole text it would have."""

    path: str
    text: str | None
    before: str | None


@dataclass(slots=True)
class Proposal:
    """A change that a model asked for. `asked` is how it asked, with the day put in; `edits` is the card of now."""

    id: str
    owner: str
    chat: str
    scope: tuple[str, str]
    asked: list[dict[str, Any]]
    edits: list[Edit]
    end: datetime
    state: str = "open"
    change: str | None = None
    told: bool = False


@dataclass(slots=True)
class ChangeSet:
    """What was written as one unit. `taking_back` says that a model took an earlier one back."""

    id: str
    owner: str
    chat: str
    edits: list[Edit]
    taking_back: bool = False
    taken_back: bool = False


@dataclass(slots=True)
class World:
    """One run of the host, from `reset` to `reset`. `bug` is the fault that it has."""

    bug: str | None
    now: datetime = datetime(2000, 1, 1, tzinfo=UTC)
    files: dict[Path, str] = field(default_factory=dict)
    links: dict[Path, str] = field(default_factory=dict)
    addons: dict[tuple[str, str], Installed] = field(default_factory=dict)
    consents: dict[tuple[str, str], str] = field(default_factory=dict)
    agents: dict[tuple[str, str], dict[str, dict[str, bool]]] = field(default_factory=dict)
    chats: dict[str, Chat] = field(default_factory=dict)
    proposals: dict[str, Proposal] = field(default_factory=dict)
    changes: list[ChangeSet] = field(default_factory=list)

    def broken(self, fault: str) -> bool:
        """Say whether this run has the fault."""
        if fault not in FAULTS:
            raise KeyError(fault)
        return self.bug == fault

    def text(self, owner: str, path: str) -> str | None:
        """Return a file's text with LF and without a mark; a link on the way is as no file."""
        real = self._resolved(owner, path)
        text = self.files.get((owner, real)) if real else None
        if text is None or self.broken("crlf-counted"):
            return text
        return text.removeprefix("\ufeff").replace("\r\n", "\n")

    def put(self, owner: str, path: str, text: str | None) -> None:
        """Put a file in place, or take it away; a link that stood there is replaced."""
        target = self.links.pop((owner, path), None)
        if target is not None and self.broken("writes-through-links"):
            path = target
        if text is None:
            self.files.pop((owner, path), None)
        else:
            self.files[owner, path] = text

    def _resolved(self, owner: str, path: str) -> str | None:
        folders = path.split("/")
        for depth in range(1, len(folders) + 1):
            target = self.links.get((owner, "/".join(folders[:depth])))
            if target is None:
                continue
            follow = "follows-links" if depth == len(folders) else "follows-folder-links"
            return "/".join([target, *folders[depth:]]) if self.broken(follow) else None
        return path


def moment(text: str) -> datetime:
    """Read a time in ISO form."""
    return datetime.fromisoformat(text)


def iso(time: datetime) -> str:
    """Write a time in ISO form, with a Z."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def lines(text: str) -> list[str]:
    """Split a text at its line ends, and at nothing else."""
    return text.removesuffix("\n").split("\n") if text else []
