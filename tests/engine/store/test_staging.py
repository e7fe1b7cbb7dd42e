"""Putting a change set in place and taking it back: foreign files are never replaced, half done is made whole or absent."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from short_memory.changes import ChangeSet, FileChange
from short_memory.errors import ConflictError
from short_memory.scopes import OWNER as BY_OWNER
from short_memory.store.files import Files
from short_memory.store.staging import Staging
from tests.clock import NOON

NEW, OLD, GONE = "Memory/new.md", "Memory/old.md", "Memory/gone.md"
BEFORE = {"old.md": "old", "gone.md": "gone"}
AFTER = {"old.md": "OLD", "new.md": "new"}
CHANGE = ChangeSet(
    "c1", "anna", NOON, BY_OWNER, "edit",
    (FileChange(NEW, None, b"new"), FileChange(OLD, b"old", b"OLD"), FileChange(GONE, b"gone", None)),
)  # fmt: skip


class Place:
    def __init__(self, root: Path):
        self.root = root
        self.files = Files(root)
        self.staging = Staging(root, self.files)
        self.folder = root / "anna" / "Memory"
        self.folder.mkdir(parents=True, mode=0o700)
        for name, text in BEFORE.items():
            (self.folder / name).write_text(text)

    def notes(self):
        return {one.name: one.read_text() for one in self.folder.iterdir() if one.is_file()}

    def staged(self):
        return sorted(one.name for one in (self.root / ".staging").iterdir())

    def undo(self, change=CHANGE):
        self.staging.abort(change)
        self.staging.clear(change.id)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "files")


def test_staged_files_are_put_in_place_and_cleared(place):
    place.staging.stage(CHANGE)
    assert (place.notes(), place.staged()) == (BEFORE, ["c1"])
    place.staging.place(CHANGE)
    assert place.notes() == AFTER
    place.staging.clear("c1")
    assert (place.staged(), [one.stat().st_nlink for one in place.folder.iterdir()]) == ([], [1, 1])


@pytest.mark.case("notes-private-modes")
def test_notes_are_private_also_while_they_are_staged(place):
    place.staging.stage(CHANGE)
    folder = place.root / ".staging" / "c1"
    assert [folder.stat().st_mode & 0o777, *(one.stat().st_mode & 0o777 for one in folder.iterdir())] == [0o700] + [
        0o600
    ] * 4
    place.staging.place(CHANGE)
    assert {one.name: one.stat().st_mode & 0o777 for one in place.folder.iterdir()} == {
        "new.md": 0o600,
        "old.md": 0o600,
    }


def test_what_was_placed_is_taken_back_without_room_on_the_disk(place):
    place.staging.stage(CHANGE)
    place.staging.place(CHANGE)
    place.undo()
    assert (place.notes(), place.staged()) == (BEFORE, [])


def test_what_was_only_staged_leaves_nothing_behind(place):
    place.staging.stage(CHANGE)
    place.undo()
    assert (place.notes(), place.staged()) == (BEFORE, [])


@pytest.mark.parametrize(
    ("name", "text"),
    [("new.md", "foreign"), ("old.md", "foreign"), ("gone.md", "foreign"), ("old.md", None), ("gone.md", None)],
)
def test_a_file_that_is_not_as_it_was_seen_is_kept_and_the_rest_goes_back(place, name, text):
    place.staging.stage(CHANGE)
    (place.folder / name).unlink(missing_ok=True)
    if text is not None:
        (place.folder / name).write_text(text)
    with pytest.raises(ConflictError):
        place.staging.place(CHANGE)
    place.undo()
    expected = {**BEFORE, name: text}
    assert place.notes() == {name: text for name, text in expected.items() if text is not None}


def test_a_file_that_appears_at_the_last_moment_is_not_overwritten(place, monkeypatch):
    place.staging.stage(CHANGE)
    link = os.link

    def late(*names, **more):
        with suppress(FileExistsError):
            (place.folder / "new.md").touch(exist_ok=False)
        link(*names, **more)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(ConflictError):
        place.staging.place(CHANGE)
    monkeypatch.undo()
    place.undo()
    assert place.notes() == {**BEFORE, "new.md": ""}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("new.md", "theirs", {**BEFORE, "new.md": "theirs"}),
        ("old.md", "theirs", {**BEFORE, "old.md": "theirs"}),
        ("gone.md", "theirs", {**BEFORE, "gone.md": "theirs"}),
        ("new.md", None, BEFORE),
    ],
)
def test_what_somebody_wrote_over_a_placed_file_stays_when_the_change_is_taken_back(place, name, text, expected):
    place.staging.stage(CHANGE)
    place.staging.place(CHANGE)
    (place.folder / name).unlink(missing_ok=True)
    if text is not None:
        (place.folder / name).write_text(text)
    place.undo()
    assert place.notes() == expected


def test_a_link_that_took_the_place_of_a_note_or_of_its_folder_stays_untouched(place, tmp_path):
    place.staging.stage(CHANGE)
    place.staging.place(CHANGE)
    (place.folder / "old.md").unlink()
    (place.folder / "old.md").symlink_to(tmp_path / "x")
    place.undo()
    assert (place.folder / "old.md").is_symlink()
    other = Place(tmp_path / "more")
    other.staging.stage(CHANGE)
    other.staging.place(CHANGE)
    other.folder.rename(tmp_path / "moved")
    other.folder.symlink_to(tmp_path / "moved")
    other.undo()
    assert sorted(one.name for one in (tmp_path / "moved").iterdir()) == ["new.md", "old.md"]


def test_a_folder_that_is_gone_holds_nothing_to_take_back(place):
    place.staging.stage(CHANGE)
    place.folder.rename(place.root / "away")
    place.undo()
    assert place.staged() == []


def killed_after(place, steps):
    """Do the first steps of a change as a process that is killed then would."""
    staged = place.root / ".staging" / "c1"
    place.staging.stage(CHANGE)
    for step in range(steps):
        if step == 0:
            (place.folder / "new.md").hardlink_to(staged / "0.new")
        elif step == 1:
            (staged / "0.new").unlink()
        elif step == 2:
            (staged / "1.new").rename(place.folder / "old.md")
        else:
            (place.folder / "gone.md").rename(staged / "2.gone")


@pytest.mark.case("crash-whole-or-absent")
@pytest.mark.parametrize(("steps", "forward"), [(0, False), (1, False), (2, False), (3, False), (4, True)])
@pytest.mark.parametrize("mark", ["", ".aborted", ".placed", "none"])
def test_what_a_killed_process_left_is_made_whole_or_absent(place, steps, forward, mark):
    killed_after(place, steps)
    folder = place.root / ".staging" / "c1"
    if mark == "none":
        place.staging.clear("c1")
    elif mark:
        folder.rename(f"{folder}{mark}")
    if mark == ".placed":
        assert place.staging.settle(CHANGE) is True
        return
    expected = forward and mark != ".aborted"
    for _ in range(2):
        assert place.staging.settle(CHANGE) is expected
        assert place.notes() == (AFTER if expected else BEFORE)
    place.staging.clear("c1")
    assert place.staged() == []


def test_a_foreign_edit_of_a_half_placed_change_stays(place):
    killed_after(place, 3)
    (place.folder / "old.md").write_text("theirs")
    assert place.staging.settle(CHANGE) is False
    assert place.notes() == {**BEFORE, "old.md": "theirs"}


def test_a_link_in_a_half_placed_change_stays(place, tmp_path):
    killed_after(place, 3)
    (place.folder / "old.md").unlink()
    (place.folder / "old.md").symlink_to(tmp_path / "x")
    assert place.staging.settle(CHANGE) is False
    assert (place.folder / "old.md").is_symlink()
    assert place.notes() == {"gone.md": "gone"}


def test_a_deleted_file_whose_folder_went_too_comes_back(place):
    one = ChangeSet(
        "c2", "anna", NOON, BY_OWNER, "edit", (FileChange(GONE, b"gone", None), FileChange(OLD, b"old", b"OLD"))
    )
    (place.folder / "gone.md").unlink()
    assert place.staging.settle(one) is False
    assert place.notes() == BEFORE


def test_a_disk_that_refuses_to_stage_leaves_nothing_behind(place):
    wrong = ChangeSet("c1", "anna", NOON, BY_OWNER, "edit", (FileChange(NEW, None, b"new"),))
    (place.root / ".staging" / "c1").mkdir()
    with pytest.raises(OSError, match="exists"):
        place.staging.stage(wrong)
    assert place.staged() == []


def test_a_change_is_marked_as_placed_and_listed_as_left_over(place):
    place.staging.stage(CHANGE)
    place.staging.mark_placed(CHANGE)
    place.staging.mark_placed(CHANGE)
    (place.root / ".staging" / "settle-x").write_text("")
    (place.root / ".staging" / "c2.aborted").mkdir()
    assert place.staging.leftovers() == ["c1", "c2", "settle-x"]
    for name in place.staging.leftovers():
        place.staging.clear(name)
    assert place.staged() == []
