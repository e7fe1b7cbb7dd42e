"""Errors as answers: the tables are whole, and nothing of what failed leaks."""

import pytest

from short_memory import errors as engine
from short_memory_host.web import errors, templates
from tests.host.conftest import PAGE


def test_every_error_of_the_engine_has_a_status():
    assert set(errors.ENGINE_STATUS) == {kind.code for kind in engine.every()}


def test_every_error_of_the_host_has_a_text():
    assert {f"error.{kind.code}" for kind in errors.every()} - set(templates.locale("en")) == set()


def test_an_error_is_json_for_a_script_and_a_page_for_a_browser(host):
    browser = host.sign_in()
    script, page = browser.get("/nothing"), browser.get("/nothing", headers=PAGE)
    sentence = templates.t("error.not-found")
    assert (script.status_code, script.json()) == (404, {"error": {"code": "not-found", "text": sentence}})
    assert (page.status_code, sentence in page.text) == (404, True)


def test_an_error_of_the_engine_keeps_its_code_and_text(host):
    @host.app.get("/raise")
    def fail():
        raise engine.NoTopicError(["food"])

    answer = host.browser().get("/raise")
    assert (answer.status_code, answer.json()) == (
        404,
        {"error": {"code": "no-topic", "text": "No such topic here. Topics: food."}},
    )


@pytest.mark.case("log-no-content")
@pytest.mark.parametrize("headers", [{}, PAGE])
def test_what_was_not_foreseen_says_nothing_of_its_text(host, headers, caplog):
    @host.app.get("/raise")
    def fail():
        raise RuntimeError("allergic to nuts")

    answer = host.browser().get("/raise", headers=headers)
    assert (answer.status_code, templates.t("error.unforeseen") in answer.text) == (500, True)
    assert ("nuts" in answer.text, "nuts" in caplog.text, answer.headers["x-frame-options"]) == (False, False, "DENY")


def test_fields_that_are_missing_are_named_and_not_quoted(host):
    answer = host.browser().post("/sign-in", data={"name": "my-secret-name"})
    assert (answer.status_code, answer.json()["error"]["text"]) == (
        422,
        templates.t("error.bad-fields", fields="password"),
    )


def test_a_kind_of_request_that_is_not_taken_is_told(host):
    answer = host.browser().request("DELETE", "/sign-in")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "bad-method")


def test_the_way_to_sign_in_leads_back_to_the_page(host):
    assert (
        host.browser().get("/account/security", headers=PAGE).headers["location"]
        == "/sign-in?next=%2Faccount%2Fsecurity"
    )
