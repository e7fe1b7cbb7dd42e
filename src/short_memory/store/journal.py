"""The journal: proposals and change sets with the bytes before and after. The authority for what happened.

SQLite in WAL mode with synchronous=FULL, through SQLAlchemy Core, opened at the first write or look back: the hot path
of a turn never comes here. A change set is written as an intent and marked applied when its files are in place.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, cast

import sqlalchemy as sa
from sqlalchemy import event

from short_memory.caps import Cap
from short_memory.changes import ChangeSet, FileChange
from short_memory.errors import NewerDataError, StorageError
from short_memory.proposals import Edit, Proposal
from short_memory.scopes import Actor, Channel, Conversation, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

SCHEMA = 1
BUSY_MS = 10_000

_tables = sa.MetaData()
_changes = sa.Table(
    "changes",
    _tables,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("id", sa.String, nullable=False, unique=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("made", sa.Integer, nullable=False),
    sa.Column("actor_kind", sa.String, nullable=False),
    sa.Column("actor_id", sa.String, nullable=False),
    sa.Column("cause", sa.String, nullable=False),
    sa.Column("conversation", sa.String),
    sa.Column("proposal", sa.String),
    sa.Column("reverts", sa.String),
    sa.Column("state", sa.String, nullable=False),
    sa.Index("changes_of_owner", "owner", "state", "seq"),
    sa.Index("changes_of_conversation", "conversation", "seq"),
    sa.Index("changes_reverting", "reverts"),
    sqlite_autoincrement=True,
)
_files = sa.Table(
    "change_files",
    _tables,
    sa.Column("seq", sa.ForeignKey("changes.seq"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("path", sa.String, nullable=False),
    sa.Column("before", sa.LargeBinary),
    sa.Column("after", sa.LargeBinary),
    sa.Index("files_of_owner", "owner", "path", "seq"),
)
_proposals = sa.Table(
    "proposals",
    _tables,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("conversation", sa.String, nullable=False),
    sa.Column("agent", sa.String),
    sa.Column("made", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("decided", sa.Integer),
    sa.Column("change", sa.String),
    sa.Column("told", sa.Boolean, nullable=False),
    sa.Column("identity", sa.String, nullable=False),
    sa.Column("body", sa.String, nullable=False),
    sa.Index("proposals_of_owner", "owner", "state", "made"),
    sa.Index("proposals_of_conversation", "conversation", "told"),
)

# Asked at every write, and made once: to build a statement costs more than to run it.
_INTENTS = sa.select(_changes).where(_changes.c.state == "intent").order_by(_changes.c.seq)
_INTENTS_OF = _INTENTS.where(_changes.c.owner == sa.bindparam("owner"))
_KNOWN = (
    sa.select(_files.c.after)
    .join(_changes, _changes.c.seq == _files.c.seq)
    .where(_files.c.owner == sa.bindparam("owner"), _files.c.path == sa.bindparam("path"))
    .where(_changes.c.state == "applied")
    .order_by(_files.c.seq.desc())
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
                _tables.create_all(run)
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
                run.execute(_proposals.update().where(_proposals.c.id == decided.id).values(_row(decided)))

    def record(self, change: ChangeSet) -> None:
        """Write down a change set whose files are in place already: an edit from outside."""
        with self._write() as run:
            _insert_change(run, change, "applied")

    def applied(self, change: str) -> None:
        """Mark a change set as in place."""
        with self._write() as run:
            run.execute(_changes.update().where(_changes.c.id == change).values(state="applied"))

    def failed(self, change: str) -> None:
        """Mark a change set as absent and open its proposal again."""
        with self._write() as run:
            run.execute(_changes.update().where(_changes.c.id == change).values(state="failed"))
            opened = {"state": "open", "decided": None, "change": None}
            run.execute(_proposals.update().where(_proposals.c.change == change).values(opened))

    def intents(self, owner: str | None = None) -> list[ChangeSet]:
        """Return the change sets that are neither applied nor failed, of one owner or of all, oldest first."""
        return self._select(_INTENTS if owner is None else _INTENTS_OF, owner=owner)

    def changes(self, owner: str, *, limit: int, before: str | None = None) -> list[ChangeSet]:
        """Return applied change sets of an owner, latest first, those before the named one if one is named."""
        query = sa.select(_changes).where(_changes.c.owner == owner, _changes.c.state == "applied")
        if before is not None:
            there = sa.select(_changes.c.seq).where(_changes.c.id == before).scalar_subquery()
            query = query.where(_changes.c.seq < there)
        return self._select(query.order_by(_changes.c.seq.desc()).limit(limit))

    def change(self, owner: str, name: str) -> ChangeSet | None:
        """Return one applied change set of an owner."""
        query = sa.select(_changes).where(
            _changes.c.owner == owner, _changes.c.id == name, _changes.c.state == "applied"
        )
        return next(iter(self._select(query)), None)

    def last_of(self, conversation: Conversation) -> ChangeSet | None:
        """Return the latest change set that a confirmation in this conversation wrote."""
        query = sa.select(_changes).where(
            _changes.c.conversation == conversation.id,
            _changes.c.owner == conversation.owner,
            _changes.c.cause == "proposal",
            _changes.c.state == "applied",
        )
        return next(iter(self._select(query.order_by(_changes.c.seq.desc()).limit(1))), None)

    def taken_back(self, names: Sequence[str]) -> dict[str, str]:
        """Return which of these change sets were taken back, and by which."""
        query = sa.select(_changes.c.reverts, _changes.c.id).where(
            _changes.c.reverts.in_(names), _changes.c.state == "applied"
        )
        with self._read() as run:
            return {row.reverts: row.id for row in run.execute(query)}

    def known(self, owner: str, paths: Iterable[str]) -> dict[str, bytes | None]:
        """Return the bytes of files after the latest change set that holds each; None where there are none."""
        with self._read() as run:
            return {path: run.execute(_KNOWN, {"owner": owner, "path": path}).scalar() for path in paths}

    def paths(self, owner: str) -> list[str]:
        """Return every path that a change set of this owner holds."""
        query = sa.select(_files.c.path).where(_files.c.owner == owner).distinct().order_by(_files.c.path)
        with self._read() as run:
            return list(run.execute(query).scalars())

    def _select(self, query: sa.Select[Any], **named: str | None) -> list[ChangeSet]:
        with self._read() as run:
            rows = run.execute(query, named).all()
            wanted = (
                sa.select(_files).where(_files.c.seq.in_([row.seq for row in rows])).order_by(_files.c.seq, _files.c.n)
            )
            files: dict[int, list[FileChange]] = {}
            for one in run.execute(wanted) if rows else ():
                files.setdefault(one.seq, []).append(FileChange(one.path, one.before, one.after))
        return [_change(row, tuple(files.get(row.seq, ()))) for row in rows]

    # Proposals

    def propose(self, proposal: Proposal) -> None:
        """Keep a new proposal."""
        with self._write() as run:
            run.execute(_proposals.insert().values(_row(proposal)))

    def update(self, proposals: Sequence[Proposal]) -> None:
        """Keep the present state of proposals, all in one transaction."""
        if not proposals:
            return
        with self._write() as run:
            for one in proposals:
                run.execute(_proposals.update().where(_proposals.c.id == one.id).values(_row(one)))

    def told(self, names: Sequence[str]) -> None:
        """Remember that a model was told what became of these proposals."""
        if not names:
            return
        with self._write() as run:
            run.execute(_proposals.update().where(_proposals.c.id.in_(names)).values(told=True))

    def proposal(self, owner: str, name: str) -> Proposal | None:
        """Return one proposal of an owner."""
        return next(iter(self._select_proposals(_proposals.c.owner == owner, _proposals.c.id == name)), None)

    def open_proposals(self, owner: str) -> list[Proposal]:
        """Return the proposals of an owner whose state is open, oldest first."""
        return self._select_proposals(_proposals.c.owner == owner, _proposals.c.state == "open")

    def proposals_of(self, conversation: Conversation) -> list[Proposal]:
        """Return every proposal of a conversation, oldest first."""
        return self._select_proposals(
            _proposals.c.conversation == conversation.id, _proposals.c.owner == conversation.owner
        )

    def declined(self, owner: str, identity: str, since: datetime) -> Proposal | None:
        """Return the latest proposal of this identity that was declined since then."""
        found = self._select_proposals(
            _proposals.c.owner == owner,
            _proposals.c.state == "declined",
            _proposals.c.identity == identity,
            _proposals.c.decided >= _ms(since),
        )
        return found[-1] if found else None

    def made_since(self, owner: str, agent: str | None, since: datetime) -> int:
        """Count the proposals that one agent (or none) made since then."""
        query = sa.select(sa.func.count()).where(
            _proposals.c.owner == owner, _proposals.c.agent.is_not_distinct_from(agent), _proposals.c.made > _ms(since)
        )
        with self._read() as run:
            return run.execute(query).scalar_one()

    def _select_proposals(self, *chosen: sa.ColumnElement[bool]) -> list[Proposal]:
        query = sa.select(_proposals).where(*chosen).order_by(_proposals.c.made, sa.literal_column("rowid"))
        with self._read() as run:
            return [_proposal(row) for row in run.execute(query)]


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
        "made": _ms(change.made),
        "actor_kind": change.actor.kind,
        "actor_id": change.actor.id,
        "cause": change.cause,
        "conversation": change.conversation,
        "proposal": change.proposal,
        "reverts": change.reverts,
        "state": state,
    }
    key = run.execute(_changes.insert().values(row)).inserted_primary_key
    seq = cast("sa.Row[tuple[int]]", key)[0]
    rows = [
        {"seq": seq, "n": n, "owner": change.owner, "path": one.path, "before": one.before, "after": one.after}
        for n, one in enumerate(change.files)
    ]
    run.execute(_files.insert(), rows)


def _change(row: sa.Row[Any], files: tuple[FileChange, ...]) -> ChangeSet:
    return ChangeSet(
        id=row.id,
        owner=row.owner,
        made=_time(row.made),
        actor=Actor(row.actor_kind, row.actor_id),
        cause=row.cause,
        files=files,
        conversation=row.conversation,
        proposal=row.proposal,
        reverts=row.reverts,
    )


def _row(one: Proposal) -> dict[str, Any]:
    return {
        "id": one.id,
        "owner": one.owner,
        "conversation": one.conversation.id,
        "agent": one.conversation.agent,
        "made": _ms(one.made),
        "end": _ms(one.end),
        "state": one.state,
        "decided": None if one.decided is None else _ms(one.decided),
        "change": one.change,
        "told": one.told,
        "identity": one.identity,
        "body": json.dumps(_body(one), ensure_ascii=False),
    }


def _body(one: Proposal) -> dict[str, Any]:
    channel, scope = one.conversation.channel, one.scope
    return {
        "channel": None if channel is None else [channel.binding, channel.hash],
        "shared": one.conversation.shared,
        "scope": [scope.addon, scope.kind, scope.title, scope.index, *_cap(scope.cap), *_cap(scope.topic_cap)],
        "edits": [[edit.file, edit.text, edit.old, edit.new] for edit in one.edits],
        "files": [[file.path, _decoded(file.before), _decoded(file.after)] for file in one.files],
        "why": one.why,
        "day": one.day.isoformat(),
    }


def _proposal(row: sa.Row[Any]) -> Proposal:
    body = json.loads(row.body)
    addon, kind, title, index, *limits = body["scope"]
    channel = None if body["channel"] is None else Channel(*body["channel"])
    return Proposal(
        id=row.id,
        conversation=Conversation(row.conversation, row.owner, row.agent, channel, shared=body["shared"]),
        scope=Scope(addon, kind, title, index, Cap(*limits[:2]), Cap(*limits[2:]), may_propose=True),
        edits=tuple(Edit(*edit) for edit in body["edits"]),
        files=tuple(FileChange(path, _encoded(old), _encoded(new)) for path, old, new in body["files"]),
        why=body["why"],
        day=date.fromisoformat(body["day"]),
        made=_time(row.made),
        end=_time(row.end),
        state=row.state,
        decided=None if row.decided is None else _time(row.decided),
        change=row.change,
        told=row.told,
    )


def _cap(cap: Cap) -> tuple[int, int]:
    return cap.lines, cap.bytes


def _decoded(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode()


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
