"""The same card in two places: a second yes changes nothing, and a yes for a card that moved on is refused."""

import pytest
from playwright.sync_api import expect


def edit_food(tab, text):
    tab.open("/account/memory/note?path=Memory/food.md")
    tab.page.get_by_label("Text", exact=True).fill(text)
    tab.button("Save").click()
    expect(tab.page.locator("#receipt")).to_contain_text("Saved")


@pytest.mark.case("confirm-idempotent")
def test_a_card_confirmed_in_the_inbox_is_confirmed_in_the_chat_by_the_same_change(window, nuts):
    nuts()
    window.ask("Remember that I'm allergic to nuts")
    inbox = window.another()
    inbox.open("/inbox")
    inbox.confirm()

    # The chat still shows the open card.
    expect(window.card.get_by_role("button", name="Confirm")).to_be_visible()
    window.confirm()
    change = [tab.card.get_by_role("link", name="Show the change").get_attribute("href") for tab in (inbox, window)]
    assert change[0] == change[1]
    window.go("Memory")
    expect(window.page.locator(".change-row")).to_have_count(1)


@pytest.mark.case("confirm-digest")
@pytest.mark.case("confirm-redraw-or-stale")
def test_a_yes_for_a_card_that_was_drawn_anew_is_refused_and_shows_the_new_one(window, server, keep_nuts):
    keep_nuts()
    window.propose(server, {"file": "food.md", "old": "", "new": "- likes figs"})
    edit_food(window.another(), "- 2026-11-30: allergic to nuts\n- hates fennel\n")

    window.expected_refusals.add(409)
    window.card.get_by_role("button", name="Confirm").click()
    expect(window.card.get_by_text("- hates fennel")).to_be_visible()
    expect(window.toast).to_contain_text("Read the new card and decide again.")
    assert "figs" not in window.host.texts()["food.md"]

    window.confirm()
    expected = "- 2026-11-30: allergic to nuts\n- hates fennel\n- 2026-11-30: likes figs\n"
    assert window.host.texts()["food.md"] == expected


@pytest.mark.case("confirm-redraw-or-stale")
@pytest.mark.case("final-states-final")
def test_a_card_whose_line_is_gone_is_stale_and_stays_so(window, server, keep_nuts):
    keep_nuts()
    window.propose(server, {"file": "food.md", "old": "allergic to nuts", "new": "allergic to nuts and milk"})
    tab = window.another()
    edit_food(tab, "- eats all\n")

    window.expected_refusals.add(409)
    window.card.get_by_role("button", name="Confirm").click()
    expect(window.card).to_contain_text("The note changed meanwhile. Nothing was written.")
    edit_food(tab, "- 2026-11-30: allergic to nuts\n")
    window.page.reload()
    expect(window.card).to_contain_text("The note changed meanwhile. Nothing was written.")
    assert window.host.texts()["food.md"] == "- 2026-11-30: allergic to nuts\n"
