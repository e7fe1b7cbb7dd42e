"""What an owner allows, and what a withdrawn grant ends."""

import threading

import pytest

from short_memory.access import AddonGrant, AgentGrant, Grants
from short_memory.errors import ExpiredError
from tests.engine.notes import ADDON, ALL, OWNER, ROOM, append, talk

OTHER = AddonGrant("alpha", on=True, digest="d", files=())


def test_nothing_is_allowed_at_first(bare):
    assert bare.granting.of(OWNER) == Grants()


def test_add_ons_are_kept_in_the_order_of_their_ids_and_one_version_each(notes):
    notes.granting.enable(OWNER, OTHER)
    notes.granting.enable(OWNER, AddonGrant("memory", on=True, digest="d2", files=()))
    assert [(one.id, one.digest) for one in notes.granting.of(OWNER).addons] == [("alpha", "d"), ("memory", "d2")]


def test_switching_changes_one_add_on_only(notes):
    notes.granting.enable(OWNER, OTHER)
    notes.granting.switch(OWNER, "memory", on=False)
    assert [(one.id, one.on) for one in notes.granting.of(OWNER).addons] == [("alpha", True), ("memory", False)]


def test_removing_forgets_the_grants_of_agents_as_well(notes):
    notes.granting.enable(OWNER, OTHER)
    notes.granting.allow_agent(OWNER, "coach", "memory", ALL)
    notes.granting.allow_agent(OWNER, "coach", "alpha", AgentGrant(read=True))
    notes.granting.remove(OWNER, "memory")
    assert notes.granting.of(OWNER) == Grants((OTHER,), {("coach", "alpha"): AgentGrant(read=True)})
    notes.granting.enable(OWNER, ADDON)
    assert notes.block(talk(agent="coach")) == ""


def test_a_room_is_opened_and_closed(notes):
    notes.write("Memory/index.md", "- home: Rome -> home.md\n")
    chat = talk(channel=ROOM, shared=True)
    assert notes.block(chat) == ""
    notes.granting.open_room(OWNER, ROOM, opened=True)
    assert "Rome" in notes.block(chat)
    notes.granting.open_room(OWNER, ROOM, opened=False)
    assert notes.block(chat) == ""


@pytest.mark.case("confirm-access-again")
@pytest.mark.parametrize("how", ["off", "removed", "agent"])
def test_a_withdrawn_grant_ends_the_open_proposals_that_needed_it(notes, how):
    notes.granting.allow_agent(OWNER, "coach", "memory", ALL)
    own = notes.append("- no nuts")
    by_agent = notes.propose(talk("c2", agent="coach"), append("- runs"), kind="agent")
    if how == "off":
        notes.granting.switch(OWNER, "memory", on=False)
    elif how == "removed":
        notes.granting.remove(OWNER, "memory")
    else:
        notes.granting.allow_agent(OWNER, "coach", "memory", AgentGrant(read=True))
    states = [notes.memory.proposal(OWNER, one.id).state for one in (own, by_agent)]
    assert states == (["open", "expired"] if how == "agent" else ["expired", "expired"])
    with pytest.raises(ExpiredError):
        notes.confirm(by_agent)
    assert notes.files() == {}


def test_a_grant_that_comes_back_does_not_reopen_a_proposal(notes):
    one = notes.append()
    notes.granting.switch(OWNER, "memory", on=False)
    notes.granting.switch(OWNER, "memory", on=True)
    assert notes.memory.proposal(OWNER, one.id).state == "expired"


def test_grants_given_at_the_same_time_are_all_kept(notes):
    def allow(number):
        notes.granting.allow_agent(OWNER, f"agent{number}", "memory", ALL)

    threads = [threading.Thread(target=allow, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(notes.granting.of(OWNER).agents) == 12
