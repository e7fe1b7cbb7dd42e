"""The three-way merge: what each side changed is there, and where nobody can know the order there is no merge."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory.merge import merge

BASE = "# Food\n- nuts\n- fish\n- rice\n- tea\n"

# Few distinct lines, so that equal lines, empty lines and a missing last line end meet often.
texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "\u2028\n"]), max_size=7).flatmap(
    lambda lines: st.sampled_from(["", "a", "z"]).map(lambda last: "".join(lines) + last)
)

CLEAN = [
    ("no side changed", BASE, BASE, BASE),
    (
        "ours appends, theirs changes the head",
        BASE + "- figs\n",
        BASE.replace("Food", "Meals"),
        "# Meals\n- nuts\n- fish\n- rice\n- tea\n- figs\n",
    ),
    ("both append the same", BASE + "- figs\n", BASE + "- figs\n", BASE + "- figs\n"),
    (
        "both delete the same",
        BASE.replace("- fish\n", ""),
        BASE.replace("- fish\n", ""),
        "# Food\n- nuts\n- rice\n- tea\n",
    ),
    (
        "deletions with one line between them",
        BASE.replace("- nuts\n", ""),
        BASE.replace("- rice\n", ""),
        "# Food\n- fish\n- tea\n",
    ),
    (
        "insertions with one line between them",
        BASE.replace("- nuts\n", "- nuts\n- eggs\n"),
        BASE.replace("- fish\n", "- fish\n- ham\n"),
        "# Food\n- nuts\n- eggs\n- fish\n- ham\n- rice\n- tea\n",
    ),
    (
        "one change alike, one of each side",
        "# F\n- nuts\n- fish\n- rice\n- tea\n- 1\n",
        "# F\n- nuts\n- fis\n- rice\n- tea\n",
        "# F\n- nuts\n- fis\n- rice\n- tea\n- 1\n",
    ),
    (
        "the last line loses its end, the first changes",
        BASE[:-1],
        BASE.replace("Food", "Meals"),
        "# Meals\n- nuts\n- fish\n- rice\n- tea",
    ),
]

CONFLICTS = [
    ("the same line, differently", BASE.replace("fish", "trout"), BASE.replace("fish", "cod")),
    ("adjacent lines", BASE.replace("fish", "trout"), BASE.replace("rice", "pasta")),
    ("both append, differently", BASE + "- figs\n", BASE + "- plums\n"),
    ("one appends two, the other the first of them", BASE + "- figs\n", BASE + "- figs\n- plums\n"),
    ("an insertion before a changed line", BASE.replace("- fish\n", "- eggs\n- fish\n"), BASE.replace("fish", "cod")),
    ("an insertion after a deleted line", BASE.replace("- fish\n", "- fish\n- eggs\n"), BASE.replace("- fish\n", "")),
    (
        "an insertion inside what the other deletes",
        BASE.replace("- fish\n", "- fish\n- eggs\n"),
        BASE.replace("- fish\n- rice\n", ""),
    ),
    ("everything deleted, one line changed", "", BASE.replace("fish", "cod")),
    ("a last line end lost, a line appended", BASE[:-1], BASE + "- figs\n"),
]


@pytest.mark.parametrize(("ours", "theirs", "merged"), [row[1:] for row in CLEAN], ids=[row[0] for row in CLEAN])
def test_changes_at_different_places_both_stand(ours, theirs, merged):
    assert merged == merge(BASE, ours, theirs)


@pytest.mark.parametrize(("ours", "theirs"), [row[1:] for row in CONFLICTS], ids=[row[0] for row in CONFLICTS])
def test_changes_that_overlap_or_touch_are_a_conflict(ours, theirs):
    assert (merge(BASE, ours, theirs), merge(BASE, theirs, ours)) == (None, None)


def test_a_base_without_a_last_line_end_never_glues_two_lines_together():
    assert merge("a\nb\nc", "x\na\nb\nc", "a\nb\nc\nd") == "x\na\nb\nc\nd"
    assert merge("a", "x\na", "a\nd") is None


def test_a_form_feed_or_a_line_separator_does_not_end_a_line():
    base = "a\x0cb\u2028c\u0085d\n"
    assert merge(base, base.replace("a", "A"), base.replace("d", "D")) is None


def test_thousands_of_equal_lines_are_merged_in_a_moment():
    base = "x\n" * 30_000
    started = time.process_time()
    assert merge(base, "x\ny\n" * 15_000, base) == "x\ny\n" * 15_000
    assert merge(base, "x\ny\n" * 15_000, f"{base}z\n") is None
    assert merge(base, f"head\n{base}", f"{base}z\n") == f"head\n{base}z\n"
    assert time.process_time() - started < 1


@given(base=texts, side=texts)
def test_a_side_that_changed_nothing_leaves_the_other_as_it_is(base, side):
    assert (side, side) == (merge(base, side, base), merge(base, base, side))


@given(base=texts, side=texts)
def test_both_sides_alike_are_that_text(base, side):
    assert side == merge(base, side, side)


@given(base=texts, ours=texts, theirs=texts)
def test_the_merge_is_the_same_whichever_side_is_named_first(base, ours, theirs):
    assert merge(base, ours, theirs) == merge(base, theirs, ours)


@given(base=texts, ours=texts, theirs=texts)
def test_a_clean_merge_holds_every_line_that_a_side_added(base, ours, theirs):
    merged = merge(base, ours, theirs)
    if merged is None:
        return
    there = Counter(merged.split("\n"))
    for side, other in ((ours, theirs), (theirs, ours)):
        added = Counter(side.split("\n")) - Counter(base.split("\n"))
        taken = Counter(base.split("\n")) - Counter(other.split("\n"))
        assert not (added - there) - taken


@given(
    base=st.lists(st.integers(0, 99).map(lambda n: f"{n}\n"), min_size=3, unique=True, max_size=12),
    data=st.data(),
)
def test_insertions_at_different_places_always_merge(base, data):
    first, second = sorted(data.draw(st.lists(st.integers(0, len(base)), min_size=2, max_size=2, unique=True)))
    ours = [*base[:first], "ours\n", *base[first:]]
    theirs = [*base[:second], "theirs\n", *base[second:]]
    both = [*base[:first], "ours\n", *base[first:second], "theirs\n", *base[second:]]
    assert "".join(both) == merge("".join(base), "".join(ours), "".join(theirs))
