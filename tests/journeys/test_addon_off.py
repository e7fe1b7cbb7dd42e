"""Switching the add-on off: from the next turn on no model gets a note; nothing is deleted; on again, all is as before."""

import pytest
from playwright.sync_api import expect

from tests.journeys.asked import system, tools
from tests.scripted_upstream import says


def switch(window, *, on):
    window.go("Memory")
    window.page.get_by_role("switch", name="Models may use my notes").set_checked(on)
    expect(window.toast).to_contain_text("On." if on else "Off. Nothing was deleted.")
    window.go("Chat")


@pytest.mark.case("journey-addon-off")
@pytest.mark.case("addon-off-deletes-nothing")
@pytest.mark.case("skills-only-where-allowed")
def test_off_counts_from_the_next_turn_deletes_nothing_and_on_brings_all_back(window, server, keep_nuts):
    keep_nuts()
    kept = window.host.texts()
    server.always(says("Well."))
    server.requests.clear()

    switch(window, on=False)
    window.open_chat("Remember that I'm allergic to nuts")
    window.ask("What can I cook?")
    window.new_chat()
    window.ask("What else can I cook?")
    assert [tools(one) for one in server.requests] == [[], []]
    assert [word in system(one) for one in server.requests for word in ("<notes", "context_read", "skill")] == [
        False
    ] * 6
    assert window.host.texts() == kept

    switch(window, on=True)
    window.ask("And now?")
    assert "- food: allergic to nuts -> food.md" in system(server.requests[-1])
    assert tools(server.requests[-1]) == ["context_read", "propose_change", "revert_change", "skill_read"]
