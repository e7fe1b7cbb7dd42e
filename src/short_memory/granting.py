"""Changing what an owner allows: add-ons on and off, agents, rooms.

A grant that is withdrawn ends the open proposals that needed it; files stay (contract 8.2).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from short_memory import access
from short_memory.writing import moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from short_memory.access import AddonGrant, AgentGrant, Grants
    from short_memory.scopes import Channel
    from short_memory.store.note_store import NoteStore
    from short_memory.writing import Clock


class Granting:
    """Reads and changes the grants of owners."""

    def __init__(self, store: NoteStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def of(self, owner: str) -> Grants:
        """Return what the owner allows now."""
        return self._store.grants(owner)

    def enable(self, owner: str, addon: AddonGrant) -> None:
        """Enable an add-on for the owner's notes, or take over a version that they agreed to."""
        with self._changing(owner) as now:
            others = [one for one in now.addons if one.id != addon.id]
            self._save(owner, replace(now, addons=tuple(sorted([*others, addon], key=lambda one: one.id))))

    def switch(self, owner: str, addon: str, *, on: bool) -> None:
        """Switch an enabled add-on on or off."""
        with self._changing(owner) as now:
            addons = tuple(replace(one, on=on) if one.id == addon else one for one in now.addons)
            self._save(owner, replace(now, addons=addons))

    def remove(self, owner: str, addon: str) -> None:
        """Forget an add-on and every grant for it."""
        with self._changing(owner) as now:
            kept = {key: one for key, one in now.agents.items() if key[1] != addon}
            self._save(owner, replace(now, addons=tuple(one for one in now.addons if one.id != addon), agents=kept))

    def allow_agent(self, owner: str, agent: str, addon: str, grant: AgentGrant) -> None:
        """Set what one saved agent may do through one add-on."""
        with self._changing(owner) as now:
            self._save(owner, replace(now, agents={**now.agents, (agent, addon): grant}))

    def open_room(self, owner: str, channel: Channel, *, opened: bool) -> None:
        """Allow or forbid that a conversation with other people in it reads the owner's notes."""
        room = {(channel.binding, channel.hash)}
        with self._changing(owner) as now:
            self._save(owner, replace(now, rooms=now.rooms | room if opened else now.rooms - room))

    @contextmanager
    def _changing(self, owner: str) -> Iterator[Grants]:
        """Give what is allowed now, and let nobody change it meanwhile."""
        with self._store.locked(owner):
            yield self._store.grants(owner)

    def _save(self, owner: str, allowed: Grants) -> None:
        now = moment(self._clock)
        self._store.save_grants(owner, allowed)
        lapsed = [
            replace(one, state="expired", decided=now)
            for one in self._store.journal.open_proposals(owner)
            if not access.may_propose(one.scope, one.conversation, allowed)
        ]
        self._store.journal.update(lapsed)
