"""A model that does not run on the person's machines gets nothing of the notes, until the person allows it for that model.

Both models of this story answer on a loopback address: an address proves nothing, the tick does.
"""

import json

import pytest
from playwright.sync_api import expect

from tests.scripted_upstream import Answer, Call, ScriptedUpstream, calls, says

CANARY = "quincunx"
NOTE = {"file": "food.md", "old": "", "new": f"- allergic to {CANARY}"}


@pytest.fixture
def cloud():
    """A model that runs elsewhere."""
    with ScriptedUpstream() as server:
        yield server


@pytest.fixture
def chat(window, server, cloud):
    """A chat in which a local model proposed, and then read, a note that holds the canary, and named it to nobody."""
    server.will(
        calls(Call("propose_change", {"scope": "user", "edits": [NOTE], "why": f"{CANARY}!"})),
        says("I proposed it."),
        calls(Call("context_read", {"topic": "food"})),
        says("I know it now."),
    )
    window.ask("Remember my allergy")
    window.confirm()
    window.ask("Look at my notes")
    expect(window.chips).to_have_text("opened food")
    window.host.add_model(cloud, local=False, name="Cloud")
    window.page.reload()
    return window


def consent(window, *, given):
    chat = window.page.url
    window.go("Models")
    window.page.get_by_label("May see my notes").set_checked(given)
    expect(window.toast).to_be_visible()
    window.page.goto(chat)


@pytest.mark.case("journey-not-local")
@pytest.mark.case("locality-gate")
@pytest.mark.case("locality-by-tick")
def test_a_model_elsewhere_gets_nothing_of_the_notes_until_it_is_allowed_and_nothing_after(chat, cloud):
    cloud.always(says("Fine."))
    chat.choose("Cloud")
    expect(chat.page.get_by_text("This model gets nothing of your notes.")).to_be_visible()
    chat.ask("What can I cook?")
    assert [CANARY in json.dumps(one) for one in cloud.requests] == [False]
    assert [one["role"] for one in cloud.requests[0]["messages"] if one["role"] == "tool"] == []
    assert "tools" not in cloud.requests[0]

    consent(chat, given=True)
    chat.ask("And now?")
    allowed = json.dumps(cloud.requests[1])
    assert (allowed.count(CANARY) >= 3, "context_read" in allowed) == (True, True)

    consent(chat, given=False)
    chat.ask("And after that?")
    assert (CANARY in json.dumps(cloud.requests[2]), "tools" in cloud.requests[2]) == (False, False)


@pytest.mark.case("locality-gate")
@pytest.mark.parametrize("words", ["", "Let me see."], ids=["silent", "with-words"])
def test_a_model_elsewhere_that_calls_the_tools_by_heart_opens_and_proposes_nothing(chat, cloud, words):
    edits = [{"file": "food.md", "old": "", "new": "- likes figs"}]
    by_heart = (
        Call("context_read", {"topic": "food"}, "a"),
        Call("propose_change", {"scope": "user", "edits": edits, "why": "Because."}, "b"),
    )
    cloud.will(Answer((words, *by_heart) if words else by_heart, finish="tool_calls"))
    chat.choose("Cloud")
    cards, chips = chat.cards.count(), chat.chips.count()
    chat.ask("What can I cook?")
    expect(chat.answers.last if words else chat.notices.last).to_contain_text(words or "Cloud gave an empty answer.")
    assert [CANARY in json.dumps(one) for one in cloud.requests] == [False]
    assert (chat.cards.count(), chat.chips.count()) == (cards, chips)
    chat.open("/inbox")
    expect(chat.page.get_by_text("Nothing waits for you")).to_be_visible()


@pytest.mark.case("locality-gate")
def test_a_chat_that_begins_with_a_model_elsewhere_is_one_without_notes(chat, cloud):
    cloud.always(says("Fine."))
    chat.new_chat()
    chat.choose("Cloud")
    chat.ask("What can I cook?")
    chat.ask("Are you sure?")
    assert [CANARY in json.dumps(one) for one in cloud.requests] == [False, False]
    assert ["tools" in one for one in cloud.requests] == [False, False]
