"""Find secrets in a text: a value beside a word that announces it, a known shape, a number with check digits.

A finding names the rule and the line and never holds the value. The text is compared in one written form (NFKC, ASCII
digits, without format characters), so that a full-width or hyphenated secret is a secret as well.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from short_memory import secret_rules as rules
from short_memory.errors import SecretError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHAPES = {rule: re.compile(shape) for rule, shape in rules.SHAPES.items()}
_ADDRESS = re.compile(rules.ADDRESS)
_SHORTEST = {"token": 8, "password": 5, "key": 5}
_SHORT_NUMBER = 4
_LONG_NUMBER = 6
_MIXED_CASE = re.compile(r"[a-z][A-Z]")


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret: the stable name of the rule that found it, and the line it begins on, counted from 1."""

    rule: str
    line: int


def check(text: str, file: str) -> None:
    """Refuse a text that holds a secret.

    Raises:
        SecretError: It names the rule and line of the first secret, never its value.

    """
    for finding in scan(text):
        raise SecretError(finding.rule, file, finding.line)


def scan(text: str) -> list[Finding]:
    """List the secrets of a text by line; what one rule finds twice in a line counts once."""
    readable = _readable(text)
    found = [
        (start, rule) for search in (_announced, _shaped, _broken_shapes, _cards) for start, rule in search(readable)
    ]
    lines = sorted({(readable.count("\n", 0, start) + 1, rule) for start, rule in found})
    return [Finding(rule, line) for line, rule in lines]


def _readable(text: str) -> str:
    """Return the form that is compared; its line ends are those of the text."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKC", text).replace("İ", "I")
    return "".join(
        str(unicodedata.digit(character)) if character.isdecimal() else character
        for character in plain
        if unicodedata.category(character) != "Cf"
    )


def _announced(text: str) -> Iterator[tuple[int, str]]:
    """Find values beside a word such as password, PIN or token."""
    lower = text.lower()
    for label in rules.LABEL.finditer(lower):
        kind = str(label.lastgroup)
        if _follows(text, lower, label, kind) or _precedes(text, lower, label, kind):
            yield label.start(), rules.RULES[kind]


def _follows(text: str, lower: str, label: re.Match[str], kind: str) -> bool:
    sign = rules.AFTER_SIGN.match(lower, label.end())
    verb = rules.AFTER_VERB.match(lower, label.end())
    nothing = rules.AFTER_NOTHING.match(lower, label.end())
    if any(match and _looks_secret(_value(text, match), kind, marked=True) for match in (sign, verb)):
        return True
    if nothing and _looks_secret(_value(text, nothing), kind, marked=False):
        return True
    return kind == "password" and any(
        _is_plain_password(lower, label, match, signed=match is sign) for match in (sign, verb) if match
    )


def _precedes(text: str, lower: str, label: re.Match[str], kind: str) -> bool:
    """Say whether a value stands before the word, as in "… is my password"."""
    if not rules.CLAUSE_ENDS.match(lower, label.end()):
        return False
    first = max(0, label.start() - 200)
    before = rules.BEFORE.search(lower[first : label.start()])
    if before is None:
        return False
    value = text[first:][slice(*before.span("value"))]
    return _looks_secret(value.strip(rules.QUOTES), kind, marked=True)


def _value(text: str, match: re.Match[str]) -> str:
    """Return the word in its own letter case, without the marks around it and the end of the sentence."""
    return text[slice(*match.span("value"))].strip(rules.QUOTES + ".,;:!?")


def _looks_secret(value: str, kind: str, *, marked: bool) -> bool:
    """Say whether a word has the look of a secret: digits among letters, signs in it, a long number.

    Args:
        value: One word of the text.
        kind: Which group of `secret_rules.LABEL` announced it.
        marked: A sign or a verb stands between both, so that less is enough.

    """
    if rules.HARMLESS.fullmatch(value.lower()):
        return False
    if value.isdecimal():
        return _is_secret_number(value, kind, marked=marked)
    if kind in rules.DIGITS:
        return kind == "pin" and marked and bool(rules.PIN.fullmatch(value.lower()))
    if len(value) < _SHORTEST[kind]:
        return False
    has_letter = any(character.isalpha() for character in value)
    has_digit = any(character.isdecimal() for character in value)
    if has_letter and (has_digit or (kind != "token" and rules.SYMBOL.search(value))):
        return True
    return marked and len(_MIXED_CASE.findall(value)) > 1


def _is_secret_number(value: str, kind: str, *, marked: bool) -> bool:
    if kind == "token":
        return marked and len(value) >= _SHORTEST[kind]
    if kind in rules.DIGITS:
        return len(value) in rules.DIGITS[kind] and (marked or not rules.YEAR.fullmatch(value))
    least = _SHORT_NUMBER if marked else _LONG_NUMBER
    return len(value) >= least and not rules.YEAR.fullmatch(value)


def _is_plain_password(lower: str, label: re.Match[str], match: re.Match[str], *, signed: bool) -> bool:
    """Say whether ordinary words are given as the password: one such as "password: swordfish", or several in quotes."""
    if rules.QUOTED.match(lower, match.start("value")):
        return True
    raw = match["value"]
    value = raw.strip(rules.QUOTES + ".,;:!?")
    if not value.isalpha() or len(value) < _SHORTEST["password"] or value in rules.NOT_PASSWORDS:
        return False
    quoted = raw[0] in "\"'`«“„"
    wifi = rules.WIFI.search(lower, max(0, label.start() - 12), match.start("value"))
    if not (signed or quoted or wifi):
        return False
    return raw[-1] in ".,;!)" or bool(rules.CLAUSE_ENDS.match(lower, match.end()))


def _shaped(text: str) -> Iterator[tuple[int, str]]:
    for rule, shape in _SHAPES.items():
        for match in shape.finditer(text):
            yield match.start(), rule
    for match in _ADDRESS.finditer(text):
        yield match.start(), "url-password"


def _broken_shapes(text: str) -> Iterator[tuple[int, str]]:
    """Find shapes that go on after one line break: join each line with the next, first the even ones, then the odd."""
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for parity in (0, 1):
        parts = [line if number % 2 == parity else f"{line}\n" for number, line in enumerate(lines)]
        ends = list(accumulate(map(len, parts)))
        joined = "".join(parts)
        for rule, shape in _SHAPES.items():
            for match in shape.finditer(joined):
                first = bisect(ends, match.start())
                if match.end() > ends[first]:
                    yield starts[first], rule


def _cards(text: str) -> Iterator[tuple[int, str]]:
    """Find payment cards: issuer prefix, length and check digit. An account number (IBAN) is no secret."""
    accounts = [match.span() for match in rules.IBAN.finditer(text) if _is_account(match[0])]
    for match in rules.CARD.finditer(text):
        number = re.sub(r"\D", "", match[0])
        inside = any(start <= match.start() < end for start, end in accounts)
        if not inside and rules.CARD_PREFIX.fullmatch(number) and _has_card_check_digit(number):
            yield match.start(), "payment-card"


def _is_account(iban: str) -> bool:
    compact = iban.replace(" ", "")
    return int("".join(str(int(character, 36)) for character in compact[4:] + compact[:4])) % 97 == 1


def _has_card_check_digit(number: str) -> bool:
    """Apply the Luhn formula (ISO/IEC 7812-1)."""
    doubled = [int(digit) * 2 for digit in number[-2::-2]]
    return (sum(map(int, number[-1::-2])) + sum(d - 9 * (d > 9) for d in doubled)) % 10 == 0  # noqa: PLR2004 - Luhn
