"""Who may read and propose what, from the owner's grants. Pure; every gate is ANDed and asked again at use.

A saved agent reads nothing until the owner allows it and proposes nothing until the owner grants it. A conversation in
which others take part reads the owner's notes only where the owner allowed it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from short_memory import caps
from short_memory.caps import Cap
from short_memory.scopes import ORDER, Channel, ContextFile, Conversation, Scope, is_hash, is_id, place

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class AddonGrant:
    """An add-on that the owner enabled: the digest of the capabilities they agreed to, and its context files."""

    id: str
    on: bool
    digest: str
    files: tuple[ContextFile, ...]


@dataclass(frozen=True, slots=True)
class AgentGrant:
    """What the owner allows one saved agent to do through one add-on."""

    read: bool = False
    propose: bool = False


@dataclass(frozen=True, slots=True)
class Grants:
    """All that one owner allows.

    `agents` is keyed by (agent, add-on); `rooms` names the shared conversations (binding, hash) that may read the
    owner's notes.
    """

    addons: tuple[AddonGrant, ...] = ()
    agents: Mapping[tuple[str, str], AgentGrant] = field(default_factory=dict)
    rooms: frozenset[tuple[str, str]] = frozenset()

    def addon(self, name: str) -> AddonGrant | None:
        """Return what the owner agreed to of one add-on."""
        return next((one for one in self.addons if one.id == name), None)


def scopes(conversation: Conversation, grants: Grants) -> tuple[Scope, ...]:
    """Return the scopes that a turn of this conversation loads, in the order of contract 2.5."""
    found = [
        scope
        for addon in grants.addons
        if addon.on
        for file in addon.files
        if (scope := _scope(file, conversation, _agent_grant(addon.id, conversation, grants), grants)) is not None
    ]
    return tuple(sorted(found, key=lambda scope: (ORDER[scope.kind], scope.addon)))


def may_propose(scope: Scope, conversation: Conversation, grants: Grants) -> bool:
    """Say whether a proposal made for this scope may still be confirmed."""
    now = scopes(conversation, grants)
    return any(one.may_propose and one.addon == scope.addon and one.index == scope.index for one in now)


def placed(file: ContextFile, conversation: Conversation) -> Scope | None:
    """Return the scope of a context file for a conversation, regardless of grants; its `may_propose` is the file's."""
    index = place(file, conversation)
    if index is None:
        return None
    return Scope(
        addon=file.addon,
        kind=file.scope,
        title=file.title,
        index=index,
        cap=file.cap,
        topic_cap=Cap(caps.TOPIC_LINES, file.topic_bytes),
        may_propose=file.propose,
    )


def _agent_grant(addon: str, conversation: Conversation, grants: Grants) -> AgentGrant:
    if conversation.agent is None:
        return AgentGrant(read=True, propose=True)
    return grants.agents.get((conversation.agent, addon), AgentGrant())


def _scope(file: ContextFile, conversation: Conversation, grant: AgentGrant, grants: Grants) -> Scope | None:
    if not grant.read or not _names_are_plain(conversation) or _closed_room(file, conversation, grants):
        return None
    scope = placed(file, conversation)
    if scope is None or (scope.may_propose and grant.propose):
        return scope
    return Scope(scope.addon, scope.kind, scope.title, scope.index, scope.cap, scope.topic_cap, may_propose=False)


def _closed_room(file: ContextFile, conversation: Conversation, grants: Grants) -> bool:
    """Others take part, the file is not the conversation's own, and the owner has not opened it for this room."""
    if not conversation.shared or file.scope == "channel":
        return False
    return _room(conversation.channel) not in grants.rooms


def _room(channel: Channel | None) -> tuple[str, str]:
    return ("", "") if channel is None else (channel.binding, channel.hash)


def _names_are_plain(conversation: Conversation) -> bool:
    """An id that could leave its folder loads nothing at all."""
    agent, channel = conversation.agent, conversation.channel
    if agent is not None and not is_id(agent):
        return False
    return channel is None or (is_id(channel.binding) and is_hash(channel.hash))
