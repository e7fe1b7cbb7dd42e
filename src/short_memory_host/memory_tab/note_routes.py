"""The editor of a note. A write names the version that the person saw.

Whatever is refused is answered with a sentence, the file and the line, and a conflict with the present text: the page
keeps what was typed. Only here a line that looks like a secret is kept, when the owner says so by hand.
"""

from urllib.parse import quote

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from short_memory.changes import ChangeSet
from short_memory.errors import BadFileError, ConflictError, ShortMemoryError
from short_memory_host import logs
from short_memory_host.memory_tab import service, views
from short_memory_host.web import cards, errors, templates
from short_memory_host.web.errors import UnknownError
from short_memory_host.web.held import Held, held
from short_memory_host.web.people import Person, SignedIn

router = APIRouter(prefix="/account/memory")


class Written(BaseModel):
    """A note as the person wrote it, the version that they saw, and whether they keep a line refused as a secret."""

    path: str
    text: str
    version: str
    keep_secrets: bool = False


class Unwanted(BaseModel):
    """A note to delete, and the version that the person saw."""

    path: str
    version: str


class Topic(BaseModel):
    """A new topic: the index that it belongs to, its name, and its first fact or title."""

    at: str
    name: str
    first: str


@router.get("/note")
def note_page(request: Request, person: SignedIn, path: str) -> Response:
    """Show a note in the editor; an empty one where no file is yet."""
    note = service.open_note(held(request), person, path)
    fill = "" if note.why_not else views.filled(note)
    return templates.render(request, "memory_tab/note.html", note=note, fill=fill)


@router.post("/note")
def save(request: Request, person: SignedIn, written: Written) -> Response:
    """Write a note."""
    host = held(request)
    try:
        change = host.notebook.save(
            person.id, written.path, written.text, version=written.version, keep_secrets=written.keep_secrets
        )
    except ShortMemoryError as error:
        return _refused(host, person, written.path, error)
    _log("note-saved", person, change)
    note = service.open_note(host, person, written.path)
    return JSONResponse({"version": note.version, "html": cards.receipt(change)})


@router.post("/note/delete")
def delete(request: Request, person: SignedIn, unwanted: Unwanted) -> Response:
    """Delete a note and the index entry of a topic."""
    host = held(request)
    try:
        change = host.notebook.delete(person.id, unwanted.path, version=unwanted.version)
    except ShortMemoryError as error:
        return _refused(host, person, unwanted.path, error)
    _log("note-deleted", person, change)
    return JSONResponse({"html": cards.receipt(change)})


@router.post("/topic")
def add_topic(request: Request, person: SignedIn, topic: Topic) -> Response:
    """Write a new topic and its index entry."""
    host = held(request)
    try:
        change = service.new_topic(host, person, at=topic.at, name=topic.name, first=topic.first)
    except ShortMemoryError as error:
        return _refused(host, person, topic.at, error)
    _log("note-saved", person, change)
    return JSONResponse({"url": f"/account/memory/note?path={quote(change.files[0].path)}"}, 201)


def _refused(host: Held, person: Person, path: str, error: ShortMemoryError) -> Response:
    if isinstance(error, BadFileError):
        raise UnknownError from error
    found: dict[str, object] = {"error": service.refusal(error)}
    if isinstance(error, ConflictError):
        now = service.open_note(host, person, path)
        found["present"] = {"text": now.text, "version": now.version, "why_not": now.why_not}
    return JSONResponse(found, errors.ENGINE_STATUS[error.code])


def _log(event: str, person: Person, change: ChangeSet) -> None:
    logs.write(event, person=person.id, change=change.id, count=len(change.files), size_bytes=change.size_bytes)
