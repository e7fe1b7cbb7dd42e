"""The page of models."""

import re
from dataclasses import dataclass
from typing import get_args

import pytest

from short_memory_host.builtin_model.running import State
from short_memory_host.web import templates
from tests.host.conftest import PAGE

CLOUD = {
    "name": "Cloud",
    "base_url": "https://127.0.0.1:9/v1",
    "model": "m",
    "api_key": "sk-very-secret",
    "tools": "guided",
}


def add(browser, **more):
    """Add an upstream and return its id."""
    return browser.post("/models/new", data=CLOUD | more, headers=PAGE).headers["location"].removeprefix("/models#")


def reach(page):
    return re.search(r'data-reach="(\w+)"', page)[1]


def tick(page):
    return re.findall(r'<input id="consent-u_\w+"[^>]*?( checked)?\s*aria', page)


def test_an_upstream_that_was_added_is_on_the_page_for_everybody(host):
    add(host.sign_in())
    page = host.member().get("/models", headers=PAGE).text
    assert ("Cloud" in page, "runs elsewhere" in page, "127.0.0.1:9" in page) == (True, True, False)


def test_a_key_never_comes_back_to_a_page(host):
    browser = host.sign_in()
    upstream = add(browser)
    pages = browser.get("/models", headers=PAGE).text + browser.get(f"/models/{upstream}", headers=PAGE).text
    refused = browser.post(f"/models/{upstream}", data=CLOUD | {"name": ""}, headers=PAGE)
    assert (refused.status_code, "sk-very-secret" in pages + refused.text, "A key is kept" in pages) == (
        422,
        False,
        True,
    )


def test_what_was_entered_stands_in_the_form_when_it_is_refused(host):
    answer = host.sign_in().post("/models/new", data=CLOUD | {"base_url": "http://169.254.169.254/"}, headers=PAGE)
    assert (answer.status_code, 'value="Cloud"' in answer.text, "link-local or metadata address" in answer.text) == (
        422,
        True,
        True,
    )


def test_runs_on_my_own_machines_is_off_until_it_is_ticked(host):
    browser = host.sign_in()
    form = browser.get("/models/new", headers=PAGE).text
    upstream = add(browser)
    off = "runs elsewhere" in browser.get("/models", headers=PAGE).text
    browser.post(f"/models/{upstream}", data=CLOUD | {"local": "true"})
    on = "runs elsewhere" in browser.get("/models", headers=PAGE).text
    assert (re.search(r'name="local"[^>]*checked', form), off, on) == (None, True, False)


def test_each_person_says_for_themselves_what_may_see_their_notes(host):
    admin, member = host.sign_in(), host.member()
    upstream = add(admin)
    seen = reach(member.get("/models", headers=PAGE).text)
    assert member.post(f"/models/{upstream}/consent", json={"given": True, "seen": seen}).status_code == 204
    assert [tick(browser.get("/models", headers=PAGE).text) for browser in (admin, member)] == [[""], [" checked"]]


@pytest.mark.case("locality-gate")
@pytest.mark.parametrize("changed", [{"model": "other"}, {"base_url": "https://other.example/v1"}])
def test_a_consent_counts_only_for_the_address_and_the_model_that_the_person_saw(host, changed):
    admin, member = host.sign_in(), host.member()
    upstream = add(admin)
    seen = reach(member.get("/models", headers=PAGE).text)
    admin.post(f"/models/{upstream}", data=CLOUD | changed)
    answer = member.post(f"/models/{upstream}/consent", json={"given": True, "seen": seen})
    assert (answer.status_code, tick(member.get("/models", headers=PAGE).text)) == (422, [""])


def test_an_upstream_that_is_removed_is_gone(host):
    browser = host.sign_in()
    upstream = add(browser)
    browser.post(f"/models/{upstream}/remove")
    assert ("Cloud" in browser.get("/models", headers=PAGE).text, browser.get(f"/models/{upstream}").status_code) == (
        False,
        404,
    )


def test_an_unknown_upstream_is_not_found(host):
    browser = host.sign_in()
    answers = [
        browser.get("/models/u_x"),
        browser.post("/models/u_x", data=CLOUD),
        browser.post("/models/u_x/remove"),
        browser.post("/models/u_x/test"),
        browser.post("/models/u_x/consent", json={"given": True, "seen": ""}),
    ]
    assert {(answer.status_code, answer.json()["error"]["code"]) for answer in answers} == {(404, "not-found")}


@pytest.mark.case("upstream-test-button")
def test_the_test_of_an_upstream_that_is_not_there_says_so(host):
    browser = host.sign_in()
    lines = browser.post(f"/models/{add(browser)}/test").json()["lines"]
    assert (lines[0]["ok"], bool(lines[0]["text"])) == (False, True)


def test_without_built_in_model_the_page_says_that_it_is_off(host):
    browser = host.sign_in()
    state = browser.get("/models/built-in").json()
    assert ("switched off" in state["html"], state["settled"]) == (True, True)


@dataclass
class Shown:
    """What the page asks of a built-in model."""

    state: State
    text: str = "It is being fetched."
    done_bytes: int = 250
    total_bytes: int = 1000


@pytest.mark.parametrize("state", get_args(State))
def test_every_state_of_the_built_in_model_is_shown_in_words(state):
    piece = templates.fragment("models/built_in.html", built_in=Shown(state))
    assert ("It is being fetched." in piece, 'class="badge' in piece) == (True, True)


def test_while_the_built_in_model_comes_a_bar_shows_how_far_it_is():
    pieces = [templates.fragment("models/built_in.html", built_in=Shown(state)) for state in ("fetching", "ready")]
    assert ['<progress value="250" max="1000">' in piece for piece in pieces] == [True, False]
