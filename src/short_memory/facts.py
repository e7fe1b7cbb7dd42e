"""A topic file: front matter of four known keys, then facts, one list item each.

Front matter is read by this strict reader of `key: value` lines, never as YAML: it comes from anywhere. What it does
not know is kept as text and means nothing. Pure: text in, text out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

KEYS = ("title", "description", "updated", "sensitive")
GIST_CHARACTERS = 80
_FENCE = "---"
_ITEM = re.compile(r"- (?:([0-9]{4}-[0-9]{2}-[0-9]{2}): )?(.*)")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The four keys of a topic; an absent one is empty, and `sensitive` is true only for `yes`."""

    title: str = ""
    description: str = ""
    updated: str = ""
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One list item: its text without the date, and the date as written, if it has one."""

    text: str
    date: str


def split(text: str) -> tuple[FrontMatter, str]:
    """Part a topic's text into its front matter and the rest."""
    lines = text.split("\n")
    if lines[0] != _FENCE or _FENCE not in lines[1:]:
        return FrontMatter(), text
    end = lines.index(_FENCE, 1)
    found: dict[str, str] = {}
    for line in lines[1:end]:
        key, colon, value = line.partition(":")
        if colon and key in KEYS:
            found.setdefault(key, value.strip())
    sensitive = found.pop("sensitive", "no") == "yes"
    return FrontMatter(**found, sensitive=sensitive), "\n".join(lines[end + 1 :])


def facts(text: str) -> list[Fact]:
    """Return the facts of a topic's text, in its order."""
    body = split(text)[1]
    return [Fact(found[2], found[1] or "") for line in body.split("\n") if (found := _ITEM.fullmatch(line))]


def dated(line: str, day: date) -> str:
    """Give a list item the day, unless it has one or is no list item."""
    found = _ITEM.fullmatch(line)
    if found is None or found[1] or not found[2].strip():
        return line
    return f"- {day.isoformat()}: {found[2]}"


def undated(line: str) -> str:
    """Take the date from a list item."""
    found = _ITEM.fullmatch(line)
    return line if found is None else f"- {found[2]}"


def gist(text: str) -> str:
    """Return the hint for a topic's index entry: its description, its title, or its first fact, on one line."""
    front, body = split(text)
    first = next((fact.text for fact in facts(text) if fact.text.strip()), "")
    prose = next((line.lstrip("# ") for line in body.split("\n") if line.strip()), "")
    words = (front.description or first or front.title or prose).split()
    hint = ""
    for word in words:
        if len(hint) + len(word) >= GIST_CHARACTERS:
            return f"{hint} …".strip()
        hint = f"{hint} {word}".strip()
    return hint or "…"
