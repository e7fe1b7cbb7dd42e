"""The store as a whole: what a refusing disk and a killed process leave, for owners each on their own."""

import logging
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest

from short_memory.changes import ChangeSet, FileChange
from short_memory.errors import ConflictError, StorageError, UnreadableError
from short_memory.scopes import OWNER as BY_OWNER
from short_memory.store.note_store import NoteStore
from tests.clock import NOON
from tests.engine.notes import OWNER, append, talk

FOOD, INDEX = "Memory/food.md", "Memory/index.md"


def change(name="c1", *, owner=OWNER, path=FOOD, before=None, after=b"a"):
    return ChangeSet(name, owner, NOON, BY_OWNER, "edit", (FileChange(path, before, after),))


def block(notes, path=FOOD):
    """Make the disk refuse to put a file in place: a folder that is no folder stands in the way."""
    notes.place(path).parent.parent.mkdir(parents=True, exist_ok=True)
    notes.place(path).parent.write_text("in the way")


@pytest.mark.case("notes-private-modes")
def test_every_folder_and_file_of_the_data_is_private(notes):
    notes.confirm(notes.append())
    found = {str(one.relative_to(notes.data)): one.stat().st_mode & 0o777 for one in notes.data.rglob("*")}
    assert {name for name, mode in found.items() if mode not in (0o600, 0o700)} == set()
    assert notes.data.stat().st_mode & 0o777 == 0o700


def test_reading_does_not_load_what_only_writing_needs(tmp_path):
    program = (
        "import sys, pathlib\nfrom datetime import UTC, datetime\n"
        "from short_memory.memory import Memory\nfrom short_memory.scopes import Conversation\n"
        "from short_memory.store.note_store import NoteStore\nstore = NoteStore(pathlib.Path(sys.argv[1]))\n"
        "Memory(store, lambda: datetime.now(UTC)).turn(Conversation('c', 'anna'), can_call=True); store.close()\n"
        "print('sqlalchemy' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


def test_a_disk_that_refuses_the_place_leaves_nothing_of_the_change(notes):
    block(notes)
    with notes.store.locked(OWNER), pytest.raises(UnreadableError):
        notes.store.apply(change())
    assert (notes.staged(), notes.store.journal.intents(), notes.store.journal.changes(OWNER, limit=9)) == ([], [], [])


@pytest.mark.case("io-error-refused-never-appears")
def test_a_folder_that_went_with_its_file_refuses_the_deletion(notes):
    with notes.store.locked(OWNER), pytest.raises(StorageError, match="No such file"):
        notes.store.apply(change(before=b"a", after=None))
    assert (notes.staged(), notes.store.journal.intents(), notes.notebook.history(OWNER, limit=9)) == ([], [], [])


def test_a_dead_disk_that_lets_nothing_be_taken_back_is_not_called_failed(notes):
    class Dead(type(notes.store._staging)):
        def place(self, change):
            super().place(change)
            raise OSError(5, "Input/output error")

        def abort(self, _change):
            raise OSError(30, "Read-only file system")

    staging = notes.store._staging
    staging.__class__ = Dead
    with notes.store.locked(OWNER):
        notes.store.apply(change())
    staging.__class__ = Dead.__base__
    assert (notes.text(FOOD), [one.id for one in notes.notebook.history(OWNER, limit=9)]) == ("a", ["c1"])


@pytest.mark.case("io-error-refused-never-appears")
def test_a_disk_that_refuses_staging_writes_no_intent(notes):
    (notes.data / "files" / ".staging").rmdir()
    with notes.store.locked(OWNER), pytest.raises(StorageError, match="No such file"):
        notes.store.apply(change())
    assert notes.store.journal.intents() == []


def test_a_journal_that_refuses_leaves_no_file(notes):
    notes.store.journal.record(change("c1", path=INDEX))
    with notes.store.locked(OWNER), pytest.raises(StorageError, match="UNIQUE"):
        notes.store.apply(change("c1"))
    assert (notes.files(), notes.staged()) == ({}, [])


@pytest.mark.case("io-error-refused-never-appears")
def test_a_proposal_whose_writing_was_refused_is_open_again(notes):
    one = notes.append()
    notes.write(FOOD, "").unlink()
    notes.place(FOOD).mkdir()
    with pytest.raises(Exception, match="left out"):
        notes.store.apply(replace(change("c1"), files=one.files), decided=replace(one, state="confirmed", change="c1"))
    notes.place(FOOD).rmdir()
    assert notes.memory.proposal(OWNER, one.id).state == "open"
    assert notes.files() == {}


def test_a_mark_that_the_journal_refuses_does_not_undo_what_is_whole(notes):
    class Tired(type(notes.store.journal)):
        def applied(self, _name):
            raise StorageError("SQLITE_FULL")

    journal = notes.store.journal
    journal.__class__ = Tired
    with notes.store.locked(OWNER):
        notes.store.apply(change())
    journal.__class__ = Tired.__base__
    assert (notes.text(FOOD), notes.staged()) == ("a", ["c1.placed"])
    assert notes.notebook.history(OWNER, limit=9) == []
    with notes.again() as other:
        assert other.store.recover() == 1
        assert [one.id for one in other.notebook.history(OWNER, limit=9)] == ["c1"]
    assert notes.staged() == []


@pytest.mark.case("crash-whole-or-absent")
def test_the_next_write_settles_what_a_killed_process_left_to_this_owner(notes, caplog):
    notes.store._staging.stage(change())
    notes.store.journal.intend(change(), None)
    notes.save(INDEX, "- a: b -> a.md\n")
    assert (notes.staged(), notes.store.journal.intents()) == ([], [])
    assert [(one.levelname, one.facts) for one in caplog.records] == [("WARNING", {"change": "c1", "forward": False})]


@pytest.mark.case("crash-whole-or-absent")
def test_a_start_settles_every_owner_and_sweeps_what_nobody_stages(notes, caplog):
    caplog.set_level(logging.CRITICAL)
    for owner in ("anna", "bea"):
        notes.store.journal.intend(change(f"c-{owner}", owner=owner), None)
    notes.write(FOOD, b"a", owner="bea")
    notes.store._staging.stage(change("left"))
    assert notes.store.recover() == 2
    assert (notes.staged(), notes.store.journal.intents()) == ([], [])
    assert [one.id for one in notes.store.journal.changes("bea", limit=9)] == ["c-bea"]
    assert notes.store.journal.changes("anna", limit=9) == []


def test_what_another_process_is_staging_is_not_swept(notes):
    class Recovering(NoteStore):
        def _apply(self, change, _decided):
            self._staging.stage(change)
            assert notes.store.recover() == 0
            swept.append(notes.staged())

    swept = []
    with closing(Recovering(notes.data)) as store:
        store.apply(change())
    assert swept == [["c1"]]


def test_an_intent_that_cannot_be_settled_keeps_nobody_else_waiting(notes, caplog):
    for owner in ("anna", "bea"):
        notes.write(FOOD, b"a", owner=owner)
        notes.write(INDEX, b"b", owner=owner)
        two = (FileChange(FOOD, None, b"a"), FileChange(INDEX, None, b"x"))
        notes.store.journal.intend(replace(change(f"c-{owner}", owner=owner), files=two), None)
    notes.place(FOOD).unlink()
    notes.place(FOOD).mkdir()
    folder = notes.data / "files" / ".staging" / "c-anna"
    folder.mkdir()
    (folder / "0.new").mkdir()
    assert notes.store.recover() == 2
    assert [one.owner for one in notes.store.journal.intents()] == ["anna"]
    assert notes.files("bea") == {INDEX: "b"}
    with pytest.raises(StorageError):
        notes.append()
    assert notes.staged() == ["c-anna"]
    assert "canary" not in caplog.text


def test_taking_back_that_is_refused_too_is_tried_again_by_the_next_write(notes, caplog):
    class Stuck(type(notes.store._staging)):
        def abort(self, _change):
            raise OSError(5, "Input/output error")

    notes.write(FOOD, b"theirs")
    two = replace(change(), files=(FileChange(INDEX, None, b"i"), FileChange(FOOD, None, b"a")))
    staging = notes.store._staging
    staging.__class__ = Stuck
    with notes.store.locked(OWNER), pytest.raises(ConflictError):
        notes.store.apply(two)
    staging.__class__ = Stuck.__base__
    assert (notes.text(INDEX), [one.id for one in notes.store.journal.intents()]) == ("i", ["c1"])
    assert notes.append("- b", file="b.md").state == "open"
    assert (notes.files(), notes.store.journal.intents(), notes.staged()) == ({FOOD: "theirs"}, [], [])


def test_a_note_that_is_just_being_put_in_place_is_waited_for(notes):
    notes.save(FOOD, "- a\n")
    second = notes.place("Memory/second.md")
    second.hardlink_to(notes.place(FOOD))
    with pytest.raises(UnreadableError, match="second name"):
        notes.store.read(OWNER, FOOD)
    with notes.store.locked(OWNER), pytest.raises(UnreadableError, match="second name"):
        notes.store.read(OWNER, FOOD)
    second.unlink()
    assert notes.store.read(OWNER, FOOD) == b"- a\n"


def test_grants_that_the_disk_refuses_are_refused_with_a_code(notes):
    (notes.data / "grants" / "anna.json").unlink()
    (notes.data / "grants" / "anna.json").mkdir()
    with pytest.raises(StorageError, match="directory"):
        notes.store.save_grants(OWNER, notes.store.grants("bea"))


@pytest.mark.parametrize("owner", ["", "..", "../anna", "a/b", ".staging"])
def test_an_owner_that_is_no_name_has_no_lock(notes, owner):
    with pytest.raises(UnreadableError), notes.store.locked(owner):
        raise AssertionError


@pytest.mark.case("two-writers-no-lost-line")
def test_two_programs_that_save_by_turns_lose_no_line(notes):
    with notes.again() as other:
        for n in range(6):
            (notes if n % 2 else other).confirm((other if n % 2 else notes).propose(talk(f"c{n}"), append(f"- {n}")))
    assert notes.text(FOOD) == "".join(f"- 2026-11-30: {n}\n" for n in range(6))
