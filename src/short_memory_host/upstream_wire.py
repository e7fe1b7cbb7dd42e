"""The chunks of a streamed answer, put together: pieces of text, and whole calls.

Servers differ in how they cut a call into pieces, and leave out what the format asks for; what can be understood is.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from short_memory_host.upstream_errors import UpstreamError, not_a_model

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable

# Of one answer, text and arguments together: a model that never ends must fill neither memory nor disk.
MOST_CHARACTERS: Final = 262_144
MOST_CALLS: Final = 64


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asks for; `arguments` is JSON text as the model wrote it, well-formed or not."""

    id: str
    name: str
    arguments: str


def new_call_id() -> str:
    """Return an id for a call that brings none."""
    return f"call_{uuid.uuid4().hex[:16]}"


async def parts(name: str, chunks: AsyncIterable[Any]) -> AsyncGenerator[Text | ToolCall]:
    """Read the chunks of one streamed answer: text at once, each call when all of it is there.

    Raises:
        UpstreamError: There was no chunk, the last one is missing, or the answer has no end.
    """
    calls: list[_Call] = []
    seen, said, finished = 0, 0, False
    async for chunk in chunks:
        seen += 1
        for choice in getattr(chunk, "choices", None) or ():
            delta = choice.delta
            if delta is not None and delta.content:
                if not isinstance(delta.content, str):
                    raise not_a_model(name)
                said += len(delta.content)
                yield Text(delta.content)
            for fragment in (delta is not None and delta.tool_calls) or ():
                _join(calls, fragment)
            _check_size(name, said, calls)
            finished = finished or choice.finish_reason is not None
    if not seen:
        raise not_a_model(name)
    if not finished:
        raise UpstreamError("broken-off", f"{name} stopped in the middle of its answer. Try again.")
    for call in calls:
        yield ToolCall(call.id or new_call_id(), call.name, call.arguments)


def _check_size(name: str, said: int, calls: list[_Call]) -> None:
    characters = said + sum(len(call.arguments) for call in calls)
    if characters > MOST_CHARACTERS or len(calls) > MOST_CALLS:
        text = (
            f"{name} did not come to an end: {characters} characters and {len(calls)} calls in one answer; at most "
            f"{MOST_CHARACTERS} and {MOST_CALLS} are taken. Try again, or choose another model."
        )
        raise UpstreamError("bad-answer", text)


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str
    name: str = ""
    arguments: str = ""


def _join(calls: list[_Call], fragment: Any) -> None:  # noqa: ANN401 - the library does not check what servers send
    """Add a fragment to its call. Servers differ: no index, or one for all; no id; the whole call at once."""
    name = (fragment.function and fragment.function.name) or ""
    arguments = (fragment.function and fragment.function.arguments) or ""
    call = next((call for call in reversed(calls) if fragment.index is None or call.index == fragment.index), None)
    another = call is not None and (
        (fragment.id and call.id and fragment.id != call.id) or (fragment.index is None and name and call.arguments)
    )
    if call is None or another:
        call = _Call(fragment.index, fragment.id or "")
        calls.append(call)
    call.id = call.id or fragment.id or ""
    call.name = call.name or name
    call.arguments += arguments
