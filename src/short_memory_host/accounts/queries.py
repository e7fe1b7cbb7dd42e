"""The rows of people and sign-in links. Nothing here decides."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Connection, delete, exists, insert, select, update

from short_memory_host import database as db
from short_memory_host.web.people import Person, from_row

people = db.people.c
links = db.sign_in_links.c


@dataclass(frozen=True, slots=True)
class Credentials:
    """Whose password it is, and what is kept of it."""

    person: str
    password_hash: str | None


def all_people(connection: Connection) -> list[Person]:
    """Return everybody, the first one first."""
    return [from_row(row) for row in connection.execute(select(db.people).order_by(people.created, people.id))]


def by_name(connection: Connection, name: str) -> Person | None:
    """Return the person of that name; the case of ASCII letters does not count."""
    row = connection.execute(select(db.people).where(people.name == name)).one_or_none()
    return None if row is None else from_row(row)


def credentials(connection: Connection, name: str) -> Credentials | None:
    """Return what a password is checked against."""
    row = connection.execute(select(people.id, people.password_hash).where(people.name == name)).one_or_none()
    return None if row is None else Credentials(row.id, row.password_hash)


def password_hash(connection: Connection, person: str) -> str | None:
    """Return what is kept of the person's password."""
    kept: str | None = connection.execute(select(people.password_hash).where(people.id == person)).scalar_one()
    return kept


def add(connection: Connection, person_id: str, *, name: str, role: Literal["admin", "member"], now: datetime) -> None:
    """Add a person without password and time zone."""
    row = {"id": person_id, "name": name, "role": role, "time_zone": "", "language": "en", "created": now}
    connection.execute(insert(db.people).values(row))


def change(connection: Connection, person_id: str, **fields: str | None) -> None:
    """Change fields of a person."""
    connection.execute(update(db.people).where(people.id == person_id).values(fields))


def anybody_comes_in(connection: Connection, *, now: datetime) -> bool:
    """Whether anybody has a password or a session that is not over."""
    password = select(exists().where(people.password_hash.is_not(None)))
    session = select(exists().where(db.sessions.c.expires > now))
    return bool(connection.scalar(password)) or bool(connection.scalar(session))


def add_link(connection: Connection, token: str, *, person: str, expires: datetime) -> None:
    """Keep a sign-in link by the digest of its secret."""
    connection.execute(insert(db.sign_in_links).values(token=token, person=person, expires=expires))


def open_link(connection: Connection, token: str, *, now: datetime) -> str | None:
    """Return whose link it is while it can be used."""
    query = select(links.person).where(links.token == token, links.spent.is_(None), links.expires > now)
    return connection.execute(query).scalar_one_or_none()


def spend_link(connection: Connection, token: str, *, now: datetime) -> str | None:
    """Mark the link as spent and return whose it was; None when it can't be used."""
    can_be_used = (links.token == token) & links.spent.is_(None) & (links.expires > now)
    query = update(db.sign_in_links).where(can_be_used).values(spent=now).returning(links.person)
    return connection.execute(query).scalar_one_or_none()


def clear_links(connection: Connection, *, now: datetime) -> None:
    """Delete the links that can't be used any more."""
    connection.execute(delete(db.sign_in_links).where((links.expires <= now) | links.spent.is_not(None)))
