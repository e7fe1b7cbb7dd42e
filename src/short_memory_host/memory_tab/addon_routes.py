"""The add-on, seen by one person: on or off for their notes, what they agree to, and its page.

Off counts from the next turn on and deletes nothing. What was agreed to is kept with the digest of what was shown.
"""

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from short_memory.bundle import Problem, page_file, read_file, render_page
from short_memory_host import logs
from short_memory_host.memory_tab import service
from short_memory_host.web import templates
from short_memory_host.web.errors import UnknownError
from short_memory_host.web.held import held
from short_memory_host.web.people import SignedIn

router = APIRouter(prefix="/account/memory")

# What an add-on may call by name in its page, and where that is on this host. A place that is not here becomes words.
PLACES = {"account/memory": "/account/memory"}


class Switch(BaseModel):
    """Whether the add-on is on."""

    on: bool


class Agreement(BaseModel):
    """The digest of the list that the person read."""

    digest: str


@router.post("/addon")
def switch(request: Request, person: SignedIn, wanted: Switch) -> Response:
    """Switch the add-on on or off for the person's notes."""
    host = held(request)
    service.switch(host, person, on=wanted.on)
    event = "addon-switched-on" if wanted.on else "addon-switched-off"
    logs.write(event, person=person.id, addon=host.addon.addon.manifest.id)
    return Response(status_code=204)


@router.post("/addon/agree")
def agree(request: Request, person: SignedIn, agreement: Agreement) -> Response:
    """Allow the add-on what it asks for."""
    host = held(request)
    service.agree(host, person, agreement.digest)
    logs.write("addon-agreed", person=person.id, addon=host.addon.addon.manifest.id)
    return Response(status_code=204)


@router.get("/about")
def about_page(request: Request, person: SignedIn) -> Response:
    """Show the page that the add-on brings, in the person's language if it has it."""
    addon = held(request).addon.addon
    file = page_file(addon.folder, addon.manifest, person.language)
    raw = read_file(addon.folder, file) if file else None
    if file is None or raw is None or isinstance(raw, Problem) or addon.manifest.page is None:
        raise UnknownError
    places = {place: PLACES[place] for place in addon.manifest.page.opens if place in PLACES}
    html = render_page(raw, file=file, places=places).html
    return templates.render(request, "memory_tab/about.html", manifest=addon.manifest, html=html)
