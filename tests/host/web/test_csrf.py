"""The token that ties a form to its session."""

import pytest

from short_memory_host.web import csrf
from tests.host.conftest import PAGE, token_of


def test_a_token_is_that_of_its_session_alone():
    assert (csrf.token("a") == csrf.token("a"), csrf.token("a") == csrf.token("b")) == (True, False)


@pytest.mark.case("host-csrf")
@pytest.mark.parametrize("sent", ["", "0" * 64, "é"])
def test_a_wrong_token_is_refused(host, sent):
    browser = host.sign_in()
    del browser.headers["x-csrf-token"]
    answer = browser.post("/sign-out", data={"csrf_token": sent})
    assert (answer.status_code, browser.get("/account").status_code) == (403, 200)


@pytest.mark.case("host-csrf")
def test_the_token_of_another_session_is_refused(host):
    browser = host.sign_in()
    browser.headers["x-csrf-token"] = token_of(host.sign_in())
    assert browser.post("/sign-out").json()["error"]["code"] == "csrf"


def test_a_form_carries_the_token_as_a_field(host):
    browser = host.sign_in()
    token = browser.headers.pop("x-csrf-token")
    answer = browser.post("/account", data={"csrf_token": token, "name": "Ada"}, headers=PAGE)
    assert answer.headers["location"] == "/account?saved=1"


def test_a_wrong_header_is_not_mended_by_the_field(host):
    browser = host.sign_in()
    token = browser.headers.pop("x-csrf-token")
    answer = browser.post("/account", data={"csrf_token": token, "name": "Ada"}, headers={"x-csrf-token": "0"})
    assert answer.status_code == 403
