"""What is refused before any route sees it, and the headers of every answer.

Host: only names under which this host is meant to be reached, so that a foreign name that was made to point here gets
nothing. With a wildcard listener any IP address counts too: an address can't be pointed elsewhere. Origin: our own, or
the request is refused. Referrer-Policy is `same-origin`, because under `no-referrer` browsers send `Origin: null` with
our own forms.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from short_memory_host.settings import LOOPBACK_NAMES, Settings, is_ip
from short_memory_host.web import templates
from short_memory_host.web.csrf import SAFE_METHODS
from short_memory_host.web.errors import answer

LARGEST_BODY_BYTES = 256 * 1024
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
FOREVER = "public, max-age=31536000, immutable"


def host_is_allowed(host: str, settings: Settings) -> bool:
    """Whether a Host header names this host."""
    if settings.public_url and host.lower() == urlsplit(settings.public_url).netloc:
        return True
    name = _name(host)
    if name is None:
        return False
    address = settings.address
    if address.is_wildcard:
        return name == "localhost" or is_ip(name)
    return name == address.host.lower() or (address.is_loopback and name in LOOPBACK_NAMES)


def origin_is_ours(origin: str, host: str, settings: Settings) -> bool:
    """Whether an Origin header is that of the page this host serves under `host`."""
    return origin in {f"http://{host.lower()}", settings.public_url}


def problem(method: str, headers: Headers, settings: Settings) -> tuple[int, str] | None:
    """Return status and code of why the request is refused, or None."""
    host = headers.get("host", "")
    if not host_is_allowed(host, settings):
        return 403, "bad-host"
    origin = headers.get("origin")
    if origin is not None and not origin_is_ours(origin, host, settings):
        return 403, "bad-origin"
    if method not in SAFE_METHODS and headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        return 403, "bad-origin"
    length = headers.get("content-length", "0")
    # Also beside a Content-Length, which then counts for nothing.
    if "transfer-encoding" in headers:
        return 411, "no-length"
    if not length.isascii() or not length.isdigit() or int(length) > LARGEST_BODY_BYTES:
        return 413, "too-large"
    return None


class Security:
    """Refuses, or passes on; either way the answer carries the headers."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(MutableHeaders(scope=message), message["status"], scope["path"])
            await send(message)

        refused = problem(scope["method"], Headers(scope=scope), self.settings)
        if refused is None:
            await self.app(scope, receive, with_headers)
            return
        status, code = refused
        response = answer(Request(scope, receive), status, code, templates.t(f"error.{code}"))
        await response(scope, receive, with_headers)


def _add_headers(headers: MutableHeaders, status: int, path: str) -> None:
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    is_static = path.startswith("/static/") and status in {200, 206, 304}
    headers["cache-control"] = FOREVER if is_static else "no-store"


def _name(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        port = parts.port
    except ValueError:
        return None
    plain = not (parts.path or parts.query or parts.fragment or parts.username is not None) and (
        port is None or port > 0
    )
    return parts.hostname if plain else None
