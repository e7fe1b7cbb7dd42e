"""Which context files a turn of the reference host loads, and which of them it may change (contract 2, 6.1)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from release.reference_host.addons import is_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from release.reference_host.world import Chat, World
    from short_memory.scopes import ContextFile

ORDER = {"user": 0, "agent": 1, "channel": 2}
_SALT = b"a reference host has one owner of the salt"


@dataclass(frozen=True, slots=True)
class Scope:
    """One context file of a turn, its place filled in."""

    addon: str
    file: ContextFile
    index: str
    may_propose: bool

    @property
    def kind(self) -> str:
        """`user`, `agent` or `channel`."""
        return self.file.scope

    @property
    def folder(self) -> str:
        """Where the topics lie."""
        return self.index.rpartition("/")[0]


def scopes(world: World, chat: Chat) -> list[Scope]:
    """Return the context files of a turn in the order of contract 2.5. Every gate must be open."""
    found = [scope for addon in _addons(world, chat) for scope in _scopes_of(world, chat, addon)]
    if world.broken("by-addon"):
        return sorted(found, key=lambda scope: (scope.addon, ORDER[scope.kind]))
    if world.broken("install-order"):
        return sorted(found, key=lambda scope: ORDER[scope.kind])
    return sorted(found, key=lambda scope: (ORDER[scope.kind], scope.addon))


def has_any(world: World, chat: Chat) -> bool:
    """Say whether an add-on may read or propose in this chat."""
    return bool(scopes(world, chat))


def _addons(world: World, chat: Chat) -> Iterator[str]:
    for (owner, name), addon in world.addons.items():
        if owner == chat.owner and is_on(world, addon) and _granted(world, chat, name, "read"):
            yield name


def _granted(world: World, chat: Chat, addon: str, right: str) -> bool:
    if chat.agent is None:
        return True
    if world.broken("agent-open" if right == "read" else "propose-ungranted"):
        return True
    if chat.channel and world.broken("channel-skips-agent"):
        return True
    return world.agents.get((chat.owner, chat.agent), {}).get(addon, {}).get(right, False)


def _scopes_of(world: World, chat: Chat, addon: str) -> Iterator[Scope]:
    for file in world.addons[chat.owner, addon].manifest.context_files:
        may = (file.propose or world.broken("propose-undeclared")) and _granted(world, chat, addon, "propose")
        for index in _places(world, chat, file):
            yield Scope(addon, file, index, may)


def _places(world: World, chat: Chat, file: ContextFile) -> Iterator[str]:
    if file.scope == "user" and _user_notes_open(world, chat):
        yield file.index
    elif file.scope == "agent" and chat.agent and not world.broken("agent-user-only"):
        yield file.index.replace("{agent}", chat.agent)
    elif file.scope == "agent" and world.broken("agent-index-everywhere"):
        yield from (file.index.replace("{agent}", agent) for agent in _every_agent(world, chat))
    elif file.scope == "channel" and chat.channel:
        name = _conversation_name(world, chat, chat.channel)
        yield file.index.replace("{binding}", chat.channel["binding"]).replace("{hash}", name)


def _every_agent(world: World, chat: Chat) -> list[str]:
    folders = [path.split("/") for owner, path in world.files if owner == chat.owner]
    return [parts[2] for parts in folders if parts[:2] == ["Memory", "agents"]]


def _user_notes_open(world: World, chat: Chat) -> bool:
    if not chat.shared or world.broken("room-open"):
        return True
    return chat.user_notes and not world.broken("room-closed")


def _conversation_name(world: World, chat: Chat, channel: dict[str, str]) -> str:
    conversation = channel["conversation"]
    if world.broken("raw-conversation"):
        return conversation
    if world.broken("one-channel"):
        return "a" * 26
    parts = [chat.owner, channel["binding"], conversation]
    if world.broken("new-name-each-chat"):
        parts.append(chat.id)
    digest = hmac.new(_SALT, "\0".join(parts).encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode().lower()[:26]
