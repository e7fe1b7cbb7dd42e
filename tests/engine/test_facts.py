"""Topic files: front matter of four keys, facts, dates, hints."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory.facts import Fact, FrontMatter, dated, facts, gist, split, undated

DAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n", (FrontMatter(), "- a\n")),
        ("---\ntitle: Food\n---\n- a\n", (FrontMatter(title="Food"), "- a\n")),
        (
            "---\ntitle: A: B\nupdated:2026\nsensitive: yes\n---\nx",
            (FrontMatter("A: B", "", "2026", sensitive=True), "x"),
        ),
        ("---\nsensitive: true\n---\n", (FrontMatter(), "")),
        ("---\ntitle: first\ntitle: second\nowner: x\nno colon\n---\n", (FrontMatter("first"), "")),
        ("---\ntitle: Food\n- a\n", (FrontMatter(), "---\ntitle: Food\n- a\n")),
        ("\n---\ntitle: x\n---\n", (FrontMatter(), "\n---\ntitle: x\n---\n")),
        ("--- \n---\n", (FrontMatter(), "--- \n---\n")),
        ("---\n---\n", (FrontMatter(), "")),
        ("---\n title: x\n---\n", (FrontMatter(), "")),
    ],
)
def test_front_matter_is_four_keys_and_nothing_else(text, expected):
    assert split(text) == expected


def test_facts_are_the_list_items_with_their_dates():
    text = "---\ntitle: x\n---\n# Food\n- 2026-09-30: no nuts\n- likes tea\n* other\n  - inner\n- \n"
    assert facts(text) == [Fact("no nuts", "2026-09-30"), Fact("likes tea", ""), Fact("", "")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- no nuts", "- 2026-11-30: no nuts"),
        ("- 2026-01-02: no nuts", "- 2026-01-02: no nuts"),
        ("- 2026-01-02 no nuts", "- 2026-11-30: 2026-01-02 no nuts"),
        ("- ٢٠٢٦-٠١-٠٢: no nuts", "- 2026-11-30: ٢٠٢٦-٠١-٠٢: no nuts"),
        ("no nuts", "no nuts"),
        ("* no nuts", "* no nuts"),
        ("-  ", "-  "),
        ("-", "-"),
        ("", ""),
    ],
)
@pytest.mark.case("propose-dates-item")
def test_a_list_item_without_a_date_gets_the_day(line, expected):
    assert dated(line, DAY) == expected


@given(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
def test_a_date_that_was_given_can_be_taken_again(text):
    line = f"- {text}"
    assert undated(dated(line, DAY)) == undated(line)


def test_a_line_that_is_no_item_has_no_date_to_take():
    assert undated("2026-01-02: x") == "2026-01-02: x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "…"),
        ("\n\n", "…"),
        ("- 2026-09-30: no nuts\n- likes tea\n", "no nuts"),
        ("---\ntitle: T\ndescription: what I eat\n---\n- no nuts\n", "what I eat"),
        ("---\ntitle: T\n---\n- no nuts\n", "no nuts"),
        ("---\ntitle: T\n---\nprose\n", "T"),
        ("# Food and drink\nmore\n", "Food and drink"),
        ("- \n- tea\n", "tea"),
        ("- " + "word " * 30, "word " * 15 + "word …"),
        ("- " + "x" * 200, "…"),
        ("- a\tb   c", "a b c"),
    ],
)
def test_a_hint_is_one_short_line(text, expected):
    assert gist(text) == expected


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_a_hint_never_breaks_the_line_of_its_entry(text):
    hint = gist(text)
    assert hint == " ".join(hint.split())
    assert 0 < len(hint) <= 82
