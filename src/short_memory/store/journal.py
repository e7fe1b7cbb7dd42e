"""The journal: proposals and change sets with the bytes before and after. The authority for what happened.

SQLite in WAL mode with synchronous=FULL, through SQLAlchemy Core, opened at the first write or look back: the hot path
of a turn never comes here. A change set is written as an intent and marked applied when its files are in place.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import sqlalchemy as sa
from sqlalchemy import event

from short_memory.changes import FileChange
from short_memory.errors import NewerDataError, StorageError
from short_memory.store import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from short_memory.changes import ChangeSet
    from short_memory.proposals import Proposal
    from short_memory.scopes import Conversation

SCHEMA = 1
BUSY_MS = 10_000

# Asked at every write or turn, and made once: to build a statement costs more than to run it.
_INTENTS = sa.select(rows.changes).where(rows.changes.c.state == "intent").order_by(rows.changes.c.seq)
_INTENTS_OF = _INTENTS.where(rows.changes.c.owner == sa.bindparam("owner"))
_KNOWN = (
    sa.select(rows.files.c.after)
    .join(rows.changes, rows.changes.c.seq == rows.files.c.seq)
    .where(rows.files.c.owner == sa.bindparam("owner"), rows.files.c.path == sa.bindparam("path"))
    .where(rows.changes.c.state == "applied")
    .order_by(rows.files.c.seq.desc())
    .limit(1)
)

_UNTOLD = (
    sa.select(rows.proposals.c.id)
    .where(rows.proposals.c.conversation == sa.bindparam("chat"), rows.proposals.c.told.is_(False))
    .where(rows.proposals.c.owner == sa.bindparam("owner"))
    .limit(1)
)


class Journal:
    """An open journal. Every method is one transaction unless it says otherwise."""

    def __init__(self, path: Path) -> None:
        # SQLite gives its log the mode of the database. Errors must not quote what was to be stored.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        self._engine = sa.create_engine(
            f"sqlite:///{path}", connect_args={"timeout": BUSY_MS / 1000}, hide_parameters=True
        )
        event.listen(self._engine, "connect", _configure)
        event.listen(self._engine, "begin", _begin)
        self._writing = self._engine.execution_options(immediate=True)
        try:
            self._prepare()
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _prepare(self) -> None:
        with self._write() as run:
            found = run.exec_driver_sql("PRAGMA user_version").scalar_one()
            if found > SCHEMA:
                raise NewerDataError(found, SCHEMA)
            if found < SCHEMA:
                rows.tables.create_all(run)
                run.exec_driver_sql(f"PRAGMA user_version = {SCHEMA}")

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        try:
            with self._writing.begin() as run:
                yield run
        except sa.exc.DatabaseError as error:
            raise StorageError(_reason(error)) from error

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.connect() as run:
                yield run
        except sa.exc.DatabaseError as error:
            raise StorageError(_reason(error)) from error

    # Change sets

    def intend(self, change: ChangeSet, decided: Proposal | None) -> None:
        """Write a change set as an intent, and the proposal that it carries out as confirmed."""
        with self._write() as run:
            _insert_change(run, change, "intent")
            if decided is not None:
                run.execute(
                    rows.proposals.update().where(rows.proposals.c.id == decided.id).values(rows.row_of(decided))
                )

    def record(self, change: ChangeSet) -> None:
        """Write down a change set whose files are in place already: an edit from outside."""
        with self._write() as run:
            _insert_change(run, change, "applied")

    def applied(self, change: str) -> None:
        """Mark a change set as in place."""
        with self._write() as run:
            run.execute(rows.changes.update().where(rows.changes.c.id == change).values(state="applied"))

    def failed(self, change: str) -> None:
        """Mark a change set as absent and open its proposal again."""
        with self._write() as run:
            run.execute(rows.changes.update().where(rows.changes.c.id == change).values(state="failed"))
            opened = {"state": "open", "decided": None, "change": None}
            run.execute(rows.proposals.update().where(rows.proposals.c.change == change).values(opened))

    def intents(self, owner: str | None = None) -> list[ChangeSet]:
        """Return the change sets that are neither applied nor failed, of one owner or of all, oldest first."""
        return self._select(_INTENTS if owner is None else _INTENTS_OF, owner=owner)

    def changes(self, owner: str, *, limit: int, before: str | None = None) -> list[ChangeSet]:
        """Return applied change sets of an owner, latest first, those before the named one if one is named."""
        query = sa.select(rows.changes).where(rows.changes.c.owner == owner, rows.changes.c.state == "applied")
        if before is not None:
            there = sa.select(rows.changes.c.seq).where(rows.changes.c.id == before).scalar_subquery()
            query = query.where(rows.changes.c.seq < there)
        return self._select(query.order_by(rows.changes.c.seq.desc()).limit(limit))

    def change(self, owner: str, name: str) -> ChangeSet | None:
        """Return one applied change set of an owner."""
        query = sa.select(rows.changes).where(
            rows.changes.c.owner == owner, rows.changes.c.id == name, rows.changes.c.state == "applied"
        )
        return next(iter(self._select(query)), None)

    def last_of(self, conversation: Conversation) -> ChangeSet | None:
        """Return the latest change set that a confirmation in this conversation wrote."""
        query = sa.select(rows.changes).where(
            rows.changes.c.conversation == conversation.id,
            rows.changes.c.owner == conversation.owner,
            rows.changes.c.cause == "proposal",
            rows.changes.c.state == "applied",
        )
        return next(iter(self._select(query.order_by(rows.changes.c.seq.desc()).limit(1))), None)

    def taken_back(self, names: Sequence[str]) -> dict[str, str]:
        """Return which of these change sets were ever taken back, and by which, the latest of several."""
        query = (
            sa.select(rows.changes.c.reverts, rows.changes.c.id)
            .where(rows.changes.c.reverts.in_(names), rows.changes.c.state == "applied")
            .order_by(rows.changes.c.seq)
        )
        with self._read() as run:
            return {row.reverts: row.id for row in run.execute(query)}

    def known(self, owner: str, paths: Iterable[str]) -> dict[str, bytes | None]:
        """Return the bytes of files after the latest change set that holds each; None where there are none."""
        with self._read() as run:
            return {path: run.execute(_KNOWN, {"owner": owner, "path": path}).scalar() for path in paths}

    def paths(self, owner: str) -> list[str]:
        """Return every path that a change set of this owner holds."""
        query = sa.select(rows.files.c.path).where(rows.files.c.owner == owner).distinct().order_by(rows.files.c.path)
        with self._read() as run:
            return list(run.execute(query).scalars())

    def _select(self, query: sa.Select[Any], **named: str | None) -> list[ChangeSet]:
        with self._read() as run:
            found = run.execute(query, named).all()
            wanted = (
                sa.select(rows.files)
                .where(rows.files.c.seq.in_([row.seq for row in found]))
                .order_by(rows.files.c.seq, rows.files.c.n)
            )
            files: dict[int, list[FileChange]] = {}
            for one in run.execute(wanted) if found else ():
                files.setdefault(one.seq, []).append(FileChange(one.path, one.before, one.after))
        return [rows.change_of(row, tuple(files.get(row.seq, ()))) for row in found]

    # Proposals

    def propose(self, proposal: Proposal) -> None:
        """Keep a new proposal."""
        with self._write() as run:
            run.execute(rows.proposals.insert().values(rows.row_of(proposal)))

    def update(self, proposals: Sequence[Proposal]) -> None:
        """Keep the present state of proposals, all in one transaction."""
        if not proposals:
            return
        with self._write() as run:
            for one in proposals:
                run.execute(rows.proposals.update().where(rows.proposals.c.id == one.id).values(rows.row_of(one)))

    def told(self, names: Sequence[str]) -> None:
        """Remember that a model was told what became of these proposals."""
        if not names:
            return
        with self._write() as run:
            run.execute(rows.proposals.update().where(rows.proposals.c.id.in_(names)).values(told=True))

    def proposal(self, owner: str, name: str) -> Proposal | None:
        """Return one proposal of an owner."""
        return next(iter(self._select_proposals(rows.proposals.c.owner == owner, rows.proposals.c.id == name)), None)

    def open_proposals(self, owner: str) -> list[Proposal]:
        """Return the proposals of an owner whose state is open, oldest first."""
        return self._select_proposals(rows.proposals.c.owner == owner, rows.proposals.c.state == "open")

    def proposals_of(self, conversation: Conversation) -> list[Proposal]:
        """Return every proposal of a conversation, oldest first."""
        return self._select_proposals(
            rows.proposals.c.conversation == conversation.id, rows.proposals.c.owner == conversation.owner
        )

    def has_untold(self, conversation: Conversation) -> bool:
        """Say whether a model was not told yet of a proposal of this conversation, an open one included."""
        with self._read() as run:
            return run.execute(_UNTOLD, {"chat": conversation.id, "owner": conversation.owner}).first() is not None

    def declined(self, owner: str, identity: str, since: datetime) -> Proposal | None:
        """Return the latest proposal of this identity that was declined since then."""
        found = self._select_proposals(
            rows.proposals.c.owner == owner,
            rows.proposals.c.state == "declined",
            rows.proposals.c.identity == identity,
            rows.proposals.c.decided >= rows.ms(since),
        )
        return found[-1] if found else None

    def made_since(self, owner: str, agent: str | None, since: datetime) -> int:
        """Count the proposals that one agent (or none) made since then."""
        query = sa.select(sa.func.count()).where(
            rows.proposals.c.owner == owner,
            rows.proposals.c.agent.is_not_distinct_from(agent),
            rows.proposals.c.made > rows.ms(since),
        )
        with self._read() as run:
            return run.execute(query).scalar_one()

    def _select_proposals(self, *chosen: sa.ColumnElement[bool]) -> list[Proposal]:
        query = sa.select(rows.proposals).where(*chosen).order_by(rows.proposals.c.made, sa.literal_column("rowid"))
        with self._read() as run:
            return [rows.proposal_of(row) for row in run.execute(query)]


def _configure(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own type
    connection.isolation_level = None
    try:
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error as error:
        raise StorageError(error.sqlite_errorname) from error
    if mode != "wal":
        raise StorageError(f"SQLite answers journal mode {mode}")


def _begin(run: sa.Connection) -> None:
    # A writer takes its place at once: a transaction that starts by reading could find it taken later. A read is one
    # statement, or several on rows that never change, and needs none.
    if run.get_execution_options().get("immediate"):
        run.exec_driver_sql("BEGIN IMMEDIATE")


def _reason(error: sa.exc.DatabaseError) -> str:
    return getattr(error.orig, "sqlite_errorname", "database error")


def _insert_change(run: sa.Connection, change: ChangeSet, state: str) -> None:
    row = {
        "id": change.id,
        "owner": change.owner,
        "made": rows.ms(change.made),
        "actor_kind": change.actor.kind,
        "actor_id": change.actor.id,
        "cause": change.cause,
        "conversation": change.conversation,
        "proposal": change.proposal,
        "reverts": change.reverts,
        "state": state,
    }
    key = run.execute(rows.changes.insert().values(row)).inserted_primary_key
    seq = cast("sa.Row[tuple[int]]", key)[0]
    listed = [
        {"seq": seq, "n": n, "owner": change.owner, "path": one.path, "before": one.before, "after": one.after}
        for n, one in enumerate(change.files)
    ]
    run.execute(rows.files.insert(), listed)
