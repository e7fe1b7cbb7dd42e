"""`dev.py`, the one door: what it offers and what it is made of. That it brings everything is what CI shows each time."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEV = ROOT / "dev.py"


def told(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, DEV, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.case("setup-one-door")
@pytest.mark.parametrize("command", ["up", "test", "check", "bench", "adapter"])
def test_every_command_of_the_door_is_offered(command):
    assert command in told("--help").stdout


@pytest.mark.case("setup-one-door")
def test_the_door_needs_nothing_but_the_standard_library():
    imported = [
        node
        for node in ast.walk(ast.parse(DEV.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {name.name for node in imported if isinstance(node, ast.Import) for name in node.names}
    names |= {node.module for node in imported if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - sys.stdlib_module_names == set()


def test_an_unknown_command_is_refused_with_the_known_ones():
    answer = told("dance")
    assert (answer.returncode, "up" in answer.stderr) == (2, True)


def test_what_stands_after_a_command_is_handed_on():
    answer = told("test", "--version")
    assert answer.stdout.startswith("pytest ")
