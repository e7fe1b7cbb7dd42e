"""Sizes as the contract counts them, and cutting at whole lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory import caps
from short_memory.caps import Cap, Size, cut, normal, size

lines = st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8), max_size=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Size(0, 0)),
        ("a", Size(1, 1)),
        ("a\n", Size(1, 2)),
        ("a\nb", Size(2, 3)),
        ("\n\n", Size(2, 2)),
        ("é\n", Size(1, 3)),
    ],
)
def test_a_last_line_without_an_end_counts_as_a_line(text, expected):
    assert size(text) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [("\ufeffa\r\nb\rc\n", "a\nb\nc\n"), ("a\ufeff", "a\ufeff"), ("\ufeff\ufeff", "\ufeff"), ("\r\n\r", "\n\n")],
)
def test_the_normal_form_has_lf_and_no_byte_order_mark(raw, expected):
    assert normal(raw) == expected


@pytest.mark.case("index-cap-40-2048")
@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("x\n" * 40, True),
        ("x\n" * 41, False),
        ("x\n" * 39 + "x", True),
        ("x\n" * 40 + "x", False),
        ("x" * 2047 + "\n", True),
        ("x" * 2048 + "\n", False),
        ("x" * 2048, True),
        ("x" * 2049, False),
        ("é" * 1024, True),
        ("é" * 1024 + "x", False),
    ],
)
def test_the_cap_of_an_index_is_sharp(text, fits):
    assert size(text).fits(Cap(caps.INDEX_LINES, caps.INDEX_BYTES)) is fits


@pytest.mark.parametrize(
    ("text", "cap", "expected"),
    [
        ("a\nb\nc\n", Cap(2, 99), ("a\nb\n", 1)),
        ("a\nb\nc", Cap(2, 99), ("a\nb\n", 1)),
        ("aa\nbb\ncc\n", Cap(9, 6), ("aa\nbb\n", 1)),
        ("aa\nbb\ncc\n", Cap(9, 5), ("aa\n", 2)),
        ("aa\nbb", Cap(9, 5), ("aa\nbb", 0)),
        ("éé\nb\n", Cap(9, 4), ("", 2)),
        ("a\n", Cap(9, 0), ("", 1)),
        ("", Cap(0, 0), ("", 0)),
    ],
)
def test_a_text_is_cut_after_the_last_whole_line_that_fits(text, cap, expected):
    assert cut(text, cap) == expected


@given(lines, st.booleans(), st.integers(0, 12), st.integers(0, 60))
def test_a_cut_keeps_the_most_whole_lines_and_counts_the_rest(parts, ended, most, most_bytes):
    text = "\n".join(parts) + ("\n" if parts and ended else "")
    kept, missing = cut(text, Cap(most, most_bytes))
    assert size(kept).fits(Cap(most, most_bytes))
    assert text.startswith(kept.removesuffix("\n"))
    assert size(kept).lines + missing == size(text).lines
    whole = [f"{part}\n" for part in text.split("\n")]
    following = "".join(whole[: size(kept).lines + 1])
    assert missing == 0 or not size(following).fits(Cap(most, most_bytes))
