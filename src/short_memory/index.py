"""An index: one line for each topic, `- NAME: GIST -> FILE.md`.

Lines that do not read like that stay where they are and serve no topic. Pure: text in, text out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from short_memory.scopes import is_file

NAME_CHARACTERS = 32
_ENTRY = re.compile(r"- ([a-z0-9-]{1,32}): (.*) -> (\S+)")


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


def has_file(text: str, file: str) -> bool:
    """Say whether an entry that can be asked for names this file."""
    return any(one.file == file for one in entries(text))


def with_topic(text: str, file: str, gist: str) -> str:
    """Append the entry of a topic, under the name of its file, or under that and a number where the name is taken."""
    taken = {one.name for one in entries(text)}
    stem, number, name = file.removesuffix(".md"), 1, ""
    while not name or name in taken:
        end = f"-{number}" if number > 1 else ""
        name, number = f"{stem[: NAME_CHARACTERS - len(end)].strip('-')}{end}", number + 1
    return f"{with_end(text)}{Entry(name, gist, file)}\n"


def without_file(text: str, file: str) -> str:
    """Drop the entries that name a file."""
    kept = [line for line in text.split("\n") if (one := entry(line)) is None or one.file != file]
    return "\n".join(kept)


def with_end(text: str) -> str:
    """End the last line, if there is one."""
    return text if text == "" or text.endswith("\n") else f"{text}\n"
