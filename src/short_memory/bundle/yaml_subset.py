"""The part of YAML that a manifest and a front matter may use: JSON's types, and nothing that readers see differently.

A plain word is text unless it is `true`, `false`, `null`, `~` or a decimal number: `no`, `on`, `12:30`, `0x10` and
`1e3` stay text, and so does a number of more than 15 digits. The first fault ends the reading. Importing this imports
PyYAML, so its users import it where they read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from short_memory.bundle.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES = 65536
DEPTH = 12

Place = tuple[str | int, ...]

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,14})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,14})\.[0-9]{1,15}")
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Document:
    """One mapping, and the line on which each of its places stands, counted from 1."""

    value: dict[str, Any]
    lines: dict[Place, int]

    def line(self, place: Place) -> int:
        """Return the line of a place; of the nearest one around it if it is not there."""
        while place not in self.lines:
            place = place[:-1]
        return self.lines[place]


class _FaultError(Exception):
    """Ends the reading. `line` counts from 0 inside the text."""

    def __init__(self, line: int, code: str, text: str) -> None:
        super().__init__(text)
        self.line, self.code, self.text = line, code, text


def read_yaml(raw: bytes, *, file: str, first_line: int = 1, flow: bool = True) -> Document | Problem:
    """Read one mapping.

    Args:
        raw: The whole text; more than `BYTES` are refused unread.
        file: What a problem calls the text.
        first_line: The line of the file on which the text begins.
        flow: Whether `{…}` and `[…]` may stand in it.

    Returns:
        What was read, or the first fault.

    """
    try:
        return _document(_text(raw), first_line, flow=flow)
    except _FaultError as fault:
        return Problem(file, first_line + fault.line, fault.code, fault.text)


def _text(raw: bytes) -> str:
    if len(raw) > BYTES:
        raise _FaultError(0, "YML-001", f"This has {len(raw)} bytes; at most {BYTES} are read. Shorten it.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start)
        raise _FaultError(line, "YML-002", f"Byte {error.start} is not UTF-8. Save the file as UTF-8.") from error


def _document(text: str, first_line: int, *, flow: bool) -> Document:
    try:
        return _Reading(yaml.parse(text, Loader=yaml.SafeLoader), {}, first_line, flow).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        raise _FaultError(line, "YML-000", f"Not readable as YAML: {error.problem}. Correct this line.") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # PyYAML lets chr() speak for itself where an escape names no character.
        words = "Not readable as YAML: it holds a character that may not stand there. Take it out."
        raise _FaultError(0, "YML-000", words) from error


@dataclass(slots=True)
class _Reading:
    """The events of one text, taken one by one; nothing is built before its event was found fit."""

    events: Iterator[yaml.Event]
    lines: dict[Place, int]
    first_line: int
    flow: bool

    def document(self) -> Document:
        next(self.events)
        begin, top = next(self.events), None
        if isinstance(begin, yaml.DocumentStartEvent):
            if begin.version or begin.tags:
                raise _FaultError(_line(begin), "YML-009", "Directives are not read. Take the % line out.")
            top = next(self.events)
        if not isinstance(top, yaml.MappingStartEvent):
            raise _FaultError(_line(top or begin), "YML-007", "This is not a mapping. Write key: value lines.")
        value = self.mapping(top, ())
        next(self.events)
        after = next(self.events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise _FaultError(_line(after), "YML-007", "A second document begins here. Keep one mapping.")
        return Document(value, self.lines)

    def value(self, event: yaml.Event, place: Place) -> Any:  # noqa: ANN401 - any of JSON's types
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(event, place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(event, place)
        self.fit(event, place)
        return _scalar(event)

    def mapping(self, event: yaml.Event, place: Place) -> dict[str, Any]:
        self.fit(event, place)
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = _key(event)
            if key in found:
                raise _FaultError(_line(event), "YML-006", f"The key {key!r} is written twice. Keep one.")
            found[key] = self.value(next(self.events), (*place, key))
            self.lines[(*place, key)] = self.first_line + _line(event)
        return found

    def sequence(self, event: yaml.Event, place: Place) -> list[Any]:
        self.fit(event, place)
        found: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            found.append(self.value(event, (*place, len(found))))
        return found

    def fit(self, event: yaml.Event, place: Place) -> None:
        if len(place) > DEPTH:
            raise _FaultError(_line(event), "YML-003", f"Nested more than {DEPTH} deep. Flatten it.")
        if not self.flow and getattr(event, "flow_style", False):
            raise _FaultError(_line(event), "YML-010", "Brackets and braces are not read here. Write key: value lines.")
        _plain(event)
        self.lines[place] = self.first_line + _line(event)


def _line(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.line


def _key(event: yaml.Event) -> str:
    if not isinstance(event, yaml.ScalarEvent):
        raise _FaultError(_line(event), "YML-005", "A key is not plain text. Write a word for it.")
    _plain(event)
    return str(event.value)


def _plain(event: Any) -> None:  # noqa: ANN401 - the kinds of event share no useful type
    """Refuse what JSON has no word for."""
    line = _line(event)
    if event.anchor is not None:
        raise _FaultError(line, "YML-004", "Anchors and aliases are not read. Write the value out.")
    if event.tag is not None:
        raise _FaultError(line, "YML-009", "Tags are not read. Take the word that begins with ! out.")
    if _HALF_A_CHARACTER.search(getattr(event, "value", "")):
        raise _FaultError(line, "YML-008", "An escape names half a character. Write the whole character.")


def _scalar(event: Any) -> str | float | bool | None:  # noqa: ANN401 - as above
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
