import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from short_memory.bundle.__main__ import main

ROOT = Path(__file__).parents[3]


def test_an_add_on_without_a_problem_prints_nothing_and_succeeds(capsys):
    assert (main([str(ROOT)]), main([str(ROOT / "manifest.yaml")]), capsys.readouterr().out) == (0, 0, "")


def test_every_problem_is_a_line_and_the_command_fails(tmp_path, capsys):
    (tmp_path / "manifest.yaml").write_text("api: 2\nid: M\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert lines[0].startswith("manifest.yaml:1 MAN-003 name is missing. ")
    assert lines[-1].startswith('manifest.yaml:2 MAN-002 id is "M". ')


def test_a_manifest_may_have_any_name_and_must_be_there(tmp_path, capsys):
    (tmp_path / "mine.yaml").write_text("api: 2.0\n", encoding="utf-8")
    assert (main([str(tmp_path / "mine.yaml")]), main([str(tmp_path / "no.yaml")])) == (1, 1)
    out = capsys.readouterr().out
    assert [line.partition(" ")[0] for line in out.splitlines()] == ["mine.yaml:1", "no.yaml:1"]


def test_it_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "short_memory.bundle", ROOT], capture_output=True, check=False, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_its_exit_code_is_that_of_the_process(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["bundle", str(ROOT / "absent")])
    monkeypatch.delitem(sys.modules, "short_memory.bundle.__main__")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("short_memory.bundle", run_name="__main__")
    assert ended.value.code == 1
