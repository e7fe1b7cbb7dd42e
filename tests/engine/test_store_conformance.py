"""What any store of notes must do: read, list, apply, history, revert. Add an implementation to `STORES`."""

from contextlib import closing
from datetime import timedelta

import pytest

from short_memory.access import AddonGrant, Grants
from short_memory.changes import ChangeSet, FileChange, plan_revert
from short_memory.errors import ConflictError, StorageError
from short_memory.scopes import OWNER as BY_OWNER
from short_memory.store.note_store import NoteStore
from tests.clock import NOON

STORES = {"files and SQLite": NoteStore}
A, B, DEEP = "Memory/a.md", "Memory/b.md", "Memory/agents/coach/index.md"


@pytest.fixture(params=STORES.values(), ids=STORES)
def store(request, tmp_path):
    with closing(request.param(tmp_path / "data")) as found:
        yield found


def change(name, *files, owner="anna", **more):
    return ChangeSet(name, owner, NOON, BY_OWNER, "edit", tuple(FileChange(*one) for one in files), **more)


def apply(store, one):
    with store.locked(one.owner):
        store.apply(one)
    return one


def test_a_new_store_is_empty(store):
    assert (store.read("anna", A), store.list("anna", ("Memory",)), store.journal.changes("anna", limit=9)) == (
        None,
        ([], []),
        [],
    )


def test_what_was_applied_is_read_listed_and_in_the_history(store):
    one = apply(store, change("c1", (A, None, b"a\n"), (DEEP, None, b"\xff")))
    assert (store.read("anna", A), store.read("anna", DEEP)) == (b"a\n", b"\xff")
    assert (store.list("anna", ("Memory",)), store.list("anna", ("Memory", "agents"))) == (
        (["a.md"], ["agents"]),
        ([], ["coach"]),
    )
    assert store.journal.changes("anna", limit=9) == [one]
    assert (store.read("bea", A), store.journal.changes("bea", limit=9)) == (None, [])


def test_files_are_made_replaced_and_deleted_in_one_change_set(store):
    apply(store, change("c1", (A, None, b"a"), (B, None, b"b")))
    apply(store, change("c2", (A, b"a", b"A"), (B, b"b", None), (DEEP, None, b"d")))
    assert (store.read("anna", A), store.read("anna", B), store.read("anna", DEEP)) == (b"A", None, b"d")
    assert [one.id for one in store.journal.changes("anna", limit=9)] == ["c2", "c1"]


@pytest.mark.case("version-conflict-refused")
@pytest.mark.parametrize(
    "file", [(A, None, b"x"), (A, b"other", b"x"), (A, b"other", None), (B, b"b", b"x"), (B, b"b", None)]
)
@pytest.mark.parametrize("first", [True, False])
def test_a_change_set_that_saw_another_version_is_refused_whole(store, file, first):
    apply(store, change("c1", (A, None, b"a")))
    fits = (DEEP, None, b"d")
    with pytest.raises(ConflictError):
        apply(store, change("c2", *([file, fits] if first else [fits, file])))
    assert (store.read("anna", A), store.read("anna", B), store.read("anna", DEEP)) == (b"a", None, None)
    assert [one.id for one in store.journal.changes("anna", limit=9)] == ["c1"]


def test_an_empty_file_is_not_a_missing_one(store):
    apply(store, change("c1", (A, None, b"")))
    assert store.read("anna", A) == b""
    with pytest.raises(ConflictError):
        apply(store, change("c2", (A, None, b"x")))


def test_a_name_of_a_change_set_is_given_once(store):
    apply(store, change("c1", (A, None, b"a")))
    with pytest.raises(StorageError):
        apply(store, change("c1", (A, b"a", b"b")))
    assert store.read("anna", A) == b"a"


@pytest.mark.case("revert-exact")
def test_a_plan_of_taking_back_can_be_applied_and_taken_back_again(store):
    first = apply(store, change("c1", (A, None, b"a"), (B, None, b"b")))
    plan = plan_revert(first, {path: store.read("anna", path) for path in (A, B)})
    back = apply(store, ChangeSet("c2", "anna", NOON, BY_OWNER, "revert", plan.files, reverts="c1"))
    assert (store.list("anna", ("Memory",)), store.journal.taken_back(["c1", "c2"])) == (([], []), {"c1": "c2"})
    again = plan_revert(back, {path: store.read("anna", path) for path in (A, B)})
    apply(store, change("c3", *((one.path, one.before, one.after) for one in again.files)))
    assert (store.read("anna", A), store.read("anna", B)) == (b"a", b"b")


def test_an_edit_from_outside_is_written_down_without_touching_a_file(store):
    with store.locked("anna"):
        store.record(change("c1", (A, None, b"seen")))
    assert (store.read("anna", A), store.journal.known("anna", [A])) == (None, {A: b"seen"})


def test_another_store_over_the_same_data_sees_the_same(store, tmp_path):
    one = apply(store, change("c1", (A, None, b"a")))
    with closing(type(store)(tmp_path / "data")) as other:
        assert (other.read("anna", A), other.journal.changes("anna", limit=9)) == (b"a", [one])
        assert other.recover() == 0


def test_what_is_allowed_is_kept_for_each_owner(store):
    allowed = Grants((AddonGrant("memory", on=True, digest="d", files=()),))
    with store.locked("anna"):
        store.save_grants("anna", allowed)
    assert (store.grants("anna"), store.grants("bea")) == (allowed, Grants())


def test_what_was_seen_is_noticed_when_it_changes(store):
    apply(store, change("c1", (A, None, b"a")))
    seen = store.seen_grants("anna").and_(store.seen("anna", [A, B]))
    assert (seen.still(), seen.settled()) == (True, False)
    apply(store, change("c2", (A, b"a", b"b")))
    assert not seen.still()
    other = store.seen("anna", [B])
    assert other.settled()
    assert NOON + timedelta(0) == NOON
