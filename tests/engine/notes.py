"""One data folder with the doors that stand on it, for tests of the engine: a clock that moves, files on a real disk."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from short_memory.access import AddonGrant, AgentGrant
from short_memory.caps import Cap
from short_memory.granting import Granting
from short_memory.memory import Memory
from short_memory.notebook import Notebook
from short_memory.proposals import Edit, Proposal
from short_memory.scopes import Channel, ContextFile, Conversation
from short_memory.store.note_store import NoteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from short_memory.changes import ChangeSet
    from tests.clock import Clock

OWNER = "anna"
CAP = Cap(40, 2048)
USER = ContextFile("memory", "yours", "user", "Your notes", "Memory/index.md", CAP, 4096, propose=True)
AGENT = ContextFile(
    "memory", "agents", "agent", "The agent's", "Memory/agents/{agent}/index.md", CAP, 4096, propose=True
)
CHANNEL = ContextFile(
    "memory", "rooms", "channel", "This chat", "Memory/channels/{binding}-{hash}/index.md", CAP, 4096, propose=True
)
ADDON = AddonGrant("memory", on=True, digest="d1", files=(USER, AGENT, CHANNEL))
ROOM = Channel("telegram", "0123456789abcdef")
ALL = AgentGrant(read=True, propose=True)


class Notes:
    """The notes of `OWNER`, and of anybody else, in one data folder."""

    def __init__(self, data: Path, clock: Clock) -> None:
        self.data = data
        self.clock = clock
        self.store = NoteStore(data)
        self.memory = Memory(self.store, clock)
        self.notebook = Notebook(self.store, clock)
        self.granting = Granting(self.store, clock)

    def close(self) -> None:
        self.store.close()

    @contextmanager
    def again(self) -> Iterator[Notes]:
        """Give a second program over the same data folder."""
        second = Notes(self.data, self.clock)
        try:
            yield second
        finally:
            second.close()

    # The disk, as another program sees it

    def place(self, path: str, owner: str = OWNER) -> Path:
        return self.data / "files" / owner / path

    def write(self, path: str, text: str | bytes, owner: str = OWNER) -> Path:
        place = self.place(path, owner)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        return place

    def text(self, path: str, owner: str = OWNER) -> str | None:
        place = self.place(path, owner)
        return place.read_bytes().decode() if place.exists() else None

    def files(self, owner: str = OWNER) -> dict[str, str]:
        root = self.data / "files" / owner
        return {str(one.relative_to(root)): one.read_text() for one in sorted(root.rglob("*.md"))}

    def staged(self) -> list[str]:
        return sorted(one.name for one in (self.data / "files" / ".staging").iterdir())

    def age(self, path: str, owner: str = OWNER) -> None:
        """Wait until the file is old enough for its state to be remembered (its change time cannot be set back)."""
        place = self.place(path, owner)
        while time.time_ns() - os.lstat(place).st_ctime_ns <= 110_000_000:
            time.sleep(0.01)

    # The doors

    def propose(
        self, chat: Conversation, *edits: Edit, kind: str = "user", why: str = "", zone: tzinfo = UTC
    ) -> Proposal:
        return self.memory.propose(chat, kind, edits, why=why, zone=zone)

    def append(
        self, fact: str = "- allergic to nuts", *, file: str = "food.md", chat: Conversation | None = None
    ) -> Proposal:
        return self.propose(chat or talk(), Edit(file, old="", new=fact))

    def confirm(self, proposal: Proposal) -> ChangeSet:
        return self.memory.confirm(proposal.owner, proposal.id, proposal.digest)

    def save(self, path: str, text: str, *, keep_secrets: bool = False) -> ChangeSet:
        version = self.notebook.open(OWNER, path).version
        return self.notebook.save(OWNER, path, text, version=version, keep_secrets=keep_secrets)

    def block(self, chat: Conversation | None = None, *, can_call: bool = True) -> str:
        return self.memory.turn(chat or talk(), can_call=can_call).block


def talk(
    name: str = "c1",
    *,
    owner: str = OWNER,
    agent: str | None = None,
    channel: Channel | None = None,
    shared: bool = False,
) -> Conversation:
    return Conversation(name, owner, agent, channel, shared)


def append(new: str, file: str = "food.md") -> Edit:
    return Edit(file, old="", new=new)
