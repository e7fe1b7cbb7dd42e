"""The closed set of errors: stable codes, texts that say what to do next, no text of the person's."""

import inspect

import pytest

from short_memory import errors
from short_memory.errors import (
    ChangedError,
    ConflictError,
    DecidedError,
    LimitError,
    NewerDataError,
    NoMatchError,
    NoScopeError,
    NoToolError,
    NoTopicError,
    OverCapError,
    ShortMemoryError,
    StaleError,
    UnreadableError,
)

QUOTE = "in a.md; it must stand there exactly once. Quote it from the present text and propose again. a.md now:\n"
CODES = {
    "already-declined", "bad-arguments", "bad-file", "bad-text", "changed", "confirmed", "conflict", "declined",
    "expired", "limit", "newer-data", "no-change", "no-match", "no-proposal", "no-scope", "no-tool", "no-topic",
    "over-cap", "secret", "stale", "storage", "unchanged", "unreadable",
}  # fmt: skip


def test_the_set_of_codes_is_the_one_that_surfaces_translate():
    assert {kind.code for kind in errors.every()} == CODES


def test_every_error_of_the_module_is_in_the_set():
    named = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__}
    assert named - set(errors.every()) == {ShortMemoryError, DecidedError}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NoToolError([]), "That tool is not offered here. Tools for notes in this turn: none."),
        (NoToolError(["a", "b"]), "That tool is not offered here. Tools for notes in this turn: a, b."),
        (NoScopeError([]), "No changes to those notes can be proposed in this chat. Scopes you can use: none."),
        (NoTopicError([]), "No such topic here. Topics: none."),
        (NoTopicError(["food", "home"]), "No such topic here. Topics: food, home."),
        (
            NoMatchError("a.md", 0, ""),
            f"`old` stands nowhere {QUOTE}(no file yet)",
        ),
        (
            NoMatchError("a.md", 2, "x\nx\n"),
            f"`old` stands 2 times {QUOTE}x\nx\n",
        ),
        (
            OverCapError("index.md", "41 lines; at most 40", []),
            "index.md would have 41 lines; at most 40. Join, shorten or drop entries and propose again. It now has:\n(nothing)",
        ),
        (
            StaleError(redrawn=True),
            "The notes changed since this card was shown. Nothing was written. Read the new card and decide again.",
        ),
        (
            StaleError(redrawn=False),
            "The notes changed since this card was shown. Nothing was written. Ask for a new proposal.",
        ),
        (
            NewerDataError(2, 1),
            "The data folder has schema version 2; this program knows up to 1. Nothing was touched. Update the program.",
        ),
        (UnreadableError("a.md", "it is a link"), "a.md is left out: it is a link. Put a plain UTF-8 text file there."),
    ],
)
def test_an_error_says_what_happened_and_what_to_do(error, text):
    assert (error.text, str(error)) == (text, text)


def test_errors_carry_their_facts():
    assert NoTopicError(["a"]).topics == ("a",)
    assert LimitError(5, "open in this chat").limit == 5
    assert StaleError(redrawn=True).redrawn is True
    assert ConflictError("a.md", "now").present == "now"
    assert ChangedError({"a.md": ("now", None)}).texts == {"a.md": ("now", None)}


def test_a_text_of_the_person_is_in_no_conflict_message():
    assert "private" not in ConflictError("a.md", "private").text
    assert "private" not in ChangedError({"a.md": ("private", "private")}).text
