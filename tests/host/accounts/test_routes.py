"""Coming in by link and by password, and the own account."""

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


def test_who_has_a_password_is_not_offered_one(host):
    browser = host.sign_in()
    set_password(browser)
    assert browser.get("/welcome", headers=PAGE).headers["location"] == "/"


def test_the_welcome_sets_name_password_and_time_zone(host):
    browser = host.sign_in()
    sent = {"name": "Ada", "new": PASSWORD, "time_zone": "Europe/Rome"}
    assert browser.post("/welcome", data=sent, headers=PAGE).headers["location"] == "/"
    page = browser.get("/account", headers=PAGE).text
    assert ('value="Ada"' in page, 'value="Europe/Rome"' in page, try_password(host.browser(), "ada").status_code) == (
        True,
        True,
        303,
    )


def test_a_password_that_is_too_short_is_refused_with_its_least_length(host):
    answer = host.sign_in().post("/welcome", data={"name": "Ada", "new": "short"}, headers=PAGE)
    assert (answer.status_code, "at least 10 characters" in answer.text) == (422, True)


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


def test_another_password_needs_the_present_one(host):
    browser = host.sign_in()
    set_password(browser)
    page = browser.get("/account", headers=PAGE).text
    browser.headers["x-csrf-token"] = re.search(r'csrf-token" content="(\w+)"', page)[1]
    sent = {"new": "another long password", "current": "not this one"}
    assert browser.post("/account/password", data=sent, headers=PAGE).status_code == 422
    assert (
        try_password(host.browser()).status_code,
        browser.post("/account/password", data=sent | {"current": PASSWORD}).status_code,
    ) == (303, 303)
    assert try_password(host.browser()).status_code == 403


def test_another_password_ends_every_other_session(host):
    other, browser = host.sign_in(), host.sign_in()
    set_password(browser)
    assert (other.get("/account").status_code, browser.get("/account").status_code) == (401, 200)


def test_the_security_page_lists_the_own_sessions_alone(host):
    host.member()
    host.sign_in()
    page = host.sign_in().get("/account/security", headers=PAGE).text
    assert (page.count('class="row"'), page.count("this one</span>")) == (2, 1)


def test_a_name_that_is_taken_is_refused_whatever_its_case(host):
    answer = host.member("Ada").post("/account", data={"name": "OWNER"}, headers=PAGE)
    assert (answer.status_code, "has that name already" in answer.text) == (422, True)


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\u202eb", "a\u200bb"])
def test_a_name_that_cannot_be_seen_is_refused(host, name):
    assert host.sign_in().post("/account", data={"name": name}, headers=PAGE).status_code == 422


def test_a_time_zone_that_does_not_exist_is_refused(host):
    assert host.sign_in().post("/account", data={"name": "Ada", "time_zone": "Mars/Base"}).status_code == 422


def test_the_browsers_time_zone_is_taken_once(host):
    browser = host.sign_in()
    answers = [
        browser.post("/account/time-zone", json={"time_zone": zone}).status_code
        for zone in ("Mars/Base", "Europe/Rome", "Asia/Tokyo")
    ]
    page = browser.get("/account", headers=PAGE).text
    assert (answers, 'data-time-zone="Europe/Rome"' in page) == ([204] * 3, True)


def test_an_admin_adds_a_person_and_gets_a_link_for_them(host):
    page = host.sign_in().post("/account/people", data={"name": "Ada"}, headers=PAGE).text
    link = re.search(r"http://127\.0\.0\.1:8087/sign-in\?token=([\w-]+)", page)[1]
    browser = host.browser()
    browser.post("/sign-in/link", data={"token": link})
    assert 'value="Ada"' in browser.get("/account", headers=PAGE).text


def test_who_is_signed_in_is_led_past_the_sign_in_page(host):
    assert host.sign_in().get("/sign-in?next=/account", headers=PAGE).headers["location"] == "/account"


def test_the_account_has_its_tabs(host):
    page = host.member().get("/account", headers=PAGE).text
    tabs = re.findall(r'href="(/account[^"]*)"', page.partition('class="tabs"')[2].partition("</nav>")[0])
    assert tabs == ["/account", "/account/security", "/account/memory"]
