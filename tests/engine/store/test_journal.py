"""The journal: everything read back as it was written, one owner at a time, and nothing of it in an error or a log."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from short_memory.changes import ChangeSet, FileChange
from short_memory.errors import NewerDataError, StorageError
from short_memory.proposals import Edit
from short_memory.scopes import OWNER as BY_OWNER
from short_memory.scopes import Actor
from short_memory.store.journal import Journal
from tests.clock import NOON
from tests.engine.notes import ALL, OWNER, ROOM, append, talk

FOOD = "Memory/food.md"


@pytest.fixture
def journal(tmp_path):
    with closing(Journal(tmp_path / "journal.db")) as found:
        yield found


def change(name, *files, owner=OWNER, **more):
    return ChangeSet(
        name, owner, NOON, BY_OWNER, more.pop("cause", "edit"), files or (FileChange(FOOD, None, b"a"),), **more
    )


def test_a_change_set_is_read_back_as_it_was_written(journal):
    one = ChangeSet(
        "c1", OWNER, NOON + timedelta(milliseconds=7), Actor("model", "coach"), "revert",
        (FileChange("Memory/b.md", b"\x00\xff", None), FileChange("Memory/a.md", None, b"")), "chat", "p1", "c0",
    )  # fmt: skip
    journal.record(one)
    assert journal.change(OWNER, "c1") == one
    assert journal.known(OWNER, ["Memory/b.md", "Memory/a.md"]) == {"Memory/b.md": None, "Memory/a.md": b""}


def test_an_intent_is_no_change_set_before_it_is_applied(journal):
    journal.intend(change("c1"), None)
    assert (journal.change(OWNER, "c1"), journal.changes(OWNER, limit=9), journal.known(OWNER, [FOOD])) == (
        None,
        [],
        {FOOD: None},
    )
    assert (journal.intents(OWNER), journal.intents("bea"), journal.intents()) == ([change("c1")], [], [change("c1")])
    journal.applied("c1")
    assert (journal.change(OWNER, "c1"), journal.intents()) == (change("c1"), [])
    journal.intend(change("c2"), None)
    journal.failed("c2")
    assert (journal.changes(OWNER, limit=9), journal.intents()) == ([change("c1")], [])


def test_a_proposal_is_read_back_with_every_byte(notes):
    notes.granting.allow_agent(OWNER, "coach", "memory", ALL)
    notes.write("Memory/channels/telegram-0123456789abcdef/index.md", "\ufeff- a\r\n")
    chat = talk("c9", agent="coach", channel=ROOM, shared=True)
    one = notes.propose(chat, append("- «é» 🦆"), Edit("x.md", text="y"), kind="channel", why="warum — ?")
    assert notes.store.journal.proposal(OWNER, one.id) == one
    assert notes.store.journal.proposal("bea", one.id) is None
    assert notes.memory.proposal(OWNER, one.id).digest == one.digest


def test_the_last_change_of_a_chat_is_that_of_a_confirmation_there(journal):
    for name, chat, cause in [
        ("c1", "x", "proposal"),
        ("c2", "y", "proposal"),
        ("c3", "x", "revert"),
        ("c4", "x", "edit"),
    ]:
        journal.record(change(name, conversation=chat, cause=cause))
    journal.intend(change("c5", conversation="x", cause="proposal"), None)
    assert journal.last_of(talk("x")).id == "c1"
    assert (journal.last_of(talk("z")), journal.last_of(talk("x", owner="bea"))) == (None, None)


def test_only_an_applied_taking_back_counts(journal):
    journal.record(change("c1"))
    journal.intend(change("c2", reverts="c1"), None)
    assert journal.taken_back(["c1"]) == {}
    journal.applied("c2")
    assert journal.taken_back(["c1", "c2"]) == {"c1": "c2"}


def test_paths_are_those_of_one_owner(journal):
    journal.record(change("c1", FileChange("Memory/b.md", None, b""), FileChange("Memory/a.md", None, b"")))
    journal.record(change("c2", owner="bea"))
    assert journal.paths(OWNER) == ["Memory/a.md", "Memory/b.md"]


@pytest.mark.case("notes-private-modes")
def test_the_database_and_its_log_are_private(journal, tmp_path):
    journal.record(change("c1"))
    modes = {place.name: place.stat().st_mode & 0o777 for place in tmp_path.iterdir()}
    assert modes == dict.fromkeys(["journal.db", "journal.db-wal", "journal.db-shm"], 0o600)


def test_every_transaction_is_durable(journal):
    with journal._read() as run:
        found = [
            run.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert found == ["wal", 2, 1]


def test_data_of_a_newer_program_is_not_touched(tmp_path):
    with closing(sqlite3.connect(tmp_path / "journal.db")) as database:
        database.execute("PRAGMA user_version = 2")
    with pytest.raises(NewerDataError):
        Journal(tmp_path / "journal.db")


def test_a_second_program_opens_what_the_first_made(journal, tmp_path):
    journal.record(change("c1"))
    with closing(Journal(tmp_path / "journal.db")) as other:
        assert other.change(OWNER, "c1") == change("c1")


def test_a_place_where_sqlite_cannot_keep_a_log_is_refused(tmp_path):
    with pytest.raises(StorageError, match="journal mode memory"):
        Journal(MemoryPath(tmp_path / "x"))


class MemoryPath(type(__import__("pathlib").Path())):
    """A path whose database lives in memory, where there is no write-ahead log."""

    def __format__(self, spec):
        return ":memory:"


@pytest.mark.case("log-no-content")
def test_no_error_quotes_what_was_to_be_stored(journal):
    journal.record(change("c1"))
    with pytest.raises(StorageError) as refused:
        journal.record(change("c1", FileChange(FOOD, None, b"canary"), conversation="canary"))
    causes = [refused.value, refused.value.__cause__]
    assert "canary" not in " ".join(map(str, causes))
    assert refused.value.text.startswith("The change could not be stored (SQLITE_CONSTRAINT_UNIQUE).")


def test_a_damaged_database_is_refused_with_a_code(tmp_path):
    (tmp_path / "journal.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError):
        Journal(tmp_path / "journal.db")


def test_a_database_that_breaks_while_it_is_read_is_refused_with_a_code(journal):
    with journal._write() as run:
        run.exec_driver_sql("DROP TABLE change_files")
    with pytest.raises(StorageError, match="SQLITE_ERROR"):
        journal.paths(OWNER)


def test_a_failed_change_set_opens_its_proposal_again(notes):
    one = notes.append()
    confirmed = replace(one, state="confirmed", decided=NOON, change="c1")
    notes.store.journal.intend(change("c1"), confirmed)
    assert notes.store.journal.proposal(OWNER, one.id) == confirmed
    notes.store.journal.failed("c1")
    assert notes.store.journal.proposal(OWNER, one.id) == one


def test_what_was_declined_is_found_by_its_name_and_time(notes):
    one = notes.append()
    notes.memory.decline(OWNER, one.id)
    journal = notes.store.journal
    assert journal.declined(OWNER, one.identity, NOON).id == one.id
    assert journal.declined(OWNER, one.identity, NOON + timedelta(milliseconds=1)) is None
    assert (journal.declined(OWNER, "x", NOON), journal.declined("bea", one.identity, NOON)) == (None, None)


def test_updating_nothing_is_no_transaction(journal):
    journal.close()
    journal.update([])
    journal.told([])
    assert isinstance(journal._engine.pool, sa.pool.QueuePool)
    assert journal._engine.pool.checkedout() == 0
