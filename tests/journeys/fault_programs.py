"""The programs that the fault tests run, kill and starve: each is a process of its own over one data folder.

`confirm` waits as a warm process and makes a copy of itself for each try, so that a try traces the confirmation and
nothing else. Its answer is its exit status: an answer that is written would be one more write to fail.
"""

from __future__ import annotations

import os
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from short_memory.errors import ConflictError, ShortMemoryError
from short_memory.memory import Memory
from short_memory.notebook import Notebook
from short_memory.store.journal import Journal
from short_memory.store.note_store import NoteStore

OWNER = "anna"
REFUSED = 3


def _now() -> datetime:
    return datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def confirm_on_demand() -> None:
    """Read lines `DATA PROPOSAL`; for each answer a process, wait for a line, let it go, answer its wait status."""
    assert Journal
    for line in sys.stdin:
        data, proposal = line.split()
        waits, goes = os.pipe()
        process = os.fork()
        if process == 0:
            os.read(waits, 1)
            os._exit(_confirm(Path(data), proposal))
        _say(process)
        sys.stdin.readline()
        os.write(goes, b"g")
        os.close(waits)
        os.close(goes)
        _say(os.waitpid(process, 0)[1])


def _say(answer: object) -> None:
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


def _confirm(data: Path, proposal: str) -> int:
    try:
        store = NoteStore(data)
        Memory(store, _now).confirm(OWNER, proposal, None)
    except (ShortMemoryError, OSError):
        return REFUSED
    return 0


def write_lines(data: Path, name: str, count: int) -> None:
    """Append lines to two notes by turns, and read again where another program was first."""
    store = NoteStore(data)
    notebook = Notebook(store, lambda: datetime.now(UTC))
    for number in range(count):
        path = f"Memory/t{number % 2}.md"
        while True:
            note = notebook.open(OWNER, path)
            try:
                notebook.save(OWNER, path, f"{note.text}- {name}{number}\n", version=note.version)
            except ConflictError:
                continue
            break
    store.close()


def confirm_at_once(data: Path, proposal: str, count: int) -> None:
    """Confirm one proposal in several threads, each with a store of its own, and print the change sets."""

    def confirm() -> None:
        store = NoteStore(data)
        names.append(Memory(store, _now).confirm(OWNER, proposal, None).id)
        store.close()

    names: list[str] = []
    threads = [threading.Thread(target=confirm) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _say(" ".join(names))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["confirm"]:
            confirm_on_demand()
        case ["lines", data, name, count]:
            write_lines(Path(data), name, int(count))
        case ["confirms", data, proposal, count]:
            confirm_at_once(Path(data), proposal, int(count))
