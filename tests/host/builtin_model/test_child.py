"""The built-in model's own program, as the host starts it."""

import json
import subprocess
import sys

import pytest

CHILD = (sys.executable, "-m", "short_memory_host.builtin_model.child")


def run(path):
    ended = subprocess.run(
        [*CHILD, str(path), "1", str(path.parent)],
        input="key\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("content", [b"GGUF", b"GGUF" + bytes(1 << 20)], ids=["cut", "empty"])
def test_a_file_that_is_no_model_is_one_line_on_stdout_and_an_end(tmp_path, content):
    path = tmp_path / "own.gguf"
    path.write_bytes(content)
    code, output = run(path)
    assert (code, len(output.splitlines()), list(json.loads(output))) == (1, 1, ["problem"])
