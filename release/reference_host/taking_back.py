"""revert_change in the reference host: a model takes back the last proposal of its chat that was confirmed.

It does so once, and never takes a taking back back (contract 7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from release.reference_host.deciding import write
from release.reference_host.world import ChangeSet, Edit, RefusalError

if TYPE_CHECKING:
    from release.reference_host.world import Chat, World


def take_back(world: World, chat: Chat, *, change: str | None = None) -> dict[str, Any]:
    """Put the files back as they were before the change set."""
    found = _found(world, chat, change)
    if any(world.text(chat.owner, edit.path) != edit.text for edit in found.edits) and not (
        world.broken("revert-blind") or world.broken("revert-twice")
    ):
        raise RefusalError("changed", "The files changed since. Propose them without the note.")
    edits = [Edit(edit.path, edit.before, edit.text) for edit in found.edits]
    if world.broken("revert-half"):
        edits = edits[:1]
    found.taken_back = True
    name = write(world, chat.owner, chat.id, edits, taking_back=True)
    if world.broken("revert-unrecorded"):
        world.changes.pop()
    return {"text": "Taken back.", "change": name}


def _found(world: World, chat: Chat, change: str | None) -> ChangeSet:
    mine = [each for each in world.changes if each.chat == chat.id]
    everything = [each for each in world.changes if each.owner == chat.owner]
    wanted = change or (mine[-1].id if mine else None)
    for each in everything if world.broken("revert-any-chat") else mine:
        if each.id == wanted and _may(world, each, mine):
            return each
    raise RefusalError("no-change", "There is no such change to take back here.")


def _may(world: World, change: ChangeSet, mine: list[ChangeSet]) -> bool:
    if change.taking_back:
        return world.broken("revert-the-revert")
    if change.taken_back:
        return world.broken("revert-twice")
    confirmed = [each for each in mine if not each.taking_back]
    return not mine or change not in mine or change is confirmed[-1] or world.broken("revert-earlier")
