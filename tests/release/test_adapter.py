"""The adapter as a process: it answers a line, or it is said what it did instead."""

import sys

import pytest

from release.adapter import AdapterError, ProcessAdapter


def test_an_answer_comes_back_and_a_lone_surrogate_goes_through():
    echo = "import sys; print(sys.stdin.readline(), end='', flush=True)"

    with ProcessAdapter([sys.executable, "-c", echo]) as call:
        assert call({"do": "turn", "says": "\ud800 è"}) == {"do": "turn", "says": "\ud800 è"}


@pytest.mark.parametrize(
    ("program", "words"),
    [("", "The adapter ended"), ("print('hello there')", "no JSON"), ("print('[]')", "no object")],
)
def test_an_adapter_that_does_not_answer_is_named(program, words):
    command = [sys.executable, "-c", f"import sys; sys.stdin.readline(); {program}"]

    with ProcessAdapter(command) as call, pytest.raises(AdapterError, match=words):
        call({"do": "hello"})


def test_an_adapter_that_is_gone_is_named_and_not_a_broken_pipe():
    with ProcessAdapter([sys.executable, "-c", ""]) as call:
        call._process.wait()

        with pytest.raises(AdapterError, match="The adapter ended at hello"):
            call({"do": "hello"})
