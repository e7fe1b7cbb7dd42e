"""The least that any program would have to do: plain reads, synced writes, and inserts into SQLite, without ours."""

from __future__ import annotations

import os
import sqlite3
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

READ = 65536


class Reads:
    """Raw reads of files, each with open, read and close."""

    def __init__(self, folder: Path, size_bytes: int, files: int) -> None:
        folder.mkdir()
        self._names = [str(folder / f"{number}.md") for number in range(files)]
        for name in self._names:
            with open(name, "wb") as file:  # noqa: PTH123 - names are texts here, as os.open takes them
                file.write(b"x" * size_bytes)

    def __call__(self) -> None:
        """Read every file once."""
        for name in self._names:
            descriptor = os.open(name, os.O_RDONLY)
            os.read(descriptor, READ)
            os.close(descriptor)


class Insert:
    """Inserts of a row of 1 KiB, each its own transaction: WAL with synchronous=FULL."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, body TEXT NOT NULL)")
        self._numbers = count()

    def __call__(self) -> None:
        """Insert one row durably."""
        self._database.execute("INSERT INTO rows VALUES (?, ?)", (f"{next(self._numbers):032}", "x" * 1024))

    def close(self) -> None:
        """Close the database."""
        self._database.close()


class DurableChange:
    """The durable writes of a change of two files: each written, synced and renamed; the folder synced; two inserts."""

    def __init__(self, folder: Path, insert: Insert) -> None:
        folder.mkdir()
        self._folder = folder
        self._insert = insert

    def __call__(self) -> None:
        """Write the change once."""
        self._insert()
        for number in range(2):
            new = self._folder / f"{number}.new"
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(descriptor, b"x" * 1024)
            os.fsync(descriptor)
            os.close(descriptor)
            os.rename(new, self._folder / f"{number}.md")  # noqa: PTH104 - the plain call is the floor
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(descriptor)
        os.close(descriptor)
        self._insert()
