"""Coming in: the only routes that are open to everybody. Opening a link spends nothing; pressing its button does."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from short_memory_host import logs
from short_memory_host.accounts import service
from short_memory_host.web import sessions, templates
from short_memory_host.web.errors import TooManyAttemptsError, text
from short_memory_host.web.held import held
from short_memory_host.web.next_page import safe
from short_memory_host.web.own_addon import enable_for_new
from short_memory_host.web.people import Visitor, recognise

public = APIRouter()

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
    found = recognise(host, secret, now=host.clock())
    if found is not None:
        enable_for_new(host, found[1].id)
    logs.write("signed-in", address=_address(request), code="link")
    return come_in(request, secret, "/welcome")


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
    return come_in(request, secret, where)


def come_in(request: Request, secret: str, where: str) -> Response:
    """Give the browser its session and lead it on."""
    response = RedirectResponse(where, 303)
    sessions.set_cookie(response, request, secret)
    return response


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
        request,
        "accounts/sign_in.html",
        status=status,
        headers=headers,
        next=where,
        problem=problem,
        name=name,
        command=held(request).settings.command,
    )


def _link_page(request: Request, token: str) -> Response:
    host = held(request)
    usable = bool(token) and service.link_can_be_used(host.database, token, now=host.clock())
    return templates.render(
        request,
        "accounts/link.html",
        status=200 if usable else GONE,
        token=token if usable else "",
        command=host.settings.command,
    )


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"
