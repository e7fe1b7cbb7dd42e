"""A person on their Memory tab: a browser of theirs, the folder of their notes, and what the host holds."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from short_memory.access import AddonGrant
from short_memory_host import database as db
from tests.host.conftest import PAGE

INDEX = "Memory/index.md"
FOOD = "Memory/food.md"


@dataclass
class Tab:
    """One person who agreed to the add-on."""

    held: object
    browser: TestClient
    id: str

    @property
    def folder(self) -> Path:
        return self.held.settings.data / "files" / self.id

    def page(self, address="/account/memory") -> str:
        answer = self.browser.get(address, headers=PAGE)
        assert answer.status_code == 200
        return answer.text

    def text(self, path):
        file = self.folder / path
        return file.read_text(encoding="utf-8") if file.exists() else None

    def put(self, path, text) -> None:
        """Write a note past the host, as an editor does."""
        file = self.folder / path
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def version(self, path) -> str:
        return self.held.notebook.open(self.id, path).version

    def save(self, path, text, **more):
        """Save as the editor does, on the version that stands there now."""
        body = {"path": path, "text": text, "version": self.version(path)} | more
        return self.browser.post("/account/memory/note", json=body)

    def last(self) -> str:
        """Return the id of the latest change set."""
        return self.held.notebook.history(self.id, limit=1)[0].id

    def undo(self, change, **body):
        return self.browser.post(f"/changes/{change}/revert", json=body)


def tab_of(host, browser, name=None):
    held = host.app.state.held
    query = select(db.people.c.id).where(db.people.c.role == "admin" if name is None else db.people.c.name == name)
    with host.database.read() as connection:
        person = connection.execute(query).scalar_one()
    manifest = held.addon.addon.manifest
    files = manifest.context_files
    held.granting.enable(person, AddonGrant(manifest.id, on=True, digest=manifest.capabilities_digest, files=files))
    return Tab(held, browser, person)


@pytest.fixture
def tab(host):
    return tab_of(host, host.sign_in())


@pytest.fixture
def ada(host):
    """Another person of the same host."""
    return tab_of(host, host.member("Ada"), "Ada")
