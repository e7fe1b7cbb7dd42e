"""The page of models: everybody says what may see their notes; an admin adds, changes, tests and removes upstreams.

Between page and script: a test answers `{"lines": [{"ok", "text"}]}`. The key of an upstream never comes back to a
page.
"""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, RedirectResponse, Response

from short_memory_host import logs
from short_memory_host.models import service
from short_memory_host.upstream import Upstream, check
from short_memory_host.web import templates, upstreams
from short_memory_host.web.errors import InvalidInputError, text
from short_memory_host.web.held import held
from short_memory_host.web.people import Admin, Person, SignedIn

router = APIRouter(prefix="/models")

SETTLED = {"ready", "failed", "stopped"}
"""The states in which the built-in model stays until somebody does something."""


class Entered(BaseModel):
    """The form of an upstream as it was sent."""

    name: str = ""
    base_url: str = ""
    model: str = ""
    api_key: str = ""
    local: bool = False
    tools: str = "native"


class Consent(BaseModel):
    """Whether the person's notes may go there. `seen` names the address and the model as the page showed them."""

    given: bool
    seen: str


@router.get("")
def models_page(request: Request, person: SignedIn) -> Response:
    """Show the models, and to an admin what can be changed."""
    with held(request).database.read() as connection:
        found = upstreams.all_for(connection, person.id)
    return templates.render(
        request, "models/models.html", upstreams=found, reach=upstreams.reach, built_in=held(request).built_in
    )


@router.get("/built-in")
def built_in_state(request: Request, person: SignedIn) -> Response:  # noqa: ARG001 - the state needs a session
    """Give the piece of the page that shows the built-in model, for the script that keeps it fresh."""
    built_in = held(request).built_in
    html = templates.fragment("models/built_in.html", built_in=built_in)
    return JSONResponse({"html": html, "settled": built_in is None or built_in.state in SETTLED})


@router.get("/new")
def new_page(request: Request, admin: Admin) -> Response:  # noqa: ARG001 - the page needs an admin
    """Show the empty form."""
    return _form(request, Entered(), None, problem=None)


@router.post("/new")
def add(request: Request, admin: Admin, entered: Annotated[Entered, Form()]) -> Response:
    """Add an upstream."""
    host = held(request)
    try:
        fields = service.fields(**entered.model_dump(), before=None)
    except InvalidInputError as error:
        return _form(request, entered, None, problem=error)
    with host.database.write() as connection:
        added = upstreams.add(connection, fields, now=host.clock())
    logs.write("upstream-added", person=admin.id, upstream=added)
    return RedirectResponse(f"/models#{added}", 303)


@router.get("/{upstream_id}")
def change_page(request: Request, admin: Admin, upstream_id: str) -> Response:
    """Show the form of an upstream."""
    present = _find(request, admin, upstream_id)
    entered = Entered(
        name=present.name, base_url=present.base_url, model=present.model, local=present.local, tools=present.tools
    )
    return _form(request, entered, present, problem=None)


@router.post("/{upstream_id}")
def change(request: Request, admin: Admin, upstream_id: str, entered: Annotated[Entered, Form()]) -> Response:
    """Change an upstream."""
    present = _find(request, admin, upstream_id)
    try:
        fields = service.fields(**entered.model_dump(), before=present.base_url)
    except InvalidInputError as error:
        return _form(request, entered, present, problem=error)
    with held(request).database.write() as connection:
        upstreams.change(connection, upstream_id, fields)
    logs.write("upstream-changed", person=admin.id, upstream=upstream_id)
    return RedirectResponse(f"/models#{upstream_id}", 303)


@router.post("/{upstream_id}/remove")
def remove(request: Request, admin: Admin, upstream_id: str) -> Response:
    """Remove an upstream."""
    with held(request).database.write() as connection:
        upstreams.remove(connection, upstream_id)
    logs.write("upstream-removed", person=admin.id, upstream=upstream_id)
    return RedirectResponse("/models", 303)


@router.post("/{upstream_id}/test")
async def test(request: Request, admin: Admin, upstream_id: str) -> Response:
    """Say what works with an upstream and what does not."""
    lines = await check(_find(request, admin, upstream_id))
    return JSONResponse({"lines": [{"ok": line.ok, "text": line.text} for line in lines]})


@router.post("/{upstream_id}/consent", status_code=204)
def consent(request: Request, person: SignedIn, upstream_id: str, sent: Consent) -> None:
    """Keep whether this person's notes may go to this upstream."""
    host = held(request)
    with host.database.write() as connection:
        found = upstreams.find(connection, upstream_id, person=person.id)
        if sent.given and sent.seen != upstreams.reach(found):
            raise InvalidInputError("consent-moved")
        upstreams.set_consent(connection, found, person=person.id, given=sent.given, now=host.clock())
    logs.write("consent-given" if sent.given else "consent-withdrawn", person=person.id, upstream=upstream_id)


def _find(request: Request, admin: Person, upstream_id: str) -> Upstream:
    with held(request).database.read() as connection:
        return upstreams.find(connection, upstream_id, person=admin.id)


def _form(
    request: Request, entered: Entered, present: Upstream | None, *, problem: InvalidInputError | None
) -> Response:
    return templates.render(
        request,
        "models/upstream.html",
        status=problem.status if problem else 200,
        entered=entered,
        present=present,
        problem=text(problem) if problem else "",
    )
