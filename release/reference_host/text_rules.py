"""What a note may not hold, in the reference host: secrets, and text that hides or disguises (contract 6.9)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from release.reference_host.world import RefusalError

if TYPE_CHECKING:
    from release.reference_host.world import World

MOST_MARKS = 4
_SECRETS = {
    "github-token": re.compile(r"gh[pousr]_[A-Za-z0-9]{36}"),
    "private-key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
}
_BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_BLANK = set("\u115f\u1160\u3164\uffa0\u2800")
_JOINERS = set("\u200c\u200d")
_SELECTORS = {chr(0xFE0E), chr(0xFE0F)}
_JOINED_SCRIPTS = ("ARABIC", "DEVANAGARI", "BENGALI", "TAMIL", "SINHALA", "MALAYALAM", "KANNADA", "TELUGU")
_FLAG = "\U0001f3f4"
_TAGS = {chr(number) for number in range(0xE0020, 0xE0080)}
_ASCII = 128


def check(world: World, file: str, text: str) -> None:
    """Refuse a text with a secret or with characters that hide or disguise."""
    for number, line in enumerate(text.split("\n"), 1):
        for rule, pattern in _SECRETS.items():
            if (found := pattern.search(line)) and not world.broken("secret-taken"):
                raise _secret(world, file, rule, number, found[0])
        if hidden := _hides(world, line):
            words = f"{file}, line {number}: {hidden} is not allowed in notes."
            raise RefusalError("bad-text", words, rule=hidden, line=number)


def _secret(world: World, file: str, rule: str, number: int, value: str) -> RefusalError:
    where = "" if world.broken("secret-line-unsaid") else f", line {number}"
    said = f" Found {value}." if world.broken("secret-repeated") else ""
    facts: dict[str, object] = {} if world.broken("secret-line-unsaid") else {"rule": rule, "line": number}
    return RefusalError("secret", f"{file}{where} looks like a secret ({rule}).{said}", **facts)


def _hides(world: World, line: str) -> str | None:
    if "<!--" in line and not world.broken("comment-taken"):
        return "html-comment"
    marks = 0
    for at, character in enumerate(line):
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks > MOST_MARKS and not world.broken("marks-taken"):
            return "combining-marks"
        if character != "\t" and (rule := _rule(world, line, at)):
            return rule
    return None


def _rule(world: World, line: str, at: int) -> str | None:
    character = line[at]
    if character in _BIDI:
        return None if world.broken("bidi-taken") else "bidi-control"
    needed = _needed(line, at) and not (world.broken("ascii-only") and ord(character) >= _ASCII)
    hidden = character in _BLANK or character in _SELECTORS or unicodedata.category(character)[0] == "C"
    if hidden and not needed and not world.broken("hidden-taken"):
        return "invisible-character"
    return "line-separator" if character in "\u2028\u2029" else None


def _needed(line: str, at: int) -> bool:
    """Say whether a character that cannot be seen stands where a script or an emoji needs it."""
    character, before = line[at], line[at - 1 : at]
    if character in _JOINERS:
        return before != "" and (_joins(before) or before in _SELECTORS)
    if character in _SELECTORS:
        return before != "" and unicodedata.category(before) in ("So", "Sm", "Po", "Nd")
    return (
        _is_tag(character) and _FLAG in line[:at] and all(_is_tag(each) for each in line[line.rindex(_FLAG) + 1 : at])
    )


def _joins(before: str) -> bool:
    emoji = unicodedata.category(before) in ("So", "Sk")
    return emoji or unicodedata.name(before, "").startswith(_JOINED_SCRIPTS)


def _is_tag(character: str) -> bool:
    return character in _TAGS
