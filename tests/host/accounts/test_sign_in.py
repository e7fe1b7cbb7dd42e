"""Coming in by link and by password."""

import re

import pytest

from tests.host.conftest import PAGE, PASSWORD


def set_password(browser, new=PASSWORD, current=""):
    answer = browser.post("/account/password", data={"new": new, "current": current}, headers=PAGE)
    del browser.headers["x-csrf-token"]
    return answer


def try_password(browser, name="owner", password=PASSWORD, **more):
    return browser.post("/sign-in", data={"name": name, "password": password} | more, headers=PAGE)


@pytest.mark.case("signin-link-once")
def test_opening_a_link_spends_nothing(host):
    token = host.link()
    pages = [host.browser().get(f"/sign-in?token={token}", headers=PAGE) for _ in range(3)]
    assert [(page.status_code, "set-cookie" in page.headers) for page in pages] == [(200, False)] * 3
    assert host.browser().post("/sign-in/link", data={"token": token}).status_code == 303


@pytest.mark.case("signin-link-once")
def test_a_link_is_spent_once(host):
    token = host.link()
    answers = [host.browser().post("/sign-in/link", data={"token": token}, headers=PAGE) for _ in range(2)]
    assert [(answer.status_code, "set-cookie" in answer.headers) for answer in answers] == [(303, True), (410, False)]


def test_a_link_lives_for_fifteen_minutes(host):
    token = host.link()
    host.clock.move(minutes=15, seconds=-1)
    before = host.browser().get(f"/sign-in?token={token}").status_code
    host.clock.move(seconds=1)
    after = host.browser().get(f"/sign-in?token={token}").status_code
    assert (before, after, host.browser().post("/sign-in/link", data={"token": token}).status_code) == (200, 410, 410)


def test_a_spent_an_expired_and_an_unknown_link_are_answered_alike(host):
    spent, expired = host.link(), host.link()
    host.browser().post("/sign-in/link", data={"token": spent})
    host.clock.move(minutes=16)
    pages = {host.browser().get(f"/sign-in?token={token}", headers=PAGE).text for token in (spent, expired, "unknown")}
    assert len(pages) == 1


def test_a_link_leads_to_the_offer_of_a_password_that_can_be_skipped(host):
    browser = host.sign_in()
    page = browser.get("/welcome", headers=PAGE).text
    assert ('name="new"' in page, '<a class="button button-quiet" href="/">Skip</a>' in page) == (True, True)


def test_name_and_password_sign_in(host):
    set_password(host.sign_in())
    browser = host.browser()
    answer = try_password(browser, next="/account/security")
    assert (answer.status_code, answer.headers["location"], browser.get("/account").status_code) == (
        303,
        "/account/security",
        200,
    )


def test_a_foreign_next_page_is_not_followed(host):
    set_password(host.sign_in())
    assert try_password(host.browser(), next="//evil.example").headers["location"] == "/"


def test_a_wrong_password_and_an_unknown_name_are_answered_alike(host):
    set_password(host.sign_in())
    answers = [try_password(host.browser(), name, "wrong wrong wrong") for name in ("owner", "nobody")]
    pages = {re.sub('value="(owner|nobody)"', "", answer.text) for answer in answers}
    assert ([answer.status_code for answer in answers], len(pages)) == ([403, 403], 1)


def test_a_person_without_password_does_not_come_in_with_an_empty_one(host):
    assert [try_password(host.browser(), password=password).status_code for password in ("", "x")] == [422, 403]


def test_the_fourth_attempt_has_to_wait_even_with_the_right_password(host):
    set_password(host.sign_in())
    wrong = [try_password(host.browser(), password="wrong").status_code for _ in range(3)]
    answer = try_password(host.browser())
    assert (wrong, answer.status_code, answer.headers["retry-after"]) == ([403] * 3, 429, "2")
    host.clock.move(seconds=2)
    assert try_password(host.browser()).status_code == 303


def test_a_link_works_while_the_password_has_to_wait(host):
    set_password(host.sign_in())
    for _ in range(4):
        try_password(host.browser(), password="wrong")
    assert host.browser().post("/sign-in/link", data={"token": host.link()}).status_code == 303


def test_who_is_signed_in_is_led_past_the_sign_in_page(host):
    assert host.sign_in().get("/sign-in?next=/account", headers=PAGE).headers["location"] == "/account"
