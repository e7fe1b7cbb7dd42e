"""An upstream: the model behind the chat, an endpoint that speaks OpenAI's wire format.

`Upstreams` is opened once and held; `stream` gives Text and ToolCall as they come, `decide` gives one JSON answer that fits a schema. The rule to
know: `Upstream.sees_notes` is the locality gate. Where it is False the caller sends no block, no tool and nothing that a tool gave
earlier; this module sends what it is handed. Errors name what happened and what to do, never the key and never the answer's body.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import httpx2
import jsonschema
import openai

BUILT_IN: Final = "built-in"  # the id of the model that the host runs itself
DECISION_TOKENS: Final = 220
ANSWER_TOKENS: Final = 800  # of the built-in model: at most about two minutes on two cores

Message = dict[str, Any]
Code = Literal["unreachable", "refused", "not-found", "overloaded", "timed-out", "broken-off", "bad-answer", "too-long"]


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where a model answers, and what the people here decided about it."""

    id: str
    name: str
    base_url: str
    api_key: str = field(repr=False)
    model: str
    local: bool  # the admin's tick "runs on my own machines", never guessed from the address
    may_see_notes: bool  # the owner's explicit permission for a model that is not local
    tools: Literal["native", "guided"]

    @property
    def sees_notes(self) -> bool:
        """Whether block, tools and earlier results of tools may be sent to it."""
        return self.local or self.may_see_notes


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


class UpstreamError(Exception):
    """The model could not answer. `str(error)` is a sentence for the person: what happened and what to do."""

    def __init__(self, code: Code, text: str) -> None:
        super().__init__(text)
        self.code: Code = code


class Upstreams:
    """The connections to upstreams, opened once and closed at shutdown; one client for each address and key."""

    def __init__(self, *, connect_s: float = 10.0, silence_s: float = 300.0) -> None:
        """Open nothing yet.

        Args:
            connect_s: Longest wait for a connection.
            silence_s: Longest wait for the next byte; a small model on a busy machine needs a minute for its first one.
        """
        self._timeout = httpx2.Timeout(silence_s, connect=connect_s)
        self._clients: dict[tuple[str, str, bool], openai.AsyncOpenAI] = {}

    def client(self, upstream: Upstream) -> openai.AsyncOpenAI:
        """Return the client for this address and key; made at first use."""
        name = (upstream.base_url, upstream.api_key, upstream.local)
        if name not in self._clients:
            self._clients[name] = _client(upstream, self._timeout)
        return self._clients[name]

    async def close(self) -> None:
        """Close every connection; what is still streaming breaks off."""
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.close()

    async def stream(
        self, upstream: Upstream, messages: Sequence[Message], *, tools: Sequence[Message] = ()
    ) -> AsyncIterator[Text | ToolCall]:
        """Yield the answer as it comes: pieces of text at once, each call when it is whole.

        Args:
            upstream: Whom to ask.
            messages: The conversation in OpenAI's form.
            tools: Functions the model may call, in OpenAI's form; none, and the model is told of none.

        Raises:
            UpstreamError: The answer did not come or did not come whole.
        """
        wanted: dict[str, Any] = {"model": upstream.model, "messages": list(messages), "stream": True}
        if tools:
            wanted["tools"] = list(tools)
        with _translated(upstream):
            answer = await self.client(upstream).chat.completions.create(**wanted, **_answering(upstream))
            async with answer, aclosing(_parts(upstream, answer)) as parts:
                async for part in parts:
                    yield part

    async def decide(
        self, upstream: Upstream, messages: Sequence[Message], *, schema: dict[str, Any], tokens: int = DECISION_TOKENS
    ) -> dict[str, Any]:
        """Ask for one JSON object that fits `schema` and return it.

        Raises:
            UpstreamError: No answer, or `bad-answer` for one that does not fit.
        """
        shape = {"type": "json_schema", "json_schema": {"name": "decision", "schema": schema, "strict": True}}
        with _translated(upstream):
            answer = await self.client(upstream).chat.completions.create(
                model=upstream.model,
                messages=list(messages),  # type: ignore[arg-type] - the wire's dicts, built by the caller
                response_format=shape,  # type: ignore[arg-type] - the same
                temperature=0,
                max_tokens=tokens,
                extra_body=_slot(upstream, 0),
            )
        return _fitting(upstream, answer, schema)


def _client(upstream: Upstream, timeout: httpx2.Timeout) -> openai.AsyncOpenAI:
    """Make a client that stays with its address: no redirects, and for a local model no proxy from the environment."""
    omitted = openai.Omit()
    # The library would fill these two from the environment, which is not ours to send.
    headers: Any = {"OpenAI-Organization": omitted, "OpenAI-Project": omitted}
    return openai.AsyncOpenAI(
        base_url=upstream.base_url,
        api_key=upstream.api_key or "none",
        default_headers=headers,
        timeout=timeout,
        # Asking a machine at home twice only doubles its load.
        max_retries=0 if upstream.local else 1,
        http_client=httpx2.AsyncClient(follow_redirects=False, trust_env=not upstream.local, timeout=timeout),
    )


def _slot(upstream: Upstream, number: int) -> dict[str, Any] | None:
    """Pin the built-in model's decision (0) and answer (1) to slots of their own, so that each keeps its prefix."""
    return {"id_slot": number, "cache_prompt": True} if upstream.id == BUILT_IN else None


def _answering(upstream: Upstream) -> dict[str, Any]:
    """Return how an answer is sampled: an upstream's own way, but for the built-in model steady and not without end."""
    if upstream.id != BUILT_IN:
        return {}
    return {"temperature": 0.2, "max_tokens": ANSWER_TOKENS, "extra_body": _slot(upstream, 1)}


async def _parts(upstream: Upstream, answer: openai.AsyncStream[Any]) -> AsyncIterator[Text | ToolCall]:
    calls: list[_Call] = []
    chunks, finished = 0, False
    async for chunk in answer:
        chunks += 1
        for choice in getattr(chunk, "choices", None) or ():
            delta = choice.delta
            if delta is not None and delta.content:
                yield Text(delta.content)
            for fragment in (delta is not None and delta.tool_calls) or ():
                _join(calls, fragment)
            finished = finished or choice.finish_reason is not None
    if not chunks:
        raise _not_a_model(upstream)
    if not finished:
        raise UpstreamError("broken-off", f"{upstream.name} stopped in the middle of its answer. Try again.")
    for call in calls:
        yield ToolCall(call.id or f"call_{uuid.uuid4().hex[:16]}", call.name, call.arguments)


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str
    name: str = ""
    arguments: str = ""


def _join(calls: list[_Call], fragment: Any) -> None:  # noqa: ANN401 - the library does not check what servers send
    """Add a fragment to its call. Servers differ: some give no index or the same one to all, some no id, some all at once."""
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


def _fitting(upstream: Upstream, answer: Any, schema: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - as above
    try:
        decided = json.loads(answer.choices[0].message.content)
        jsonschema.validate(decided, schema)
    except (AttributeError, IndexError, TypeError, ValueError, jsonschema.ValidationError):
        text = (
            f"{upstream.name} did not keep to the form it was asked for. Choose native tools for it, or another model."
        )
        raise UpstreamError("bad-answer", text) from None
    if not isinstance(decided, dict):
        raise UpstreamError("bad-answer", f"{upstream.name} did not answer with an object. Choose another model.")
    return decided


def _not_a_model(upstream: Upstream) -> UpstreamError:
    text = f"{upstream.name} answered, but not in OpenAI's form. Check its address: it usually ends in /v1."
    return UpstreamError("bad-answer", text)


@contextmanager
def _translated(upstream: Upstream) -> Iterator[None]:
    """Turn whatever the library raises into an UpstreamError without its cause, which may hold the answer's body."""
    try:
        yield
    except openai.APIStatusError as error:
        raise _by_status(upstream, error) from None
    except (openai.APITimeoutError, httpx2.TimeoutException):
        text = f"{upstream.name} did not answer in time. Try again; if it stays so, look whether the machine is overloaded."
        raise UpstreamError("timed-out", text) from None
    except openai.APIConnectionError:
        text = f"{upstream.name} cannot be reached. Look whether it runs and whether its address is right."
        raise UpstreamError("unreachable", text) from None
    except httpx2.TransportError:
        text = f"The connection to {upstream.name} broke off in the middle of the answer. Try again."
        raise UpstreamError("broken-off", text) from None
    except openai.APIError as error:
        raise _by_body(upstream, error) from None
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):
        raise _not_a_model(upstream) from None


_TOO_LONG: Final = ("context_length", "exceed_context_size", "context length", "context size", "maximum context")


def _by_body(upstream: Upstream, error: openai.APIError) -> UpstreamError:
    said = f"{error.code} {error.type} {error.message}".lower()
    if any(mark in said for mark in _TOO_LONG):
        return UpstreamError("too-long", f"This conversation is too long for {upstream.name}. Start a new chat.")
    return UpstreamError("bad-answer", f"{upstream.name} reported an error in place of an answer. Look at its log.")


def _by_status(upstream: Upstream, error: openai.APIStatusError) -> UpstreamError:
    name, status = upstream.name, error.status_code
    match status:
        case 401 | 403:
            return UpstreamError("refused", f"{name} refused the key (status {status}). Check the key in the settings.")
        case 404:
            text = f"{name} does not know the address or the model {upstream.model} (status 404). Check both in the settings."
            return UpstreamError("not-found", text)
        case 429 | 503 | 529:
            return UpstreamError(
                "overloaded", f"{name} has too much to do (status {status}). Wait a little and try again."
            )
        case 408 | 504:
            return UpstreamError("timed-out", f"{name} did not answer in time (status {status}). Try again.")
        case 413:
            return UpstreamError("too-long", f"This conversation is too long for {name}. Start a new chat.")
    if 300 <= status < 400:  # noqa: PLR2004 - the redirects
        text = f"{name} points to another address (status {status}); it is not followed. Enter the right address in the settings."
        return UpstreamError("bad-answer", text)
    told = _by_body(upstream, error)
    if told.code == "too-long":
        return told
    return UpstreamError("bad-answer", f"{name} failed (status {status}). Try again; if it stays so, look at its log.")
