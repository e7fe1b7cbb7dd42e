"""The own account, for whoever is signed in, and the people of the host, for its admins. `public` are the ways in."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from short_memory_host import logs
from short_memory_host.accounts import queries, service
from short_memory_host.accounts.sign_in import come_in, public
from short_memory_host.web import sessions, templates
from short_memory_host.web.errors import HostError, InvalidInputError, text
from short_memory_host.web.held import held
from short_memory_host.web.people import Admin, SignedIn

__all__ = ["public", "router"]

router = APIRouter()


@router.post("/sign-out")
def sign_out(request: Request, person: SignedIn) -> Response:
    """End this session."""
    service.sign_out(held(request).database, sessions.secret_of(request) or "")
    logs.write("signed-out", person=person.id)
    return _go_out(request)


@router.post("/sign-out/everywhere")
def sign_out_everywhere(request: Request, person: SignedIn) -> Response:
    """End every session of the person."""
    service.sign_out_everywhere(held(request).database, person)
    logs.write("signed-out", person=person.id, code="everywhere")
    return _go_out(request)


@router.get("/welcome")
def welcome_page(request: Request, person: SignedIn) -> Response:
    """Offer a name and a password once; whoever has one goes on."""
    if person.has_password:
        return RedirectResponse("/", 303)
    return templates.render(request, "accounts/welcome.html", problem="")


@router.post("/welcome")
def welcome(
    request: Request,
    person: SignedIn,
    name: Annotated[str, Form()],
    new: Annotated[str, Form()],
    time_zone: Annotated[str, Form()] = "",
) -> Response:
    """Take name and password."""
    host = held(request)
    try:
        service.change_profile(host.database, person, name=name, time_zone=time_zone or person.time_zone)
        secret = service.set_password(host.database, person, current="", new=new, now=host.clock())
    except InvalidInputError as error:
        return templates.render(request, "accounts/welcome.html", status=error.status, problem=text(error))
    return come_in(request, secret, "/")


@router.get("/account")
def profile_page(request: Request, person: SignedIn) -> Response:  # noqa: ARG001 - the page needs a session
    """Show name and time zone."""
    return _profile(request, None)


@router.post("/account")
def change_profile(
    request: Request, person: SignedIn, name: Annotated[str, Form()], time_zone: Annotated[str, Form()] = ""
) -> Response:
    """Change name and time zone."""
    try:
        service.change_profile(held(request).database, person, name=name, time_zone=time_zone)
    except InvalidInputError as error:
        return _profile(request, error)
    return RedirectResponse("/account?saved=1", 303)


class TimeZone(BaseModel):
    """What the browser says about where it is."""

    time_zone: str


@router.post("/account/time-zone", status_code=204)
def time_zone(request: Request, person: SignedIn, sent: TimeZone) -> None:
    """Take the browser's time zone while the person has none."""
    service.set_unknown_time_zone(held(request).database, person, sent.time_zone)


@router.get("/account/security")
def security_page(request: Request, person: SignedIn) -> Response:
    """Show password and sessions."""
    return _security(request, person, None)


@router.post("/account/password")
def change_password(
    request: Request, person: SignedIn, new: Annotated[str, Form()], current: Annotated[str, Form()] = ""
) -> Response:
    """Set another password; every other session ends."""
    host = held(request)
    try:
        secret = service.set_password(host.database, person, current=current, new=new, now=host.clock())
    except InvalidInputError as error:
        return _security(request, person, error)
    logs.write("password-changed", person=person.id)
    return come_in(request, secret, "/account/security?saved=1")


@router.get("/account/people")
def people_page(request: Request, admin: Admin) -> Response:  # noqa: ARG001 - the page needs an admin
    """Show who has an account here."""
    return _people(request, None)


@router.post("/account/people")
def add_person(request: Request, admin: Admin, name: Annotated[str, Form()]) -> Response:
    """Add a member and show the link with which they come in."""
    host = held(request)
    try:
        added = service.add_person(host.database, name, role="member", now=host.clock())
    except InvalidInputError as error:
        return _people(request, error)
    logs.write("person-added", person=admin.id, added=added)
    secret = service.new_link(host.database, service.clean_name(name), now=host.clock())
    base = host.settings.public_url or f"http://{request.headers['host']}"
    return _people(request, None, link=f"{base}/sign-in?token={secret}")


def _profile(request: Request, problem: HostError | None) -> Response:
    saved = problem is None and "saved" in request.query_params
    status = problem.status if problem else 200
    return templates.render(
        request,
        "accounts/profile.html",
        status=status,
        problem=text(problem) if problem else "",
        saved=saved,
        zones=service.time_zones(),
    )


def _security(request: Request, person: SignedIn, problem: HostError | None) -> Response:
    host = held(request)
    with host.database.read() as connection:
        alive = sessions.of_person(connection, person.id, now=host.clock())
    return templates.render(
        request,
        "accounts/security.html",
        status=problem.status if problem else 200,
        problem=text(problem) if problem else "",
        saved=problem is None and "saved" in request.query_params,
        sessions=alive,
        this=request.state.session.key,
    )


def _people(request: Request, problem: HostError | None, *, link: str = "") -> Response:
    with held(request).database.read() as connection:
        everybody = queries.all_people(connection)
    status = problem.status if problem else 200
    return templates.render(
        request,
        "accounts/people.html",
        status=status,
        problem=text(problem) if problem else "",
        everybody=everybody,
        link=link,
    )


def _go_out(request: Request) -> Response:
    response = RedirectResponse("/sign-in", 303)
    sessions.clear_cookie(response, request)
    return response
