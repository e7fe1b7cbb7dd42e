"""Errors as HTTP answers: one table from code to status, a page for a browser and JSON for a script.

A script gets `{"error": {"code", "text"}}`. What was not foreseen becomes one plain sentence; its own text is neither
shown nor logged.
"""

import logging
from typing import ClassVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from short_memory.errors import ShortMemoryError
from short_memory_host import logs
from short_memory_host.web import templates
from short_memory_host.web.next_page import sign_in_url

ENGINE_STATUS = {
    "bad-arguments": 422,
    "no-tool": 404,
    "no-scope": 404,
    "no-topic": 404,
    "bad-file": 422,
    "no-match": 409,
    "over-cap": 422,
    "bad-text": 422,
    "secret": 422,
    "unchanged": 409,
    "already-declined": 409,
    "limit": 429,
    "no-proposal": 404,
    "confirmed": 409,
    "declined": 409,
    "expired": 409,
    "stale": 409,
    "no-change": 404,
    "changed": 409,
    "conflict": 409,
    "unreadable": 409,
    "storage": 507,
    "newer-data": 500,
}
"""Every code of `short_memory.errors` and the status it gets."""

STATUS_CODE = {404: "not-found", 405: "bad-method", 413: "too-large", 422: "bad-input"}


class HostError(Exception):
    """Anything the host refuses. Its text stands in the locales as `error.CODE`, filled in with `facts`."""

    code: ClassVar[str]
    status: ClassVar[int]

    def __init__(self, **facts: str | int) -> None:
        super().__init__(self.code)
        self.facts = facts


class NotSignedInError(HostError):
    """There is no session, or it is over."""

    code, status = "not-signed-in", 401


class NotAdminError(HostError):
    """Only an admin may do this."""

    code, status = "not-admin", 403


class CsrfError(HostError):
    """The form was not made by a page of this session."""

    code, status = "csrf", 403


class UnknownError(HostError):
    """There is no such thing; somebody else's gets the same answer."""

    code, status = "not-found", 404


class InvalidInputError(HostError):
    """A field can't be taken as it is. `reason` is a key below `invalid.` in the locales."""

    code, status = "bad-input", 422

    def __init__(self, reason: str, **facts: str | int) -> None:
        super().__init__(**facts)
        self.reason = reason


class TooManyAttemptsError(HostError):
    """Signing in has to pause."""

    code, status = "too-many-attempts", 429

    def __init__(self, *, wait_s: int) -> None:
        super().__init__(wait_s=wait_s)
        self.wait_s = wait_s


def text(error: HostError) -> str:
    """Say in the host's language what happened and what to do."""
    if isinstance(error, InvalidInputError):
        return templates.t(f"invalid.{error.reason}", **error.facts)
    return templates.t(f"error.{error.code}", **error.facts)


def every() -> set[type[HostError]]:
    """Return every error of the host, so that the locales can be checked against the set."""
    return set(HostError.__subclasses__())


def wants_page(request: Request) -> bool:
    """Whether a browser asked for a page, and not a script for an answer."""
    return "text/html" in request.headers.get("accept", "")


def answer(
    request: Request, status: int, code: str, sentence: str, *, headers: dict[str, str] | None = None
) -> Response:
    """Answer with an error as a page or as JSON."""
    if wants_page(request):
        return templates.render(request, "error.html", status=status, headers=headers, code=code, sentence=sentence)
    return JSONResponse({"error": {"code": code, "text": sentence}}, status, headers)


def _host_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HostError)
    if isinstance(error, NotSignedInError) and wants_page(request):
        return RedirectResponse(sign_in_url(request), 303)
    headers = {"retry-after": str(error.wait_s)} if isinstance(error, TooManyAttemptsError) else None
    return answer(request, error.status, error.code, text(error), headers=headers)


def _engine_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ShortMemoryError)
    return answer(request, ENGINE_STATUS[error.code], error.code, error.text)


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = STATUS_CODE.get(error.status_code, "bad-request")
    headers = dict(error.headers) if error.headers else None
    return answer(request, error.status_code, code, templates.t(f"error.{code}"), headers=headers)


def _bad_input(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # Names of fields only: the rest of what pydantic says quotes the input.
    fields = ", ".join(sorted({str(problem["loc"][-1]) for problem in error.errors()}))
    return answer(request, 422, "bad-input", templates.t("error.bad-fields", fields=fields))


def install(app: FastAPI) -> None:
    """Teach the application the tables above."""
    app.add_exception_handler(HostError, _host_error)
    app.add_exception_handler(ShortMemoryError, _engine_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _bad_input)


class Unforeseen:
    """Answers what no table knows with status 500, and logs where it was raised."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:  # noqa: BLE001 - the last net: any error becomes a plain sentence
            logs.write("unforeseen", level=logging.ERROR, method=scope["method"], path=scope["path"], error=error)
            if not started:
                request = Request(scope, receive)
                response = answer(request, 500, "unforeseen", templates.t("error.unforeseen"))
                await response(scope, receive, send)
