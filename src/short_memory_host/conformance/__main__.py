"""The adapter on standard input and output: `python -m short_memory_host.conformance`.

One JSON object a line in, one a line out, and nothing else on standard output: what other code prints goes to standard
error. A line that is no request gets an error for an answer, and the next line is read.
"""

import json
import logging
import sys
from collections.abc import Iterable
from contextlib import closing, redirect_stdout
from typing import TextIO

from short_memory_host import logs
from short_memory_host.conformance.adapter import Adapter
from short_memory_host.conformance.answers import Answer, refused
from short_memory_host.conformance.request import BAD_REQUEST, RequestError


def main() -> None:
    """Serve standard input until it ends."""
    logs.set_up("warning")
    answers = sys.stdout
    with redirect_stdout(sys.stderr), closing(Adapter()) as adapter:
        serve(adapter, sys.stdin.buffer, answers)


def serve(adapter: Adapter, requests: Iterable[bytes], answers: TextIO) -> None:
    """Answer each line with one line."""
    for line in requests:
        answers.write(f"{json.dumps(_answer(adapter, line))}\n")
        answers.flush()


def _answer(adapter: Adapter, line: bytes) -> Answer:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return refused(RequestError(BAD_REQUEST, "A request is one JSON object on a line of its own."))
    try:
        return adapter(fields)
    except Exception as error:  # noqa: BLE001 - whatever breaks, the kit gets an answer and can ask on
        logs.write("conformance-failed", level=logging.ERROR, error=error)
        text = f"The host failed with {type(error).__name__}. Its standard error says where."
        return refused(RequestError("internal", text))


if __name__ == "__main__":
    main()
