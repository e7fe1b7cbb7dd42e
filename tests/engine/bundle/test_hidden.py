import re

import pytest

from short_memory.bundle.hidden import HIDDEN, hidden_characters
from short_memory.bundle.problems import Problem
from short_memory.bundle.schema import schema


@pytest.mark.parametrize(
    "bad", ["\x00", "\x1b", "\r", "\x7f", "\x85", "\xad", "\u200b", "\u202e", "\u2066", "\ufeff", "\U000e0041"]
)
def test_a_character_that_nobody_sees_is_found_with_its_line(bad):
    words = f"U+{ord(bad):04X} cannot be seen. Take it out; line ends are LF alone."
    assert list(hidden_characters(f"fine\nnot {bad} fine", file="f", code="X-1")) == [Problem("f", 2, "X-1", words)]


def test_what_people_write_is_not_found():
    assert list(hidden_characters("è\t→ 漢字 نص 👩‍👩‍👧 می‌خواهم\n\n", file="f", code="X-1")) == []


def test_the_schema_and_the_texts_forbid_the_same_characters():
    defs = schema(2)["$defs"]
    text, line = (re.compile(defs[name]["pattern"].removesuffix("$") + r"\Z") for name in ("text", "line"))
    for code in [*range(0x3000), 0xFEFF, *range(0xE0000, 0xE0100)]:
        assert bool(text.match(chr(code))) is not bool(HIDDEN.match(chr(code))), hex(code)
        assert bool(line.match(chr(code))) is not (bool(HIDDEN.match(chr(code))) or chr(code) in "\t\n"), hex(code)
