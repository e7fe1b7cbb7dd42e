"""The file of grants: read back as it was written, nothing allowed where it is damaged."""

import json

import pytest

from short_memory.access import AgentGrant, Grants
from short_memory.errors import UnreadableError
from short_memory.store import grants
from tests.engine.notes import ADDON, ALL, ROOM

FULL = Grants(
    (ADDON,),
    {("coach", "memory"): ALL, ("chef", "memory"): AgentGrant(read=True)},
    frozenset({(ROOM.binding, ROOM.hash)}),
)


def test_what_was_kept_is_read_back(tmp_path):
    assert grants.load(tmp_path, "anna") == Grants()
    grants.save(tmp_path, "anna", FULL)
    assert grants.load(tmp_path, "anna") == FULL
    grants.save(tmp_path, "anna", Grants())
    assert grants.load(tmp_path, "anna") == Grants()


@pytest.mark.case("notes-private-modes")
def test_the_file_is_private_and_the_only_one(tmp_path):
    (tmp_path / ".anna.new").write_text("left by a killed process")
    grants.save(tmp_path, "anna", FULL)
    assert [(one.name, one.stat().st_mode & 0o777) for one in tmp_path.iterdir()] == [("anna.json", 0o600)]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"format": 2}', '{"format": 1}', '{"format": 1, "addons": [1]}', "\ud800",
     '{"format": 1, "addons": [], "agents": [["a"]], "rooms": []}', '{"format": 1, "addons": [], "agents": [], "rooms": 1}'],
)  # fmt: skip
def test_a_damaged_file_allows_nothing(tmp_path, text):
    (tmp_path / "anna.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert grants.load(tmp_path, "anna") == Grants()


def test_a_file_of_another_format_allows_nothing(tmp_path):
    grants.save(tmp_path, "anna", FULL)
    place = tmp_path / "anna.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "format": 2}))
    assert grants.load(tmp_path, "anna") == Grants()


def test_what_stood_before_stands_when_the_disk_refuses(tmp_path):
    grants.save(tmp_path, "anna", FULL)
    (tmp_path / "anna.json").rename(tmp_path / "kept")
    (tmp_path / "anna.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        grants.save(tmp_path, "anna", Grants())
    assert sorted(one.name for one in tmp_path.iterdir()) == ["anna.json", "kept"]


@pytest.mark.parametrize("owner", ["", "..", "../anna", "a/b", ".anna", "a\0"])
def test_an_owner_that_is_no_name_has_no_file(tmp_path, owner):
    for call in (grants.load, grants.place, lambda root, name: grants.save(root, name, FULL)):
        with pytest.raises(UnreadableError):
            call(tmp_path, owner)
    assert list(tmp_path.iterdir()) == []
