"""The tables of characters: joiners between their neighbours, sequences, and names of what has none."""

import pytest

from short_memory.characters import ASSIGNED_LATER, SEQUENCE, ZWJ, ZWNJ, described, joins, script


@pytest.mark.parametrize(
    ("joiner", "before", "after", "joined"),
    [
        (ZWNJ, "ی", "خ", True),
        (ZWNJ, "F", "ه", True),
        (ZWNJ, "ی", " ", False),
        (ZWNJ, "ی", "", False),
        (ZWNJ, "", "ه", False),
        (ZWNJ, "«", "ه", False),
        (ZWJ, "ه", ".", True),
        (ZWJ, "ह", ".", False),
        (ZWNJ, "\u094d", "", True),
        (ZWJ, "র", "\u09cd", True),
        (ZWNJ, "ক", "क", False),
        (ZWNJ, "a", "b", False),
    ],
)
def test_a_joiner_fits_only_where_it_changes_how_its_neighbours_are_written(joiner, before, after, joined):
    assert joins(joiner, before=before, after=after) == joined


@pytest.mark.parametrize("text", ["👨‍👩‍👧‍👦", "❤️‍🔥", "👩🏽‍💻", "7️⃣", "葛\U000e0100", "∩\ufe00"])
def test_a_sequence_is_found_whole(text):
    assert SEQUENCE.fullmatch(text)[0] == text


@pytest.mark.parametrize("text", ["a\ufe0f", "7\ufe0f", "👨\u200da"])
def test_what_is_no_sequence_is_not_found_whole(text):
    assert SEQUENCE.fullmatch(text) is None


def test_emoji_newer_than_the_tables_of_python_count_as_assigned():
    assert [bool(ASSIGNED_LATER.match(character)) for character in "\U0001fae8\U0001fae9\U0001f6d9"] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("о", "U+043E CYRILLIC SMALL LETTER O"),
        ("\x85", "U+0085 NEXT LINE"),
        ("\x02", "U+0002 CONTROL CHARACTER"),
        ("\U0010fffd", "U+10FFFD PRIVATE USE CHARACTER"),
    ],
)
def test_every_character_has_a_description(character, name):
    assert described(character) == name


def test_the_script_is_the_first_word_of_the_name():
    assert [script(character) for character in "aяλ\ue000"] == ["LATIN", "CYRILLIC", "GREEK", ""]
