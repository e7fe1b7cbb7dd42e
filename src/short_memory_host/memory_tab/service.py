"""What the Memory tab does, apart from HTTP: new topics, agreeing to the add-on, and refusals in words for the owner.

The engine's own refusals speak to a model as well; the owner at the editor gets sentences of their own where those
would not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from short_memory import facts, index
from short_memory.errors import (
    BadFileError,
    BadTextError,
    ConflictError,
    OverCapError,
    SecretError,
    ShortMemoryError,
    UnchangedError,
)
from short_memory.scopes import INDEX, is_file
from short_memory_host.addons import granted
from short_memory_host.web import templates
from short_memory_host.web.errors import InvalidInputError, UnknownError

if TYPE_CHECKING:
    from short_memory.changes import ChangeSet
    from short_memory.notebook import Note
    from short_memory_host.web.held import Held
    from short_memory_host.web.people import Person


def open_note(host: Held, person: Person, path: str) -> Note:
    """Return a note of the person's.

    Raises:
        UnknownError: No note can be there.
    """
    try:
        return host.notebook.open(person.id, path)
    except BadFileError as error:
        raise UnknownError from error


def new_topic(host: Held, person: Person, *, at: str, name: str, first: str) -> ChangeSet:
    """Write a new topic with its first fact, which gets the day, or with a title; its index entry comes with it.

    Args:
        host: What the host holds.
        person: Whose topic it is.
        at: The path of the index that it belongs to.
        name: The name of the topic, without `.md`.
        first: The first fact, or a title that begins with `#`.

    Raises:
        InvalidInputError: The name is none for a topic or is taken, or there is no first fact.
        UnknownError: No index can be there.
        ShortMemoryError: As `Notebook.save`.
    """
    folder, _, file = at.rpartition("/")
    words = " ".join(first.split("\n")).strip()
    if len(name) > index.NAME_CHARACTERS or not is_file(f"{name}.md") or f"{name}.md" == INDEX:
        raise InvalidInputError("topic-name")
    if not words:
        raise InvalidInputError("topic-first")
    if file != INDEX:
        raise UnknownError
    try:
        return host.notebook.save(person.id, f"{folder}/{name}.md", _first_line(host, person, words), version="")
    except ConflictError as error:
        raise InvalidInputError("topic-taken", name=name) from error
    except BadFileError as error:
        raise UnknownError from error


def agree(host: Held, person: Person, digest: str) -> None:
    """Allow the add-on what it asks for now. Who switched it off keeps it off.

    Raises:
        InvalidInputError: The person saw another list than the one that stands now.
    """
    manifest = host.addon.addon.manifest
    if digest != manifest.capabilities_digest:
        raise InvalidInputError("addon-moved")
    before = host.granting.of(person.id).addon(manifest.id)
    host.granting.enable(person.id, granted(manifest, on=before is None or before.on))


def switch(host: Held, person: Person, *, on: bool) -> None:
    """Switch the add-on on or off for the person's own notes.

    Raises:
        UnknownError: The person has not agreed to it yet.
    """
    name = host.addon.addon.manifest.id
    if host.granting.of(person.id).addon(name) is None:
        raise UnknownError
    host.granting.switch(person.id, name, on=on)


def refusal(error: ShortMemoryError) -> dict[str, Any]:
    """Return a refusal for the owner: its code, its sentence, and the file and line where the engine knows them."""
    facts: dict[str, Any] = {"file": getattr(error, "file", None), "line": getattr(error, "line", None)}
    return {"code": error.code, "text": _words(error), **facts}


def _words(error: ShortMemoryError) -> str:
    match error:
        case OverCapError():
            return templates.t("memory.refused.over-cap", file=error.file, measures=error.measures)
        case BadTextError():
            facts = {"file": error.file, "line": error.line, "found": error.found, "rule": error.rule}
            return templates.t("memory.refused.bad-text", **facts)
        case SecretError():
            return templates.t("memory.refused.secret", file=error.file, line=error.line, rule=error.rule)
        case UnchangedError():
            return templates.t("memory.refused.unchanged")
        case _:
            return error.text


def _first_line(host: Held, person: Person, words: str) -> str:
    if words.startswith("#"):
        return f"{words}\n"
    today = host.clock().astimezone(ZoneInfo(person.time_zone or "UTC")).date()
    return facts.dated("- " + words.removeprefix("- "), today) + "\n"
