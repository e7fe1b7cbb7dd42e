"""One run of an add-on's program, seen through the add-on that it belongs to: protocol, limits, and its end."""

import asyncio
import json
import os
import shutil
import sys

import pytest

from short_memory_host.addon_program import unfit
from short_memory_host.addons import Health, RunningAddon
from tests.host.made_addons import make_addon


@pytest.fixture
def addon(tmp_path):
    def made(program, *changes):
        return make_addon(tmp_path / "addon", program, *changes)

    return made


def health_of(addon):
    """Start an add-on once, stop it, and return how the start went."""

    async def once():
        running = RunningAddon(addon)
        health = await running.start()
        await running.stop()
        return health

    return asyncio.run(once())


def test_a_program_of_the_older_protocol_runs(addon):
    program = """
asked = read()
say({"id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})
begin = read()
digest = digest_of(asked)
agreed = {"io.github.short-memory/host": {"api": 2, "status": "ready", "capabilitiesDigest": digest}}
say({"id": begin["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"experimental": agreed}}})
if read()["method"] != "notifications/initialized":
    sys.exit("no notification")
sys.stdin.read()
"""
    assert health_of(addon(program)) == Health("running")


@pytest.mark.case("executable-watched")
@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("", "RUN-005"),
        ("sys.exit(3)", "RUN-005"),
        ("sys.stdin.close(); sys.stdout.close(); os._exit(0)", "RUN-005"),
        ("print('garbage', flush=True); sys.stdin.read()", "RUN-006"),
        ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush(); sys.stdin.read()", "RUN-006"),
        ("print('[' * 100000, flush=True); sys.stdin.read()", "RUN-006"),
        ("print('x' * 3_000_000, flush=True); sys.stdin.read()", "RUN-006"),
        ("import time; time.sleep(60)", "RUN-004"),
    ],
)
def test_a_program_that_gives_no_answer_has_failed_and_may_be_tried_again(addon, program, code):
    health = health_of(
        addon(program, ("startSeconds: 10, stopSeconds: 2", "startSeconds: 1, stopSeconds: 1"))
        if code == "RUN-004"
        else addon(program)
    )
    assert (health.state, health.fault.code, health.fault.final) == ("failed", code, False)


@pytest.mark.parametrize(
    "program",
    [
        'say({"id": read()["id"], "result": {}}); sys.stdin.read()',
        'say({"id": read()["id"], "result": 5}); sys.stdin.read()',
        'say({"id": read()["id"], "result": {"capabilities": []}}); sys.stdin.read()',
        'say({"id": read()["id"], "error": {"code": -32010, "message": "x"}}); sys.stdin.read()',
        'say({"id": read()["id"], "error": 5}); say({"id": read()["id"], "error": 5}); sys.stdin.read()',
        "digest_of = lambda message: 'sha256:0'; agree(); sys.stdin.read()",
    ],
)
def test_a_program_that_does_not_confirm_the_capabilities_is_refused_for_good(addon, program):
    health = health_of(addon(program))
    assert (health.state, health.fault.code, health.fault.final) == ("failed", "RUN-007", True)


def test_answers_to_nothing_are_read_over(addon):
    program = 'print("[]"); print("5"); say({"method": "notifications/message"}); say({"id": 99, "result": {}}); agree(); sys.stdin.read()'
    assert health_of(addon(program)) == Health("running")


@pytest.mark.case("executable-watched")
@pytest.mark.parametrize(
    "stubborn",
    [
        "import time\nagree()\ntime.sleep(60)",
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nagree()\nwhile True: time.sleep(60)",
        "import time\nif os.fork() == 0:\n    time.sleep(60)\nagree()\nsys.stdin.read()",
        "import time\nif os.fork() == 0:\n    os.setsid(); print(os.getpid(), file=sys.stderr); time.sleep(6)\nagree()\nsys.stdin.read()",
    ],
    ids=["waits", "ignores", "has a child", "has a child elsewhere"],
)
def test_a_program_that_does_not_end_is_ended(addon, stubborn):
    async def stop():
        running = RunningAddon(addon(stubborn, ("stopSeconds: 2", "stopSeconds: 1")))
        health = await running.start()
        await asyncio.wait_for(running.stop(), 15)
        return health, running.health

    assert asyncio.run(stop()) == (Health("running"), Health("stopped"))


def test_a_program_sees_two_variables_its_folder_and_no_package_of_the_host(addon, monkeypatch, tmp_path):
    monkeypatch.setenv("SHORT_MEMORY_TOKEN", "secret")
    report = tmp_path / "report"
    program = f"""
def tried(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True
seen = {{"environment": dict(os.environ), "folder": os.getcwd(), "imports": [tried("short_memory"), tried("yaml")]}}
open({str(report)!r}, "w").write(json.dumps(seen))
agree(); sys.stdin.read()
"""
    made = addon(program, ("memoryMiB: 64", "memoryMiB: 64, files: own"))
    assert health_of(made) == Health("running")
    seen = json.loads(report.read_text())
    assert seen["environment"] == {"PATH": os.defpath, "LANG": "C.UTF-8"}
    assert (seen["folder"], seen["imports"]) == (str(made.folder), [False, False])


def test_a_program_without_the_right_to_files_writes_none(addon, tmp_path):
    program = f"""
try:
    with open({str(tmp_path / "x")!r}, "w") as file:
        file.write("x")
except OSError:
    agree(); sys.stdin.read()
"""
    assert health_of(addon(program)) == Health("running")
    assert (tmp_path / "x").read_text() == ""


def test_a_program_has_no_more_memory_than_its_manifest_says(addon):
    program = """
try:
    bytearray(100 << 20)
except MemoryError:
    bytearray(20 << 20)
    agree(); sys.stdin.read()
"""
    assert health_of(addon(program)) == Health("running")


def test_a_binary_is_started_as_it_is(addon):
    made = addon("agree(); sys.stdin.read()", ("runtime: python", "runtime: binary"))
    script = made.folder / "run.py"
    script.write_text(f"#!{shutil.which('python3', path=os.defpath) or sys.executable}\n" + script.read_text())
    script.chmod(0o755)
    assert health_of(made) == Health("running")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("entry: run.py", "entry: run.py"), None),
        (('requires: ">=3.10"', 'requires: "<3.10"'), "RUN-001"),
        (("entry: run.py", "entry: run.py, platforms: [windows-arm64]"), "RUN-002"),
        (("entry: run.py", "entry: run.py, platforms: [linux-x64, linux-arm64, macos-x64, macos-arm64]"), None),
    ],
)
def test_a_program_is_unfit_only_for_another_python_or_another_system(addon, change, code):
    fault = unfit(addon("", change).manifest)
    assert (fault and fault.code) == code
