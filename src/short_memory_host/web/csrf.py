"""The token that ties a form to its session: an HMAC of the session's secret, so there is nothing to store or to renew.

A page carries it in a meta tag and in its forms; a script sends it as `X-CSRF-Token`, a form as the field `csrf_token`.
"""

import hashlib
import hmac

from fastapi import Request

from short_memory_host.web.errors import CsrfError

HEADER = "x-csrf-token"
FIELD = "csrf_token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def token(session_secret: str) -> str:
    """Return the token of a session."""
    return hmac.digest(session_secret.encode(), b"csrf", hashlib.sha256).hex()


async def check(request: Request, session_secret: str) -> None:
    """Refuse a request that changes something and does not carry the token of its session.

    Raises:
        CsrfError: The token is missing or another one.
    """
    if request.method in SAFE_METHODS:
        return
    sent = request.headers.get(HEADER)
    if sent is None:
        sent = await _form_field(request)
    if not hmac.compare_digest(sent.encode(), token(session_secret).encode()):
        raise CsrfError


async def _form_field(request: Request) -> str:
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return ""
    # The routes read the same form: Starlette keeps it, and an urlencoded form holds no file to close.
    value = (await request.form()).get(FIELD, "")
    return value if isinstance(value, str) else ""
