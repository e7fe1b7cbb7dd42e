"""What the host adds to the first byte of a turn: a whole turn over HTTP beside the same request to the model directly.

The host runs as a process of its own, as a person starts it; the model is scripted and answers at once.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx2

from bench.rounds import Item
from short_memory_host.upstream import Text, Upstream, Upstreams
from tests.scripted_upstream import ScriptedUpstream, says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = {"accept": "text/html"}
QUESTION = "What can I cook tonight?"


def measure(folder: Path, *, rounds: int) -> Iterator[Item]:
    """Measure the first byte by turns, with one round before the first that counts."""
    with ExitStack() as opened:
        model = opened.enter_context(ScriptedUpstream())
        model.always(says("Rice."))
        link = _host(opened, folder / "host")
        browser = opened.enter_context(httpx2.Client(base_url=link.rpartition("/")[0], timeout=30))
        _come_in(browser, link, model.base_url)
        loop = opened.enter_context(asyncio.Runner())
        upstreams = Upstreams()
        direct = Upstream(
            "u", "Scripted", model.base_url, "", "scripted", local=True, may_see_notes=False, tools="native"
        )
        ours, floor = [], []
        for _ in range(rounds + 1):
            ours.append(_ours_us(browser, f"{browser.post('/chat', json={'text': QUESTION}).json()['url']}/answer"))
            floor.append(loop.run(_floor_us(upstreams, direct)))
        loop.run(upstreams.close())
    yield Item.of("first_byte", ours[1:], floor[1:])


def _ours_us(browser: httpx2.Client, answer: str) -> float:
    start, first = time.perf_counter_ns(), 0
    with browser.stream("POST", answer, json={}) as stream:
        for line in stream.iter_lines():
            if not first and line.startswith("data:") and json.loads(line[5:])["kind"] == "text":
                first = time.perf_counter_ns() - start
    return first / 1000


async def _floor_us(upstreams: Upstreams, upstream: Upstream) -> float:
    start, first = time.perf_counter_ns(), 0
    async for part in upstreams.stream(upstream, [{"role": "user", "content": QUESTION}]):
        if isinstance(part, Text) and not first:
            first = time.perf_counter_ns() - start
    return first / 1000


def _host(opened: ExitStack, data: Path) -> str:
    """Start a host and return its sign-in link."""
    command = [sys.executable, "-m", "short_memory_host", "--data", str(data), "--listen", "127.0.0.1:0", "--no-model"]
    process = opened.enter_context(
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    )
    opened.callback(process.terminate)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http\S+token=\S+", line):
            return found[0]
    raise RuntimeError("the host printed no sign-in link")


def _come_in(browser: httpx2.Client, link: str, model: str) -> None:
    """Sign in and add the model."""
    browser.post("/sign-in/link", data={"token": link.rpartition("=")[2]}, headers=PAGE)
    page = browser.get("/account", headers=PAGE).text
    found = re.search(r'name="csrf-token" content="(\w+)"', page)
    assert found is not None
    browser.headers["x-csrf-token"] = found[1]
    form = {"name": "Scripted", "base_url": model, "model": "scripted", "local": "true", "tools": "native"}
    browser.post("/models/new", data=form, headers=PAGE)
