"""A real HTTP server that speaks OpenAI's wire format and answers as a test says.

    with ScriptedUpstream() as server:
        server.will(says("Hel", "lo"), calls(Call("context_read", {"topic": "food"})), fails(429))

Each answer is used once, in order; without one left it fails with status 599. `server.requests` are the bodies that came
in, `server.headers` their headers, `server.paths` where they went. An answer may also be a function from the request's body to an answer.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Call:
    """A call of a tool. `arguments` that are no text are written as JSON."""

    name: str
    arguments: Any = field(default_factory=dict)
    id: str | None = "call_1"

    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Wait:
    """Nothing more is sent until the event is set."""

    event: threading.Event


@dataclass(frozen=True)
class Answer:
    """What one request gets. `parts` are texts, calls, waits, or whole chunks as dicts; a stream sends one chunk a part."""

    parts: tuple[Any, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None  # sent as it is, in place of parts
    finish: str | None = "stop"  # None: the stream ends without a word of why
    breaks_off: bool = False  # the connection ends in the middle of a chunk


Scripted = Answer | Callable[[dict[str, Any]], Answer]


def says(*texts: str | Wait, **more: Any) -> Answer:
    return Answer(texts, **more)


def calls(*asked: Call, **more: Any) -> Answer:
    return Answer(asked, finish="tool_calls", **more)


def decides(**decided: Any) -> Answer:
    return Answer((json.dumps(decided),))


def fails(status: int, error: dict[str, Any] | None = None, **headers: str) -> Answer:
    body = json.dumps({"error": error or {"message": "scripted", "type": "scripted"}})
    return Answer(status=status, body=body, headers=tuple((k.replace("_", "-"), v) for k, v in headers.items()))


class ScriptedUpstream:
    def __init__(self, *, models: tuple[str, ...] = ("scripted",)) -> None:
        self.models = models
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self._script: list[Scripted] = []
        self._always: Scripted | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def will(self, *answers: Scripted) -> None:
        """Add answers to the script."""
        self._script += answers

    def always(self, answer: Scripted) -> None:
        """Answer so whenever the script is at its end."""
        self._always = answer

    def next(self, body: dict[str, Any]) -> Answer:
        answer = self._script.pop(0) if self._script else self._always or fails(599)
        return answer if isinstance(answer, Answer) else answer(body)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _delta(part: Any, index: int) -> dict[str, Any]:
    if isinstance(part, str):
        return {"content": part}
    function = {"name": part.name, "arguments": part.text()}
    return {"tool_calls": [{"index": index, "id": part.id, "type": "function", "function": function}]}


class _Handler(BaseHTTPRequestHandler):
    script: ScriptedUpstream
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self.script.models]
        self._whole(200, json.dumps({"object": "list", "data": listed}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.script.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.script.requests.append(body)
        self.script.paths.append(self.path)
        answer = self.script.next(body)
        if answer.body is not None:
            self._whole(answer.status, answer.body, answer.headers)
        elif body.get("stream"):
            try:
                self._stream(answer)
            except OSError:
                self.close_connection = True  # the client went away; that is its right
        else:
            content = "".join(part for part in answer.parts if isinstance(part, str))
            message = {"role": "assistant", "content": content}
            choice = {"index": 0, "message": message, "finish_reason": answer.finish}
            whole = {"id": "c", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
            self._whole(200, json.dumps(whole))

    def _whole(self, status: int, text: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        kind = "application/json" if text.startswith(("{", "[")) else "text/html"
        self.send_response(status)
        for name, value in (("content-type", kind), ("content-length", str(len(text.encode()))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        index = 0
        for part in answer.parts:
            if isinstance(part, Wait):
                part.event.wait()
                continue
            self._event(part if isinstance(part, dict) else _chunk(_delta(part, index)))
            index += isinstance(part, Call)
        if answer.breaks_off:
            self.wfile.write(b"40\r\ndata: {")
            self.close_connection = True
            return
        if answer.finish:
            self._event(_chunk({}, answer.finish))
            self._send(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, chunk: dict[str, Any]) -> None:
        self._send(f"data: {json.dumps(chunk)}\n\n".encode())

    def _send(self, block: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
        self.wfile.flush()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted", "choices": [choice]}


def fragment(
    index: int | None, *, call_id: str | None = None, name: str | None = None, arguments: str = ""
) -> dict[str, Any]:
    """Return one chunk with a piece of a call, with the fields a server may leave out."""
    call: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    given = {"index": index, "id": call_id}
    return _chunk({"tool_calls": [call | {key: value for key, value in given.items() if value is not None}]})
