"""Which characters nobody can see, and the sequences that need some of them.

Sources: emoji and flags are those of UTS 51, joiners follow UAX 31, variation sequences StandardizedVariants.txt and
the ideographic database, all of Unicode 16. Everything else comes from `unicodedata`, which is of Unicode 14 in Python
3.11; what Unicode 15 to 17 added of emoji and Chinese characters is listed, so that every version of Python accepts it.
"""

from __future__ import annotations

import re
import unicodedata

ZWNJ, ZWJ = "\u200c", "\u200d"

_PICTOGRAPH = (
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705"
    "\u2708-\u2712\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2767"
    "\u2795-\u2797\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f0ff\U0001f16c-\U0001f171\U0001f17e\U0001f17f\U0001f18e\U0001f191-\U0001f19a"
    "\U0001f201\U0001f202\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f250\U0001f251\U0001f300-\U0001f3fa"
    "\U0001f400-\U0001f53d\U0001f546-\U0001f64f\U0001f680-\U0001f6ff\U0001f774-\U0001f77f\U0001f7d5-\U0001f7ff"
    "\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001faff]"
)
_EMOJI = f"{_PICTOGRAPH}[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]?"
# England, Scotland and Wales are drawn as flags everywhere; any other tag sequence is a black flag with hidden letters.
_FLAGS = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
# Emoji; keycaps; ideographs in one of their written forms; mathematical signs and the letters of three scripts.
SEQUENCE = re.compile(
    f"{_FLAGS}"
    f"|{_EMOJI}(?:{ZWJ}{_EMOJI})*"
    "|[0-9#*]\ufe0f\u20e3"
    "|[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U00033479][\ufe00-\ufe02\U000e0100-\U000e01ef]"
    "|[\u2200-\u22ff\u2a00-\u2aff\u1000-\u109f\uaa60-\uaa7f\ua840-\ua877]\ufe00"
    "|[\u1807\u1820-\u18aa][\u180b-\u180d\u180f]"
)

ASSIGNED_LATER = re.compile(
    "[\U0001f6d8\U0001f6dc\U0001fa75-\U0001fa77\U0001fa87-\U0001fa8a\U0001fa8e\U0001fa8f\U0001faad-\U0001faaf"
    "\U0001fabb-\U0001fabf\U0001fac6\U0001fac8\U0001facd-\U0001facf\U0001fada-\U0001fadc\U0001fadf"
    "\U0001fae8-\U0001faea\U0001faef\U0001faf7\U0001faf8"
    "\U0002b739-\U0002b73f\U0002ebf0-\U0002ee5d\U00031350-\U00033479]"
)

BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Fillers, blank Braille, the place of a lost object, a note without a head: letters and symbols that draw nothing.
BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\ufffc\U00016fe4\U0001d159")
UNSEEN_MARKS = frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f\U0001107f") | frozenset(
    map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
)
# Arabic, Syriac and Kaithi signs that are drawn, though their category is that of format characters.
DRAWN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")

# Scripts whose letters join, by the beginning of the names of their characters.
_CURSIVE = ("ARABIC", "EXTENDED ARABIC", "SYRIAC", "MANDAIC", "NKO", "MONGOLIAN", "ADLAM", "PHAGS", "HANIFI", "SOGDIAN")
# Scripts that build clusters, from Devanagari to Sinhala, Myanmar, Khmer and Javanese.
_CLUSTERS = re.compile(
    "[\u0900-\u0dff\u1000-\u109f\u1780-\u17d3\u1a20-\u1aaf\u1b00-\u1bff\ua800-\ua82f\ua880-\ua8ff"
    "\ua980-\ua9df\uaae0-\uaaff\uabc0-\uabff\U00011000-\U00011daf]"
)
_VIRAMA = 9

_CONTROLS = {
    "\x00": "NULL",
    "\x08": "BACKSPACE",
    "\x0b": "LINE TABULATION",
    "\x0c": "FORM FEED",
    "\r": "CARRIAGE RETURN",
    "\x1b": "ESCAPE",
    "\x7f": "DELETE",
    "\x85": "NEXT LINE",
}
_NAMELESS = {
    "Cc": "CONTROL CHARACTER",
    "Cn": "UNASSIGNED CHARACTER",
    "Co": "PRIVATE USE CHARACTER",
    "Cs": "UNPAIRED SURROGATE",
}


def described(character: str) -> str:
    """Return the code point and name, such as "U+202E RIGHT-TO-LEFT OVERRIDE"."""
    name = unicodedata.name(character, "") or _CONTROLS.get(character) or _NAMELESS[unicodedata.category(character)]
    return f"U+{ord(character):04X} {name}"


def script(character: str) -> str:
    """Return the first word of the name, which is the script; good enough to compare two letters."""
    return unicodedata.name(character, "").partition(" ")[0]


def joins(joiner: str, *, before: str, after: str) -> bool:
    """Say whether a joiner changes how its neighbours are written, as it does in Persian or Hindi.

    Args:
        joiner: `ZWJ` or `ZWNJ`.
        before: The character before it; empty at the start of the text.
        after: The character after it; empty at the end of the text.

    """
    if not before or unicodedata.category(before)[0] not in "LMN":
        return False
    if unicodedata.combining(before) == _VIRAMA:
        return True
    # At the end of a word too: Persian abbreviations show the joined form of their last letter.
    if joiner == ZWJ and _is_cursive(before):
        return True
    if not after or unicodedata.category(after)[0] not in "LM":
        return False
    # Persian endings follow a digit or a Latin abbreviation with a joiner between.
    return _is_cursive(after) or bool(_CLUSTERS.match(after) and script(before) == script(after))


def _is_cursive(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_CURSIVE)
