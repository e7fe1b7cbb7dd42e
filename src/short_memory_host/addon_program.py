"""One run of an add-on's program: started as the manifest says, asked for the digest of its capabilities, and ended.

The program gets an environment of two variables, limits on memory and files before its first instruction, the add-on's
folder to stand in, and no path to anybody's notes. What it writes to stderr is counted and thrown away.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from short_memory.bundle import runs_on

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from pathlib import Path

    from short_memory.bundle import Manifest

HOST = "io.github.short-memory/host"
META = "io.modelcontextprotocol/"
MODERN, LEGACY = "2026-07-28", "2025-11-25"
LINE_BYTES = 1 << 20
OTHER_API = -32010

# The standard library and nothing else: neither the host's packages nor the folder of the program.
PYTHON = (sys.executable, "-I", "-S", "-B")
ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8"}
# Runs in the child and becomes the program, so that no instruction of an add-on runs without the limits.
LIMITED = """
import os, resource, sys
memory, files, *command = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if files == "none":
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
os.execv(command[0], command)
"""

SYSTEMS = {"linux": "linux", "darwin": "macos"}
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a program does not run. A final one is not tried again: it would end the same way."""

    code: str
    text: str
    final: bool = False


class FaultError(Exception):
    """Ends a handshake."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


ENDED = Fault("RUN-005", "The add-on's program ended. It is started again.")
NO_ANSWER = Fault(
    "RUN-006", "The add-on's program gave an answer that is not of its protocol. Install the add-on again."
)


def unfit(manifest: Manifest) -> Fault | None:
    """Say why a program cannot run on this machine, or return None."""
    executable, here = manifest.executable, sys.version_info[:3]
    if not runs_on(executable.requires, here):
        words = f"This add-on needs Python {executable.requires}; this host runs {'.'.join(map(str, here))}."
        return Fault("RUN-001", f"{words} Install a version of it for this Python.", final=True)
    machine = platform.machine().lower()
    name = f"{SYSTEMS.get(sys.platform, sys.platform)}-{MACHINES.get(machine, machine)}"
    if not {"any", name} & set(executable.platforms):
        words = f"This add-on runs on {', '.join(executable.platforms)}; this is {name}."
        return Fault("RUN-002", f"{words} Install a version of it for this system.", final=True)
    return None


async def launch(folder: Path, manifest: Manifest) -> Process:
    """Start the program of an add-on that stands in a folder with an absolute path.

    Raises:
        OSError: The system starts no further process.
    """
    executable = manifest.executable
    entry = str(folder / executable.entry)
    command = [*PYTHON, entry] if executable.runtime == "python" else [entry]
    limits = [str(executable.memory_mib << 20), executable.files]
    return await asyncio.create_subprocess_exec(
        *[*PYTHON, "-c", LIMITED, *limits, *command],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env=ENVIRONMENT,
        limit=LINE_BYTES,
        # A group of its own: a signal for the host at a terminal passes it by, one for it reaches its children.
        start_new_session=True,
    )


async def shake_hands(process: Process, manifest: Manifest) -> None:
    """Hand over the capabilities and check the digest that comes back, in the protocol era that the program speaks.

    Raises:
        FaultError: The program ended, or its answer is not the one that the manifest asks for.
    """
    handed = {HOST: {"api": manifest.api, "capabilities": manifest.capabilities}}
    about = {"name": "short-memory", "version": version("short-memory")}
    meta = {"protocolVersion": MODERN, "clientInfo": about, "clientCapabilities": {"extensions": handed}}
    answer = await _ask(process, "server/discover", {"_meta": {META + key: value for key, value in meta.items()}})
    era = "extensions"
    if "result" not in answer and _error_code(answer) != OTHER_API:
        params = {"protocolVersion": LEGACY, "clientInfo": about, "capabilities": {"experimental": handed}}
        answer, era = await _ask(process, "initialize", params), "experimental"
        await _send(process, {"method": "notifications/initialized"})
    if _error_code(answer) == OTHER_API:
        words = f"The add-on's program does not speak add-on API {manifest.api}, which its manifest names."
        raise FaultError(Fault("RUN-007", f"{words} Install the add-on again.", final=True))
    agreed = _under(answer, "result", "capabilities", era, HOST)
    if agreed.get("status") != "ready" or agreed.get("capabilitiesDigest") != manifest.capabilities_digest:
        words = "The add-on's program does not confirm the capabilities that its manifest declares."
        raise FaultError(Fault("RUN-007", f"{words} Install the add-on again.", final=True))


async def count_bytes(stream: asyncio.StreamReader | None) -> int:
    """Read a stream to its end, keep nothing, and return how many bytes came."""
    assert stream is not None
    count = 0
    while chunk := await stream.read(LINE_BYTES):
        count += len(chunk)
    return count


async def end(process: Process, *, patience_s: float) -> None:
    """End a program: its input first, then a request, then without asking. Nothing it started stays behind."""
    assert process.stdin is not None
    process.stdin.close()
    if not await _ended(process, patience_s):
        _signal(process, signal.SIGTERM)
        await _ended(process, patience_s)
    _signal(process, signal.SIGKILL)
    await _ended(process, patience_s)
    # A child that left the group may hold the pipes open for ever; only the transport closes our ends of them.
    cast("Any", process)._transport.close()  # noqa: SLF001 - there is no other way to it


async def _ended(process: Process, patience_s: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            await process.wait()
    return process.returncode is not None


def _signal(process: Process, number: signal.Signals) -> None:
    """Send a signal to the program's group, which may be gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def _ask(process: Process, method: str, params: dict[str, Any]) -> dict[str, Any]:
    await _send(process, {"id": method, "method": method, "params": params})
    assert process.stdout is not None
    while line := await _line(process.stdout):
        try:
            message = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise FaultError(NO_ANSWER) from error
        if isinstance(message, dict) and message.get("id") == method:
            return message
    raise FaultError(ENDED)


async def _line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError as error:  # what readline makes of a line over the limit
        raise FaultError(NO_ANSWER) from error


async def _send(process: Process, message: dict[str, Any]) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n")
        await process.stdin.drain()
    except ConnectionError as error:
        raise FaultError(ENDED) from error


def _error_code(answer: dict[str, Any]) -> object:
    return _under(answer, "error").get("code")


def _under(answer: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return the object that stands under the keys, one inside the other; an empty one where something else stands."""
    found: object = answer
    for key in keys:
        found = cast("dict[str, Any]", found).get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
