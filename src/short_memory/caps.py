"""Every limit, once.

A size is counted in bytes of UTF-8 with LF line ends and without a byte order mark; lines are counted by line ends, and
a last line without one counts (contract 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

INDEX_LINES = 40
INDEX_BYTES = 2048
TURN_BYTES = 6144
TOPIC_LINES = 64
TOPIC_BYTES = 4096

TOPICS_A_CALL = 8
PROPOSAL_BYTES = 8192
PROPOSAL_EDITS = 16
WHY_CHARACTERS = 200

PROPOSAL_LIFE = timedelta(hours=24)
DECLINED_REMEMBERED = timedelta(days=30)
OPEN_IN_A_CONVERSATION = 5
A_DAY_AND_AGENT = 20
OPEN_IN_ALL = 60

# What is read of any file at most, so that a huge one costs nothing; far above every cap.
READ_BYTES = 65536
# Files of one scope's folder that are looked at.
FILES_A_FOLDER = 200


@dataclass(frozen=True, slots=True)
class Cap:
    """The most lines and bytes of one file."""

    lines: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Size:
    """The lines and bytes of one text."""

    lines: int
    bytes: int

    def fits(self, cap: Cap) -> bool:
        """Say whether a text of this size is within the cap."""
        return self.lines <= cap.lines and self.bytes <= cap.bytes


def normal(text: str) -> str:
    """Return the text as it is counted and stored: LF line ends, no byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def size(text: str) -> Size:
    """Count a text that is in its normal form."""
    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    return Size(lines, len(text.encode()))


def cut(text: str, cap: Cap) -> tuple[str, int]:
    """Keep the whole lines that fit, from the top.

    Returns:
        The lines that fit, each with its line end, and the count of those that do not.
    """
    if size(text).fits(cap):
        return text, 0
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    kept, used = 0, 0
    for line in lines[: cap.lines]:
        used += len(line.encode()) + 1
        if used > cap.bytes:
            break
        kept += 1
    return "".join(f"{line}\n" for line in lines[:kept]), len(lines) - kept
