"""Deciding on cards. Only a session of the owner gets here: no tool, no token and no message of a chat does.

Every answer holds the card as it stands then; a yes for a card that was drawn anew changes nothing and shows the new
one.
"""

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from short_memory.errors import DecidedError, StaleError
from short_memory.proposals import Proposal
from short_memory_host import logs
from short_memory_host.web import cards, errors, templates
from short_memory_host.web.held import Held, held
from short_memory_host.web.people import Person, SignedIn

router = APIRouter()


class Yes(BaseModel):
    """A yes, for the card with this digest."""

    digest: str


@router.get("/inbox")
def inbox_page(request: Request, person: SignedIn) -> Response:
    """Show what waits for the person's decision."""
    host = held(request)
    waiting = [_card(host, person, one) for one in host.memory.open_proposals(person.id)]
    return templates.render(request, "inbox/inbox.html", cards=waiting)


@router.post("/proposals/{proposal}/confirm")
def confirm(request: Request, person: SignedIn, proposal: str, yes: Yes) -> Response:
    """Write what the card shows."""
    host = held(request)
    try:
        change = host.memory.confirm(person.id, proposal, yes.digest)
    except (StaleError, DecidedError) as error:
        return _moved_on(host, person, proposal, error)
    count, size = len(change.files), change.size_bytes
    logs.write("proposal-confirmed", person=person.id, change=change.id, count=count, size_bytes=size)
    return _answer(host, person, host.memory.proposal(person.id, proposal))


@router.post("/proposals/{proposal}/decline")
def decline(request: Request, person: SignedIn, proposal: str) -> Response:
    """Write nothing, and remember the no."""
    host = held(request)
    try:
        declined = host.memory.decline(person.id, proposal)
    except (StaleError, DecidedError) as error:
        return _moved_on(host, person, proposal, error)
    logs.write("proposal-declined", person=person.id, proposal=proposal)
    return _answer(host, person, declined)


@router.post("/proposals/{proposal}/again")
def again(request: Request, person: SignedIn, proposal: str) -> Response:
    """Open a declined or ended proposal anew, as a new card."""
    host = held(request)
    return _answer(host, person, host.memory.propose_again(person.id, proposal))


def _moved_on(host: Held, person: Person, proposal: str, error: StaleError | DecidedError) -> Response:
    html = _card(host, person, host.memory.proposal(person.id, proposal))
    found = {"error": {"code": error.code, "text": error.text}, "html": html}
    return JSONResponse(found, errors.ENGINE_STATUS[error.code])


def _answer(host: Held, person: Person, proposal: Proposal) -> Response:
    return JSONResponse({"html": _card(host, person, proposal), "waiting": len(host.memory.open_proposals(person.id))})


def _card(host: Held, person: Person, proposal: Proposal) -> str:
    undone = bool(proposal.change and host.notebook.taken_back([proposal.change]))
    return cards.card(proposal, now=host.clock(), time_zone=person.time_zone, undone=undone)
