"""Deciding on cards over HTTP: the only way to a yes, for the owner alone, and only for the card that they saw."""

import re
from dataclasses import dataclass, replace
from datetime import UTC

import pytest
from sqlalchemy import select

from short_memory.proposals import Edit
from short_memory.scopes import Conversation
from short_memory_host import database as db
from tests.host.conftest import PAGE

FOOD = "Memory/food.md"
VERBS = [("confirm", {"digest": "x"}), ("decline", {}), ("again", {})]


@dataclass
class Owner:
    """A signed-in person and the notes of theirs."""

    host: object
    browser: object
    id: str

    @property
    def held(self):
        return self.host.app.state.held

    def propose(self, *edits, chat="c_1"):
        edits = edits or (Edit("food.md", old="", new="- allergic to nuts"),)
        return self.held.memory.propose(Conversation(chat, self.id), "user", edits, why="Asked to.", zone=UTC)

    def post(self, proposal, verb, **body):
        return self.browser.post(f"/proposals/{proposal.id}/{verb}", json=body)

    def confirm(self, proposal):
        return self.post(proposal, "confirm", digest=proposal.digest)

    def write(self, path, text):
        file = self.host.settings.data / "files" / self.id / path
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def text(self, path=FOOD):
        file = self.host.settings.data / "files" / self.id / path
        return file.read_text(encoding="utf-8") if file.exists() else None

    def state(self, proposal):
        return self.held.memory.proposal(self.id, proposal.id).state

    def changes(self):
        return [one.id for one in self.held.notebook.history(self.id, limit=9)]

    def inbox(self):
        return self.browser.get("/inbox", headers=PAGE).text


def owner_of(host, browser, name=None):
    query = select(db.people.c.id).where(db.people.c.role == "admin" if name is None else db.people.c.name == name)
    with host.database.read() as connection:
        return Owner(host, browser, connection.execute(query).scalar_one())


@pytest.fixture
def owner(host):
    return owner_of(host, host.sign_in())


def told(answer):
    """Return status, code if it is a refusal, and the state of the card in the answer."""
    found = answer.json()
    card = re.search(r'class="card card-(\w+)"', found.get("html", ""))
    return answer.status_code, found.get("error", {}).get("code"), card and card[1]


@pytest.mark.case("write-only-by-owner")
@pytest.mark.case("receipt-by-host")
def test_a_yes_for_the_card_as_it_stands_writes_it_and_answers_with_its_receipt(owner):
    proposal, other = owner.propose(), owner.propose(Edit("home.md", old="", new="- in Rome"))
    before = owner.text()
    answer = owner.confirm(proposal)
    assert (before, owner.text(), owner.state(other)) == (None, "- 2026-11-30: allergic to nuts\n", "open")
    assert (told(answer), answer.json()["waiting"]) == ((200, None, "confirmed"), 1)
    assert [f'data-undo="{owner.changes()[0]}"' in answer.json()["html"], "data-decide" in answer.json()["html"]] == [
        True,
        False,
    ]


@pytest.mark.case("confirm-idempotent")
def test_a_second_yes_gives_the_first_change(owner):
    proposal = owner.propose()
    first, second = owner.confirm(proposal), owner.confirm(proposal)
    assert (told(second), first.json(), len(owner.changes())) == ((200, None, "confirmed"), second.json(), 1)


def test_a_second_yes_after_undo_says_that_it_was_undone(owner):
    proposal = owner.propose()
    owner.confirm(proposal)
    owner.browser.post(f"/changes/{owner.changes()[0]}/revert", json={})
    html = owner.confirm(proposal).json()["html"]
    assert ("Undone." in html, "data-undo" in html, owner.text()) == (True, False, None)


@pytest.mark.case("journey-decline")
def test_a_no_writes_nothing_and_twice_is_one_no(owner):
    proposal = owner.propose()
    first, second = owner.post(proposal, "decline"), owner.post(proposal, "decline")
    assert ([told(first), told(second)], owner.text(), owner.changes()) == ([(200, None, "declined")] * 2, None, [])


@pytest.mark.case("confirm-digest")
@pytest.mark.parametrize("digest", ["", "0" * 64, "x"])
def test_a_yes_for_another_digest_is_refused_with_the_card_as_it_stands(owner, digest):
    proposal = owner.propose()
    answer = owner.post(proposal, "confirm", digest=digest)
    assert (told(answer), owner.text()) == ((409, "stale", "open"), None)
    assert f'data-digest="{proposal.digest}"' in answer.json()["html"]


@pytest.mark.case("confirm-digest")
@pytest.mark.parametrize("body", [{}, {"digest": None}, {"digest": 3}, {"digest": ["x"]}])
def test_a_yes_without_a_digest_decides_nothing(owner, body):
    proposal = owner.propose()
    answer = owner.post(proposal, "confirm", **body)
    assert (told(answer), owner.state(proposal)) == ((422, "bad-input", None), "open")


@pytest.mark.case("confirm-redraw-or-stale")
def test_a_yes_for_a_card_that_was_drawn_anew_shows_the_new_one_and_that_can_be_confirmed(owner):
    proposal = owner.propose()
    owner.write(FOOD, "- 2026-11-01: likes rice\n")
    answer = owner.confirm(proposal)
    written = owner.text()
    fresh = re.search(r'data-digest="(\w+)"', answer.json()["html"])[1]
    assert (told(answer), written, fresh == proposal.digest) == (
        (409, "stale", "open"),
        "- 2026-11-01: likes rice\n",
        False,
    )
    assert "likes rice" in answer.json()["html"]
    assert told(owner.post(proposal, "confirm", digest=fresh)) == (200, None, "confirmed")
    assert owner.text() == "- 2026-11-01: likes rice\n- 2026-11-30: allergic to nuts\n"


@pytest.mark.case("confirm-redraw-or-stale")
@pytest.mark.case("final-states-final")
def test_a_card_that_cannot_be_made_anew_is_stale_for_good(owner):
    proposal = owner.propose(Edit("food.md", text="- only this\n"))
    owner.write(FOOD, "- by hand\n")
    answers = [told(owner.confirm(proposal)), told(owner.post(proposal, "decline"))]
    assert (answers, owner.text()) == ([(409, "stale", "stale")] * 2, "- by hand\n")


@pytest.mark.case("propose-expiry-24h")
@pytest.mark.case("expiry-clock-back")
def test_a_yes_after_24_hours_is_refused_also_when_the_clock_goes_back(owner, clock):
    proposal = owner.propose()
    clock.move(hours=24)
    first = told(owner.confirm(proposal))
    clock.move(hours=-24)
    assert (first, told(owner.confirm(proposal)), owner.text()) == (
        (409, "expired", "expired"),
        (409, "expired", "expired"),
        None,
    )


@pytest.mark.case("final-states-final")
def test_another_decision_after_the_first_is_refused_with_the_state(owner):
    yes, no = owner.propose(), owner.propose(Edit("home.md", old="", new="- in Rome"))
    owner.confirm(yes)
    owner.post(no, "decline")
    answers = [told(owner.post(yes, "decline")), told(owner.confirm(no))]
    assert answers == [(409, "confirmed", "confirmed"), (409, "declined", "declined")]


@pytest.mark.case("propose-declined-30-days")
def test_what_was_declined_can_be_proposed_again_by_its_owner_as_a_new_card(owner):
    proposal = owner.propose()
    owner.post(proposal, "decline")
    answer = owner.post(proposal, "again")
    (fresh,) = owner.held.memory.open_proposals(owner.id)
    assert (told(answer), fresh.id == proposal.id, owner.state(proposal)) == ((200, None, "open"), False, "declined")
    assert (f'data-proposal="{fresh.id}"' in answer.json()["html"], answer.json()["waiting"]) == (True, 1)


def test_what_is_open_or_confirmed_is_not_proposed_again(owner):
    proposal = owner.propose()
    still = owner.post(proposal, "again")
    owner.confirm(proposal)
    late = owner.post(proposal, "again")
    assert (f'data-proposal="{proposal.id}"' in still.json()["html"], refused(late)) == (True, (409, "confirmed"))


@pytest.mark.case("confirm-access-again")
@pytest.mark.case("addon-off-deletes-nothing")
def test_where_the_addon_was_switched_off_meanwhile_a_yes_writes_nothing(owner):
    proposal = owner.propose()
    owner.browser.post("/account/memory/addon", json={"on": False})
    assert (told(owner.confirm(proposal)), owner.text()) == ((409, "expired", "expired"), None)
    assert refused(owner.post(proposal, "again")) == (404, "no-scope")


def refused(answer):
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.case("foreign-id-as-unknown")
@pytest.mark.parametrize(("verb", "body"), VERBS)
def test_the_proposal_of_somebody_else_answers_exactly_as_an_unknown_one(owner, host, verb, body):
    foreign = owner.propose()
    ada = owner_of(host, host.member("Ada"), "Ada")
    named = body | ({"digest": foreign.digest} if body else {})
    answers = [ada.post(replace(foreign, id=name), verb, **named) for name in (foreign.id, "nobodys", "0" * 32)]
    assert ([(one.status_code, one.text) for one in answers], refused(answers[0])) == (
        [(404, answers[0].text)] * 3,
        (404, "no-proposal"),
    )
    assert (owner.state(foreign), "nuts" in ada.inbox()) == ("open", False)


@pytest.mark.case("host-csrf")
@pytest.mark.case("no-verb-confirms")
@pytest.mark.parametrize(("verb", "body"), VERBS)
def test_nothing_is_decided_without_the_session_and_its_token(owner, host, verb, body):
    proposal = owner.propose()
    stranger = host.browser().post(f"/proposals/{proposal.id}/{verb}", json={"digest": proposal.digest})
    del owner.browser.headers["x-csrf-token"]
    forged = owner.post(proposal, verb, digest=proposal.digest)
    assert ([refused(stranger), refused(forged)], owner.state(proposal)) == (
        [(401, "not-signed-in"), (403, "csrf")],
        "open",
    )


@pytest.mark.case("no-verb-confirms")
def test_opening_an_address_confirms_nothing(owner):
    proposal = owner.propose()
    answers = [owner.browser.get(f"/proposals/{proposal.id}/{verb}") for verb, _ in VERBS]
    assert ([one.status_code for one in answers], owner.state(proposal)) == ([405] * 3, "open")


def test_the_inbox_shows_what_waits_from_every_chat_oldest_first_and_nothing_else(owner, clock):
    empty = "Nothing waits for you" in owner.inbox()
    proposals = []
    for chat, topic in (("c_1", "food"), ("c_2", "home"), ("c_3", "work")):
        proposals.append(owner.propose(Edit(f"{topic}.md", old="", new=f"- {topic}"), chat=chat))
        clock.move(hours=1)
    owner.post(proposals[1], "decline")
    shown = re.findall(r'data-proposal="([^"]*)"', owner.inbox())
    assert (empty, shown) == (True, [proposals[0].id, proposals[2].id])


@pytest.mark.case("log-no-content")
def test_a_decision_is_logged_without_a_word_of_the_note(owner, caplog):
    caplog.set_level("INFO", "short_memory_host")
    yes, no = owner.propose(), owner.propose(Edit("home.md", old="", new="- in Rome"))
    owner.confirm(yes)
    owner.post(no, "decline")
    events = [one.getMessage() for one in caplog.records if one.getMessage().startswith("proposal-")]
    said = " ".join(str(vars(one)) for one in caplog.records)
    assert (events, [word for word in ("nuts", "Rome", "Asked") if word in said]) == (
        ["proposal-confirmed", "proposal-declined"],
        [],
    )
