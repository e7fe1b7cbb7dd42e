"""Index lines: what serves a topic and what is left as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory.index import Entry, entries, entry, has_file, with_end, with_topic, without_file

BAD_LINES = [
    "", "food", "- food", "- food: x", "- food: x -> ", "- food: x -> Food.md", "- food: x -> ../food.md", "- food: x -> a/b.md",
    "- Food: x -> food.md", "- fo od: x -> food.md", "-food: x -> food.md", "* food: x -> food.md", " - food: x -> food.md",
    "- food:x -> food.md", "- food: x->food.md", "- food: x -> food.md ", "- food: x -> con.md", "- f_d: x -> food.md",
    f"- {'a' * 33}: x -> food.md", "- food: x\r-> food.md", "- : x -> food.md",
]  # fmt: skip


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_line_of_another_form_serves_no_topic(line):
    assert entry(line) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- food: allergic to nuts -> food.md", Entry("food", "allergic to nuts", "food.md")),
        ("- a: b -> c.md -> d.md", Entry("a", "b -> c.md", "d.md")),
        ("- -: x -> y.md", Entry("-", "x", "y.md")),
        ("- index: -> -> index.md", Entry("index", "->", "index.md")),
        ("- x:  -> x.md", Entry("x", "", "x.md")),
    ],
)
def test_a_line_is_read_from_both_ends(line, expected):
    assert entry(line) == expected


def test_of_two_entries_with_one_name_the_first_counts():
    assert entries("- a: x -> x.md\nprose\n- a: y -> y.md\n- b: z -> x.md\n") == [
        Entry("a", "x", "x.md"),
        Entry("b", "z", "x.md"),
    ]


def test_an_entry_that_cannot_be_asked_for_names_no_file():
    text = "- a: x -> x.md\n- a: y -> y.md\n"
    assert (has_file(text, "x.md"), has_file(text, "y.md")) == (True, False)


@pytest.mark.parametrize(
    ("text", "file", "name"),
    [
        ("", "food.md", "food"),
        ("- food: x -> meals.md\n", "food.md", "food-2"),
        ("- food: x -> meals.md\n- food-2: x -> more.md\n", "food.md", "food-3"),
        ("", "a" * 40 + "-1.md", "a" * 32),
        (f"- {'a' * 32}: x -> {'a' * 40}-1.md\n", "a" * 40 + "-2.md", "a" * 30 + "-2"),
        ("", "a" * 31 + "-b.md", "a" * 31),
    ],
)
def test_a_new_topic_gets_a_name_that_nothing_else_has(text, file, name):
    assert with_topic(text, file, "gist") == f"{text}- {name}: gist -> {file}\n"


def test_a_last_line_without_an_end_is_ended_before_an_entry_comes_after_it():
    assert with_topic("prose", "a.md", "g") == "prose\n- a: g -> a.md\n"
    assert (with_end(""), with_end("a"), with_end("a\n")) == ("", "a\n", "a\n")


def test_only_the_entries_of_a_file_are_dropped():
    text = "# Mine\n- a: x -> x.md\n- b: y -> y.md\n- c: z -> x.md\nx.md"
    assert without_file(text, "x.md") == "# Mine\n- b: y -> y.md\nx.md"


@given(
    st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=20),
    st.from_regex(r"[a-z0-9][a-z0-9-]{0,63}\.md", fullmatch=True).filter(lambda name: entry(f"- a: b -> {name}")),
)
def test_a_topic_that_was_added_can_be_asked_for_and_dropped_again(gist, file):
    text = "- food: x -> meals.md\n"
    added = with_topic(text, file, gist)
    assert entries(added)[-1] == Entry(entries(added)[-1].name, gist, file)
    assert without_file(added, file) == (text if file != "meals.md" else "")
