"""Small add-ons whose program is a few lines of Python, for the tests of what runs them."""

from short_memory_host.addons import load_folder

ANSWER = """
import json, os, sys
def read():
    return json.loads(sys.stdin.readline())
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def digest_of(message):
    import hashlib
    handed = message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"]
    capabilities = handed["io.github.short-memory/host"]["capabilities"]
    text = json.dumps(capabilities, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
def agree():
    asked = read()
    agreed = {"io.github.short-memory/host": {"api": 2, "status": "ready", "capabilitiesDigest": digest_of(asked)}}
    say({"id": asked["id"], "result": {"capabilities": {"extensions": agreed}}})
"""


def make_addon(folder, program, *changes):
    """Make an add-on whose program is the given text; the manifest may be changed as well."""
    folder.mkdir()
    text = (
        "api: 2\nid: zoo\nname: Zoo\nversion: 1.0.0\nsummary: x\nlicense: MIT\npublisher: {name: x}\n"
        "capabilities:\n  contextFiles: [{id: a, scope: user, title: T, index: Zoo/index.md}]\n"
        'executable: {protocol: mcp-stdio, runtime: python, entry: run.py, requires: ">=3.10", '
        "startSeconds: 10, stopSeconds: 2, memoryMiB: 64}\n"
    )
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "manifest.yaml").write_text(text, encoding="utf-8")
    (folder / "run.py").write_text(ANSWER + program, encoding="utf-8")
    return load_folder(folder)
