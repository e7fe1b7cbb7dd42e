"""What the host writes to stderr: one line an event, `key=value`, and never what a person or a model wrote.

The signature of `write` is the list of fields that may be logged. An exception of other code is logged by its type and
place only: its text may quote a note.
"""

import json
import logging
import sys
import time
import traceback

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOGGER = logging.getLogger("short_memory_host")
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,[]{}")


def write(
    event: str,
    /,
    *,
    level: int = logging.INFO,
    person: str | None = None,
    added: str | None = None,
    address: str | None = None,
    method: str | None = None,
    path: str | None = None,
    status: int | None = None,
    code: str | None = None,
    conversation: str | None = None,
    upstream: str | None = None,
    change: str | None = None,
    proposal: str | None = None,
    addon: str | None = None,
    size_bytes: int | None = None,
    count: int | None = None,
    duration_ms: float | None = None,
    error: BaseException | None = None,
) -> None:
    """Write one event with the facts that are known about it."""
    facts = {
        name: value for name, value in locals().items() if name not in {"event", "level", "error"} and value is not None
    }
    if error is not None:
        facts["error"] = place(error)
    LOGGER.log(level, event, extra={"facts": facts})


def place(error: BaseException) -> str:
    """Name an exception by its type and where it was raised, without its text."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


class LineFormatter(logging.Formatter):
    """Makes one line of any record; control characters in a value are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return `time=… level=… event=… key=value …`."""
        facts = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[1]:
            facts["error"] = place(record.exc_info[1])
        return " ".join(f"{name}={_value(value)}" for name, value in facts.items())


def _value(value: object) -> str:
    text = f"{value:.1f}" if isinstance(value, float) else str(value)
    return text if text and PLAIN.issuperset(text) else json.dumps(text)


def set_up(level: str) -> None:
    """Send every logger of the process through `LineFormatter` to stderr; other libraries speak from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter())
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(logging.WARNING)
    LOGGER.setLevel(level.upper())


QUIET = ("/static/", "/models/built-in")
"""What a page asks for again and again, or with every page: its lines would hide the others."""


class AccessLog:
    """Logs each request by method, path without its query, status, size and time."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and write its line when it ended, however it ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, size = time.perf_counter(), 0, 0

        async def counted(message: Message) -> None:
            nonlocal status, size
            status = message.get("status", status)
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, counted)
        finally:
            quiet = scope["path"].startswith(QUIET)
            write(
                "request",
                level=logging.DEBUG if quiet else logging.INFO,
                method=scope["method"],
                path=scope["path"],
                status=status,
                size_bytes=size,
                duration_ms=(time.perf_counter() - began) * 1000,
            )
