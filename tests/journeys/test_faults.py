"""Killed at any system call, refused by the disk at any system call, raced by another program: a change is whole or absent.

The sweeps need Linux and strace; each counts the system calls of one confirmation first and then fails every one of them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest

from short_memory.proposals import Edit
from tests.clock import Clock
from tests.engine.notes import ADDON, OWNER, Notes, append, talk
from tests.journeys.fault_programs import REFUSED

PROGRAM = Path(__file__).with_name("fault_programs.py")
MODIFYING = [
    "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir",
    "mkdirat", "rmdir", "ftruncate", "openat",
]  # fmt: skip
VARIANTS = {
    "new topic and index": [append("- no nuts")],
    "replaced and deleted": [Edit("tea.md", old="green", new="black"), Edit("old.md")],
}
FOUND = re.compile(r"^(?:\d+ +)?(\w+)\(", re.MULTILINE)


@dataclass
class World:
    """A data folder with one open proposal, kept as a pattern to be copied for each try."""

    pattern: Path
    proposal: str
    before: dict[str, str]
    after: dict[str, str]

    def copied(self, to: Path) -> Path:
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self.pattern, to)
        return to


class Program:
    """The warm process that confirms on demand."""

    def __enter__(self) -> Self:
        command = [os.path.realpath(sys.executable), str(PROGRAM), "confirm"]
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def confirm(self, data: Path, proposal: str, *options: str) -> int:
        """Confirm under strace with these options; returns the exit status, negative for the signal that ended it."""
        process = self._ask(f"{data} {proposal}")
        command = ["strace", "-f", "-p", process, *options]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as trace:
            assert "attached" in trace.stderr.readline()
            status = int(self._ask("go"))
            trace.communicate()
        return os.waitstatus_to_exitcode(status)

    def _ask(self, line: str) -> str:
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@pytest.fixture(scope="module")
def program():
    with Program() as found:
        yield found


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS)
def world(request, tmp_path):
    pattern = tmp_path / "pattern"
    with closing(Notes(pattern, Clock())) as notes:
        notes.granting.enable(OWNER, ADDON)
        notes.save("Memory/tea.md", "- green\n")
        notes.save("Memory/old.md", "- gone\n")
        before = notes.files()
        proposal = notes.propose(talk(), *request.param)
    with closing(Notes(shutil.copytree(pattern, tmp_path / "after"), Clock())) as notes:
        notes.confirm(proposal)
        after = notes.files()
    return World(pattern, proposal.id, before, after)


def calls(program, world, tmp_path):
    """Return the system calls that one confirmation makes, in their order."""
    log = tmp_path / "calls"
    status = program.confirm(
        world.copied(tmp_path / "data"), world.proposal, "-I2", "-o", str(log), "-e", f"trace={','.join(MODIFYING)}"
    )
    assert status == 0
    return FOUND.findall(log.read_text())


def points(found):
    return [(name, number) for name, count in sorted(Counter(found).items()) for number in range(1, count + 1)]


def quiet(*injections):
    return [
        "-I2",
        "-o",
        os.devnull,
        "-e",
        f"trace={','.join(MODIFYING)}",
        *(part for one in injections for part in ("-e", f"inject={one}")),
    ]


def check_after_start(world, data):
    """Start anew: the change is whole or absent, files and journal agree, nothing is staged, and the next yes works.

    Returns whether it was whole.
    """
    with closing(Notes(data, Clock())) as notes:
        notes.store.recover()
        files, proposal = notes.files(), notes.memory.proposal(OWNER, world.proposal)
        made = [one for one in notes.notebook.history(OWNER, limit=99) if one.cause == "proposal"]
        whole = files == world.after
        assert files in (world.before, world.after)
        assert (notes.staged(), notes.store.journal.intents()) == ([], [])
        assert (proposal.state, len(made)) == (("confirmed", 1) if whole else ("open", 0))
        assert {one.cause for one in notes.notebook.history(OWNER, limit=99)} <= {"edit", "proposal"}
        change = notes.confirm(proposal)
        assert (notes.files(), notes.staged()) == (world.after, [])
        assert [one.id for one in made] in ([change.id], [])
        assert sorted(one.name for one in (data / "grants").iterdir()) == ["anna.json"]
    return whole


def files_of(data):
    return {
        str(one.relative_to(data / "files" / OWNER)): one.read_text()
        for one in sorted((data / "files" / OWNER).rglob("*.md"))
    }


@pytest.mark.case("crash-whole-or-absent")
def test_a_process_killed_at_any_system_call_leaves_the_change_whole_or_absent(
    program, world, tmp_path, record_property
):
    found = Counter()
    for name, number in points(calls(program, world, tmp_path)):
        data = world.copied(tmp_path / "data")
        status = program.confirm(data, world.proposal, *quiet(f"{name}:signal=KILL:when={number}"))
        assert status == -signal.SIGKILL, (name, number)
        found[check_after_start(world, data)] += 1
    sys.stdout.write(f"killed at {sum(found.values())} points: {found[True]} whole, {found[False]} absent\n")
    assert found[True] > 0
    assert found[False] > 0


@pytest.mark.parametrize(
    "error",
    [
        pytest.param("ENOSPC", marks=pytest.mark.case("disk-full-refused-never-appears")),
        pytest.param("EIO", marks=pytest.mark.case("io-error-refused-never-appears")),
    ],
)
@pytest.mark.parametrize("once", [True, False], ids=["once", "from then on"])
def test_what_a_refusing_disk_refused_never_appears(program, world, tmp_path, error, once):
    found = Counter()
    for name, number in points(calls(program, world, tmp_path)):
        data = world.copied(tmp_path / "data")
        status = program.confirm(
            data, world.proposal, *quiet(f"{name}:error={error}:when={number}{'' if once else '+'}")
        )
        found[_judge(world, data, status, (name, number), at_once=once)] += 1
    sys.stdout.write(f"{error} at {sum(found.values())} points: {found[True]} done, {found[False]} refused\n")
    assert found[False] > 0


@pytest.mark.case("io-error-refused-never-appears")
def test_what_a_disk_that_dies_refused_never_appears(program, world, tmp_path):
    order = [name for name in calls(program, world, tmp_path) if name != "openat"]
    found = Counter()
    for at in range(len(order)):
        done = Counter(order[:at])
        data = world.copied(tmp_path / "data")
        dead = [f"{name}:error=EROFS:when={done[name] + 1}+" for name in MODIFYING if name != "openat"]
        status = program.confirm(data, world.proposal, *quiet(*dead))
        found[_judge(world, data, status, at, at_once=False)] += 1
    sys.stdout.write(f"dead at {sum(found.values())} points: {found[True]} done, {found[False]} refused\n")
    assert found[False] > 0


def _judge(world, data, status, point, *, at_once):
    """Check that what was answered is true after a start, and at once where the disk works again; returns whether it was done."""
    assert status in (0, REFUSED), point
    if at_once or status == 0:
        assert files_of(data) == (world.after if status == 0 else world.before), point
    whole = check_after_start(world, data)
    assert whole is (status == 0), point
    return whole


def start(*arguments):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), *map(str, arguments)], stdout=subprocess.PIPE, text=True, env=env
    )


def finish(*processes):
    told = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return told


@pytest.mark.case("two-writers-no-lost-line")
def test_two_processes_that_write_120_lines_lose_none(tmp_path):
    with closing(Notes(tmp_path, Clock())) as notes:
        notes.granting.enable(OWNER, ADDON)
        finish(start("lines", tmp_path, "a", 60), start("lines", tmp_path, "b", 60))
        lines = [line for n in range(2) for line in notes.text(f"Memory/t{n}.md").splitlines()]
        assert sorted(lines) == sorted(f"- {name}{number}" for name in "ab" for number in range(60))
        assert len(notes.notebook.history(OWNER, limit=999)) == 120
        assert (notes.staged(), notes.store.journal.intents()) == ([], [])


@pytest.mark.case("fifty-confirms-one-change")
def test_50_confirmations_of_5_processes_give_one_change_set(tmp_path):
    with closing(Notes(tmp_path, Clock())) as notes:
        notes.granting.enable(OWNER, ADDON)
        proposal = notes.append()
        told = finish(*(start("confirms", tmp_path, proposal.id, 10) for _ in range(5)))
        names = [name for line in told for name in line.split()]
        assert (len(names), len(set(names))) == (50, 1)
        assert [one.id for one in notes.notebook.history(OWNER, limit=9)] == names[:1]
        assert json.dumps(notes.files()) == json.dumps(
            {
                "Memory/food.md": "- 2026-11-30: allergic to nuts\n",
                "Memory/index.md": "- food: allergic to nuts -> food.md\n",
            }
        )
