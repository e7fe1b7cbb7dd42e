"""Characters that nobody sees, or that change how others are shown: no text of an add-on may hold them.

Tabs and line feeds are fine, carriage returns are not. The manifest's schema has the same list in its patterns. What a
note may contain is decided elsewhere, with the exceptions that people's languages need.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from short_memory.bundle.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def hidden_characters(text: str, *, file: str, code: str) -> Iterator[Problem]:
    """Find the lines of a text that hold a hidden character, and name the first one of each."""
    for number, line in enumerate(text.split("\n"), 1):
        if found := HIDDEN.search(line):
            words = f"U+{ord(found[0]):04X} cannot be seen. Take it out; line ends are LF alone."
            yield Problem(file, number, code, words)
