"""The constant text of the guided step: read once, kept, taken from the disk at the next start."""

import asyncio
import os

import pytest

from short_memory_host import guided
from short_memory_host.builtin_model.warm import name, warm
from short_memory_host.upstream import BUILT_IN, Upstream, Upstreams
from tests.scripted_upstream import Answer, ScriptedUpstream, decides, fails

DONE = Answer(body="{}")
READ = decides(wants="small talk", do="reply")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF")
    return path


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "warm"
    made.mkdir()
    return made


@pytest.fixture
def server():
    with ScriptedUpstream() as server:
        yield server


def warmed(server, model, folder):
    upstream = Upstream(BUILT_IN, "B", server.base_url, "key", "m", local=True, may_see_notes=False, tools="guided")

    async def run():
        upstreams = Upstreams()
        await warm(upstreams, upstream, model=model, folder=folder)
        await upstreams.close()

    asyncio.run(run())
    return server.paths


def test_what_was_read_is_saved_and_what_was_kept_of_another_text_is_removed(server, model, folder):
    (folder / "older.bin").touch()
    server.will(READ, DONE)
    assert warmed(server, model, folder) == ["/v1/chat/completions", "/slots/0?action=save"]
    assert (server.requests[1], list(folder.iterdir())) == ({"filename": name(model)}, [])
    assert server.headers[1]["authorization"] == "Bearer key"


def test_what_is_kept_is_restored_and_not_read_again(server, model, folder):
    (folder / name(model)).touch()
    server.will(DONE)
    assert warmed(server, model, folder) == ["/slots/0?action=restore"]


def test_what_cannot_be_restored_is_read_and_saved_anew(server, model, folder):
    (folder / name(model)).touch()
    server.will(fails(400), READ, DONE)
    assert warmed(server, model, folder) == [
        "/slots/0?action=restore",
        "/v1/chat/completions",
        "/slots/0?action=save",
    ]


def test_a_server_that_saves_nothing_is_no_error(server, model, folder):
    server.will(READ, fails(501))
    assert len(warmed(server, model, folder)) == 2


def test_another_state_of_the_model_file_has_another_name(model):
    before = name(model)
    os.utime(model, ns=(1, 1))
    assert name(model) != before


def test_only_the_constant_text_is_read_before_somebody_asks(server, model, folder):
    server.will(READ, DONE)
    warmed(server, model, folder)
    messages = server.requests[0]["messages"]
    assert messages[:-1] == guided.constant_text()
    assert messages[-1]["content"].endswith("Message: Hello!")
