"""An adapter that runs as a process: one JSON object a line in, one line out (`ADAPTER.md`)."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

    from release.case_source import Record

_SHOWN = 160


class AdapterError(Exception):
    """The adapter ended, or wrote something that is no answer."""


class ProcessAdapter:
    """An adapter that runs as a process, asked over its standard input and output."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the person who runs the kit names the program
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __call__(self, request: Record) -> Record:
        """Ask once and wait for the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise AdapterError(f"The adapter ended at {request['do']}. Its standard error says why.")
        try:
            answer = json.loads(line)
        except json.JSONDecodeError as error:
            raise AdapterError(f"The adapter wrote a line that is no JSON: {line[:_SHOWN]!r}") from error
        if not isinstance(answer, dict):
            raise AdapterError(f"The adapter wrote a line that is no object: {line[:_SHOWN]!r}")
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the adapter's input, which ends it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
