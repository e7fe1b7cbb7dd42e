"""The database of the host: people, sessions, upstreams, conversations. Notes are not in it.

One metadata, one schema version in `PRAGMA user_version`. A file of a newer version is refused before anything is
written to it. Keys of upstreams stand in it, so the file is for its owner only (0600). Times are aware UTC outside and
milliseconds inside.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    Dialect,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    create_engine,
    event,
)

from short_memory.errors import NewerDataError

SCHEMA_VERSION = 1
BUSY_TIMEOUT_MS = 10_000


class DatabaseRefusedError(Exception):
    """The database file can't be used; the text says why and what to do."""


class Moment(TypeDecorator[datetime]):
    """A time: aware UTC for callers, milliseconds since 1970 in the file."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002 - SQLAlchemy's shape
        """Write the milliseconds; a time without a zone is refused."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone can't be stored")
        return round(value.timestamp() * 1000)

    def process_result_value(
        self,
        value: Any | None,  # noqa: ANN401 - SQLAlchemy's shape
        dialect: Dialect,  # noqa: ARG002 - SQLAlchemy's shape
    ) -> datetime | None:
        """Read the milliseconds."""
        return None if value is None else datetime.fromtimestamp(value / 1000, UTC)


metadata = MetaData()


def _person(**options: Any) -> Column[str]:  # noqa: ANN401 - Column's own options
    return Column("person", Text, ForeignKey("people.id", ondelete="CASCADE"), nullable=False, **options)


people = Table(
    "people",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text(collation="NOCASE"), nullable=False, unique=True),
    Column("role", Text, CheckConstraint("role IN ('admin', 'member')"), nullable=False),
    Column("password_hash", Text),
    Column("time_zone", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("created", Moment, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token", Text, primary_key=True),  # the SHA-256 of what the cookie holds
    _person(index=True),
    Column("created", Moment, nullable=False),
    Column("seen", Moment, nullable=False),
    Column("expires", Moment, nullable=False),
)

sign_in_links = Table(
    "sign_in_links",
    metadata,
    Column("token", Text, primary_key=True),  # the SHA-256 of what the link holds
    _person(),
    Column("expires", Moment, nullable=False),
    Column("spent", Moment),
)

upstreams = Table(
    "upstreams",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("base_url", Text, nullable=False),
    Column("api_key", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("local", Boolean, nullable=False),
    Column("tools", Text, CheckConstraint("tools IN ('native', 'guided')"), nullable=False),
    Column("created", Moment, nullable=False),
    Column("position", Integer, nullable=False),
)

upstream_consents = Table(
    "upstream_consents",
    metadata,
    _person(primary_key=True),
    Column("upstream", Text, ForeignKey("upstreams.id", ondelete="CASCADE"), primary_key=True),
    Column("model", Text, primary_key=True),
    Column("given", Moment, nullable=False),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Text, primary_key=True),
    _person(),
    Column("agent", Text),
    Column("upstream", Text),  # no foreign key: the built-in model has no row
    Column("title", Text, nullable=False),
    Column("created", Moment, nullable=False),
    Column("updated", Moment, nullable=False),
    Index("conversations_of_person", "person", "updated"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("conversation", Text, ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("role", Text, CheckConstraint("role IN ('user', 'assistant', 'tool', 'host')"), nullable=False),
    Column("content", Text, nullable=False),  # JSON
    Column("created", Moment, nullable=False),
    sqlite_autoincrement=True,
)


class Database:
    """An open database: `read` and `write` give a connection for one transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = _engine(path)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection that sees one state and writes nothing."""
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection that holds the write lock from its first statement, and commit at the end."""
        # One that reads first and writes later would fail at once, without waiting, when another writer came between.
        with self._engine.connect() as plain:
            connection = plain.execution_options(begin="BEGIN IMMEDIATE")
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


def open_database(path: Path) -> Database:
    """Open the database, and make it first where there is none.

    Raises:
        NewerDataError: A newer version of the program made it.
        DatabaseRefusedError: It is no database, or write-ahead logging can't be had.
    """
    version = _version(path)
    if version > SCHEMA_VERSION:
        raise NewerDataError(version, SCHEMA_VERSION)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _make_private(path)
    _use_write_ahead_log(path)
    database = Database(path)
    if version == 0:
        with database.write() as connection:
            metadata.create_all(connection)
            connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")
    return database


def _make_private(path: Path) -> None:
    # Only where there is none: to close a file of one's own gives up every lock that this process has on it, and then
    # the next program that ends removes the log in which the open database still writes.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))


def _version(path: Path) -> int:
    if not path.exists() or path.stat().st_size == 0:
        return 0
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.DatabaseError as error:
        raise DatabaseRefusedError(
            f"{path} can't be read as a database ({error}). Nothing was changed. "
            "Put a backup in its place, or choose another folder."
        ) from error


def _use_write_ahead_log(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000)) as connection:
        # An I/O error during the switch raises nothing: only the answer tells.
        mode = connection.execute("PRAGMA journal_mode = wal").fetchone()[0]
    if mode != "wal":
        raise DatabaseRefusedError(
            f"{path} can't use write-ahead logging (it stays in mode {mode}). Use a folder on a local disk."
        )


def _engine(path: Path) -> Engine:
    # An error must not quote what was to be stored: messages, names, keys.
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_TIMEOUT_MS / 1000}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # transactions begin below, not in the driver
        connection.execute("PRAGMA foreign_keys = on")
        connection.execute("PRAGMA synchronous = full")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    return engine
