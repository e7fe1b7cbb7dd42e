"""The own account, and the people of the host."""

import re

import pytest

from tests.host.conftest import PAGE, PASSWORD


def set_password(browser, new=PASSWORD, current=""):
    answer = browser.post("/account/password", data={"new": new, "current": current}, headers=PAGE)
    del browser.headers["x-csrf-token"]
    return answer


def try_password(browser, name="owner", password=PASSWORD, **more):
    return browser.post("/sign-in", data={"name": name, "password": password} | more, headers=PAGE)


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


def test_the_account_has_its_tabs(host):
    page = host.member().get("/account", headers=PAGE).text
    tabs = re.findall(r'href="(/account[^"]*)"', page.partition('class="tabs"')[2].partition("</nav>")[0])
    assert tabs == ["/account", "/account/security", "/account/memory"]
