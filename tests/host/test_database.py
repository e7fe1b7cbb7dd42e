"""The database file: who may read it, which version it has, and what a second writer finds."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError, StatementError

from short_memory.errors import NewerDataError
from short_memory_host import database as db

NOW = datetime(2026, 11, 30, 12, 0, 0, 123000, tzinfo=UTC)
ADA = {"id": "p_a", "name": "Ada", "role": "admin", "time_zone": "", "language": "en", "created": NOW}


@pytest.fixture
def database(tmp_path):
    opened = db.open_database(tmp_path / "data" / "host.db")
    yield opened
    opened.close()


def test_file_and_folder_are_for_their_owner_alone(database):
    modes = [path.stat().st_mode & 0o777 for path in (database.path, database.path.parent)]
    assert modes == [0o600, 0o700]


def test_the_log_files_beside_it_are_for_their_owner_alone(database):
    with database.write() as connection:
        connection.execute(insert(db.people).values(ADA))
    modes = {path.stat().st_mode & 0o777 for path in database.path.parent.iterdir()}
    assert modes == {0o600}


def test_a_connection_logs_ahead_waits_and_checks_references(database):
    with database.read() as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout", "user_version")
        ]
    assert found == ["wal", 1, 2, db.BUSY_TIMEOUT_MS, db.SCHEMA_VERSION]


def test_a_newer_database_is_refused_and_keeps_its_bytes(tmp_path):
    path = tmp_path / "host.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {db.SCHEMA_VERSION + 1}")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(NewerDataError, match=f"version {db.SCHEMA_VERSION + 1}"):
        db.open_database(path)
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == (before, [path])


def test_a_file_that_is_no_database_is_refused_and_keeps_its_bytes(tmp_path):
    path = tmp_path / "host.db"
    path.write_bytes(b"my diary" * 200)
    with pytest.raises(db.DatabaseRefusedError, match="Nothing was changed"):
        db.open_database(path)
    assert path.read_bytes() == b"my diary" * 200


def test_opening_again_finds_what_was_written(database):
    with database.write() as connection:
        connection.execute(insert(db.people).values(ADA))
    again = db.open_database(database.path)
    with again.read() as connection:
        assert connection.execute(select(db.people.c.name)).scalars().all() == ["Ada"]
    again.close()


def in_another_program(path, statement):
    """Run one statement in a program of its own, which ends afterwards, and return what it gave."""
    program = (
        "import sqlite3, sys; made = sqlite3.connect(sys.argv[1]); print(made.execute(sys.argv[2]).fetchall()); "
        "made.commit(); made.close()"
    )
    command = [sys.executable, "-c", program, str(path), statement]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_this_and_other_programs_see_one_another_after_this_one_opened_twice(database):
    with database.write() as connection:
        connection.execute(insert(db.people).values(ADA))
    db.open_database(database.path).close()
    in_another_program(database.path, "SELECT * FROM people")
    in_another_program(database.path, "INSERT INTO people VALUES ('p_b', 'Bea', 'member', NULL, '', 'en', 0)")
    with database.write() as connection:
        seen = connection.execute(select(db.people.c.name)).scalars().all()
        connection.execute(insert(db.people).values(ADA | {"id": "p_c", "name": "Eve"}))
    assert (seen, in_another_program(database.path, "SELECT count(*) FROM people")) == (["Ada", "Bea"], "[(3,)]")


@pytest.mark.case("log-no-content")
def test_an_error_does_not_quote_what_was_to_be_stored(database):
    with pytest.raises(IntegrityError) as error, database.write() as connection:
        connection.execute(insert(db.messages).values(conversation="c", role="user", content="my diary", created=NOW))
    assert "my diary" not in str(error.value)


def test_a_time_comes_back_as_it_went_in(database):
    with database.write() as connection:
        connection.execute(insert(db.people).values(ADA))
        assert connection.execute(select(db.people.c.created)).scalar_one() == NOW


def test_a_time_without_a_zone_is_refused(database):
    with pytest.raises(StatementError, match="without a zone"), database.write() as connection:
        connection.execute(insert(db.people).values(ADA | {"created": NOW.replace(tzinfo=None)}))


def test_a_session_of_nobody_is_refused(database):
    with pytest.raises(IntegrityError), database.write() as connection:
        connection.execute(insert(db.sessions).values(token="t", person="nobody", created=NOW, seen=NOW, expires=NOW))


def test_what_fails_in_the_middle_leaves_nothing(database):
    def fails():
        with database.write() as connection:
            connection.execute(insert(db.people).values(ADA))
            connection.execute(insert(db.people).values(ADA))

    with pytest.raises(IntegrityError):
        fails()
    with database.read() as connection:
        assert connection.execute(select(db.people)).all() == []


def test_writers_that_read_first_wait_for_one_another(database):
    def add(number):
        with database.write() as connection:
            count = len(connection.execute(select(db.people)).all())
            connection.execute(insert(db.people).values(ADA | {"id": f"p_{number}", "name": f"{count}"}))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as connection:
        names = connection.execute(select(db.people.c.name)).scalars().all()
    assert sorted(names, key=int) == [str(number) for number in range(12)]


def test_the_number_of_a_deleted_message_is_not_given_again(database):
    talk = {"id": "c_1", "person": "p_a", "title": "", "created": NOW, "updated": NOW}
    said = {"conversation": "c_1", "role": "user", "content": "{}", "created": NOW}
    with database.write() as connection:
        connection.execute(insert(db.people).values(ADA))
        connection.execute(insert(db.conversations).values(talk))
        first = connection.execute(insert(db.messages).values(said)).inserted_primary_key[0]
        connection.execute(db.messages.delete())
        second = connection.execute(insert(db.messages).values(said)).inserted_primary_key[0]
    assert second == first + 1
