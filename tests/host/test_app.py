"""The whole application: what every route of every area has in common."""

import re

import pytest

from tests.host.conftest import ORIGIN, PAGE

OPEN_TO_ALL = {("GET", "/sign-in"), ("POST", "/sign-in"), ("POST", "/sign-in/link")}
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": CONTENT_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def routes(host):
    """Return method and path of every route, with ids that nobody has."""
    paths = host.app.openapi()["paths"]
    found = {
        (method.upper(), re.sub(r"\{.*?\}", "nobodys", path)) for path, methods in paths.items() for method in methods
    }
    assert found > OPEN_TO_ALL
    return sorted(found)


@pytest.mark.case("host-csp")
def test_every_route_answers_with_the_security_headers(host):
    browser = host.sign_in()
    for method, path in [*routes(host), ("GET", "/nothing-here")]:
        answer = browser.request(method, path, headers=PAGE)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, (method, path)


@pytest.mark.case("host-csp")
def test_no_page_holds_inline_script_or_style(host):
    browser = host.sign_in()
    pages = [browser.get(path, headers=PAGE).text for method, path in routes(host) if method == "GET"]
    inline = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", re.IGNORECASE)
    assert [inline.findall(page) for page in pages] == [[]] * len(pages)


@pytest.mark.case("host-session-required")
def test_every_route_but_sign_in_refuses_a_script_without_session(host):
    browser = host.browser()
    answers = {(method, path): browser.request(method, path) for method, path in routes(host)}
    open_ones = {route for route, answer in answers.items() if answer.status_code != 401}
    assert open_ones == OPEN_TO_ALL
    texts = {answer.json()["error"]["code"] for answer in answers.values() if answer.status_code == 401}
    assert texts == {"not-signed-in"}


@pytest.mark.case("host-session-required")
def test_every_page_leads_to_sign_in_without_session(host):
    browser = host.browser()
    pages = [path for method, path in routes(host) if method == "GET" and (method, path) not in OPEN_TO_ALL]
    leads = {browser.get(path, headers=PAGE).headers["location"].partition("?")[0] for path in pages}
    assert leads == {"/sign-in"}


@pytest.mark.case("host-csrf")
def test_every_route_that_changes_something_refuses_a_request_without_token(host):
    browser = host.sign_in()
    del browser.headers["x-csrf-token"]
    changing = [
        (method, path) for method, path in routes(host) if method != "GET" and (method, path) not in OPEN_TO_ALL
    ]
    codes = {route: browser.request(*route).json()["error"]["code"] for route in changing}
    assert codes == dict.fromkeys(changing, "csrf")


@pytest.mark.case("host-origin-check")
def test_every_route_refuses_a_request_of_another_site(host):
    browser = host.sign_in()
    for method, path in routes(host):
        answer = browser.request(method, path, headers={"origin": "https://evil.example"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "bad-origin"), (method, path)


@pytest.mark.case("host-header-check")
def test_every_route_refuses_a_foreign_host_name(host):
    browser = host.sign_in()
    for method, path in routes(host):
        answer = browser.request(method, path, headers={"host": "evil.example:8087"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "bad-host"), (method, path)


def test_a_static_file_is_kept_for_a_year_under_the_hash_of_all(host):
    page = host.browser().get("/sign-in", headers=PAGE).text
    address = re.search(r'src="(/static/[0-9a-f]{16}/js/page\.js)"', page)[1]
    answer = host.browser().get(address)
    kind = answer.headers["content-type"].partition(";")[0]
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "public, max-age=31536000, immutable")
    assert kind in {"text/javascript", "application/javascript"}


def test_a_static_file_that_is_not_there_is_not_kept(host):
    answer = host.browser().get("/static/0123456789abcdef/js/page.js")
    assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store")


def test_the_data_folder_is_for_its_owner_alone(host):
    assert host.settings.data.stat().st_mode & 0o777 == 0o700


def test_the_application_tells_no_stranger_its_interface(host):
    browser = host.browser()
    assert [browser.get(path).status_code for path in ("/docs", "/redoc", "/openapi.json")] == [404, 404, 404]


def test_a_body_over_the_limit_is_refused_before_anybody_reads_it(host):
    answer = host.browser().post("/sign-in", data={"name": "x" * 300_000, "password": "x"}, headers={"origin": ORIGIN})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too-large")
