"""What is refused before any route sees it."""

import pytest

from short_memory_host.settings import Settings
from short_memory_host.web.security import LARGEST_BODY_BYTES, host_is_allowed, origin_is_ours
from tests.host.conftest import ORIGIN, PAGE


@pytest.mark.case("host-header-check")
@pytest.mark.parametrize(
    ("listen", "public_url", "host", "allowed"),
    [
        ("127.0.0.1:8087", None, "127.0.0.1:8087", True),
        ("127.0.0.1:8087", None, "localhost:8087", True),
        ("127.0.0.1:8087", None, "LOCALHOST:8087", True),
        ("127.0.0.1:8087", None, "[::1]:8087", True),
        ("127.0.0.1:8087", None, "evil.example:8087", False),
        ("127.0.0.1:8087", None, "127.0.0.1.evil.example", False),
        ("127.0.0.1:8087", None, "localhost.", False),
        ("127.0.0.1:8087", None, "192.168.1.5:8087", False),
        ("127.0.0.1:8087", None, "", False),
        ("127.0.0.1:8087", None, "user@localhost", False),
        ("127.0.0.1:8087", None, "localhost/x", False),
        ("127.0.0.1:8087", None, "localhost:x", False),
        ("127.0.0.1:8087", None, "[::1", False),
        ("192.168.1.5:8087", None, "192.168.1.5:8087", True),
        ("192.168.1.5:8087", None, "192.168.1.6:8087", False),
        ("0.0.0.0:8087", None, "192.168.1.5:8087", True),
        ("0.0.0.0:8087", None, "[fd00::5]:8087", True),
        ("0.0.0.0:8087", None, "evil.example:8087", False),
        ("127.0.0.1:8087", "https://notes.example", "notes.example", True),
        ("127.0.0.1:8087", "https://notes.example", "Notes.Example", True),
        ("127.0.0.1:8087", "https://notes.example", "notes.example:444", False),
    ],
)
def test_only_names_of_this_host_are_allowed(listen, public_url, host, allowed):
    assert host_is_allowed(host, Settings(listen=listen, public_url=public_url)) is allowed


@pytest.mark.case("host-origin-check")
@pytest.mark.parametrize(
    ("origin", "ours"),
    [
        ("http://localhost:8087", True),
        ("https://notes.example", True),
        ("http://localhost:9999", False),
        ("https://localhost:8087", False),
        ("http://notes.example", False),
        ("null", False),
        ("", False),
    ],
)
def test_only_the_origin_of_our_own_pages_is_ours(origin, ours):
    assert origin_is_ours(origin, "localhost:8087", Settings(public_url="https://notes.example")) is ours


@pytest.mark.case("host-origin-check")
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_post_from_another_site_does_nothing(host, headers):
    browser = host.sign_in()
    answer = browser.post("/sign-out", headers=headers)
    assert (answer.status_code, browser.get("/account").status_code) == (403, 200)


def test_a_post_of_our_own_page_is_taken(host):
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
    assert host.sign_in().post("/sign-out", headers=headers).status_code == 303


def test_a_link_from_another_site_may_open_a_page(host):
    assert host.sign_in().get("/account", headers={"sec-fetch-site": "cross-site"} | PAGE).status_code == 200


def test_what_is_refused_is_a_page_for_a_browser(host):
    answer = host.browser().get("/sign-in", headers={"host": "evil.example"} | PAGE)
    assert ("This host does not go by the name" in answer.text, answer.headers["x-frame-options"]) == (True, "DENY")


@pytest.mark.parametrize(("size", "status"), [(LARGEST_BODY_BYTES, 401), (LARGEST_BODY_BYTES + 1, 413)])
def test_a_body_may_have_256_kib_and_not_a_byte_more(host, size, status):
    answer = host.browser().post("/sign-out", content=b"x" * size)
    assert answer.status_code == status


@pytest.mark.parametrize("more", [{}, {"content-length": "1"}])
def test_a_body_of_unknown_length_is_refused(host, more):
    answer = host.browser().post("/sign-out", content=iter([b"x"]), headers=more | {"transfer-encoding": "chunked"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (411, "no-length")
