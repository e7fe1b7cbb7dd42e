"""What can go wrong with an upstream: a closed set of codes, each with a sentence for the person.

The sentence names the upstream, what happened and what to do. The library's own errors hold headers and bodies: they
are left behind, also as a cause.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal

import httpx2
import openai

if TYPE_CHECKING:
    from collections.abc import Iterator

Code = Literal["unreachable", "refused", "not-found", "overloaded", "timed-out", "broken-off", "bad-answer", "too-long"]


class UpstreamError(Exception):
    """The model could not answer. `text` is a sentence for the person: what happened and what to do."""

    def __init__(self, code: Code, text: str) -> None:
        super().__init__(text)
        self.code: Code = code
        self.text = text


def not_a_model(name: str) -> UpstreamError:
    """Return the error for a server that answers in another form."""
    text = f"{name} answered, but not in OpenAI's form. Check its address: it usually ends in /v1."
    return UpstreamError("bad-answer", text)


@contextmanager
def translated(name: str, *, under_way: bool = False) -> Iterator[None]:
    """Turn whatever the library raises into an UpstreamError without its cause, which may hold the answer's body."""
    try:
        yield
    except openai.APIStatusError as error:
        raise _by_status(name, error) from None
    except (openai.APITimeoutError, httpx2.TimeoutException):
        text = f"{name} did not answer in time. Try again; if it stays so, its machine may have too much to do."
        raise UpstreamError("timed-out", text) from None
    except (openai.APIConnectionError, httpx2.TransportError):
        raise (_broken_off(name) if under_way else _unreachable(name)) from None
    except openai.APIError as error:
        raise _by_body(name, error) from None
    except (openai.OpenAIError, ValueError, TypeError, AttributeError, RecursionError):
        raise not_a_model(name) from None


def _unreachable(name: str) -> UpstreamError:
    text = f"{name} cannot be reached. Look whether it runs and whether its address is right."
    return UpstreamError("unreachable", text)


def _broken_off(name: str) -> UpstreamError:
    return UpstreamError("broken-off", f"The connection to {name} broke off in the middle of the answer. Try again.")


_TOO_LONG: Final = ("context_length", "exceed_context_size", "context length", "context size", "maximum context")


def _by_body(name: str, error: openai.APIError) -> UpstreamError:
    said = f"{error.code} {error.type} {error.message}".lower()
    if any(mark in said for mark in _TOO_LONG):
        return UpstreamError("too-long", f"This conversation is too long for {name}. Start a new chat.")
    return UpstreamError("bad-answer", f"{name} reported an error in place of an answer. Look at its log.")


_BY_STATUS: Final[dict[int, tuple[Code, str]]] = {
    401: ("refused", "{name} refused the key (status {status}). Check the key in the settings."),
    403: ("refused", "{name} refused the key (status {status}). Check the key in the settings."),
    404: ("not-found", "{name} does not know the address or the model (status {status}). Check both in the settings."),
    408: ("timed-out", "{name} did not answer in time (status {status}). Try again."),
    413: ("too-long", "This conversation is too long for {name}. Start a new chat."),
    429: ("overloaded", "{name} has too much to do (status {status}). Wait a little and try again."),
    503: ("overloaded", "{name} has too much to do (status {status}). Wait a little and try again."),
    504: ("timed-out", "{name} did not answer in time (status {status}). Try again."),
    529: ("overloaded", "{name} has too much to do (status {status}). Wait a little and try again."),
}
_REDIRECTED: Final = "{name} points to another address (status {status}), which is not followed. Enter the right one."
_FAILED: Final = "{name} failed (status {status}). Try again; if it stays so, look at its log."


def _by_status(name: str, error: openai.APIStatusError) -> UpstreamError:
    status = error.status_code
    if status not in _BY_STATUS and _by_body(name, error).code == "too-long":
        return _by_body(name, error)
    is_redirect = 300 <= status < 400  # noqa: PLR2004 - the statuses of redirects
    code, text = _BY_STATUS.get(status, ("bad-answer", _REDIRECTED if is_redirect else _FAILED))
    return UpstreamError(code, text.format(name=name, status=status))
