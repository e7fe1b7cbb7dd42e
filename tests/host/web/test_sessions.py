"""How long a session lives, and what the browser is given."""

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from short_memory_host import database as db
from short_memory_host.app import create_app
from short_memory_host.settings import Settings
from tests.host.conftest import PAGE, Host


def test_a_session_ends_after_seven_idle_days(host):
    browser = host.sign_in()
    host.clock.move(days=7, seconds=-1)
    alive = browser.get("/account").status_code
    host.clock.move(days=7)
    assert (alive, browser.get("/account").status_code) == (200, 401)


def test_a_session_in_use_ends_after_thirty_days(host):
    browser = host.sign_in()
    days = [browser.get("/account").status_code for _ in range(31) if host.clock.move(days=1) is None]
    assert days == [200] * 29 + [401] * 2


def test_the_cookie_is_for_this_host_and_no_script(host):
    answer = host.browser().post("/sign-in/link", data={"token": host.link()})
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert (name, rest.partition(";")[2].strip()) == (
        "short_memory_session",
        "HttpOnly; Max-Age=2592000; Path=/; SameSite=lax",
    )


def test_over_https_the_cookie_is_bound_to_the_host(tmp_path, clock):
    settings = Settings(data=tmp_path, public_url="https://notes.example", model="none")
    app = create_app(settings, clock=clock)
    with TestClient(app, base_url="https://notes.example", follow_redirects=False) as browser:
        link = Host(app, settings, clock).link()
        answer = browser.post("/sign-in/link", data={"token": link}, headers={"origin": "https://notes.example"})
        assert answer.headers["set-cookie"].startswith("__Host-session=")
        assert answer.headers["set-cookie"].endswith("; Path=/; SameSite=lax; Secure")
        assert browser.get("/account", headers=PAGE).status_code == 200


def test_the_database_holds_no_secret_of_a_session(host):
    browser = host.sign_in()
    secret = browser.cookies["short_memory_session"]
    assert secret.encode() not in host.database.path.read_bytes()
    with host.database.read() as connection:
        assert secret not in connection.execute(select(db.sessions.c.token)).scalars().all()


def test_signing_in_gives_another_session_and_ends_the_old_one(host):
    browser = host.sign_in()
    before = browser.cookies["short_memory_session"]
    browser.post("/sign-in/link", data={"token": host.link()})
    old = host.browser()
    old.cookies.set("short_memory_session", before, domain="127.0.0.1")
    assert (browser.cookies["short_memory_session"] != before, old.get("/account").status_code) == (True, 401)


def test_signing_out_ends_the_session_on_the_host(host):
    browser = host.sign_in()
    secret = browser.cookies["short_memory_session"]
    assert browser.post("/sign-out").headers["location"] == "/sign-in"
    browser.cookies.set("short_memory_session", secret, domain="127.0.0.1")
    assert browser.get("/account").status_code == 401


@pytest.mark.parametrize("secret", ["", "x", "0" * 64])
def test_a_made_up_cookie_is_nobody(host, secret):
    browser = host.browser()
    browser.cookies.set("short_memory_session", secret, domain="127.0.0.1")
    assert browser.get("/account").status_code == 401


def test_signing_out_everywhere_ends_every_session_of_that_person_alone(host):
    one, two, other = host.sign_in(), host.sign_in(), host.member()
    one.post("/sign-out/everywhere")
    assert [browser.get("/account").status_code for browser in (one, two, other)] == [401, 401, 200]
