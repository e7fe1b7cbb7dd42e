"""The story that everything stands on: said, confirmed, kept, known in a new chat, and undone with one click."""

import json

import pytest
from playwright.sync_api import expect

from tests.scripted_upstream import Call, calls, says

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
FOOD, INDEX = "Memory/food.md", "Memory/index.md"
FACT = "- 2026-11-30: allergic to nuts\n"
WIDER = "[document.documentElement, document.querySelector('main')].some((one) => one.scrollWidth > one.clientWidth)"


def names(request):
    return [tool["function"]["name"] for tool in request.get("tools", [])]


def system(request):
    return request["messages"][0]["content"]


def said_by(request, role):
    return [one["content"] for one in request["messages"] if one["role"] == role]


def is_longer(later, earlier):
    """Say whether a request begins with all of an earlier one: model, tools and messages."""
    count = len(earlier["messages"])
    same = all(later.get(key) == earlier.get(key) for key in ("model", "tools"))
    return same and json.dumps(later["messages"][:count]) == json.dumps(earlier["messages"])


@pytest.mark.case("journey-hero")
@pytest.mark.case("journey-confirm-undo")
@pytest.mark.case("card-every-byte")
@pytest.mark.case("card-round-trip")
@pytest.mark.case("card-host-words")
@pytest.mark.case("chat-card-keyboard")
@pytest.mark.case("chat-opened-chip")
@pytest.mark.case("block-stable-prefix")
@pytest.mark.case("outcome-told-once")
@pytest.mark.case("signin-link-once")
@pytest.mark.case("receipt-by-host")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_what_is_confirmed_is_known_in_a_new_chat_and_undone_with_one_click(
    host, server, open_window, nuts, size, theme
):
    window = open_window(size, theme)
    page = window.page

    # Coming in: the link does nothing before its button is pressed.
    page.goto(host.link())
    window.shot("01-link")
    expect(window.button("Sign in")).to_be_visible()
    window.button("Sign in").click()
    page.wait_for_url("**/welcome")
    window.shot("02-welcome")
    page.get_by_role("link", name="Skip").click()
    window.shot("03-no-model")
    window.add_model(server, local=True)
    window.shot("04-models")

    # "Remember": the model proposes, and nothing is written.
    window.go("Chat")
    window.shot("05-empty-chat")
    nuts(server)
    window.ask("Remember that I'm allergic to nuts")
    expect(window.cards).to_have_count(1)
    expect(window.answers.last).to_have_text("I proposed a note.")
    window.shot("06-card")
    assert host.texts() == {}
    assert {path: window.card_text(path) for path in (FOOD, INDEX)} == {
        FOOD: FACT,
        INDEX: "- food: allergic to nuts -> food.md\n",
    }
    expect(window.card.get_by_role("figure", name="The model's words")).to_contain_text("Asked to.")
    expect(window.card).to_contain_text("open for 24 h 0 min")

    # Yes, with the keyboard alone; the host's own receipt stands in place of the card.
    window.tab_to(window.card.get_by_role("button", name="Confirm"), back=True)
    page.keyboard.press("Enter")
    expect(window.card.get_by_role("status")).to_contain_text("Confirmed and written.")
    window.shot("07-confirmed")
    assert host.texts() == {"food.md": FACT, "index.md": "- food: allergic to nuts -> food.md\n"}
    window.go("Notes")
    expect(page.locator('[data-path="Memory/food.md"]')).to_contain_text("allergic to nuts")
    window.shot("08-notes")
    page.get_by_role("link", name="food", exact=True).click()
    expect(page.get_by_label("Text", exact=True)).to_have_value(FACT)
    window.shot("09-editor")

    # The same chat goes on: the model is told what became of its proposal, once.
    chat = server.requests[0]
    page.go_back()
    page.go_back()
    server.will(says("Good."), says("You are welcome."))
    window.ask("Thanks")
    window.ask("And thanks again")
    told = [[text for text in said_by(one, "user") if "From the host" in text] for one in server.requests]
    assert [len(lines) for lines in told] == [0, 0, 1, 1]
    assert "confirmed" in told[2][0]
    assert told[2] == told[3]
    assert is_longer(server.requests[1], chat)
    assert is_longer(server.requests[3], server.requests[2])

    # A new chat gets the block and the tools, opens the topic and answers with what it knows.
    window.new_chat()
    server.requests.clear()
    server.will(
        calls(Call("context_read", {"topic": "food"})),
        says("Try **risotto**,", " with:\n\n- rice\n- no nuts"),
        says("Peas."),
    )
    window.ask("What can I cook tonight?")
    expect(window.chips).to_have_text("opened food")
    expect(window.answers.last.locator("strong")).to_have_text("risotto")
    expect(window.answers.last.get_by_role("listitem")).to_have_count(2)
    window.shot("10-answer")
    first, second = server.requests
    assert "- food: allergic to nuts -> food.md" in system(first)
    assert names(first) == ["context_read", "propose_change", "revert_change", "skill_read"]
    assert FACT.strip() in said_by(second, "tool")[0]
    window.ask("What else?")
    assert is_longer(second, first)
    assert is_longer(server.requests[2], second)
    assert not page.evaluate(WIDER)

    # Undo, with one click, on the card's own receipt.
    chats = page.get_by_role("list").get_by_role("link", name="Remember that I'm allergic to nuts")
    if window.button("Menu").is_visible():
        window.button("Menu").click()
        window.shot("11-drawer")
    chats.click()
    window.card.get_by_role("button", name="Undo").click()
    expect(window.card.get_by_role("status")).to_contain_text("Undone.")
    window.shot("12-undone")
    assert host.texts() == {}

    # The next turn knows nothing any more, and can still propose.
    server.requests.clear()
    server.will(says("I do not know."))
    window.ask("What am I allergic to?")
    assert "nuts ->" not in system(server.requests[0])
    assert "<notes" not in system(server.requests[0])
    assert "propose_change" in names(server.requests[0])
    assert "context_read" not in names(server.requests[0])
