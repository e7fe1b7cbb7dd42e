"""One run of the host from `reset` to `reset`: a data folder of its own, a clock that the kit sets, chats and add-ons.

The notes behind it are the real thing: the engine on a store on the disk, and add-ons checked in their folders.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import short_memory_host
from short_memory.granting import Granting
from short_memory.memory import Memory
from short_memory.notebook import Notebook
from short_memory.scopes import Channel, Conversation
from short_memory.store.note_store import NoteStore
from short_memory_host.addons import Addon, AddonRefusedError, find_bundled, granted, load_folder
from short_memory_host.conformance.request import BAD_REQUEST, RequestError
from short_memory_host.web.channels import load_key, opaque_name

if TYPE_CHECKING:
    from datetime import datetime

    from short_memory.bundle import Skill

BUNDLED = find_bundled(Path(short_memory_host.__file__).parent)
MANIFEST = "manifest.yaml"
PARTS = ("addon", "page", "skills")


class World:
    """The host that one case speaks to. It holds a folder on the disk until it is closed."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self._folder = TemporaryDirectory(prefix="short-memory-conformance-")
        self._root = Path(self._folder.name)
        self._store = NoteStore(self._root / "data")
        self.memory = Memory(self._store, self._clock)
        self.notebook = Notebook(self._store, self._clock)
        self.granting = Granting(self._store, self._clock)
        self.chats: dict[str, Conversation] = {}
        self.addons: dict[tuple[str, str], Addon] = {}
        self._unpacked = 0
        self._key = load_key(self._root / "data")

    def close(self) -> None:
        """Throw everything away."""
        self._store.close()
        self._folder.cleanup()

    def files(self, owner: str) -> Path:
        """Return the folder of the owner's files."""
        return self._root / "data" / "files" / owner

    def notice(self) -> None:
        """Bring every open proposal up to the clock and the files of now, before either moves on."""
        for owner in {chat.owner for chat in self.chats.values()}:
            self.memory.open_proposals(owner)

    def chat(self, name: str) -> Conversation:
        """Return a chat that was made."""
        if name not in self.chats:
            raise RequestError("no-chat", "There is no such chat. Make it with the verb `chat` first.")
        return self.chats[name]

    def channel(self, binding: str, conversation: str) -> Channel:
        """Name a conversation of a messaging app."""
        return Channel(binding, opaque_name(self._key, binding=binding, conversation=conversation))

    def addon(self, owner: str, name: str) -> Addon:
        """Return an add-on that the owner installed."""
        if (owner, name) not in self.addons:
            raise RequestError("no-addon", "There is no such add-on. Install it first.")
        return self.addons[owner, name]

    def unpack(self, manifest: str) -> Addon:
        """Put the add-on under test into a folder with this manifest, and read it the way a host does.

        Raises:
            RequestError: The host refuses it; the code is that of the first problem.
        """
        self._unpacked += 1
        folder = self._root / "addons" / str(self._unpacked)
        for part in PARTS:
            shutil.copytree(BUNDLED / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / MANIFEST).write_bytes(manifest.encode("utf-8", "surrogatepass"))
        try:
            return load_folder(folder)
        except AddonRefusedError as error:
            raise RequestError(error.problems[0].code, str(error.problems[0])) from error

    def enable(self, owner: str, addon: Addon, *, on: bool) -> None:
        """Keep an add-on as installed, with the digest of what the owner agreed to."""
        new = addon.manifest
        self.granting.enable(owner, granted(new, on=on))
        self.addons[owner, new.id] = addon

    def skills(self, chat: Conversation) -> list[Skill]:
        """Return the skills of the add-ons that may read or propose in a turn of this chat (contract 8.4)."""
        open_addons = sorted({scope.addon for scope in self.memory.turn(chat, can_call=True).scopes})
        return [skill for name in open_addons for skill in self.addon(chat.owner, name).skills]

    def _clock(self) -> datetime:
        return self.now


def patched(pairs: list[tuple[str, str]]) -> str:
    """Return the manifest of the add-on under test with every old text replaced by the new one."""
    text = (BUNDLED / MANIFEST).read_text(encoding="utf-8")
    for old, new in pairs:
        if old not in text:
            raise RequestError(BAD_REQUEST, "An old text of `patch` does not stand in the manifest.")
        text = text.replace(old, new)
    return text
