"""What is wrong with a part of an add-on: a value to collect, not an exception to raise.

A code never changes and is never used again; the words may get better. Beside what is wrong they say what to do.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault. `file` is relative to the add-on's folder, `line` counts from 1."""

    file: str
    line: int
    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.code} {self.text}"
