"""The host on a clock of the test, without a socket. `host.browser()` is a browser with cookies of its own."""

import re
from dataclasses import dataclass, field

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from short_memory_host.accounts import service
from short_memory_host.app import create_app
from short_memory_host.settings import Settings
from tests.clock import Clock

ORIGIN = "http://127.0.0.1:8087"
PAGE = {"accept": "text/html"}
PASSWORD = "correct horse battery"


@dataclass
class Host:
    """A host that runs, and what a test needs to come in."""

    app: FastAPI
    settings: Settings
    clock: Clock
    browsers: list[TestClient] = field(default_factory=list)

    @property
    def database(self):
        return self.app.state.held.database

    def browser(self) -> TestClient:
        opened = TestClient(self.app, base_url=ORIGIN, follow_redirects=False)
        self.browsers.append(opened)
        return opened

    def link(self, name: str | None = None) -> str:
        return service.new_link(self.database, name, now=self.clock())

    def sign_in(self, name: str | None = None) -> TestClient:
        """Return a browser in which the person of that name, or the first admin, is signed in."""
        browser = self.browser()
        answer = browser.post("/sign-in/link", data={"token": self.link(name)}, headers=PAGE)
        assert answer.status_code == 303
        browser.headers["x-csrf-token"] = token_of(browser)
        return browser

    def member(self, name: str = "Ada") -> TestClient:
        """Add a member and return the browser in which they are signed in."""
        service.add_person(self.database, name, role="member", now=self.clock())
        return self.sign_in(name)


def token_of(browser: TestClient) -> str:
    """Read the CSRF token as a script would."""
    page = browser.get("/account", headers=PAGE).text
    return re.search(r'<meta name="csrf-token" content="([0-9a-f]{64})">', page)[1]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(data=tmp_path / "host", model="none")


@pytest.fixture
def host(settings, clock):
    app = create_app(settings, clock=clock)
    with TestClient(app, base_url=ORIGIN):
        running = Host(app, settings, clock)
        yield running
        for browser in running.browsers:
            browser.close()
