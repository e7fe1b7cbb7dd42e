"""The story that everything stands on: said, confirmed, kept, known in a new chat, and undone with one click."""

import pytest
from playwright.sync_api import expect

from tests.journeys.asked import is_longer, said_by, system, tools
from tests.journeys.windows import DESK, PHONE, WIDER
from tests.scripted_upstream import Call, calls, says

FACT, ENTRY = "- 2026-11-30: allergic to nuts\n", "- food: allergic to nuts -> food.md\n"
LOOKS = [(DESK, "light"), (PHONE, "dark")]


@pytest.mark.case("journey-hero")
@pytest.mark.case("journey-confirm-undo")
@pytest.mark.case("signin-link-once")
@pytest.mark.case("card-every-byte")
@pytest.mark.case("card-round-trip")
@pytest.mark.case("card-host-words")
@pytest.mark.case("chat-card-keyboard")
@pytest.mark.case("receipt-by-host")
@pytest.mark.case("outcome-told-once")
@pytest.mark.case("block-stable-prefix")
@pytest.mark.case("chat-opened-chip")
@pytest.mark.case("block-names-offered-tools")
@pytest.mark.parametrize("look", LOOKS, ids=["desk-light", "phone-dark"])
def test_what_is_confirmed_is_known_in_a_new_chat_and_undone_with_one_click(open_window, server, nuts, look):
    window = open_window(*look)
    comes_in_by_a_button(window)
    adds_a_model_of_their_own(window, server)
    sees_a_card_with_every_byte(window, nuts)
    confirms_by_keyboard(window)
    finds_the_note(window)
    goes_on_in_the_same_chat(window, server)
    gets_an_answer_that_knows(window, server)
    undoes_it_with_one_click(window)
    gets_an_answer_that_knows_nothing(window, server)


def comes_in_by_a_button(window):
    link = f"{window.host.url}/sign-in?token={window.host.new_link()}"
    for _ in range(2):  # opening the link spends nothing
        window.page.goto(link)
        expect(window.button("Sign in")).to_be_visible()
    window.button("Sign in").click()
    window.page.wait_for_url("**/welcome")
    window.page.get_by_role("link", name="Skip").click()
    expect(window.page.get_by_text("There is no model yet.")).to_be_visible()


def adds_a_model_of_their_own(window, server):
    page = window.page
    window.go("Models")
    page.get_by_role("link", name="Add a model").click()
    page.get_by_label("Name", exact=True).fill("Scripted")
    page.get_by_label("Address").fill(server.base_url)
    page.get_by_label("Model", exact=True).fill("scripted")
    page.get_by_label("Runs on my own machines").check()
    window.button("Save").click()
    expect(page.get_by_role("heading", name="Scripted")).to_be_visible()


def sees_a_card_with_every_byte(window, nuts):
    window.go("Chat")
    nuts()
    window.ask("Remember that I'm allergic to nuts")
    expect(window.cards).to_have_count(1)
    expect(window.answers.last).to_have_text("I proposed a note.")
    shown = {path: window.card_text(path) for path in ("Memory/food.md", "Memory/index.md")}
    assert shown == {"Memory/food.md": FACT, "Memory/index.md": ENTRY}
    expect(window.card.get_by_role("figure", name="The model's words")).to_contain_text("Asked to.")
    expect(window.card).to_contain_text("open for 24 h 0 min")
    assert not window.page.evaluate(WIDER)
    assert window.host.texts() == {}


def confirms_by_keyboard(window):
    window.tab_to(window.card.get_by_role("button", name="Confirm"), back=True)
    window.page.keyboard.press("Enter")
    expect(window.card.get_by_role("status")).to_contain_text("Confirmed and written.")
    expect(window.card).to_be_focused()
    assert window.host.texts() == {"food.md": FACT, "index.md": ENTRY}


def finds_the_note(window):
    window.go("Memory")
    expect(window.page.locator('[data-path="Memory/food.md"]')).to_contain_text("allergic to nuts")
    window.page.get_by_role("link", name="food", exact=True).click()
    expect(window.page.get_by_label("Text", exact=True)).to_have_value(FACT)


def goes_on_in_the_same_chat(window, server):
    """The model is told what became of its proposal, once, and otherwise each request begins with the one before."""
    window.go("Chat")
    window.open_chat("Remember that I'm allergic to nuts")
    server.will(says("Good."), says("You are welcome."))
    window.ask("Thanks")
    window.ask("And thanks again")
    first, second, third, fourth = server.requests
    told = [[text for text in said_by("user", one) if "From the host" in text] for one in server.requests]
    assert [len(texts) for texts in told] == [0, 0, 1, 1]
    assert ("confirmed" in told[2][0], told[2]) == (True, told[3])
    assert (is_longer(second, first), is_longer(fourth, third)) == (True, True)


def gets_an_answer_that_knows(window, server):
    server.requests.clear()
    server.will(
        calls(Call("context_read", {"topic": "food"})),
        says("Try **risotto**,", " with:\n\n- rice\n- no nuts"),
        says("Peas."),
    )
    window.new_chat()
    window.ask("What can I cook tonight?")
    expect(window.chips).to_have_text("opened food")
    expect(window.answers.last.locator("strong")).to_have_text("risotto")
    expect(window.answers.last.get_by_role("listitem")).to_have_count(2)
    window.ask("And to drink?")
    first, second, third = server.requests
    assert ENTRY in system(first)
    assert tools(first) == ["context_read", "propose_change", "revert_change", "skill_read"]
    assert FACT in said_by("tool", second)[0]
    assert (is_longer(second, first), is_longer(third, second)) == (True, True)


def undoes_it_with_one_click(window):
    window.open_chat("Remember that I'm allergic to nuts")
    window.card.get_by_role("button", name="Undo").click()
    expect(window.card.get_by_role("status")).to_contain_text("Undone.")
    assert window.host.texts() == {}


def gets_an_answer_that_knows_nothing(window, server):
    server.requests.clear()
    server.will(says("I do not know."))
    window.ask("What am I allergic to?")
    (request,) = server.requests
    assert ENTRY not in system(request)
    assert "<notes" not in system(request)
    assert tools(request) == ["propose_change", "revert_change", "skill_read"]
