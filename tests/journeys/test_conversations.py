"""The chats at the left: the latest first, renamed and deleted by their person; deleting one deletes no note."""

import pytest
from playwright.sync_api import expect

from tests.scripted_upstream import says


def titles(window):
    return window.page.locator(".conversation-title")


@pytest.mark.case("chat-conversations")
def test_chats_stand_in_the_order_of_their_last_words_and_can_be_renamed(window, server, clock):
    server.always(says("Well."))
    for title in ("First", "Second", "Third"):
        window.new_chat()
        window.ask(title)
        clock.move(minutes=1)
    expect(titles(window)).to_have_text(["Third", "Second", "First"])
    window.open_chat("First")
    window.ask("More")
    window.page.reload()
    expect(titles(window)).to_have_text(["First", "Third", "Second"])

    window.button("Rename").click()
    window.page.get_by_label("Title").fill("About <b>food</b>")
    window.page.get_by_label("Title").press("Enter")
    expect(titles(window)).to_have_text(["About <b>food</b>", "Third", "Second"])
    expect(window.page).to_have_title("About <b>food</b> · Short memory")


@pytest.mark.case("chat-conversations")
def test_a_deleted_chat_is_gone_and_its_note_and_open_card_stay(window, server, keep_nuts):
    keep_nuts()
    kept, where = window.host.texts(), window.page.url
    window.propose(server, {"file": "work.md", "old": "", "new": "- works at night"})
    window.button("Delete").click()
    window.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(window.cards).to_have_count(2)
    window.button("Delete").click()
    window.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    window.page.wait_for_url(f"{window.host.url}/")
    expect(titles(window)).to_have_count(0)
    assert window.host.texts() == kept

    window.go("Inbox")
    window.confirm()
    assert window.host.texts()["work.md"] == "- 2026-11-30: works at night\n"
    window.expected_refusals.add(404)
    window.page.goto(where)
    expect(window.page.get_by_role("main")).to_contain_text("not")
