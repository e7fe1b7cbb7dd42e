"""The look in a real browser: every piece in both themes, on a phone and on a desk, without a word from the console."""

import shutil
import threading
from pathlib import Path

import pytest
from fastapi import Request
from playwright.sync_api import sync_playwright
from starlette.responses import HTMLResponse

from short_memory_host import cli
from short_memory_host.accounts import service
from short_memory_host.app import create_app
from short_memory_host.settings import Settings
from short_memory_host.web import templates
from short_memory_host.web.people import SignedIn
from tests.served import Served

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
WIDER = "[document.documentElement, document.querySelector('main')].some((one) => one.scrollWidth > one.clientWidth)"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PAGES = [
    "/gallery",
    "/",
    "/inbox",
    "/account/memory",
    "/account",
    "/account/security",
    "/account/people",
    "/models",
    "/models/new",
]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("host")
    with cli.listen(Settings(data=folder, listen="127.0.0.1:0")) as listener:
        settings = Settings(data=folder, listen=f"127.0.0.1:{listener.getsockname()[1]}", model="none")
        app = create_app(settings, clock=cli.now)

        @app.get("/gallery")
        def gallery(request: Request, person: SignedIn):
            page = templates._environment().from_string(
                Path(__file__).with_name("gallery.html").read_text(encoding="utf-8")
            )
            return HTMLResponse(page.render(person=person, csrf_token=request.state.csrf_token, path="/"))

        server = Served(app, settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        assert server.there.wait(60)
        yield settings.url, app
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=next(filter(None, map(shutil.which, BROWSERS))))
        yield opened
        opened.close()


@pytest.fixture
def signed_in(url, chromium):
    """Give a function that opens a browser of a size and theme, signed in, and collects what the console says."""
    address, app = url
    opened = []

    def open_page(size, theme="dark"):
        context = chromium.new_context(
            viewport=size, color_scheme=theme, timezone_id="Europe/Rome", reduced_motion="reduce"
        )
        opened.append(context)
        page = context.new_page()
        page.said = []
        secret = service.new_link(app.state.held.database, None, now=cli.now())
        page.goto(f"{address}/sign-in?token={secret}")
        page.get_by_role("button", name="Sign in").click()
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        return page, address

    yield open_page
    for context in opened:
        context.close()


@pytest.mark.case("host-csp")
@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_no_page_is_wider_than_its_window_or_breaks_its_policy(signed_in, size, theme):
    page, address = signed_in(size, theme)
    wide = []
    for path in PAGES:
        page.goto(address + path)
        if page.evaluate(WIDER):
            wide.append(path)
    assert (wide, page.said) == ([], [])


def test_on_a_phone_the_drawer_opens_and_closes_by_keyboard(signed_in):
    page, address = signed_in(PHONE)
    page.goto(f"{address}/account")
    menu = page.get_by_role("button", name="Menu")
    hidden = page.get_by_role("link", name="Models").is_visible()
    menu.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Models").wait_for(state="visible")
    inside = page.evaluate("document.activeElement.closest('#side') !== null")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Models").wait_for(state="hidden")
    back = page.evaluate("document.activeElement.matches('[data-drawer]')")
    assert (hidden, inside, back, menu.get_attribute("aria-expanded")) == (False, True, True, "false")


def test_on_a_desk_the_places_are_always_there(signed_in):
    page, address = signed_in(DESK)
    page.goto(f"{address}/account")
    assert (page.get_by_role("link", name="Models").is_visible(), page.locator("[data-drawer]").is_visible()) == (
        True,
        False,
    )


def test_the_profile_knows_the_time_zone_of_the_browser(signed_in):
    page, address = signed_in(DESK)
    page.goto(f"{address}/account")
    assert page.get_by_label("Time zone").input_value() == "Europe/Rome"


def test_the_composer_grows_and_the_meter_counts_as_the_host_does(signed_in):
    page, address = signed_in(PHONE)
    page.goto(f"{address}/gallery")
    area = page.get_by_label("Message", exact=True)
    before = area.bounding_box()["height"]
    area.press_sequentially("one")
    area.press("Shift+Enter")
    area.press_sequentially("two")
    grown = area.bounding_box()["height"]
    counted = page.evaluate(
        "async () => (await import(document.querySelector('script[src]').src)).measure('é\\r\\na\\n')"
    )
    assert (grown > before, counted) == (True, {"lines": 2, "bytes": 5})
