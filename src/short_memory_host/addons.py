"""Runs an add-on by its manifest, and never imports one: that it works this way proves that any other add-on would.

The add-on counts as on by the owner's choice, not by whether its program is alive (contract 8.3). So a program that
fails is only started again, after growing pauses, and no note is read or written differently meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from short_memory.access import AddonGrant
from short_memory.bundle import check_folder
from short_memory_host import logs
from short_memory_host.addon_program import ENDED, Fault, FaultError, count_bytes, end, launch, shake_hands, unfit

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from short_memory.bundle import Manifest, Problem, Skill

HOST_API = 2
LONGEST_PAUSE_S = 60.0
# A program that ran this long starts with the shortest pause again.
STEADY_S = 60.0

State = Literal["stopped", "starting", "running", "failed"]


@dataclass(frozen=True, slots=True)
class Addon:
    """An add-on that this host can run, as it stands in its folder."""

    folder: Path
    manifest: Manifest
    skills: tuple[Skill, ...]
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """How the program of an add-on is. `fault` says why it is not running, and is there only if it failed."""

    state: State
    fault: Fault | None = None


class AddonRefusedError(Exception):
    """This host does not run what stands in the folder. `problems` says why, the first one first."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def granted(manifest: Manifest, *, on: bool) -> AddonGrant:
    """Return what a person grants who agrees to this manifest as it is."""
    return AddonGrant(manifest.id, on, manifest.capabilities_digest, manifest.context_files)


def find_bundled(package: Path) -> Path:
    """Find the add-on that comes with this host.

    Args:
        package: The folder of `short_memory_host`. An installed one holds the add-on; in a checkout it is the root.

    Raises:
        FileNotFoundError: It is at neither place.
    """
    for folder in (package / "bundled_addon", package.parents[1]):
        if (folder / "manifest.yaml").is_file():
            return folder
    raise FileNotFoundError("The add-on that belongs to this host is missing. Install short-memory again.")


def load_folder(folder: Path) -> Addon:
    """Read an add-on the way a host of this API does; its program is not started.

    Raises:
        AddonRefusedError: It has a problem that this host may not overlook.
    """
    checked = check_folder(folder, host_api=HOST_API)
    if checked.manifest is None or checked.problems:
        raise AddonRefusedError(checked.problems)
    return Addon(folder.resolve(), checked.manifest, checked.skills, checked.warnings)


class RunningAddon:
    """The program of one add-on, kept running until it is stopped.

    `pause` waits for a number of seconds and `clock` tells seconds that only grow; a test passes its own.
    """

    def __init__(
        self,
        addon: Addon,
        *,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.addon = addon
        self._pause, self._clock = pause, clock
        self._health = Health("stopped")
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def health(self) -> Health:
        """How the program is now."""
        return self._health

    async def start(self) -> Health:
        """Start the program, if it is not kept running already, and return how its first try went."""
        if self._task is None or self._task.done():
            self._become(Health("starting"))
            self._task = asyncio.create_task(self._keep_running())
        return await self.reaches("running", "failed", "stopped")

    async def stop(self) -> None:
        """End the program within twice its `stopSeconds`, and do not start it again."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._become(Health("stopped"))

    async def reaches(self, *states: State) -> Health:
        """Wait until the program is in one of the states."""
        while self._health.state not in states:
            await self._changed.wait()
        return self._health

    def _become(self, health: Health) -> None:
        self._health = health
        self._changed.set()
        self._changed = asyncio.Event()

    async def _keep_running(self) -> None:
        failures = 0
        while True:
            self._become(Health("starting"))
            began = self._clock()
            fault = await self._run()
            self._become(Health("failed", fault))
            logs.write("addon-failed", addon=self.addon.manifest.id, code=fault.code, count=failures + 1)
            if fault.final:
                return
            failures = 0 if self._clock() - began >= STEADY_S else failures
            await self._pause(min(2.0 ** min(failures, 10), LONGEST_PAUSE_S))
            failures += 1

    async def _run(self) -> Fault:
        """Run the program once, to its end, and say why it ended."""
        if (fault := unfit(self.addon.manifest)) is not None:
            return fault
        try:
            process = await launch(self.addon.folder, self.addon.manifest)
        except OSError as error:
            return Fault(
                "RUN-003", f"The add-on's program could not be started (error {error.errno}). It is tried again."
            )
        written = asyncio.create_task(count_bytes(process.stderr))
        try:
            return await self._live(process)
        finally:
            await end(process, patience_s=self.addon.manifest.executable.stop_s)
            logs.write("addon-ended", addon=self.addon.manifest.id, size_bytes=await written)

    async def _live(self, process: Process) -> Fault:
        limit_s = self.addon.manifest.executable.start_s
        try:
            async with asyncio.timeout(limit_s):
                await shake_hands(process, self.addon.manifest)
        except FaultError as error:
            return error.fault
        except TimeoutError:
            return Fault("RUN-004", f"The add-on's program gave no answer in {limit_s} s. It is tried again.")
        self._become(Health("running"))
        await count_bytes(process.stdout)
        return ENDED
