"""What a note may contain: text that a person can see, and that does not change how other text is shown.

What cannot be seen is refused wherever it stands, except inside the few sequences that need it (contract 6.9). Letters
that merely look alike are allowed and reported, so that a card can show their code points (UTS 39).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from short_memory import characters
from short_memory.errors import BadTextError

MARKS_ON_A_BASE = 4

_PLAIN = re.compile(r"[\n\t -~]*")
_COMMENT = "<!--"
_JOINER = "joiner"
_INVISIBLE = "invisible-character"
_RULE_OF_CATEGORY = {
    "Cc": "control-character",
    "Cf": _INVISIBLE,
    "Cn": "unassigned",
    "Co": "private-use",
    "Cs": "unpaired-surrogate",
    "Zl": "line-separator",
    "Zp": "line-separator",
}

_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")
# These stand beside Latin letters in units and formulas (kΩ, μm, Δt), and nobody takes them for a Latin letter.
_SYMBOLS = frozenset("ΓΔΘΛΞΠΣΦΨΩδθλμπφψ")
_MIXED = ("LATIN", "CYRILLIC", "GREEK")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a note may not contain; `found` describes it and never quotes the text around it."""

    rule: str
    line: int
    found: str


@dataclass(frozen=True, slots=True)
class Badge:
    """One word whose letters come from several scripts, and those of its letters that are not of its main script."""

    word: str
    line: int
    characters: tuple[str, ...]


def check(text: str, file: str) -> None:
    """Refuse a text with something that cannot be seen, or that changes how other text is shown.

    Raises:
        BadTextError: It names the first such thing, its line and its rule.

    """
    finding = find(text)
    if finding is not None:
        raise BadTextError(finding.rule, file, finding.line, finding.found)


def find(text: str) -> Finding | None:
    """Return the first thing that a note may not contain, with its line counted from 1."""
    if _PLAIN.fullmatch(text) and _COMMENT not in text:
        return None
    needed = {at for sequence in characters.SEQUENCE.finditer(text) for at in range(*sequence.span())}
    marks = 0
    for at, character in enumerate(text):
        rule = _rule_at(text, at, needed=at in needed)
        marks = _marks(marks, character)
        if rule is None and marks > MARKS_ON_A_BASE:
            rule = "combining-marks"
        if rule is not None:
            return Finding(rule, text.count("\n", 0, at) + 1, _found(rule, character))
    return None


def encoded(text: str, file: str) -> bytes:
    """Return the bytes of a text.

    Raises:
        BadTextError: It holds an unpaired surrogate, which JSON can carry and UTF-8 cannot.

    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        found = characters.described(text[error.start])
        raise BadTextError(_RULE_OF_CATEGORY["Cs"], file, line, found) from None


def mixed_script_words(text: str) -> list[Badge]:
    """List the words that mix Latin, Cyrillic and Greek letters, such as a Latin word with a Cyrillic o in it.

    Greek letters that stand in units and formulas do not count.
    """
    if text.isascii():
        return []
    return [
        Badge(word[0], text.count("\n", 0, word.start()) + 1, tuple(map(characters.described, strangers)))
        for word in _WORD.finditer(text)
        if (strangers := _strangers(word[0]))
    ]


def _rule_at(text: str, at: int, *, needed: bool) -> str | None:
    rule = _rule(text[at])
    if needed and rule in (_JOINER, _INVISIBLE):
        return None
    if rule == _JOINER:
        joined = characters.joins(text[at], before=text[at - 1 : at], after=text[at + 1 : at + 2])
        return None if joined else _INVISIBLE
    if text.startswith(_COMMENT, at):
        return "html-comment"
    return rule


@lru_cache(maxsize=4096)
def _rule(character: str) -> str | None:
    """Return the rule that refuses a character on its own; `_JOINER` where its neighbours decide."""
    if character in "\n\t" or character in characters.DRAWN_FORMATS or characters.ASSIGNED_LATER.match(character):
        return None
    if character in (characters.ZWJ, characters.ZWNJ):
        return _JOINER
    if character in characters.BIDIRECTIONAL:
        return "bidirectional-control"
    if character in characters.BLANK:
        return "blank-letter"
    if character in characters.UNSEEN_MARKS:
        return _INVISIBLE
    return _RULE_OF_CATEGORY.get(unicodedata.category(character))


def _marks(before: int, character: str) -> int:
    """Count the marks that are drawn on the present base; marks that take room of their own are no load on it."""
    category = unicodedata.category(character)
    if category in ("Mn", "Me"):
        return before + 1
    return before if category == "Mc" else 0


def _strangers(word: str) -> list[str]:
    """Return the letters of a word that are not of its main script, each once and in order."""
    if word.isascii():
        return []
    scripts = {
        letter: script for letter in word if letter not in _SYMBOLS and (script := characters.script(letter)) in _MIXED
    }
    main = Counter(scripts.get(letter) for letter in word if letter in scripts).most_common(1)
    return [letter for letter, script in scripts.items() if script != main[0][0]]


def _found(rule: str, character: str) -> str:
    if rule == "html-comment":
        return "an HTML comment"
    if rule == "combining-marks":
        return f"{characters.described(character)}, one of more than {MARKS_ON_A_BASE} marks on one letter,"
    return characters.described(character)
