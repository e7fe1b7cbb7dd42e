"""The add-on of this repository and small made-up ones, run as real programs."""

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest

import short_memory_host
from short_memory_host.addon_program import ENDED
from short_memory_host.addons import AddonRefusedError, Health, RunningAddon, find_bundled, load_folder
from tests.host.made_addons import make_addon

ROOT = Path(__file__).parents[2]


@pytest.fixture
def addon(tmp_path):
    def made(program, *changes):
        return make_addon(tmp_path / "addon", program, *changes)

    return made


class Pauses:
    """Stands for the clock's pauses: keeps how long each would be, and lets the host go on when the test says so."""

    def __init__(self):
        self.asked = []
        self.began = asyncio.Event()
        self.over = asyncio.Semaphore(0)

    async def __call__(self, seconds):
        self.asked.append(seconds)
        self.began.set()
        await self.over.acquire()

    async def next(self):
        await asyncio.wait_for(self.began.wait(), 20)
        self.began.clear()


def health_of(addon):
    """Start an add-on once, stop it, and return how the start went."""

    async def once():
        running = RunningAddon(addon)
        health = await running.start()
        await running.stop()
        assert running.health == Health("stopped")
        return health

    return asyncio.run(once())


@pytest.mark.case("addon-loaded-by-manifest")
def test_the_add_on_of_this_repository_starts_by_its_manifest_and_stops():
    assert health_of(load_folder(find_bundled(Path(short_memory_host.__file__).parent))) == Health("running")


def test_a_checkout_is_found_at_its_root_and_an_installed_add_on_in_the_package(tmp_path):
    package = tmp_path / "src" / "short_memory_host"
    (package / "bundled_addon").mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match="Install short-memory again"):
        find_bundled(package)
    (tmp_path / "manifest.yaml").touch()
    assert find_bundled(package) == tmp_path
    (package / "bundled_addon" / "manifest.yaml").touch()
    assert find_bundled(package) == package / "bundled_addon"


def test_an_add_on_runs_from_a_copied_folder(tmp_path):
    folder = tmp_path / "with a space" / "è"
    for name in ("skills", "page", "addon"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "manifest.yaml", folder)
    assert health_of(load_folder(folder)) == Health("running")


def test_a_folder_with_a_problem_is_refused_with_all_of_them(tmp_path):
    with pytest.raises(AddonRefusedError, match="FLD-001") as refused:
        load_folder(tmp_path)
    assert [problem.code for problem in refused.value.problems] == ["FLD-001"]


def test_an_unknown_key_is_a_warning_of_a_loaded_add_on(addon):
    loaded = addon("", ("summary: x", "summary: x\nrating: 5"))
    assert ([warning.code for warning in loaded.warnings], loaded.skills) == (["MAN-080"], ())


def test_a_missing_add_on_program_is_refused_before_it_is_started(addon):
    with pytest.raises(AddonRefusedError, match="FLD-001"):
        addon("", ("entry: run.py", "entry: gone.py"))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ((('requires: ">=3.10"', 'requires: "<3.10"'),), "RUN-001"),
        ((("entry: run.py", "entry: run.py, platforms: [windows-arm64]"),), "RUN-002"),
    ],
)
def test_a_program_that_cannot_run_here_is_not_started_and_not_tried_again(addon, changes, code):
    async def once():
        pauses = Pauses()
        running = RunningAddon(addon("open('started', 'w')", *changes), pause=pauses)
        health = await running.start()
        await running._task
        return health, pauses.asked

    health, asked = asyncio.run(once())
    assert (health.state, health.fault.code, health.fault.final, asked) == ("failed", code, True, [])


def test_a_program_that_crashes_is_started_again_after_growing_pauses(addon):
    async def crash():
        pauses, now = Pauses(), [0.0]
        running = RunningAddon(addon("agree()"), pause=pauses, clock=lambda: now[0])
        await running.start()
        for _ in range(8):
            await pauses.next()
            assert running.health == Health("failed", ENDED)
            pauses.over.release()
        await pauses.next()
        now[0] = 1000.0
        await running.stop()
        return pauses.asked

    assert asyncio.run(crash()) == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_a_program_that_ran_for_long_starts_with_the_shortest_pause_again(addon):
    async def crash():
        pauses, times = Pauses(), iter([0.0, 1.0, 2.0, 3.0, 4.0, 64.0, 65.0, 66.0])
        running = RunningAddon(addon("agree()"), pause=pauses, clock=lambda: next(times))
        await running.start()
        for _ in range(3):
            await pauses.next()
            pauses.over.release()
        await pauses.next()
        await running.stop()
        return pauses.asked

    assert asyncio.run(crash()) == [1.0, 2.0, 1.0, 2.0]


def test_a_killed_program_comes_back(addon, tmp_path):
    async def kill():
        pauses = Pauses()
        program = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); agree(); sys.stdin.read()"
        running = RunningAddon(addon(program, ("memoryMiB: 64", "memoryMiB: 64, files: own")), pause=pauses)
        first = await running.start()
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        await pauses.next()
        failed = running.health
        pauses.over.release()
        again = await running.reaches("running")
        await running.stop()
        return first, failed, again

    assert asyncio.run(kill()) == (Health("running"), Health("failed", ENDED), Health("running"))


def test_starting_twice_runs_one_program(addon):
    async def twice():
        running = RunningAddon(addon("agree(); sys.stdin.read()"))
        await asyncio.gather(running.start(), running.start())
        task = running._task
        await running.start()
        same = running._task is task
        await running.stop()
        await running.stop()
        return same

    assert asyncio.run(twice())


def test_an_add_on_that_is_stopped_while_it_starts_is_stopped(addon):
    async def hurry():
        running = RunningAddon(addon("read(); sys.stdin.read()"))
        starting = asyncio.create_task(running.start())
        await running.reaches("starting")
        await running.stop()
        return await asyncio.wait_for(starting, 10)

    assert asyncio.run(hurry()) == Health("stopped")


def test_an_add_on_can_be_started_again_after_it_was_stopped(addon):
    async def again():
        running = RunningAddon(addon("agree(); sys.stdin.read()"))
        await running.start()
        await running.stop()
        health = await running.start()
        await running.stop()
        return health

    assert asyncio.run(again()) == Health("running")


def test_what_a_program_writes_to_stderr_is_counted_and_not_kept(addon, caplog):
    caplog.set_level("INFO", logger="short_memory_host")
    assert health_of(addon("sys.stderr.write('the secret' * 10_000); agree(); sys.stdin.read()")) == Health("running")
    (record,) = [record for record in caplog.records if record.getMessage() == "addon-ended"]
    assert record.facts == {"addon": "zoo", "size_bytes": 100_000}
    assert "the secret" not in caplog.text


def test_a_program_that_floods_its_output_does_not_fill_the_host(addon):
    program = "agree()\nfor _ in range(200): sys.stdout.write('x' * 100_000)\nsys.stdout.flush()\nos._exit(0)"

    async def flood():
        pauses = Pauses()
        running = RunningAddon(addon(program), pause=pauses)
        await running.start()
        await pauses.next()
        health = running.health
        await running.stop()
        return health

    assert asyncio.run(flood()) == Health("failed", ENDED)


def test_a_system_that_starts_no_process_is_a_failure_that_is_tried_again(addon):
    made = addon("agree()")
    shutil.rmtree(made.folder)
    health = health_of(made)
    assert (health.state, health.fault.code, health.fault.final) == ("failed", "RUN-003", False)
