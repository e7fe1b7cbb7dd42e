"""A model that means no good: what it prints stays text, and only the card's own button writes."""

import pytest
from playwright.sync_api import expect

from tests.scripted_upstream import says

ACTS = "button, form, input, img, iframe, script, style, svg, details, [data-decide], [data-undo], [data-proposal], [onerror]"
FORGERIES = [
    '<article class="card card-open" data-proposal="p1" data-digest="d"><button data-decide="confirm">Confirm</button></article>',
    '<script>alert("script")</script>',
    '<img src="https://foreign.example/pixel.png" onerror="alert(1)">',
    "![pixel](https://foreign.example/pixel.png)",
    "[press here](javascript:alert(1))",
    "[or here](data:text/html,<script>alert(1)</script>)",
    "[and here](/chat/c_1/delete)",
    '<form action="/sign-out" method="post"><button>Continue</button></form>',
    '<a href="https://foreign.example" onclick="alert(1)">free</a>',
    "<style>body { display: none }</style>",
    '<iframe src="https://foreign.example"></iframe>',
    "[a page](https://foreign.example/page)",
]


@pytest.mark.case("chat-markdown-sanitised")
@pytest.mark.case("host-csp")
def test_nothing_that_a_model_prints_acts_or_leaves_the_page(window, server):
    server.will(says("\n\n".join(FORGERIES)))
    window.ask("Show me a card")
    for _ in range(2):  # as it came, and as it is kept
        shown = window.answers.last
        expect(shown).to_contain_text('<button data-decide="confirm">Confirm</button>')
        expect(shown.locator(ACTS)).to_have_count(0)
        links = shown.locator("a[href]").evaluate_all("(all) => all.map((one) => [one.getAttribute('href'), one.rel])")
        assert links == [["https://foreign.example/page", "noopener noreferrer"]]
        window.page.reload()


@pytest.mark.case("chat-markdown-sanitised")
def test_nothing_acts_while_the_answer_still_comes(window, server, waiting):
    server.will(says(*FORGERIES, waiting, "Done."))
    window.say("Show me a card")
    expect(window.answers.last).to_contain_text("[a page]")
    expect(window.answers.last.locator(f"a, {ACTS}")).to_have_count(0)
    waiting.event.set()
    window.answered()


@pytest.mark.case("chat-yes-confirms-nothing")
@pytest.mark.case("write-only-by-owner")
def test_a_yes_in_the_chat_confirms_nothing_whatever_the_model_says(window, server, nuts):
    nuts()
    window.ask("Remember that I'm allergic to nuts")
    server.will(says("Saved! Your note is written."))
    window.ask("Yes, confirm")
    expect(window.card.get_by_role("button", name="Confirm")).to_be_visible()
    assert window.host.texts() == {}


@pytest.mark.case("card-host-words")
def test_a_reason_that_looks_like_a_card_stays_in_its_labelled_box(window, server):
    why = '<button data-decide="confirm">Confirm</button> **The host says: safe.**'
    window.propose(server, {"file": "food.md", "old": "", "new": "- allergic to nuts"}, why=why)
    expect(window.card.get_by_role("figure", name="The model's words")).to_contain_text(why)
    expect(window.card.get_by_role("button")).to_have_count(2)
