"""Windows of a real Chromium on a real host: what a person does in one, and what they see.

A window keeps every complaint: an error of the console, a breach of the page's policy, a request to another host. Nothing
here sleeps: Playwright waits for what the person would see.
"""

import re
from dataclasses import dataclass, field

import pytest
from fastapi import FastAPI
from playwright.sync_api import Locator, Page, expect

from short_memory_host.accounts import service
from short_memory_host.settings import Settings
from short_memory_host.web import upstreams
from tests.clock import Clock
from tests.scripted_upstream import Call, ScriptedUpstream, calls, says

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
WIDER = "[document.documentElement, document.querySelector('main')].some((one) => one.scrollWidth > one.clientWidth)"
REFUSED = re.compile(r"the server responded with a status of (\d+)")


@dataclass
class Host:
    """A host that runs on a port of this machine."""

    app: FastAPI
    settings: Settings
    clock: Clock

    @property
    def url(self) -> str:
        return self.settings.url

    @property
    def held(self):
        return self.app.state.held

    def new_link(self) -> str:
        """Return the secret of a sign-in link for the first person."""
        return service.new_link(self.held.database, None, now=self.clock())

    def add_model(self, server: ScriptedUpstream, *, local: bool, name: str = "Scripted") -> None:
        """Keep a model as the form of the Models page does."""
        fields = upstreams.Fields(name, server.base_url, "scripted", None, local, "native")
        with self.held.database.write() as connection:
            upstreams.add(connection, fields, now=self.clock())

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
        """Spend a sign-in link without looking at its pages, which the main story does."""
        headers = {"origin": self.host.url, "accept": "text/html"}
        where = f"{self.host.url}/sign-in/link"
        form = {"token": self.host.new_link()}
        answer = self.page.request.post(where, form=form, headers=headers, max_redirects=0)
        assert answer.status == 303

    def go(self, place: str) -> None:
        """Go to a place of the column, which is in the drawer on a phone."""
        menu = self.button("Menu")
        if menu.is_visible():
            menu.click()
        self.page.get_by_role("navigation", name="Places").get_by_role("link", name=place, exact=True).click()
        self.page.wait_for_load_state()

    def open_chat(self, title: str) -> None:
        """Open a chat from the list at the left."""
        menu = self.button("Menu")
        if menu.is_visible():
            menu.click()
        self.page.locator("#side").get_by_role("link", name=title, exact=True).click()
        expect(self.page.locator("#side [aria-current=page]", has_text=title)).to_be_attached()

    def open(self, path: str) -> None:
        self.page.goto(self.host.url + path)

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
    def notices(self) -> Locator:
        """What the host says about an answer, such as why there is none."""
        return self.thread.locator(".notice")

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

    def retry(self) -> None:
        """Have the last message answered anew and wait for the whole answer."""
        with self.page.expect_request("**/answer"):
            self.button("Retry").click()
        self.answered()

    def propose(
        self,
        server: ScriptedUpstream,
        *edits: dict,
        why: str = "Asked to.",
        words: str = "Note this",
        answer: str = "Proposed.",
    ) -> None:
        """Say something to which the model proposes these edits."""
        server.will(calls(Call("propose_change", {"scope": "user", "edits": edits, "why": why})), says(answer))
        self.ask(words)

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

    def another(self) -> "Window":
        """Open a second tab of the same browser."""
        tab = Window(self.host, self.page.context.new_page(), self.expected_refusals, self.complaints)
        tab.watch()
        return tab
