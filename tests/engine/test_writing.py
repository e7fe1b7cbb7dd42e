"""What every way of writing shares: time, names, and the edits of other programs."""

from datetime import datetime, timedelta, timezone

import pytest

from short_memory.changes import FileChange
from short_memory.scopes import OUTSIDE
from short_memory.writing import absorb, moment, new_id
from tests.clock import NOON
from tests.engine.notes import OWNER

FOOD = "Memory/food.md"


def test_a_moment_is_utc_in_whole_milliseconds():
    local = datetime(2026, 11, 30, 13, 0, 0, 123999, tzinfo=timezone(timedelta(hours=1)))
    assert moment(lambda: local) == NOON.replace(microsecond=123000)
    assert moment(lambda: local).utcoffset() == timedelta(0)


def test_a_name_has_128_bits_and_no_two_are_alike():
    names = {new_id() for _ in range(100)}
    assert (len(names), {len(name) for name in names}) == (100, {32})


@pytest.mark.case("outside-edit-journaled")
def test_what_other_hands_did_becomes_one_change_set_of_its_own(notes):
    notes.write(FOOD, b"- a\r\n\xff")
    change = absorb(notes.store, OWNER, [FOOD, "Memory/none.md"], NOON)
    assert (change.actor, change.cause, change.files) == (OUTSIDE, "outside", (FileChange(FOOD, None, b"- a\r\n\xff"),))
    assert notes.notebook.history(OWNER, limit=9) == [change]
    assert absorb(notes.store, OWNER, [FOOD], NOON) is None


def test_a_file_deleted_by_other_hands_is_journaled_too(notes):
    notes.save(FOOD, "- a\n")
    notes.place(FOOD).unlink()
    assert absorb(notes.store, OWNER, [FOOD], NOON).files == (FileChange(FOOD, b"- a\n", None),)


def test_what_is_no_plain_file_is_no_edit_of_a_note(notes, tmp_path):
    notes.save(FOOD, "- a\n")
    notes.place(FOOD).unlink()
    notes.place(FOOD).symlink_to(tmp_path)
    assert absorb(notes.store, OWNER, [FOOD], NOON) is None
