"""propose_change in the reference host, and what the model is told of it afterwards (contract 6.1 to 6.5, 6.8)."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from release.reference_host.editing import checked, drawn
from release.reference_host.gates import scopes
from release.reference_host.world import Proposal, RefusalError, iso

if TYPE_CHECKING:
    from collections.abc import Sequence

    from release.reference_host.gates import Scope
    from release.reference_host.world import Chat, Edit, World

LIFE = dt.timedelta(hours=24)


def propose(world: World, chat: Chat, *, scope: object, edits: object, why: object = "") -> dict[str, Any]:
    """Make a proposal; no file is touched."""
    if not isinstance(why, str) or "\n" in why:
        raise RefusalError("bad-arguments", "`why` is one line.")
    into = _scope(world, chat, scope)
    asked = checked(world, edits)
    card = drawn(world, chat, into, asked)
    name = f"p{len(world.proposals) + 1}"
    proposal = Proposal(name, chat.owner, chat.id, (into.addon, into.kind), asked, card, _end(world))
    world.proposals[name] = proposal
    if world.broken("writes-at-once"):
        for edit in card:
            world.put(chat.owner, edit.path, edit.text)
    return {"text": _answer(world, card), "proposal": name, "end": iso(proposal.end)}


def digest(edits: Sequence[Edit]) -> str:
    """Name a card by every byte of it."""
    return hashlib.sha256(json.dumps([[edit.path, edit.text] for edit in edits]).encode()).hexdigest()


def sweep(world: World) -> None:
    """End the open proposals whose time is over or whose gate is closed."""
    for proposal in world.proposals.values():
        if proposal.state == "open" and (is_over(world, proposal) or not _gate_open(world, proposal)):
            proposal.state = "expired"


def is_over(world: World, proposal: Proposal) -> bool:
    """Say whether the time of a proposal is over."""
    if world.broken("no-expiry"):
        return False
    return world.now > proposal.end if world.broken("expiry-late") else world.now >= proposal.end


def news(world: World, chat: Chat) -> list[dict[str, Any]]:
    """Tell what became of the proposals of a chat, once."""
    found = []
    for proposal in world.proposals.values():
        mine = proposal.chat == chat.id or world.broken("news-everywhere")
        if mine and proposal.state != "open" and not proposal.told and _is_told(world, proposal):
            proposal.told = not world.broken("news-again")
            change = None if world.broken("news-without-change") else proposal.change
            found.append({"proposal": proposal.id, "outcome": proposal.state, "change": change})
    return found


def _is_told(world: World, proposal: Proposal) -> bool:
    if world.broken("news-confirmed-only"):
        return proposal.state == "confirmed"
    return not world.broken("no-news")


def _end(world: World) -> dt.datetime:
    if world.broken("expiry-early"):
        return world.now.replace(hour=0, minute=0, second=0) + LIFE
    return world.now + LIFE


def _scope(world: World, chat: Chat, scope: object) -> Scope:
    if world.broken("room-writes-user"):
        chat = replace(chat, user_notes=True)
    if world.broken("channel-writes-user") and scope == "channel":
        scope = "user"
    open_ = [each for each in scopes(world, chat) if each.may_propose]
    for each in open_:
        if each.kind == scope:
            return each
    if world.broken("any-scope"):
        return open_[0]
    listed = ", ".join(each.kind for each in open_)
    raise RefusalError("no-scope", f"No changes to those notes can be proposed here. Scopes you can use: {listed}.")


def _answer(world: World, card: Sequence[Edit]) -> str:
    if world.broken("says-saved"):
        return "Saved.\n" + "".join(f"{edit.path}:\n{edit.text}" for edit in card)
    words = "Proposed, not saved. The person decides within 24 hours.\n"
    words += "\n".join(f"{edit.path}:\n{'(deleted)' if edit.text is None else edit.text}" for edit in card)
    return words[:80] if world.broken("short-echo") else words


def _gate_open(world: World, proposal: Proposal) -> bool:
    chat = world.chats[proposal.chat]
    if any((each.addon, each.kind) == proposal.scope and each.may_propose for each in scopes(world, chat)):
        return True
    addon = world.addons.get((proposal.owner, proposal.scope[0]))
    off = addon is None or not addon.on
    return world.broken("off-keeps-proposals" if off else "withdrawn-kept")
