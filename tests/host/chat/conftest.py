"""A person in the chat: a browser whose requests run on the host's own event loop, and a model that answers as scripted."""

import json
from dataclasses import dataclass

import pytest
from starlette.testclient import TestClient

from short_memory_host.app import create_app
from short_memory_host.chat import queries
from short_memory_host.web import upstreams
from tests.host.conftest import ORIGIN, PAGE, Host
from tests.scripted_upstream import ScriptedUpstream


class SharedLoop(Host):
    """Browsers share the loop of the host, as with a real server: connections to a model outlive a request."""

    loop = None

    def browser(self):
        opened = super().browser()
        opened.portal = self.loop
        return opened


@pytest.fixture
def host(settings, clock):
    app = create_app(settings, clock=clock)
    with TestClient(app, base_url=ORIGIN) as opened:
        running = SharedLoop(app, settings, clock)
        running.loop = opened.portal
        yield running


@pytest.fixture
def server():
    with ScriptedUpstream() as opened:
        yield opened


def add_upstream(host, server, **more):
    given = {"name": "Ours", "base_url": server.base_url, "model": "scripted", "api_key": "", "local": True}
    fields = upstreams.Fields(**given | {"tools": "native"} | more)
    with host.database.write() as connection:
        return upstreams.add(connection, fields, now=host.clock())


def events_of(answer):
    """Read the events of a whole stream."""
    lines = [line for line in answer.text.splitlines() if line.startswith("data:")]
    return [json.loads(line.removeprefix("data:")) for line in lines]


@dataclass
class Talk:
    """One person's conversation."""

    host: Host
    browser: TestClient
    id: str = ""

    @property
    def held(self):
        return self.host.app.state.held

    def post(self, what="", **body):
        return self.browser.post(f"/chat/{self.id}{what}", json=body)

    def begin(self, text="Hello", **more):
        answer = self.browser.post("/chat", json={"text": text} | more)
        assert answer.status_code == 201
        self.id = answer.json()["url"].removeprefix("/chat/")
        return self

    def answer(self, *, anew=False):
        answer = self.post("/answer", anew=anew)
        assert answer.status_code == 200, answer.text
        return events_of(answer)

    def ask(self, text="Hello"):
        """Say something, in a new conversation or in this one, and return the events of the answer."""
        if self.id:
            assert self.post("/messages", text=text).status_code == 204
        else:
            self.begin(text)
        return self.answer()

    def page(self):
        answer = self.browser.get(f"/chat/{self.id}", headers=PAGE)
        assert answer.status_code == 200
        return answer.text

    def kept(self):
        with self.host.database.read() as connection:
            return queries.messages(connection, self.id)

    @property
    def files(self):
        root = self.host.settings.data / "files"
        return {one.name: one.read_text(encoding="utf-8") for one in root.glob("p_*/**/*.md")}


@pytest.fixture
def talk(host, server):
    """A signed-in person with a model on their own machines."""
    browser = host.sign_in()
    add_upstream(host, server)
    return Talk(host, browser)
