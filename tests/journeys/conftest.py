"""What the journeys share: a host on a real socket, a model that answers as scripted, and windows of one Chromium.

A window that complains fails its test. The clock stands still until the test moves it.
"""

import asyncio
import shutil
import threading
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Playwright, expect, sync_playwright

from short_memory_host import cli
from short_memory_host.app import create_app
from short_memory_host.settings import Settings
from tests.clock import Clock
from tests.journeys.windows import DESK, Host, Window
from tests.scripted_upstream import Call, ScriptedUpstream, Wait, calls, says
from tests.served import Served

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# A machine with much to do may take its time; a test that passes never waits for it.
PATIENCE_MS = 20_000
NUTS = {"scope": "user", "edits": [{"file": "food.md", "old": "", "new": "- allergic to nuts"}], "why": "Asked to."}


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


class Chromium:
    """One browser for every journey of a run.

    While Playwright runs, its event loop counts as that of the thread, and no other test could run one: outside the
    journeys it is put away.
    """

    def __init__(self, playwright: Playwright) -> None:
        expect.set_options(timeout=PATIENCE_MS)
        self.loop = asyncio.get_running_loop()
        self.browser = playwright.chromium.launch(executable_path=next(filter(None, map(shutil.which, BROWSERS))))

    @contextmanager
    def at_hand(self):
        asyncio._set_running_loop(self.loop)
        try:
            yield self.browser
        finally:
            asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def chromium_of_the_run():
    started = sync_playwright()
    chromium = Chromium(started.start())
    asyncio._set_running_loop(None)
    yield chromium
    with chromium.at_hand() as browser:
        browser.close()
        started.__exit__()


@pytest.fixture
def chromium(chromium_of_the_run):
    with chromium_of_the_run.at_hand() as browser:
        yield browser


@pytest.fixture
def open_window(host, chromium: Browser):
    """Give a function that opens a browser of its own, of a size and a theme."""
    opened: list[Window] = []

    def open_it(size: dict[str, int] = DESK, theme: str = "dark") -> Window:
        context = chromium.new_context(
            viewport=size, color_scheme=theme, timezone_id="Europe/Rome", locale="en-GB", reduced_motion="reduce"
        )
        window = Window(host, context.new_page())
        window.watch()
        opened.append(window)
        return window

    yield open_it
    for window in opened:
        window.page.context.close()
    assert [said for window in opened for said in window.complaints] == []


@pytest.fixture
def window(open_window, server):
    """The window of a person who came in and added a model of their own."""
    window = open_window()
    window.come_in()
    window.host.add_model(server, local=True)
    window.new_chat()
    return window


@pytest.fixture
def waiting():
    """A pause in an answer, until the test ends it; it ends with the test."""
    pause = Wait(threading.Event())
    yield pause
    pause.event.set()


@pytest.fixture
def nuts(server):
    """Give a function that makes the model propose the note about nuts and then say so."""

    def script() -> None:
        server.will(calls(Call("propose_change", NUTS)), says("I proposed a note."))

    return script


@pytest.fixture
def keep_nuts(window, nuts):
    """Give a function that brings the note about nuts to disk, by its card."""

    def keep() -> None:
        nuts()
        window.ask("Remember that I'm allergic to nuts")
        window.confirm()

    return keep
