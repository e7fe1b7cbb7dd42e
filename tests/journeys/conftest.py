"""What the journeys share: the real host on a real socket, a model that answers as scripted, and windows of a real Chromium.

A window fails its test on any error of the console, any breach of the page's policy and any request to another host.
The clock stands still until the test moves it. Nothing here sleeps: Playwright waits for what the person would see.
"""

import re
import shutil
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from short_memory_host import cli
from short_memory_host.accounts import service
from short_memory_host.app import create_app
from short_memory_host.settings import Settings
from tests.scripted_upstream import Call, ScriptedUpstream, calls, says

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
WIDER = "[document.documentElement, document.querySelector('main')].some((one) => one.scrollWidth > one.clientWidth)"
REFUSED = re.compile(r"the server responded with a status of (\d+)")


@dataclass
class Clock:
    """Stands still until the test moves it."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


class Served(cli.Server):
    """Says when it is there."""

    def __init__(self, app, settings):
        super().__init__(app, settings)
        self.there = threading.Event()

    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.there.set()


@dataclass
class Host:
    """A host that runs on a port of this machine."""

    app: FastAPI
    settings: Settings
    clock: Clock

    @property
    def url(self) -> str:
        return self.settings.url

    def link(self) -> str:
        """Return a sign-in link for the first person."""
        secret = service.new_link(self.app.state.held.database, None, now=self.clock())
        return f"{self.url}/sign-in?token={secret}"

    @property
    def notes(self) -> Path:
        """The folder of the first person's notes, on disk."""
        (notes,) = (self.settings.data / "files").glob("*/Memory")
        return notes

    def texts(self) -> dict[str, str]:
        """Return every note on disk, by its name."""
        found = sorted((self.settings.data / "files").glob("*/Memory/**/*.md"))
        return {one.name: one.read_text(encoding="utf-8") for one in found}


@dataclass
class Window:
    """A window of the person's browser, and what they do in it."""

    host: Host
    page: Page
    expected_refusals: set[int] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", self._asked)

    def _heard(self, message) -> None:
        refused = REFUSED.search(message.text)
        if message.type in ("error", "warning") and not (refused and int(refused[1]) in self.expected_refusals):
            self.complaints.append(f"console: {message.text}")

    def _asked(self, request) -> None:
        if not request.url.startswith((f"{self.host.url}/", "data:")):
            self.complaints.append(f"foreign request: {request.url}")

    # Places

    def come_in(self) -> None:
        """Open a sign-in link, press its button and skip the offer of a password."""
        self.page.goto(self.host.link())
        self.button("Sign in").click()
        self.page.wait_for_url("**/welcome")
        self.page.get_by_role("link", name="Skip").click()
        expect(self.composer).to_be_visible()

    def go(self, place: str) -> None:
        """Go to a place of the column, which is in the drawer on a phone."""
        menu = self.button("Menu")
        if menu.is_visible():
            menu.click()
        self.page.get_by_role("navigation", name="Places").get_by_role("link", name=place, exact=True).click()
        self.page.wait_for_load_state()

    def open(self, path: str) -> None:
        self.page.goto(self.host.url + path)

    def add_model(self, server: ScriptedUpstream, *, local: bool, name: str = "Scripted") -> None:
        """Add a model as an admin does."""
        self.go("Models")
        self.page.get_by_role("link", name="Add a model").click()
        self.page.get_by_label("Name", exact=True).fill(name)
        self.page.get_by_label("Address").fill(server.base_url)
        self.page.get_by_label("Model", exact=True).fill("scripted")
        self.page.get_by_label("Runs on my own machines").set_checked(local)
        self.button("Save").click()
        expect(self.page.get_by_role("heading", name=name)).to_be_visible()

    # Pieces

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def composer(self) -> Locator:
        return self.page.get_by_label("Your message")

    @property
    def thread(self) -> Locator:
        return self.page.get_by_role("log", name="Conversation")

    @property
    def answers(self) -> Locator:
        return self.page.get_by_role("article", name="Model", exact=True)

    @property
    def words(self) -> Locator:
        """What the person said."""
        return self.page.get_by_role("article", name="You", exact=True)

    @property
    def cards(self) -> Locator:
        return self.page.locator("[data-proposal]")

    @property
    def card(self) -> Locator:
        return self.cards.last

    @property
    def chips(self) -> Locator:
        return self.page.locator(".chip")

    @property
    def toast(self) -> Locator:
        return self.page.locator(".toast").last

    # Chat

    def say(self, text: str) -> None:
        """Say something, in this chat or as the first words of a new one; the answer may still come."""
        begins = self.thread.get_attribute("data-chat") == ""
        said = self.words.count()
        self.composer.fill(text)
        self.composer.press("Enter")
        if begins:
            self.page.wait_for_url("**/chat/c_*")
        expect(self.words).to_have_count(said + 1)

    def answered(self) -> None:
        """Wait until the model is done."""
        expect(self.thread).to_have_attribute("aria-busy", "false")

    def ask(self, text: str) -> None:
        """Say something and wait for the whole answer."""
        self.say(text)
        self.answered()

    def new_chat(self) -> None:
        self.open("/")
        expect(self.composer).to_be_visible()

    def choose(self, model: str) -> None:
        """Choose the model that answers from now on."""
        chosen = self.page.get_by_label("Model", exact=True).and_(self.page.locator("select"))
        if self.thread.get_attribute("data-chat"):
            with self.page.expect_response("**/upstream"):
                chosen.select_option(label=model)
        else:
            chosen.select_option(label=model)

    def confirm(self) -> None:
        """Say yes to the last card."""
        self.card.get_by_role("button", name="Confirm").click()
        expect(self.card).to_contain_text("Confirmed and written.")

    def tab_to(self, wanted: Locator, *, back: bool = False) -> None:
        """Press Tab until a control has the focus, as a person without a mouse does."""
        for _ in range(40):
            self.page.keyboard.press("Shift+Tab" if back else "Tab")
            if wanted.evaluate("(one) => one === document.activeElement"):
                return
        pytest.fail("The control cannot be reached by the keyboard.")

    def card_text(self, path: str) -> str:
        """Read a file back from the last card: what the person sees of it, line for line, as it would be."""
        lines = self.card.locator(f'[data-path="{path}"] [data-kind]').evaluate_all(
            "(all) => all.map((one) => [one.dataset.kind, one.querySelector('code').textContent, one.dataset.ended])"
        )
        return "".join(text + ("\n" if ended == "true" else "") for kind, text, ended in lines if kind != "removed")

    def shot(self, name: str) -> None:
        """Keep a picture for the eye of whoever develops; no test looks at it."""
        folder = Path("/tmp/shots/journeys")
        if folder.exists():
            size = self.page.viewport_size["width"]
            self.page.screenshot(path=folder / f"{name}-{size}-{self.theme}.png", animations="disabled")

    theme: str = "dark"


@contextmanager
def running(settings: Settings, clock: Clock):
    """Run a host on a free port until the block ends."""
    with cli.listen(settings) as listener:
        port = listener.getsockname()[1]
        settings = settings.model_copy(update={"listen": f"127.0.0.1:{port}"})
        app = create_app(settings, clock=clock)
        server = Served(app, settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        assert server.there.wait(60)
        try:
            yield Host(app, settings, clock)
        finally:
            server.should_exit = True
            thread.join(30)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def host(tmp_path, clock):
    with running(Settings(data=tmp_path / "host", listen="127.0.0.1:0", model="none"), clock) as host:
        yield host


@pytest.fixture
def server():
    """The model on the person's own machines."""
    with ScriptedUpstream() as server:
        yield server


# Of a module, not of the session: while Playwright runs, its event loop is the thread's, and no other test can run one.
@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=next(filter(None, map(shutil.which, BROWSERS))))
        yield opened
        opened.close()


@pytest.fixture
def open_window(host, chromium: Browser):
    """Give a function that opens a browser of its own, of a size and a theme."""
    opened: list[Window] = []

    def open_it(size: dict[str, int] = DESK, theme: str = "dark") -> Window:
        context = chromium.new_context(
            viewport=size, color_scheme=theme, timezone_id="Europe/Rome", locale="en-GB", reduced_motion="reduce"
        )
        context.set_default_timeout(15_000)
        window = Window(host, context.new_page(), theme=theme)
        window.watch()
        opened.append(window)
        return window

    yield open_it
    complaints = [said for window in opened for said in window.complaints]
    for window in opened:
        window.page.context.close()
    assert complaints == []


@pytest.fixture
def window(open_window, server):
    """The window of a person who came in and added a model of their own."""
    window = open_window()
    window.come_in()
    window.add_model(server, local=True)
    window.new_chat()
    return window


NUTS = {"scope": "user", "edits": [{"file": "food.md", "old": "", "new": "- allergic to nuts"}], "why": "Asked to."}


@pytest.fixture
def nuts():
    """What the model answers to somebody who is allergic to nuts: a proposal, then a sentence."""

    def script(server: ScriptedUpstream, **more: Any) -> None:
        server.will(calls(Call("propose_change", NUTS | more)), says("I proposed a note."))

    return script


@pytest.fixture
def keep_nuts(window, server, nuts):
    """Give a function that brings the note about nuts to disk, by the card."""

    def keep() -> None:
        nuts(server)
        window.ask("Remember that I'm allergic to nuts")
        window.confirm()

    return keep
