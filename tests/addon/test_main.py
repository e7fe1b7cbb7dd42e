"""The add-on's program, spoken to over its pipes: by hand, in both protocol eras, and by the official MCP client."""

import asyncio
import io
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.client import Client, advertise
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from short_memory.bundle import capabilities_digest
from short_memory_addon import main as program

ROOT = Path(__file__).parents[2]
MAIN = ROOT / "addon" / "short_memory_addon" / "main.py"
MANIFEST = yaml.safe_load((ROOT / "manifest.yaml").read_text(encoding="utf-8"))
HOST = "io.github.short-memory/host"
META = "io.modelcontextprotocol/"
HANDED = {"api": 2, "capabilities": MANIFEST["capabilities"]}


def in_a_process(given_bytes):
    done = subprocess.run([sys.executable, "-I", "-S", MAIN], input=given_bytes, capture_output=True, check=True)
    return done.stdout


def in_this_process(given_bytes):
    pipes = io.TextIOWrapper(io.BytesIO(given_bytes)), io.TextIOWrapper(io.BytesIO())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", pipes[0])
        patch.setattr(sys, "stdout", pipes[1])
        runpy.run_path(str(MAIN), run_name="__main__")
    return pipes[1].buffer.getvalue()


@pytest.fixture(params=[in_a_process, in_this_process])
def speak(request):
    """Send lines, which are bytes or messages, and return the answers. In this process coverage sees the program."""

    def exchange(*lines):
        sent = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        return [json.loads(line) for line in request.param(b"".join(line + b"\n" for line in sent)).splitlines()]

    return exchange


def modern(method, *, number=1, handed=None, version="2026-07-28", **params):
    capabilities = {} if handed is None else {"extensions": {HOST: handed}}
    meta = {META + "protocolVersion": version, META + "clientCapabilities": capabilities}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}


def legacy(method, *, number=1, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


PING = legacy("ping", number="alive")
ALIVE = {"jsonrpc": "2.0", "id": "alive", "result": {}}


def test_the_program_names_itself_as_the_manifest_does():
    assert (MANIFEST["id"], MANIFEST["version"], MANIFEST["api"]) == (program.NAME, program.VERSION, program.API)


@pytest.mark.case("executable-no-tools")
def test_discover_answers_the_digest_of_what_was_handed_over(speak):
    (answer,) = speak(modern("server/discover", handed=HANDED))
    agreed = {"api": 2, "status": "ready", "capabilitiesDigest": capabilities_digest(MANIFEST["capabilities"])}
    assert answer["result"] == {
        "resultType": "complete",
        "_meta": {META + "serverInfo": {"name": "memory", "version": "1.0.0"}},
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "extensions": {HOST: agreed}},
        "ttlMs": 0,
        "cacheScope": "private",
    }


@pytest.mark.parametrize("key", ["experimental", "extensions"])
def test_initialize_answers_the_digest_wherever_an_older_client_puts_the_capabilities(speak, key):
    (answer,) = speak(legacy("initialize", protocolVersion="2025-06-18", capabilities={key: {HOST: HANDED}}))
    agreed = {"api": 2, "status": "ready", "capabilitiesDigest": capabilities_digest(MANIFEST["capabilities"])}
    assert answer["result"] == {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "memory", "version": "1.0.0"},
        "capabilities": {"tools": {}, "experimental": {HOST: agreed}},
    }


def test_initialize_offers_its_newest_version_for_an_unknown_one(speak):
    (answer,) = speak(legacy("initialize", protocolVersion="1999-01-01"))
    assert answer["result"]["protocolVersion"] == "2025-11-25"
    assert answer["result"]["capabilities"]["experimental"] == {HOST: {"api": 2, "status": "unchecked"}}


@pytest.mark.case("executable-no-tools")
@pytest.mark.parametrize(
    ("method", "key"),
    [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ],
)
def test_every_list_is_empty_and_none_is_an_error(speak, method, key):
    new, old = speak(modern(method), legacy(method))
    assert new["result"][key] == []
    assert old["result"] == {key: []}


def test_a_tool_call_is_refused_because_there_is_no_tool(speak):
    answers = speak(modern("tools/call", name="context_read"), legacy("tools/call", name="context_read"))
    assert [answer["error"]["code"] for answer in answers] == [-32602, -32602]


def test_an_unknown_method_is_refused(speak):
    answers = speak(modern("notes/read"), legacy("notes/read"))
    assert [answer["error"]["code"] for answer in answers] == [-32601, -32601]


@pytest.mark.parametrize("version", ["2025-11-25", "2030-01-01", None, 5, ["2026-07-28"]])
def test_a_modern_request_of_another_version_is_told_the_versions(speak, version):
    (answer,) = speak(modern("server/discover", version=version))
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"]["supported"][0] == "2026-07-28"


def test_discover_without_a_version_is_refused(speak):
    (answer,) = speak(legacy("server/discover"))
    assert answer["error"]["code"] == -32022


@pytest.mark.parametrize("api", [1, 3, True, "2", None])
def test_another_add_on_api_is_refused(speak, api):
    (answer,) = speak(modern("server/discover", handed={**HANDED, "api": api}))
    assert answer["error"]["code"] == -32010
    assert answer["error"]["data"] == {"supported": [2]}


@pytest.mark.case("executable-survives-garbage")
@pytest.mark.parametrize(
    "line",
    [
        b"garbage",
        b"{",
        b"\xff\xfe",
        b'"\xc3\x28"',
        "{}".encode("utf-16"),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
        b"[1",
        b"\x00",
    ],
)
def test_what_is_no_json_is_a_parse_error_and_the_program_lives_on(speak, line):
    assert speak(line, PING) == [
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}},
        ALIVE,
    ]


@pytest.mark.case("executable-survives-garbage")
@pytest.mark.parametrize(
    "message",
    [
        [],
        [PING],
        1,
        "ping",
        None,
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
        {"jsonrpc": "2.0", "id": [1], "method": "ping"},
    ],
)
def test_what_is_no_request_is_refused_and_the_program_lives_on(speak, message):
    refused, alive = speak(message, PING)
    assert (refused["id"], refused["error"]["code"], alive) == (None, -32600, ALIVE)


@pytest.mark.parametrize("bad", [5, "x", [], True, None])
def test_params_of_a_wrong_type_are_refused_and_the_program_lives_on(speak, bad):
    refused, alive = speak({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": bad}, PING)
    assert (refused["id"], refused["error"]["code"], alive) == (7, -32602, ALIVE)


@pytest.mark.parametrize("bad", [5, "x", [], True])
def test_members_of_a_wrong_type_are_refused_and_the_program_lives_on(speak, bad):
    version = {META + "protocolVersion": "2026-07-28"}
    answers = speak(
        legacy("ping", _meta=bad),
        legacy("server/discover", _meta={**version, META + "clientCapabilities": bad}),
        legacy("server/discover", _meta={**version, META + "clientCapabilities": {"extensions": bad}}),
        modern("server/discover", handed=bad),
        modern("server/discover", handed={"api": 2, "capabilities": bad}),
        modern("server/discover", handed={"api": 2}),
        legacy("initialize", capabilities=bad),
        legacy("initialize", capabilities={"experimental": bad}),
        legacy("initialize", capabilities={"experimental": {HOST: bad}}),
        PING,
    )
    assert [answer["error"]["code"] for answer in answers[:-1]] == [-32602] * 9
    assert answers[-1] == ALIVE


@pytest.mark.parametrize("bad", [b'"\\ud800"', b"1e999"])
def test_capabilities_that_json_cannot_carry_are_refused_and_the_program_lives_on(speak, bad):
    line = json.dumps(modern("server/discover", handed={"api": 2, "capabilities": {"x": "HERE"}})).encode()
    refused, alive = speak(line.replace(b'"HERE"', bad), PING)
    assert (refused["error"]["code"], alive) == (-32602, ALIVE)


def test_capabilities_too_deep_to_digest_are_an_error_and_the_program_lives_on(speak):
    depth = 985
    line = json.dumps(modern("server/discover", handed={"api": 2, "capabilities": {"x": "HERE"}})).encode()
    refused, alive = speak(line.replace(b'"HERE"', b"[" * depth + b"]" * depth), PING)
    assert ("error" in refused, alive) == (True, ALIVE)


@pytest.mark.case("executable-survives-garbage")
def test_an_over_long_line_is_refused_and_read_over_to_its_end(speak):
    limit = program.LINE_BYTES
    answers = speak(b"x" * (limit + 1), b"x" * limit, b"y" * (3 * limit + 5), PING)
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32600, -32700, -32600, None]
    assert answers[-1] == ALIVE


def test_an_over_long_last_line_without_an_end_is_refused(speak):
    (answer,) = (json.loads(line) for line in in_a_process(b"x" * (2 * program.LINE_BYTES)).splitlines())
    assert answer["error"]["code"] == -32600
    assert speak(b"") == []


def test_notifications_and_empty_lines_have_no_answer(speak):
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert speak(b"", note, b"   ", {**note, "params": 5}, PING) == [ALIVE]


def test_an_error_inside_the_program_is_an_answer_and_says_nothing_of_the_message(monkeypatch, capsys):
    def broken(_method, _params):
        raise ZeroDivisionError("the person's text")

    monkeypatch.setattr(program, "result", broken)
    assert program.answer(json.dumps(PING).encode())["error"] == {"code": -32603, "message": "Internal error"}
    assert capsys.readouterr().err == "memory: ZeroDivisionError\n"


def test_the_program_ends_without_an_error_when_nobody_reads_its_answers():
    with subprocess.Popen(
        [sys.executable, "-I", "-S", MAIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        started.stdout.close()
        started.stdin.write(json.dumps(PING).encode() + b"\n")
        started.stdin.flush()
        assert (started.wait(timeout=10), started.stderr.read()) == (0, b"")


def test_serving_stops_at_a_pipe_that_nobody_reads():
    reader, writer = os.pipe()
    os.close(reader)
    source = io.BytesIO(json.dumps(PING).encode() + b"\n" + json.dumps(PING).encode() + b"\n")
    sink = os.fdopen(writer, "wb")
    program.serve(source, sink)
    assert sink.closed
    assert source.read() == json.dumps(PING).encode() + b"\n"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=200).map(lambda line: line.replace(b"\n", b"")), max_size=5))
def test_no_bytes_at_all_end_the_program(lines):
    out = in_this_process(b"".join(line + b"\n" for line in lines) + json.dumps(PING).encode() + b"\n")
    assert json.loads(out.splitlines()[-1]) == ALIVE


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_program_and_host_digest_any_capabilities_alike(capabilities):
    handed = json.loads(json.dumps(capabilities))
    try:
        expected = capabilities_digest(handed)
    except ValueError:
        with pytest.raises(program.RefusedError):
            program.digest(handed)
    else:
        assert program.digest(handed) == expected


@pytest.mark.case("executable-both-eras")
@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_official_client_connects_finds_no_tool_and_leaves(mode):
    async def visit():
        server = StdioServerParameters(command=sys.executable, args=["-I", "-S", str(MAIN)])
        async with Client(server, mode=mode, extensions=[advertise(HOST, HANDED)], read_timeout_seconds=20) as client:
            found = (await client.list_tools()).tools, (await client.list_prompts()).prompts
            with pytest.raises(MCPError, match="serves no tool"):
                await client.session.call_tool("context_read", {"topic": "food"})
            return client.protocol_version, client.server_capabilities, found

    version, capabilities, found = asyncio.run(visit())
    assert found == ([], [])
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    if mode != "2026-07-28":  # a client that is told the version asks for no capabilities
        agreed = capabilities.experimental if mode == "legacy" else capabilities.extensions
        assert agreed[HOST]["capabilitiesDigest"] == capabilities_digest(MANIFEST["capabilities"])
        assert capabilities.tools is not None
