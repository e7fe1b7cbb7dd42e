"""The program of Short memory: an MCP server over stdio that serves no tool and never sees a note.

The host hands over the capabilities it read from the manifest, and the program answers with their digest: so the host
knows that both speak of the same grants. Both protocol eras are spoken: 2026-07-28, where every request says its
version, and the older ones that begin with `initialize`. A bad line gets an error for an answer and never ends the
program; the end of its input does. Standard library only, in one file: `python -I` does not look into its folder.
"""

from __future__ import annotations

import hashlib
import json
import sys
from contextlib import suppress
from typing import IO, Any

NAME = "memory"
VERSION = "1.0.0"
API = 2
HOST = "io.github.short-memory/host"
META = "io.modelcontextprotocol/"
MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
LINE_BYTES = 1 << 20

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
OTHER_API, OTHER_PROTOCOL = -32010, -32022

# Some clients ask for these lists whatever a server declares, and wait for ever or give up on an error.
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


class RefusedError(Exception):
    """A request that gets an error for an answer."""

    def __init__(self, code: int, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.error: dict[str, Any] = {"code": code, "message": message}
        if details is not None:
            self.error["data"] = details


def digest(capabilities: dict[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of what the host handed over.

    Raises:
        RefusedError: It holds a number or a character that JSON in UTF-8 cannot carry.
    """
    try:
        text = json.dumps(capabilities, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()
    except ValueError as error:
        message = "The capabilities hold a value that JSON cannot carry. Hand over what the manifest declares."
        raise RefusedError(INVALID_PARAMS, message) from error


def member(holder: dict[str, Any], key: str) -> dict[str, Any] | None:
    """Return the object under a key, or None where there is none.

    Raises:
        RefusedError: Something else than an object stands there.
    """
    value = holder.get(key)
    if value is None or isinstance(value, dict):
        return value
    raise RefusedError(INVALID_PARAMS, f"{key} must be an object.")


def agreement(client: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Answer what the host handed over among its own capabilities, under the first of the keys that holds it."""
    handed = next((found for key in keys if (found := member(member(client, key) or {}, HOST)) is not None), None)
    if handed is None:
        return {"api": API, "status": "unchecked"}
    api = handed.get("api")
    if type(api) is not int or api != API:
        message = f"This add-on speaks add-on API {API}. Hand over its capabilities as that API says."
        raise RefusedError(OTHER_API, message, {"supported": [API]})
    declared = member(handed, "capabilities")
    if declared is None:
        raise RefusedError(INVALID_PARAMS, "capabilities is missing. Hand over what the manifest declares.")
    return {"api": API, "status": "ready", "capabilitiesDigest": digest(declared)}


def modern(method: str, params: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    """Answer a request of the era in which every request says its version."""
    version = meta.get(META + "protocolVersion")
    if version not in MODERN:
        details = {"supported": [*MODERN, *LEGACY], "requested": version}
        raise RefusedError(OTHER_PROTOCOL, "Unsupported protocol version", details)
    about = {"resultType": "complete", "_meta": {META + "serverInfo": {"name": NAME, "version": VERSION}}}
    if method == "server/discover":
        agreed = agreement(member(meta, META + "clientCapabilities") or {}, ("extensions",))
        capabilities = {"tools": {}, "extensions": {HOST: agreed}}
        kept = {"ttlMs": 0, "cacheScope": "private"}
        return {**about, "supportedVersions": [*MODERN], "capabilities": capabilities, **kept}
    if method in LISTS:
        return {**about, LISTS[method]: [], "ttlMs": 3_600_000, "cacheScope": "private"}
    raise no_such(method, params)


def legacy(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Answer a request of the era that begins with `initialize`."""
    if method == "initialize":
        agreed = agreement(member(params, "capabilities") or {}, ("experimental", "extensions"))
        version = params.get("protocolVersion")
        return {
            "protocolVersion": version if version in LEGACY else LEGACY[0],
            "serverInfo": {"name": NAME, "version": VERSION},
            "capabilities": {"tools": {}, "experimental": {HOST: agreed}},
        }
    if method == "ping":
        return {}
    if method in LISTS:
        return {LISTS[method]: []}
    raise no_such(method, params)


def no_such(method: str, params: dict[str, Any]) -> RefusedError:
    """Return the refusal of a method, or of a tool, that this program does not have."""
    if method == "tools/call":
        return RefusedError(INVALID_PARAMS, "Unknown tool. This add-on serves no tool.", {"name": params.get("name")})
    return RefusedError(NO_METHOD, "Method not found", {"method": method})


def result(method: str, params: object) -> dict[str, Any]:
    """Answer one request."""
    if not isinstance(params, dict):
        raise RefusedError(INVALID_PARAMS, "params must be an object.")
    meta = member(params, "_meta") or {}
    if method == "server/discover" or META + "protocolVersion" in meta:
        return modern(method, params, meta)
    return legacy(method, params)


def constant(_name: str) -> None:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError


def request(line: bytes) -> dict[str, Any]:
    """Read one line as a request or a notification.

    Raises:
        RefusedError: It is neither.
    """
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise RefusedError(PARSE_ERROR, "Parse error") from error
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        raise RefusedError(INVALID_REQUEST, "Invalid request")
    if type(message.get("id", "")) not in (str, int):
        raise RefusedError(INVALID_REQUEST, "id must be a text or a whole number.")
    return message


def answer(line: bytes) -> dict[str, Any] | None:
    """Return the answer to one line, or None to a notification, which has none."""
    number = None
    try:
        message = request(line)
        number = message.get("id")
        reply = None if number is None else result(message["method"], message.get("params", {}))
    except RefusedError as refused:
        return failure(number, refused)
    except Exception as error:  # noqa: BLE001 - one bad request must not end the program
        print(f"{NAME}: {type(error).__name__}", file=sys.stderr)
        return failure(number, RefusedError(INTERNAL, "Internal error"))
    return None if reply is None else {"jsonrpc": "2.0", "id": number, "result": reply}


def failure(number: object, refused: RefusedError) -> dict[str, Any]:
    """Return a refusal as the answer to the request of that id."""
    return {"jsonrpc": "2.0", "id": number, "error": refused.error}


def next_answer(source: IO[bytes], line: bytes) -> dict[str, Any] | None:
    """Return the answer to a line that was read up to the limit, reading over the rest of one that is longer."""
    if len(line) <= LINE_BYTES or line.endswith(b"\n"):
        return answer(line) if line.strip() else None
    while line and not line.endswith(b"\n"):
        line = source.readline(LINE_BYTES)
    return failure(None, RefusedError(INVALID_REQUEST, f"A line has at most {LINE_BYTES} bytes. Send less."))


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer line by line until the input ends or nobody reads the answers any more."""
    while line := source.readline(LINE_BYTES + 1):
        reply = next_answer(source, line)
        if reply is None:
            continue
        try:
            sink.write(json.dumps(reply).encode("ascii") + b"\n")
            sink.flush()
        except BrokenPipeError:
            # Closed here, it is not flushed once more when Python ends, which would report the same error again.
            with suppress(BrokenPipeError):
                sink.close()
            return


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
