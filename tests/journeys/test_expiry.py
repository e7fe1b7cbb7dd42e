"""A card that nobody decided on: after 24 hours it says so, writes nothing and stays so; the model can propose anew."""

import pytest
from playwright.sync_api import expect


@pytest.mark.case("journey-expiry")
@pytest.mark.case("propose-expiry-24h")
@pytest.mark.case("expiry-clock-back")
def test_a_card_of_yesterday_says_that_it_expired_and_writes_nothing(window, clock, nuts):
    nuts()
    window.ask("Remember that I'm allergic to nuts")
    clock.move(hours=24)

    # The page still shows the button: the yes comes too late, and the card says so.
    window.expected_refusals.add(409)
    window.card.get_by_role("button", name="Confirm").click()
    expect(window.card).to_contain_text("It ended without your answer")
    expect(window.card.get_by_role("button", name="Confirm")).to_have_count(0)
    expect(window.toast).to_contain_text("Nothing was written now.")
    assert window.host.texts() == {}

    # A clock that goes back opens nothing again.
    clock.move(hours=-3)
    window.page.reload()
    expect(window.card).to_contain_text("It ended without your answer")
    window.go("Inbox")
    expect(window.page.get_by_text("Nothing waits for you")).to_be_visible()

    # Proposed anew, it can be confirmed.
    window.open("/")
    nuts()
    window.ask("Remember that I'm allergic to nuts, please")
    window.confirm()
    assert window.host.texts()["food.md"] == "- 2026-12-01: allergic to nuts\n"
