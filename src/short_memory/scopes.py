"""Whose notes they are and who does something with them.

A scope is `user`, `agent` (one saved agent) or `channel` (one conversation from a messaging app). Its place in the
person's files comes from a template that the add-on declares; nothing else decides where a file may lie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from short_memory.caps import Cap

Kind = Literal["user", "agent", "channel"]
ORDER: dict[Kind, int] = {"user": 0, "agent": 1, "channel": 2}
INDEX = "index.md"

# Upper case only in folders that a template names; file names are lower case, so no two names mean one file anywhere.
FILE = re.compile(r"[a-z0-9][a-z0-9-]{0,63}\.md")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])\.md")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_HASH = re.compile(r"[a-z0-9]{16,64}")


@dataclass(frozen=True, slots=True)
class ContextFile:
    """One context file as the manifest of an add-on declares it."""

    addon: str
    id: str
    scope: Kind
    title: str
    index: str
    cap: Cap
    topic_bytes: int
    propose: bool


@dataclass(frozen=True, slots=True)
class Channel:
    """The conversation of a messaging app: its binding, and its opaque name of 16 to 64 of `a-z0-9`."""

    binding: str
    hash: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat of one owner: what decides which notes its turns may load.

    `shared` says that anybody but the owner takes part in it.
    """

    id: str
    owner: str
    agent: str | None = None
    channel: Channel | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """One context file of one turn, its place filled in. `may_propose` is what every gate together allows."""

    addon: str
    kind: Kind
    title: str
    index: str
    cap: Cap
    topic_cap: Cap
    may_propose: bool

    @property
    def folder(self) -> str:
        """The folder of the index, relative to the owner's files."""
        return self.index.rpartition("/")[0]

    def path(self, file: str) -> str:
        """Return the path of a file of this scope, relative to the owner's files."""
        return f"{self.folder}/{file}"

    def cap_of(self, file: str) -> Cap:
        """Return the cap of a file of this scope."""
        return self.cap if file == INDEX else self.topic_cap


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something: the owner, a model in a chat, a client, the add-on, or the disk (an edit from outside)."""

    kind: Literal["owner", "model", "client", "addon", "outside"]
    id: str = ""


OWNER = Actor("owner")
OUTSIDE = Actor("outside")


def is_file(name: str) -> bool:
    """Say whether a name may be `index.md` or the file of a topic, on every system that a folder may be copied to."""
    return FILE.fullmatch(name) is not None and _RESERVED.fullmatch(name) is None


def is_id(text: str) -> bool:
    """Say whether an agent's or a binding's id may stand in a path."""
    return _ID.fullmatch(text) is not None


def is_hash(text: str) -> bool:
    """Say whether this may name a conversation: it has no hyphen, so that no two channels share a folder."""
    return _HASH.fullmatch(text) is not None


def place(file: ContextFile, conversation: Conversation) -> str | None:
    """Fill in the template of a context file.

    Returns:
        The path of the index relative to the owner's files; None if this conversation has no such scope.
    """
    if file.scope == "user":
        return file.index
    if file.scope == "agent":
        return file.index.replace("{agent}", conversation.agent) if conversation.agent else None
    channel = conversation.channel
    if channel is None:
        return None
    return file.index.replace("{binding}", channel.binding).replace("{hash}", channel.hash)
