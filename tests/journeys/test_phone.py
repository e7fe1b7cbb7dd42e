"""On a phone: everything is in reach of a thumb and of the keyboard, and nothing moves sideways."""

import pytest
from playwright.sync_api import expect

from tests.journeys.windows import PHONE, WIDER

LONG = "a" * 300


@pytest.fixture
def phone(open_window, server):
    window = open_window(PHONE)
    window.come_in()
    window.host.add_model(server, local=True, name="A model with a rather long name of its own")
    window.new_chat()
    return window


def height(locator):
    return locator.bounding_box()["height"]


def test_the_drawer_of_the_chat_opens_and_closes_by_the_keyboard(phone):
    page, menu, inbox = phone.page, phone.button("Menu"), phone.page.get_by_role("link", name="Inbox")
    expect(inbox).to_be_hidden()
    phone.tab_to(menu)
    page.keyboard.press("Enter")
    expect(inbox).to_be_visible()
    assert page.evaluate("document.activeElement.closest('#side') !== null")
    page.keyboard.press("Escape")
    expect(inbox).to_be_hidden()
    expect(menu).to_be_focused()


def test_a_card_and_the_composer_are_in_reach_of_a_thumb_and_nothing_scrolls_sideways(phone, server):
    edits = [{"file": "food.md", "old": "", "new": f"- allergic to {LONG}"}]
    phone.propose(
        server, *edits, words=f"Look at this card: {LONG}", answer=f"Done. `{LONG}`\n\n| a | b |\n|-|-|\n| {LONG} | c |"
    )
    assert not phone.page.evaluate(WIDER)
    confirm, decline = (phone.card.get_by_role("button", name=name) for name in ("Confirm", "Decline"))
    sizes = [height(one) for one in (confirm, decline, phone.composer, phone.button("Send"), phone.button("Retry"))]
    assert min(sizes) >= 40

    before = height(phone.composer)
    phone.composer.press_sequentially("one")
    phone.composer.press("Shift+Enter")
    phone.composer.press_sequentially("two")
    assert height(phone.composer) > before
    boxes = [one.bounding_box() for one in (phone.composer, phone.button("Send"))]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844 for box in boxes)
    assert boxes[0]["width"] > 300

    phone.confirm()
    assert not phone.page.evaluate(WIDER)
