"""The pages of coming in and of the own account. Opening a link spends nothing; pressing its button does."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from short_memory_host import logs
from short_memory_host.accounts import queries, service
from short_memory_host.web import sessions, templates
from short_memory_host.web.errors import HostError, InvalidInputError, TooManyAttemptsError, text
from short_memory_host.web.held import held
from short_memory_host.web.next_page import safe
from short_memory_host.web.people import Admin, SignedIn, Visitor

public = APIRouter()
"""Open to everybody: the only routes without a session."""

router = APIRouter()
"""For whoever is signed in."""

GONE = 410


@public.get("/sign-in")
def sign_in_page(request: Request, person: Visitor, token: str = "", next: str = "/") -> Response:  # noqa: A002 - the names in the address
    """Show the button of a link, or the form for name and password."""
    if token:
        return _link_page(request, token)
    if person is not None:
        return RedirectResponse(safe(next), 303)
    return _sign_in(request, safe(next))


@public.post("/sign-in/link")
def use_link(request: Request, token: Annotated[str, Form()]) -> Response:
    """Spend a link."""
    host = held(request)
    old = sessions.secret_of(request)
    secret = service.sign_in_with_link(host.database, token, old_session=old, now=host.clock())
    if secret is None:
        return _link_page(request, "")
    logs.write("signed-in", address=_address(request), code="link")
    return _come_in(request, secret, "/welcome")


@public.post("/sign-in")
def use_password(
    request: Request,
    name: Annotated[str, Form()],
    password: Annotated[str, Form()],
    next: Annotated[str, Form()] = "/",  # noqa: A002 - the field's name
) -> Response:
    """Sign in with name and password."""
    host, where = held(request), safe(next)
    try:
        secret = service.sign_in_with_password(
            host.database,
            name,
            password,
            throttle=host.throttle,
            address=_address(request),
            old_session=sessions.secret_of(request),
            now=host.clock(),
        )
    except TooManyAttemptsError as error:
        headers = {"retry-after": str(error.wait_s)}
        return _sign_in(request, where, status=error.status, headers=headers, problem=text(error), name=name)
    if secret is None:
        logs.write("sign-in-failed", address=_address(request))
        return _sign_in(request, where, status=403, problem=templates.t("accounts.sign_in.wrong"), name=name)
    logs.write("signed-in", address=_address(request), code="password")
    return _come_in(request, secret, where)


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
    return _come_in(request, secret, "/")


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
    return _come_in(request, secret, "/account/security?saved=1")


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
    logs.write("person-added", person=admin.id, client=added)
    secret = service.new_link(host.database, service.clean_name(name), now=host.clock())
    base = host.settings.public_url or f"http://{request.headers['host']}"
    return _people(request, None, link=f"{base}/sign-in?token={secret}")


def _sign_in(
    request: Request,
    where: str,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    problem: str = "",
    name: str = "",
) -> Response:
    return templates.render(
        request, "accounts/sign_in.html", status=status, headers=headers, next=where, problem=problem, name=name
    )


def _link_page(request: Request, token: str) -> Response:
    host = held(request)
    usable = bool(token) and service.link_can_be_used(host.database, token, now=host.clock())
    return templates.render(
        request, "accounts/link.html", status=200 if usable else GONE, token=token if usable else ""
    )


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


def _come_in(request: Request, secret: str, where: str) -> Response:
    response = RedirectResponse(where, 303)
    sessions.set_cookie(response, request, secret)
    return response


def _go_out(request: Request) -> Response:
    response = RedirectResponse("/sign-in", 303)
    sessions.clear_cookie(response, request)
    return response


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"
