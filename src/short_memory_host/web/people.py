"""Who asks.

A route that names `SignedIn` or `Admin` has a session, and on a request that changes something its CSRF token was
checked.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Depends, Request
from sqlalchemy import Connection, Row, bindparam, select
from starlette.concurrency import run_in_threadpool

from short_memory_host import database as db
from short_memory_host.web import csrf, sessions
from short_memory_host.web.errors import NotAdminError, NotSignedInError
from short_memory_host.web.held import Held, held
from short_memory_host.web.sessions import Session


@dataclass(frozen=True, slots=True)
class Person:
    """A person of this host. `time_zone` is a name of the time zone database, or empty while it is unknown."""

    id: str
    name: str
    role: Literal["admin", "member"]
    time_zone: str
    language: str
    has_password: bool

    @property
    def is_admin(self) -> bool:
        """Whether the person manages upstreams, people and add-ons."""
        return self.role == "admin"


_FIND = select(db.people).where(db.people.c.id == bindparam("person"))


def from_row(row: Row[tuple[object, ...]]) -> Person:
    """Return the person of a row of `people`."""
    return Person(row.id, row.name, row.role, row.time_zone, row.language, row.password_hash is not None)


def find(connection: Connection, person_id: str) -> Person | None:
    """Return the person with this id."""
    row = connection.execute(_FIND, {"person": person_id}).one_or_none()
    return None if row is None else from_row(row)


def recognise(host: Held, secret: str, *, now: datetime) -> tuple[Session, Person] | None:
    """Return session and person of a cookie, and note that the session is in use."""
    with host.database.read() as connection:
        session = sessions.find(connection, secret, now=now)
        person = find(connection, session.person) if session else None
    if session is None or person is None:
        return None
    if now - session.seen >= sessions.SEEN_EVERY:
        with host.database.write() as connection:
            sessions.saw(connection, session, now=now)
    return session, person


async def visitor(request: Request) -> Person | None:
    """Return who asks, or None. For the few pages that show themselves to everybody; checks no CSRF token."""
    secret = sessions.secret_of(request)
    if not secret:
        return None
    host = held(request)
    found = await run_in_threadpool(recognise, host, secret, now=host.clock())
    if found is None:
        return None
    request.state.session, request.state.person = found
    request.state.csrf_token = csrf.token(secret)
    return found[1]


async def signed_in(request: Request) -> Person:
    """Return who asks.

    Raises:
        NotSignedInError: There is no session, or it is over.
        CsrfError: The request changes something and lacks the token of its session.
    """
    person = await visitor(request)
    if person is None:
        raise NotSignedInError
    await csrf.check(request, sessions.secret_of(request) or "")
    return person


Visitor = Annotated[Person | None, Depends(visitor)]
SignedIn = Annotated[Person, Depends(signed_in)]


async def admin(person: SignedIn) -> Person:
    """Return who asks, an admin.

    Raises:
        NotAdminError: The person is a member.
    """
    if not person.is_admin:
        raise NotAdminError
    return person


Admin = Annotated[Person, Depends(admin)]
