"""An upstream: the model behind the chat, an endpoint that speaks OpenAI's wire format.

`Upstreams` is opened once and held; `stream` gives Text and ToolCall as they come, `decide` one JSON answer that fits a
schema, `check` what works. The rule to know: `Upstream.sees_notes` is the locality gate. Where it is False the caller
sends no block, no tool and nothing that a tool gave earlier; this module sends what it is handed. Errors say what
happened and what to do, never the key and never the answer's body.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import httpx2
import jsonschema
import openai
from openai.types.chat import ChatCompletionChunk

from short_memory_host.upstream_errors import UpstreamError, translated
from short_memory_host.upstream_wire import Text, ToolCall, parts

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

__all__ = ["BUILT_IN", "CheckLine", "Text", "ToolCall", "Upstream", "UpstreamError", "Upstreams", "check"]

BUILT_IN: Final = "built-in"  # the id of the model that the host runs itself
DECISION_SLOT: Final = 0  # of the built-in model: decisions and answers each keep the prefix that they have read
ANSWER_SLOT: Final = 1
DECISION_TOKENS: Final = 220
LISTED_MODELS: Final = 8
REPEAT_PENALTY: Final = 1.1
ANSWER_TOKENS: Final = 600  # of the built-in model: at most about a minute and a half on two cores

Message = dict[str, Any]


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
    ) -> AsyncGenerator[Text | ToolCall]:
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
        with translated(upstream.name):
            # The library's typed call walks through all messages and tools in search of files, which takes longer than
            # everything else that is done before a request; they are in the wire's own form already.
            answer = await self.client(upstream).post(
                "/chat/completions",
                cast_to=ChatCompletionChunk,
                body=wanted | _answering(upstream),
                stream=True,
                stream_cls=openai.AsyncStream[ChatCompletionChunk],
            )
        with translated(upstream.name, under_way=True):
            async with answer, aclosing(parts(upstream.name, answer)) as found:
                async for part in found:
                    yield part

    async def decide(
        self, upstream: Upstream, messages: Sequence[Message], *, schema: dict[str, Any], tokens: int = DECISION_TOKENS
    ) -> dict[str, Any]:
        """Ask for one JSON object that fits `schema` and return it.

        Raises:
            UpstreamError: No answer, or `bad-answer` for one that does not fit.
        """
        shape = {"type": "json_schema", "json_schema": {"name": "decision", "schema": schema, "strict": True}}
        wanted: dict[str, Any] = {"model": upstream.model, "messages": list(messages), "response_format": shape}
        with translated(upstream.name):
            answer = await self.client(upstream).chat.completions.create(
                **wanted, temperature=0, max_tokens=tokens, extra_body=_slot(upstream, DECISION_SLOT)
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
    """Pin a request to the built-in model to a slot."""
    return {"id_slot": number, "cache_prompt": True} if upstream.id == BUILT_IN else None


def _answering(upstream: Upstream) -> dict[str, Any]:
    """Return how an answer is sampled: an upstream's own way, but for the built-in model steady and not without end."""
    if upstream.id != BUILT_IN:
        return {}
    # Without the penalty a small model repeats one sentence until its tokens end.
    sampled = {"temperature": 0.2, "max_tokens": ANSWER_TOKENS, "repeat_penalty": REPEAT_PENALTY}
    return sampled | (_slot(upstream, ANSWER_SLOT) or {})


def _fitting(upstream: Upstream, answer: Any, schema: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - as above
    try:
        decided = json.loads(answer.choices[0].message.content)
        jsonschema.validate(decided, schema)
    except (AttributeError, IndexError, TypeError, ValueError, RecursionError, jsonschema.ValidationError):
        text = (
            f"{upstream.name} did not keep to the form it was asked for. Choose native tools for it, or another model."
        )
        raise UpstreamError("bad-answer", text) from None
    if not isinstance(decided, dict):
        raise UpstreamError("bad-answer", f"{upstream.name} did not answer with an object. Choose another model.")
    return decided


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One thing that was tried: whether it works, and a sentence that says so or what to do."""

    ok: bool
    text: str


async def check(upstream: Upstream, *, silence_s: float = 60.0) -> list[CheckLine]:
    """Try what the host needs of a model, without any note: list, stream, tools, form.

    The first failure that ends all hope ends the list.
    """
    upstreams = Upstreams(silence_s=silence_s)
    try:
        return [line async for line in _tried(upstreams, upstream)]
    except UpstreamError as error:
        return [CheckLine(ok=False, text=error.text)]
    finally:
        await upstreams.close()


async def _tried(upstreams: Upstreams, upstream: Upstream) -> AsyncGenerator[CheckLine]:
    yield await _listed(upstreams, upstream)
    try:
        said = [part async for part in upstreams.stream(upstream, [{"role": "user", "content": "Say: hello"}])]
    except UpstreamError as error:
        yield CheckLine(ok=False, text=error.text)
        return
    streams = len(said) > 1
    yield CheckLine(
        ok=bool(said), text="Its answers stream." if streams else "It answers, but all at once or with nothing."
    )
    yield await _calls_tools(upstreams, upstream)
    yield await _keeps_form(upstreams, upstream)


async def _listed(upstreams: Upstreams, upstream: Upstream) -> CheckLine:
    try:
        with translated(upstream.name):
            names = [model.id async for model in upstreams.client(upstream).models.list()]
    except UpstreamError as error:
        if error.code in ("unreachable", "timed-out", "refused"):
            raise
        return CheckLine(ok=True, text="Reachable. It gives no list of models.")
    if upstream.model in names:
        return CheckLine(ok=True, text=f"Reachable, and the model {upstream.model} is there.")
    some = ", ".join(names[:LISTED_MODELS]) or "none"
    return CheckLine(ok=False, text=f"Reachable, but the model {upstream.model} is not in its list. It has: {some}.")


async def _calls_tools(upstreams: Upstreams, upstream: Upstream) -> CheckLine:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    function = {"name": "weather", "description": "Look up the weather of a city.", "parameters": parameters}
    asked = [{"role": "user", "content": "What is the weather in Rome now? Use the tool."}]
    try:
        stream = upstreams.stream(upstream, asked, tools=[{"type": "function", "function": function}])
        called = any([isinstance(part, ToolCall) async for part in stream])
    except UpstreamError:
        called = False
    if called:
        return CheckLine(ok=True, text="It calls tools by itself: native tools fit.")
    return CheckLine(ok=upstream.tools == "guided", text="It does not call tools by itself: choose guided tools.")


async def _keeps_form(upstreams: Upstreams, upstream: Upstream) -> CheckLine:
    schema = {
        "type": "object",
        "properties": {"word": {"enum": ["apple", "pear"]}},
        "required": ["word"],
        "additionalProperties": False,
    }
    try:
        await upstreams.decide(upstream, [{"role": "user", "content": "Write a short poem."}], schema=schema)
    except UpstreamError:
        return CheckLine(ok=upstream.tools == "native", text="It does not keep to a JSON schema: choose native tools.")
    return CheckLine(ok=True, text="It keeps to a JSON schema: guided tools fit.")
