"""What the Memory tab shows, as values."""

import pytest

from short_memory.access import AddonGrant, Grants
from short_memory.caps import Cap
from short_memory.changes import ChangeSet
from short_memory.notebook import Note, Shelf
from short_memory.scopes import OUTSIDE, OWNER, Actor, Scope
from short_memory_host.memory_tab import views
from tests.clock import NOON

SCOPE = Scope("memory", "user", "Your notes", "Memory/index.md", Cap(40, 2048), Cap(64, 4096), may_propose=True)


def note(file, text="- x\n", why_not=""):
    return Note(f"Memory/{file}", SCOPE, text, "0123456789", why_not)


def rows(notes, *, unlisted=()):
    return [
        (row.kind, row.file, row.name, row.gist) for row in views.shelf(Shelf(SCOPE, "", notes, (), unlisted), "").rows
    ]


def change(cause, actor=OWNER):
    return ChangeSet("1", "p_1", NOON, actor, cause, ())


def test_entries_keep_the_order_of_the_index_and_unlisted_files_come_last():
    index = note("index.md", "- work: boss -> work.md\n- food: olives -> food.md\n- home: Rome -> home.md\n")
    assert rows((note("food.md"), index, note("stray.md"), note("work.md")), unlisted=("stray.md",)) == [
        ("index", "index.md", "", ""),
        ("topic", "work.md", "work", "boss"),
        ("topic", "food.md", "food", "olives"),
        ("dangling", "home.md", "home", "Rome"),
        ("unlisted", "stray.md", "", ""),
    ]


def test_an_entry_that_names_the_index_is_no_topic_of_its_own():
    assert rows((note("index.md", "- me: myself -> index.md\n"),)) == [("index", "index.md", "", "")]


def test_files_beside_a_missing_index_are_all_unlisted():
    assert rows((note("food.md"),), unlisted=("food.md",)) == [("unlisted", "food.md", "", "")]


@pytest.mark.parametrize(
    ("text", "fill"),
    [
        ("- x\n" * 57, ""),
        ("- x\n" * 58, "nearly"),
        ("- x\n" * 64, "nearly"),
        ("- x\n" * 65, "over"),
        ("x" * 3687, "nearly"),
    ],
)
def test_a_file_is_nearly_full_from_nine_tenths_of_either_cap_on(text, fill):
    assert views.filled(note("food.md", text)) == fill


def test_a_file_that_cannot_be_read_is_not_measured():
    assert views.Row("topic", "Memory/food.md", "food", "", note("food.md", "", "it is a link")).fill == ""


@pytest.mark.parametrize(
    ("made", "who"),
    [
        (change("edit"), "edit"),
        (change("proposal"), "proposal"),
        (change("outside", OUTSIDE), "outside"),
        (change("revert"), "revert"),
        (change("revert", Actor("model", "")), "revert-by-model"),
    ],
)
def test_the_list_says_who_made_a_change(made, who):
    assert views.change(made, {}).who == who


def test_a_change_that_was_taken_back_says_so():
    assert [one.undone for one in views.changes([change("edit")], {"1": "2"})] == [True]


@pytest.mark.parametrize(("digest", "asks"), [(None, True), ("other", True), ("same", False)])
def test_the_addon_asks_while_its_digest_was_not_agreed_to(host, digest, asks):
    running = host.app.state.held.addon
    manifest = running.addon.manifest
    agreed = manifest.capabilities_digest if digest == "same" else digest
    grants = Grants() if digest is None else Grants((AddonGrant(manifest.id, on=True, digest=agreed, files=()),))
    assert views.addon(running, grants).asks == asks
