"""The tables of the journal, and the way of a value into a row and back.

Times are milliseconds since 1970, in UTC. What a proposal holds beside its state is one body of JSON.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import sqlalchemy as sa

from short_memory.caps import Cap
from short_memory.changes import ChangeSet, FileChange
from short_memory.proposals import Edit, Proposal
from short_memory.scopes import Actor, Channel, Conversation, Scope

tables = sa.MetaData()
changes = sa.Table(
    "changes",
    tables,
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
files = sa.Table(
    "change_files",
    tables,
    sa.Column("seq", sa.ForeignKey("changes.seq"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("owner", sa.String, nullable=False),
    sa.Column("path", sa.String, nullable=False),
    sa.Column("before", sa.LargeBinary),
    sa.Column("after", sa.LargeBinary),
    sa.Index("files_of_owner", "owner", "path", "seq"),
)
proposals = sa.Table(
    "proposals",
    tables,
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


def change_of(row: sa.Row[Any], files: tuple[FileChange, ...]) -> ChangeSet:
    """Return the change set of a row of `changes` and its files."""
    return ChangeSet(
        id=row.id,
        owner=row.owner,
        made=time_of(row.made),
        actor=Actor(row.actor_kind, row.actor_id),
        cause=row.cause,
        files=files,
        conversation=row.conversation,
        proposal=row.proposal,
        reverts=row.reverts,
    )


def row_of(one: Proposal) -> dict[str, Any]:
    """Return the row of a proposal."""
    return {
        "id": one.id,
        "owner": one.owner,
        "conversation": one.conversation.id,
        "agent": one.conversation.agent,
        "made": ms(one.made),
        "end": ms(one.end),
        "state": one.state,
        "decided": None if one.decided is None else ms(one.decided),
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


def proposal_of(row: sa.Row[Any]) -> Proposal:
    """Return the proposal of a row."""
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
        made=time_of(row.made),
        end=time_of(row.end),
        state=row.state,
        decided=None if row.decided is None else time_of(row.decided),
        change=row.change,
        told=row.told,
    )


def _cap(cap: Cap) -> tuple[int, int]:
    return cap.lines, cap.bytes


def _decoded(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode()


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def ms(moment: datetime) -> int:
    """Return a time as it is kept."""
    return round(moment.timestamp() * 1000)


def time_of(ms: int) -> datetime:
    """Return a kept time."""
    return datetime.fromtimestamp(ms / 1000, UTC)
