"""Who asks, and who may."""

import pytest

from short_memory_host.web import people


def test_a_member_may_do_nothing_of_an_admin(host):
    browser = host.member()
    wanted = [
        browser.get("/models/new"),
        browser.post("/models/new", data={"name": "x"}),
        browser.get("/models/u_1"),
        browser.post("/models/u_1", data={"name": "x"}),
        browser.post("/models/u_1/remove"),
        browser.post("/models/u_1/test"),
        browser.get("/account/people"),
        browser.post("/account/people", data={"name": "Eve"}),
    ]
    assert {(answer.status_code, answer.json()["error"]["code"]) for answer in wanted} == {(403, "not-admin")}


@pytest.mark.case("first-person-admin")
def test_the_first_person_is_admin_and_later_ones_are_members(host):
    pages = [browser.get("/account/people").status_code for browser in (host.sign_in(), host.member())]
    assert pages == [200, 403]


def test_a_person_who_is_unknown_is_nobody(host):
    with host.database.read() as connection:
        assert people.find(connection, "p_nobody") is None
