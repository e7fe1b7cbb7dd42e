"""Confirming and declining in the reference host, and cards that are drawn again (contract 6.5 to 6.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from release.reference_host.editing import completed, drawn
from release.reference_host.gates import scopes
from release.reference_host.proposing import LIFE, digest, is_over
from release.reference_host.world import ChangeSet, Edit, RefusalError, iso

if TYPE_CHECKING:
    from release.reference_host.world import Proposal, World

_DECIDED = ("confirmed", "declined")


def decide(world: World, *, proposal: str, who: str, yes: bool = True, digest: str | None = None) -> dict[str, Any]:
    """Take the owner's yes or no."""
    found = _found(world, proposal, who)
    if found.state == "confirmed" and yes and not world.broken("confirms-twice"):
        return {"change": found.change}
    _reopen(world, found, yes=yes)
    old = found.edits
    freshen(world, found)
    if found.state != "open":
        raise RefusalError(found.state, f"The proposal is {found.state}.")
    if not yes:
        found.state = "declined"
        return {"change": None}
    _same_card(world, found, old, digest)
    found.state = "confirmed"
    found.change = _write_card(world, found)
    return {"change": found.change}


def freshen(world: World, proposal: Proposal) -> None:
    """Draw a card again whose files changed since, or let it go stale."""
    if proposal.state != "open" or all(world.text(proposal.owner, each.path) == each.before for each in proposal.edits):
        return
    if world.broken("overwrites") or world.broken("half-written"):
        return
    redrawn = None if world.broken("no-redraw") else _redrawn(world, proposal)
    if redrawn is None:
        proposal.state = "stale"
        return
    proposal.edits = redrawn
    if world.broken("redraw-new-end"):
        proposal.end = world.now + LIFE


def cards(world: World, owner: str) -> dict[str, Any]:
    """Return the open proposals of an owner and their cards as they stand now."""
    for proposal in world.proposals.values():
        freshen(world, proposal)
    found = [each for each in world.proposals.values() if each.owner == owner and each.state == "open"]
    return {
        "open": [each.id for each in found],
        "cards": [
            {
                "proposal": each.id,
                "digest": digest(each.edits),
                "end": iso(each.end),
                "edits": [{"path": edit.path, "text": edit.text} for edit in each.edits],
            }
            for each in found
        ],
    }


def write(world: World, owner: str, chat: str, edits: list[Edit], *, taking_back: bool = False) -> str:
    """Write all edits as one change set and return its id."""
    for edit in edits:
        world.put(owner, edit.path, edit.text)
    for unit in [[edit] for edit in edits] if world.broken("two-sets") else [edits]:
        world.changes.append(ChangeSet(f"c{len(world.changes) + 1}", owner, chat, unit, taking_back))
    return world.changes[-1].id


def _found(world: World, name: str, who: str) -> Proposal:
    found = world.proposals.get(name)
    if found is None:
        raise RefusalError("no-proposal", "No such proposal.")
    if found.owner != who and not world.broken("anybody-confirms"):
        whose = " of yours" if world.broken("foreign-told-apart") else ""
        raise RefusalError("no-proposal", f"No such proposal{whose}.")
    return found


def _reopen(world: World, proposal: Proposal, *, yes: bool) -> None:
    """Do nothing, unless a fault opens what is decided."""
    decided = proposal.state in _DECIDED and world.broken("decides-again")
    again = proposal.state == "confirmed" and yes
    stale = proposal.state == "stale" and world.broken("stale-reopens")
    back = proposal.state == "expired" and world.broken("clock-reopens") and not is_over(world, proposal)
    if decided or again or stale or back:
        proposal.state = "open"
    if again and world.broken("confirms-twice"):
        proposal.edits = [Edit(edit.path, edit.text, world.text(proposal.owner, edit.path)) for edit in proposal.edits]


def _same_card(world: World, proposal: Proposal, old: list[Edit], named: str | None) -> None:
    if named is None or named == digest(proposal.edits) or world.broken("digest-ignored"):
        return
    if world.broken("merges-unseen") and named == digest(old):
        return
    raise RefusalError("stale", "The card was drawn again. Read the new one and decide again.")


def _redrawn(world: World, proposal: Proposal) -> list[Edit] | None:
    chat = world.chats[proposal.chat]
    scope = next(each for each in scopes(world, chat) if (each.addon, each.kind) == proposal.scope)
    whole = {f"{scope.folder}/{edit['file']}" for edit in proposal.asked if "text" in edit}
    for edit in proposal.edits:
        if edit.path in whole and world.text(proposal.owner, edit.path) != edit.before:
            return None
    try:
        return drawn(world, chat, scope, proposal.asked)
    except RefusalError:
        return None


def _write_card(world: World, proposal: Proposal) -> str:
    edits = proposal.edits
    if world.broken("half-written"):
        edits = [edit for edit in edits if world.text(proposal.owner, edit.path) == edit.before]
    if world.broken("entry-unseen"):
        edits = _with_entries(world, proposal)
    if world.broken("dated-when-confirmed"):
        edits = [_dated_now(world, proposal, edit) for edit in edits]
    return write(world, proposal.owner, proposal.chat, edits)


def _with_entries(world: World, proposal: Proposal) -> list[Edit]:
    chat = world.chats[proposal.chat]
    scope = next(each for each in scopes(world, chat) if (each.addon, each.kind) == proposal.scope)
    texts = {edit.path.rpartition("/")[2]: edit.text for edit in proposal.edits}
    completed(world, chat, scope, texts)
    return [
        Edit(f"{scope.folder}/{file}", text, world.text(chat.owner, f"{scope.folder}/{file}"))
        for file, text in texts.items()
    ]


def _dated_now(world: World, proposal: Proposal, edit: Edit) -> Edit:
    text = edit.text
    for asked in proposal.asked:
        if text is not None and "undated" in asked:
            text = text.replace(asked["new"], f"- {world.now.date().isoformat()}: {asked['undated'][2:]}")
    return Edit(edit.path, text, edit.before)
