"""An index: one line for each topic, `- NAME: GIST -> FILE.md`.

Lines that do not read like that stay where they are and serve no topic. Pure: text in, text out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from short_memory.scopes import is_file

NAME = re.compile(r"[a-z0-9-]{1,32}")
_ENTRY = re.compile(r"- ([a-z0-9-]{1,32}): (.*) -> (\S+)")
_TITLE = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """One index entry: the name to ask for, a hint, and the file beside the index."""

    name: str
    gist: str
    file: str

    def __str__(self) -> str:
        return f"- {self.name}: {self.gist} -> {self.file}"


def entry(line: str) -> Entry | None:
    """Read one line; None if it serves no topic."""
    found = _ENTRY.fullmatch(line)
    if found is None or not is_file(found[3]):
        return None
    return Entry(found[1], found[2], found[3])


def entries(text: str) -> list[Entry]:
    """Return the entries of an index, in its order; of two with one name the first counts."""
    found: dict[str, Entry] = {}
    for line in text.split("\n"):
        one = entry(line)
        if one is not None:
            found.setdefault(one.name, one)
    return list(found.values())


def name_for(file: str) -> str:
    """Return the name that the entry of a new topic file gets."""
    return _TITLE.sub("-", file.removesuffix(".md"))[:32].strip("-")


def with_entry(text: str, new: Entry) -> str:
    """Append an entry."""
    return f"{with_end(text)}{new}\n"


def without_file(text: str, file: str) -> str:
    """Drop the entries that name a file."""
    kept = [line for line in text.split("\n") if (one := entry(line)) is None or one.file != file]
    return "\n".join(kept)


def with_end(text: str) -> str:
    """End the last line, if there is one."""
    return text if text == "" or text.endswith("\n") else f"{text}\n"
