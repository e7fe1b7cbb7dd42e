"""The stored upstreams, as the chat and the settings page share them.

A key goes in here and out to the upstream alone, never to a page. A consent belongs to one person, one upstream and one
model. It ends when the address changes: other machines would get the notes.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, Row, and_, bindparam, delete, func, insert, literal, select, update

from short_memory_host import database as db
from short_memory_host.upstream import Upstream
from short_memory_host.web.errors import UnknownError
from short_memory_host.web.ids import digest, new_id

table = db.upstreams.c
consents = db.upstream_consents.c

# Asked in every turn, and made once: to build a statement costs more than to run it.
_HERE = and_(consents.upstream == table.id, consents.model == table.model, consents.person == bindparam("owner"))
_SEEN = select(db.upstreams, select(literal(True)).where(_HERE).exists().label("may_see_notes"))
_ALL = _SEEN.order_by(table.position, table.created)
_ONE = _SEEN.where(table.id == bindparam("name"))


@dataclass(frozen=True, slots=True)
class Fields:
    """What an admin decides about an upstream. An `api_key` of None keeps the present one."""

    name: str
    base_url: str
    model: str
    api_key: str | None
    local: bool
    tools: Literal["native", "guided"]


def all_for(connection: Connection, person: str) -> list[Upstream]:
    """Return every upstream in the admin's order, with what this person lets it see."""
    return [_upstream(row) for row in connection.execute(_ALL, {"owner": person})]


def find(connection: Connection, upstream_id: str, *, person: str) -> Upstream:
    """Return one upstream, with what this person lets it see.

    Raises:
        UnknownError: There is none with this id.
    """
    row = connection.execute(_ONE, {"owner": person, "name": upstream_id}).one_or_none()
    if row is None:
        raise UnknownError
    return _upstream(row)


def add(connection: Connection, fields: Fields, *, now: datetime) -> str:
    """Add an upstream at the end and return its id."""
    upstream_id = new_id("u_")
    position = connection.execute(select(func.coalesce(func.max(table.position), 0) + 1)).scalar_one()
    row = _row(fields) | {"id": upstream_id, "api_key": fields.api_key or "", "created": now, "position": position}
    connection.execute(insert(db.upstreams).values(row))
    return upstream_id


def change(connection: Connection, upstream_id: str, fields: Fields) -> None:
    """Change an upstream. With another address, the consents end.

    Raises:
        UnknownError: There is none with this id.
    """
    before = connection.execute(select(table.base_url).where(table.id == upstream_id)).scalar_one_or_none()
    if before is None:
        raise UnknownError
    key = {} if fields.api_key is None else {"api_key": fields.api_key}
    connection.execute(update(db.upstreams).where(table.id == upstream_id).values(_row(fields) | key))
    if before != fields.base_url:
        connection.execute(delete(db.upstream_consents).where(consents.upstream == upstream_id))


def remove(connection: Connection, upstream_id: str) -> None:
    """Remove an upstream and the consents for it.

    Raises:
        UnknownError: There is none with this id.
    """
    if connection.execute(delete(db.upstreams).where(table.id == upstream_id)).rowcount == 0:
        raise UnknownError


def set_consent(connection: Connection, upstream: Upstream, *, person: str, given: bool, now: datetime) -> None:
    """Keep whether this person's notes may go to this upstream and its present model."""
    key = {"person": person, "upstream": upstream.id, "model": upstream.model}
    connection.execute(delete(db.upstream_consents).filter_by(**key))
    if given:
        connection.execute(insert(db.upstream_consents).values(key | {"given": now}))


def reach(upstream: Upstream) -> str:
    """Return a name of where a person's notes would go: another one for another address or another model."""
    return digest(f"{upstream.base_url}\n{upstream.model}")


def _upstream(row: Row[*tuple[object, ...]]) -> Upstream:
    return Upstream(
        id=row.id,
        name=row.name,
        base_url=row.base_url,
        api_key=row.api_key,
        model=row.model,
        local=row.local,
        may_see_notes=row.may_see_notes,
        tools=row.tools,
    )


def _row(fields: Fields) -> dict[str, object]:
    return {
        "name": fields.name,
        "base_url": fields.base_url,
        "model": fields.model,
        "local": fields.local,
        "tools": fields.tools,
    }
