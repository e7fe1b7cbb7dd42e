"""Sessions: a random secret in a cookie, its SHA-256 in the database.

Over after 7 idle days or 30 days, or when it is ended here. Over https the cookie is `__Host-session`. Without TLS
browsers refuse that name; the other name is our own, because cookies of one host name are shared by all its ports.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, bindparam, delete, insert, select, update
from starlette.requests import HTTPConnection
from starlette.responses import Response

from short_memory_host import database as db
from short_memory_host.web.held import held
from short_memory_host.web.ids import digest, new_secret

IDLE = timedelta(days=7)
LONGEST = timedelta(days=30)
SEEN_EVERY = timedelta(minutes=5)
SECURE_COOKIE = "__Host-session"
PLAIN_COOKIE = "short_memory_session"

# Asked at every request, and made once: to build a statement costs more than to run it.
_FIND = select(db.sessions).where(
    db.sessions.c.token == bindparam("token"),
    db.sessions.c.expires > bindparam("now"),
    db.sessions.c.seen > bindparam("idle_since"),
)


@dataclass(frozen=True, slots=True)
class Session:
    """A session that is alive. `key` is what the database knows it by."""

    key: str
    person: str
    created: datetime
    seen: datetime


def start(connection: Connection, person: str, *, now: datetime) -> str:
    """Open a session and return the secret for its cookie."""
    secret = new_secret()
    row = {"token": digest(secret), "person": person, "created": now, "seen": now, "expires": now + LONGEST}
    connection.execute(insert(db.sessions).values(row))
    return secret


def find(connection: Connection, secret: str, *, now: datetime) -> Session | None:
    """Return the session of a secret, unless it is over."""
    alive = {"token": digest(secret), "now": now, "idle_since": now - IDLE}
    row = connection.execute(_FIND, alive).one_or_none()
    return None if row is None else Session(row.token, row.person, row.created, row.seen)


def of_person(connection: Connection, person: str, *, now: datetime) -> list[Session]:
    """Return the person's sessions that are alive, the last seen first."""
    query = select(db.sessions).where(_alive(now), db.sessions.c.person == person).order_by(db.sessions.c.seen.desc())
    return [Session(row.token, row.person, row.created, row.seen) for row in connection.execute(query)]


def saw(connection: Connection, session: Session, *, now: datetime) -> None:
    """Note that the session is in use."""
    connection.execute(update(db.sessions).where(db.sessions.c.token == session.key).values(seen=now))


def end(connection: Connection, secret: str) -> None:
    """End the session of a cookie."""
    connection.execute(delete(db.sessions).where(db.sessions.c.token == digest(secret)))


def end_all(connection: Connection, person: str) -> None:
    """End every session of the person."""
    connection.execute(delete(db.sessions).where(db.sessions.c.person == person))


def clear(connection: Connection, *, now: datetime) -> None:
    """Delete what is over."""
    connection.execute(delete(db.sessions).where(~_alive(now)))


def secret_of(request: HTTPConnection) -> str | None:
    """Return what the cookie of this request holds."""
    return request.cookies.get(SECURE_COOKIE if is_secure(request) else PLAIN_COOKIE)


def is_secure(request: HTTPConnection) -> bool:
    """Whether the person reached the host through its public https address."""
    # A proxy either keeps the Host header or says what it got; uvicorn puts the latter into the scheme.
    public = held(request).settings.public_url or ""
    return request.url.scheme == "https" or public == f"https://{request.headers.get('host', '').lower()}"


def set_cookie(response: Response, request: HTTPConnection, secret: str) -> None:
    """Give the browser the secret."""
    secure = is_secure(request)
    response.set_cookie(
        SECURE_COOKIE if secure else PLAIN_COOKIE,
        secret,
        max_age=round(LONGEST.total_seconds()),
        secure=secure,
        httponly=True,
        samesite="lax",
    )


def clear_cookie(response: Response, request: HTTPConnection) -> None:
    """Take the cookie back."""
    secure = is_secure(request)
    response.delete_cookie(SECURE_COOKIE if secure else PLAIN_COOKIE, secure=secure, httponly=True, samesite="lax")


def _alive(now: datetime) -> ColumnElement[bool]:
    return (db.sessions.c.expires > now) & (db.sessions.c.seen > now - IDLE)
