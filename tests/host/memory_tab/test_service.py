"""What the Memory tab does, apart from HTTP."""

from dataclasses import replace

import pytest

from short_memory import errors
from short_memory_host.memory_tab import service
from short_memory_host.web.errors import InvalidInputError, UnknownError
from short_memory_host.web.people import find
from tests.host.memory_tab.conftest import FOOD, INDEX


@pytest.fixture
def person(host, tab):
    with host.database.read() as connection:
        return find(connection, tab.id)


def new(tab, person, first):
    return service.new_topic(tab.held, person, at=INDEX, name="food", first=first)


@pytest.mark.parametrize(
    ("zone", "day"), [("", "2026-11-30"), ("Pacific/Auckland", "2026-12-01"), ("America/New_York", "2026-11-30")]
)
def test_the_first_fact_gets_the_day_of_the_person(tab, person, zone, day):
    new(tab, replace(person, time_zone=zone), "likes olives")
    assert tab.text(FOOD) == f"- {day}: likes olives\n"


@pytest.mark.parametrize(
    ("first", "text"),
    [
        ("- 2020-01-01: dated", "- 2020-01-01: dated\n"),
        ("- an item", "- 2026-11-30: an item\n"),
        ("# What I eat", "# What I eat\n"),
        (" two\nlines ", "- 2026-11-30: two lines\n"),
    ],
)
def test_the_first_line_is_one_fact_or_a_title(tab, person, first, text):
    new(tab, person, first)
    assert tab.text(FOOD) == text


@pytest.mark.parametrize("first", ["", " ", "\n"])
def test_a_topic_without_a_first_line_is_refused(tab, person, first):
    with pytest.raises(InvalidInputError) as refused:
        new(tab, person, first)
    assert refused.value.reason == "topic-first"


def test_a_topic_of_the_same_name_is_never_written_over(tab, person):
    new(tab, person, "one")
    with pytest.raises(InvalidInputError) as refused:
        new(tab, person, "two")
    assert (refused.value.reason, tab.text(FOOD)) == ("topic-taken", "- 2026-11-30: one\n")


def test_a_topic_beside_no_index_is_unknown(tab, person):
    with pytest.raises(UnknownError):
        service.new_topic(tab.held, person, at="Elsewhere/index.md", name="food", first="x")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.OverCapError("a.md", "70 lines", ["- x"]), "a.md would have 70 lines."),
        (errors.BadTextError("bidi", "a.md", 3, "U+202E"), "a.md, line 3: U+202E is not allowed in notes (bidi)."),
        (errors.SecretError("aws", "a.md", 2), "a.md, line 2 looks like a secret (aws)."),
        (errors.UnchangedError(), "The note already says exactly this."),
        (errors.StorageError("No space left on device"), "The change could not be stored (No space left on device)."),
    ],
)
def test_a_refusal_speaks_to_the_owner_and_never_to_a_model(error, words):
    found = service.refusal(error)
    assert (
        found["code"],
        found["text"].startswith(words),
        "propose" in found["text"],
        "the person" in found["text"],
    ) == (
        error.code,
        True,
        False,
        False,
    )
