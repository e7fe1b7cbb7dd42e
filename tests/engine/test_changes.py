"""Change sets: versions, digests of cards, and plans for taking back."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory.changes import ChangeSet, FileChange, digest, plan_revert, shown, version
from short_memory.errors import ChangedError
from short_memory.scopes import OWNER

A, B = "Memory/a.md", "Memory/b.md"


def change(*files):
    return ChangeSet("c1", "anna", datetime(2026, 1, 1, tzinfo=UTC), OWNER, "edit", files)


def test_a_version_is_ten_hex_digits_and_empty_without_a_file():
    assert (version(None), version(b"")) == ("", "e3b0c44298")
    assert version(b"a") != version(b"b")


def test_bytes_that_are_no_text_are_shown_with_marks():
    assert (shown(None), shown(b"\xff\n"), FileChange(A, None, b"a").old, FileChange(A, b"\xffx", b"a").new) == (
        "",
        "\ufffd\n",
        "",
        "a",
    )


def test_a_change_set_is_as_large_as_what_it_leaves_and_a_deleted_file_is_nothing():
    files = (FileChange(A, b"old", "ö".encode()), FileChange(B, b"gone", None))
    assert (change(*files).size_bytes, [one.file for one in files]) == (2, ["a.md", "b.md"])


@given(st.binary(), st.binary(), st.binary())
def test_a_card_of_other_bytes_has_another_digest(before, after, other):
    one = digest("p", [FileChange(A, before, after)], "why")
    assert (digest("p", [FileChange(A, before, other)], "why") == one) is (after == other)
    assert (digest("p", [FileChange(A, other, after)], "why") == one) is (before == other)


def test_a_card_of_another_proposal_reason_file_or_number_of_files_has_another_digest():
    files = [FileChange(A, None, b"a")]
    others = [
        digest("q", files, "why"),
        digest("p", files, "because"),
        digest("p", files, "why", ""),
        digest("p", [FileChange(B, None, b"a")], "why"),
        digest("p", [FileChange(A, b"", b"a")], "why"),
        digest("p", files * 2, "why"),
    ]
    assert digest("p", files, "why") not in others


@pytest.mark.case("revert-exact")
def test_a_change_with_nothing_on_top_goes_back_exactly():
    plan = plan_revert(
        change(FileChange(A, b"old\r\n\xff", b"new\n"), FileChange(B, None, b"b\n")), {A: b"new\n", B: b"b\n"}
    )
    assert (plan.exact, plan.files) == (True, (FileChange(A, b"new\n", b"old\r\n\xff"), FileChange(B, b"b\n", None)))


@pytest.mark.case("revert-merge-shown")
def test_later_work_elsewhere_in_the_file_is_kept_and_the_plan_is_not_exact():
    plan = plan_revert(change(FileChange(A, b"a\nb\nc\n", b"a\nX\nc\n")), {A: b"a\nX\nc\nd\n"})
    assert (plan.exact, plan.files) == (False, (FileChange(A, b"a\nX\nc\nd\n", b"a\nb\nc\nd\n"),))


def test_a_file_that_is_back_already_is_no_part_of_the_plan():
    plan = plan_revert(change(FileChange(A, b"a", b"b"), FileChange(B, b"a", b"b")), {A: b"a", B: b"b"})
    assert (plan.exact, plan.files) == (False, (FileChange(B, b"b", b"a"),))


@pytest.mark.case("revert-conflict-refused")
@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        (b"a\n", b"b\n", b"c\n"),
        (b"a\n", b"b\n", None),
        (None, b"b\n", b"c\n"),
        (b"a\n", None, b"c\n"),
        (b"\xff\na\nb\n", b"\xff\na\nc\n", b"\xff\nx\na\nc\n"),
        (b"a\nb\n", b"a\nc\n", b"\xffx\na\nc\n"),
    ],
)
def test_later_work_on_the_same_lines_is_refused_with_both_texts(before, after, now):
    with pytest.raises(ChangedError) as refused:
        plan_revert(change(FileChange(A, before, after)), {A: now})
    assert refused.value.texts == {A: (None if now is None else shown(now), None if before is None else shown(before))}


def test_one_file_that_does_not_fit_refuses_them_all():
    with pytest.raises(ChangedError) as refused:
        plan_revert(change(FileChange(A, b"a", b"b"), FileChange(B, b"a", b"b")), {A: b"b", B: b"c"})
    assert list(refused.value.texts) == [B]


def test_the_digest_of_a_plan_names_the_bytes_that_were_shown():
    one = change(FileChange(A, b"a\nb\nc\n", b"a\nX\nc\n"))
    assert plan_revert(one, {A: b"a\nX\nc\nd\n"}).digest != plan_revert(one, {A: b"a\nX\nc\ne\n"}).digest
