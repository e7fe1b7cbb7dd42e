"""A person who says no: nothing is written, the model is told and does not get to ask again, the person can."""

import pytest
from playwright.sync_api import expect

from tests.journeys.asked import said_by
from tests.scripted_upstream import Call, calls, says

NUTS = {"scope": "user", "edits": [{"file": "food.md", "old": "", "new": "- allergic to nuts"}], "why": "Once more."}


def decline(window):
    window.card.get_by_role("button", name="Decline").click()
    expect(window.card).to_contain_text("Declined. Nothing was written.")


@pytest.mark.case("journey-decline")
@pytest.mark.case("propose-declined-30-days")
def test_a_declined_note_is_not_written_and_comes_back_only_when_the_person_presses_propose_again(window, server, nuts):
    nuts()
    window.ask("Remember that I'm allergic to nuts")
    decline(window)
    assert window.host.texts() == {}

    # The model asks for the same again: it hears that it was declined, and there is no second card.
    server.will(calls(Call("propose_change", NUTS)), says("You declined it."))
    window.ask("Did you note it?")
    assert "already declined" in said_by("tool", server.requests[-1])[-1]
    assert "declined" in said_by("user", server.requests[-1])[-1]
    expect(window.cards).to_have_count(1)
    expect(window.card.get_by_role("button", name="Confirm")).to_have_count(0)

    window.card.get_by_role("button", name="Propose again").click()
    expect(window.card).to_contain_text("open for 24 h 0 min")
    window.confirm()
    assert window.host.texts()["food.md"] == "- 2026-11-30: allergic to nuts\n"


@pytest.mark.case("propose-declined-30-days")
def test_another_chat_that_asks_for_the_same_shows_the_declined_card(window, server, nuts):
    nuts()
    window.ask("Remember that I'm allergic to nuts")
    decline(window)
    window.new_chat()
    server.will(calls(Call("propose_change", NUTS)), says("You declined it."))
    window.ask("I'm allergic to nuts, by the way")
    expect(window.cards).to_have_count(1)
    expect(window.card).to_contain_text("Declined. Nothing was written.")
    window.page.reload()
    expect(window.card.get_by_role("button", name="Propose again")).to_be_visible()


@pytest.mark.case("propose-collapses-identical")
def test_a_note_that_is_asked_for_twice_is_one_card(window, nuts):
    nuts()
    window.ask("Remember that I'm allergic to nuts")
    nuts()
    window.ask("Please remember it")
    expect(window.cards).to_have_count(1)
    window.confirm()
    window.page.reload()
    expect(window.cards).to_have_count(1)
    expect(window.card).to_contain_text("Confirmed and written.")
