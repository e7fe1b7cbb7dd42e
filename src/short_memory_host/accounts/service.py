"""Coming in, and what a person changes about themselves.

A link is spent by pressing the button, once; a password is checked in the same time whether the name exists or not.
Every way in starts a new session.
"""

import unicodedata
from datetime import datetime, timedelta
from functools import cache
from typing import Literal
from zoneinfo import available_timezones

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from short_memory_host.accounts import queries
from short_memory_host.database import Database
from short_memory_host.web import sessions
from short_memory_host.web.errors import InvalidInputError, TooManyAttemptsError, UnknownError
from short_memory_host.web.ids import digest, new_id, new_secret
from short_memory_host.web.people import Person
from short_memory_host.web.throttle import Throttle

LINK_LIVES = timedelta(minutes=15)
NAME_CHARACTERS = 64
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD_BYTES = 1024
FIRST_NAME = "owner"

HASHER = PasswordHasher()  # Argon2id with the library's parameters (RFC 9106, low memory)


@cache
def _time_zones() -> frozenset[str]:
    return frozenset(available_timezones())


@cache
def _hash_of_nobody() -> str:
    return HASHER.hash(new_secret())


def first_person(database: Database, *, now: datetime) -> None:
    """Add the first person, an admin, where there is nobody yet."""
    with database.write() as connection:
        if not queries.all_people(connection):
            queries.add(connection, new_id("p_"), name=FIRST_NAME, role="admin", now=now)


def add_person(database: Database, name: str, *, role: Literal["admin", "member"], now: datetime) -> str:
    """Add a person and return the id.

    Raises:
        InvalidInputError: The name is taken, empty or too long.
    """
    name = clean_name(name)
    person_id = new_id("p_")
    with database.write() as connection:
        _free_name(queries.by_name(connection, name), person_id)
        queries.add(connection, person_id, name=name, role=role, now=now)
    return person_id


def needs_link(database: Database, *, now: datetime) -> bool:
    """Whether nobody has a way in yet, so that the terminal has to show one."""
    with database.read() as connection:
        return not queries.anybody_comes_in(connection, now=now)


def new_link(database: Database, name: str | None, *, now: datetime) -> str:
    """Return the secret of a new sign-in link for the person of that name, or for the first admin.

    Raises:
        UnknownError: There is nobody of that name.
    """
    secret = new_secret()
    with database.write() as connection:
        everybody = queries.all_people(connection)
        found = queries.by_name(connection, name) if name else next((one for one in everybody if one.is_admin), None)
        if found is None:
            raise UnknownError
        queries.clear_links(connection, now=now)
        queries.add_link(connection, digest(secret), person=found.id, expires=now + LINK_LIVES)
    return secret


def link_can_be_used(database: Database, secret: str, *, now: datetime) -> bool:
    """Whether pressing the button would sign somebody in. Spends nothing."""
    with database.read() as connection:
        return queries.open_link(connection, digest(secret), now=now) is not None


def sign_in_with_link(database: Database, secret: str, *, old_session: str | None, now: datetime) -> str | None:
    """Spend the link and return the secret of a new session; None when the link can't be used."""
    with database.write() as connection:
        person = queries.spend_link(connection, digest(secret), now=now)
        if person is None:
            return None
        if old_session:
            sessions.end(connection, old_session)
        sessions.clear(connection, now=now)
        return sessions.start(connection, person, now=now)


def sign_in_with_password(
    database: Database,
    name: str,
    password: str,
    *,
    throttle: Throttle,
    address: str,
    old_session: str | None,
    now: datetime,
) -> str | None:
    """Return the secret of a new session; None when name and password don't fit.

    Raises:
        TooManyAttemptsError: The account or the address has to pause.
    """
    keys = (f"name:{digest(_folded(name))}", f"address:{address}")
    wait = throttle.wait(*keys, now=now)
    if wait:
        raise TooManyAttemptsError(wait_s=max(1, round(wait.total_seconds())))
    # Counted before the slow check, so that many attempts at once do not all slip through.
    throttle.failed(*keys, now=now)
    with database.read() as connection:
        found = queries.credentials(connection, name.strip())
    if not _fits(found.password_hash if found else None, password) or found is None:
        return None
    throttle.succeeded(*keys)
    with database.write() as connection:
        if old_session:
            sessions.end(connection, old_session)
        sessions.clear(connection, now=now)
        return sessions.start(connection, found.person, now=now)


def sign_out(database: Database, secret: str) -> None:
    """End one session."""
    with database.write() as connection:
        sessions.end(connection, secret)


def sign_out_everywhere(database: Database, person: Person) -> None:
    """End every session of the person."""
    with database.write() as connection:
        sessions.end_all(connection, person.id)


def set_password(database: Database, person: Person, *, current: str, new: str, now: datetime) -> str:
    """Set a password, end every session and return the secret of a new one.

    Raises:
        InvalidInputError: The present password does not fit, or the new one is too short or too long.
    """
    if len(new) < SHORTEST_PASSWORD:
        raise InvalidInputError("short-password", least=SHORTEST_PASSWORD)
    if len(new.encode()) > LONGEST_PASSWORD_BYTES:
        raise InvalidInputError("long-password", most=LONGEST_PASSWORD_BYTES)
    with database.read() as connection:
        present = queries.password_hash(connection, person.id)
    if present is not None and not _fits(present, current):
        raise InvalidInputError("wrong-password")
    hashed = HASHER.hash(new)
    with database.write() as connection:
        queries.change(connection, person.id, password_hash=hashed)
        sessions.end_all(connection, person.id)
        return sessions.start(connection, person.id, now=now)


def change_profile(database: Database, person: Person, *, name: str, time_zone: str) -> None:
    """Change name and time zone.

    Raises:
        InvalidInputError: The name is taken, empty or too long, or there is no such time zone.
    """
    name = clean_name(name)
    if time_zone and time_zone not in _time_zones():
        raise InvalidInputError("time-zone")
    with database.write() as connection:
        _free_name(queries.by_name(connection, name), person.id)
        queries.change(connection, person.id, name=name, time_zone=time_zone)


def set_unknown_time_zone(database: Database, person: Person, time_zone: str) -> None:
    """Take the browser's time zone while the person has none; a name that is not known changes nothing."""
    if person.time_zone or time_zone not in _time_zones():
        return
    with database.write() as connection:
        queries.change(connection, person.id, time_zone=time_zone)


def time_zones() -> list[str]:
    """Return the names that can be chosen."""
    return sorted(_time_zones())


def clean_name(name: str) -> str:
    """Return the name in one spelling.

    Raises:
        InvalidInputError: It is empty, too long, or holds what can't be seen.
    """
    clean = " ".join(unicodedata.normalize("NFC", name).split())
    if not clean or len(clean) > NAME_CHARACTERS or not clean.isprintable():
        raise InvalidInputError("name", most=NAME_CHARACTERS)
    return clean


def _free_name(holder: Person | None, person_id: str) -> None:
    if holder is not None and holder.id != person_id:
        raise InvalidInputError("name-taken")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip()).casefold()


def _fits(password_hash: str | None, password: str) -> bool:
    # Without a hash the same work is done on one that nobody's password fits.
    try:
        HASHER.verify(password_hash or _hash_of_nobody(), password[:LONGEST_PASSWORD_BYTES])
    except VerificationError:
        return False
    return password_hash is not None
