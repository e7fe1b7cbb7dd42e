"""The Memory tab: shelves, change sets, taking back."""

import re
from datetime import UTC

import pytest

from short_memory.proposals import Edit
from short_memory.scopes import Conversation
from tests.host.conftest import PAGE
from tests.host.memory_tab.conftest import FOOD, INDEX

SIX = "- one\n- two\n- three\n- four\n- five\n- six\n"


def kinds(page):
    """Return what stands on the shelves: kind and path of each row."""
    return re.findall(r'class="row note-row" data-kind="(\w+)" data-path="([^"]*)"', page)


def listed(page):
    """Return the ids of the change sets in the list."""
    return re.findall(r'class="row change-row" data-change="(\w+)"', page)


def made(tab, texts):
    """Save one note several times and return the ids of the change sets."""
    ids = []
    for text in texts:
        assert tab.save(FOOD, text).status_code == 200
        ids.append(tab.last())
    return ids


def test_the_empty_tab_says_what_to_do(tab):
    page = tab.page()
    assert ("No notes yet" in page, "No changes yet" in page, "New topic" in page) == (True, True, True)


def test_a_shelf_shows_index_topics_and_what_does_not_fit_together(tab, tmp_path):
    tab.put(INDEX, "- food: likes olives -> food.md\n- home: in Rome -> home.md\njust a line\n")
    tab.put(FOOD, "- likes olives\n")
    tab.put("Memory/stray.md", "- nobody names me\n")
    (tab.folder / "Memory/trap.md").symlink_to(tmp_path / "outside.md")
    page = tab.page()
    assert kinds(page) == [
        ("index", INDEX),
        ("topic", FOOD),
        ("dangling", "Memory/home.md"),
        ("unlisted", "Memory/stray.md"),
        ("unlisted", "Memory/trap.md"),
    ]
    assert ("no home.md yet" in page, "no chat can open it" in page, "it is a link" in page) == (True, True, True)


def test_a_nearly_full_file_and_one_over_its_cap_are_marked(tab):
    tab.put(FOOD, "- x\n" * 57)
    below = tab.page()
    tab.put(FOOD, "- x\n" * 58)
    nearly = tab.page()
    tab.put(FOOD, "- x\n" * 65)
    over = tab.page()
    assert ["nearly full" in below, "nearly full" in nearly, "over the cap" in nearly, "over the cap" in over] == [
        False,
        True,
        False,
        True,
    ]


def test_agents_and_channels_have_shelves_that_name_them(tab):
    tab.put("Memory/agents/tutor/index.md", "- level: B1 -> level.md\n")
    tab.put("Memory/channels/telegram-abcdefghijklmnop/index.md", "- trip: Rome -> trip.md\n")
    names = re.findall(r'<code class="shelf-name">(.*?)</code>', tab.page())
    assert names == ["tutor", "telegram-abcdefghijklmnop"]


def test_text_of_a_note_is_never_markup_of_the_page(tab):
    tab.put(INDEX, "- food: <script>alert(1)</script> -> food.md\n")
    page = tab.page()
    assert ("<script>alert" in page, "&lt;script&gt;alert(1)&lt;/script&gt;" in page) == (False, True)


def test_a_link_in_place_of_the_folder_leaves_the_page_with_a_sentence(tab, tmp_path):
    tab.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (tab.folder / "Memory").symlink_to(tmp_path)
    assert "a link or a file stands in place of the folder" in tab.page()


@pytest.mark.case("outside-edit-journaled")
def test_an_edit_from_outside_is_listed_once_as_another_programs(tab):
    tab.put(INDEX, "- food: likes olives -> food.md\n")
    first, second = tab.page(), tab.page()
    assert ("Another program" in first, len(listed(first)), listed(first)) == (True, 1, listed(second))


@pytest.mark.case("reads-write-nothing")
def test_looking_at_the_tab_again_changes_no_byte_of_the_journal(tab):
    tab.put(FOOD, "- one\n")
    tab.page()
    before = [tab.held.notebook.history(tab.id, limit=9), (tab.folder / FOOD).stat().st_mtime_ns]
    for address in ("", "/note?path=Memory/food.md", f"/change/{tab.last()}", f"/change/{tab.last()}/revert"):
        tab.page(f"/account/memory{address}")
    assert before == [tab.held.notebook.history(tab.id, limit=9), (tab.folder / FOOD).stat().st_mtime_ns]


@pytest.mark.case("tab-changes-undo")
def test_each_change_is_listed_with_who_when_files_diff_and_undo(tab, clock):
    tab.browser.post("/account", data={"name": "Me", "time_zone": "Europe/Rome"}, headers=PAGE)
    (change,) = made(tab, ["- likes olives\n"])
    page = tab.page()
    row = page[page.index("change-row") :]
    diff = tab.page(f"/account/memory/change/{change}")
    assert (">You edited<" in row, "2026-11-30 13:00 +01:00" in row, FOOD in row, f'data-undo="{change}"' in row) == (
        True,
        True,
        True,
        True,
    )
    assert re.findall(r'data-kind="added".*?<code class="diff-text" role="cell">(.*?)</code>', diff, re.DOTALL) == [
        "- likes olives",
        "- food: likes olives -&gt; food.md",
    ]


def test_a_confirmed_proposal_says_that_a_model_proposed_and_the_person_confirmed(tab):
    chat, edits = Conversation("c_1", tab.id), [Edit("food.md", text="- likes olives\n")]
    proposal = tab.held.memory.propose(chat, "user", edits, why="You said so.", zone=UTC)
    tab.held.memory.confirm(tab.id, proposal.id, proposal.digest)
    mine = tab.page()
    tab.held.memory.revert_own(chat, None)
    assert ("A model&#39;s proposal, confirmed by you" in mine, "A model took back its own" in tab.page()) == (
        True,
        True,
    )


def test_the_list_has_pages_of_twenty_and_leads_to_older_ones(tab):
    ids = made(tab, [f"- fact {number}\n" for number in range(21)])[::-1]
    first = tab.page()
    older = tab.page(f"/account/memory?before={ids[19]}")
    assert (listed(first), f"before={ids[19]}#changes" in first, listed(older), "Latest" in older) == (
        ids[:20],
        True,
        ids[20:],
        True,
    )


@pytest.mark.case("revert-exact")
def test_undo_of_the_last_change_gives_the_bytes_before_and_is_a_change_itself(tab):
    tab.put(FOOD, "- no line end")
    tab.page()
    (change,) = made(tab, ["- other\n"])
    answer = tab.undo(change)
    page = tab.page()
    assert (answer.status_code, "Taken back: Memory/food.md" in answer.json()["html"], tab.text(FOOD)) == (
        200,
        True,
        "- no line end",
    )
    assert ("You took back an earlier change" in page, f'data-undo="{change}"' in page, ">undone<" in page) == (
        True,
        False,
        True,
    )


def test_a_taking_back_can_be_taken_back(tab):
    (change,) = made(tab, ["- one\n"])
    tab.undo(change)
    answer = tab.undo(tab.last())
    assert (answer.status_code, tab.text(FOOD)) == (200, "- one\n")


@pytest.mark.case("revert-merge-shown")
def test_undo_under_later_work_writes_nothing_before_the_merge_was_shown_and_confirmed(tab):
    change = made(tab, [SIX, SIX.replace("one", "ONE"), SIX.replace("one", "ONE").replace("six", "SIX")])[1]
    asked = tab.undo(change)
    untouched = tab.text(FOOD)
    page = tab.page(asked.json()["show"])
    digest = re.search(r'data-digest="(\w+)"', page)[1]
    confirmed = tab.undo(change, digest=digest)
    assert (asked.status_code, asked.json(), untouched) == (
        200,
        {"show": f"/account/memory/change/{change}/revert"},
        SIX.replace("one", "ONE").replace("six", "SIX"),
    )
    assert ("Later work stays" in page, confirmed.status_code, tab.text(FOOD)) == (
        True,
        200,
        SIX.replace("six", "SIX"),
    )


def test_a_merge_that_is_another_one_by_now_is_refused_and_points_to_the_new_one(tab):
    change = made(tab, [SIX, SIX.replace("one", "ONE"), SIX.replace("one", "ONE").replace("six", "SIX")])[1]
    digest = re.search(r'data-digest="(\w+)"', tab.page(f"/account/memory/change/{change}/revert"))[1]
    tab.save(FOOD, SIX.replace("one", "ONE").replace("six", "six or seven"))
    answer = tab.undo(change, digest=digest)
    assert (
        answer.status_code,
        answer.json()["error"]["code"],
        answer.json()["show"],
        "six or seven" in tab.text(FOOD),
    ) == (
        409,
        "stale",
        f"/account/memory/change/{change}/revert",
        True,
    )


@pytest.mark.case("revert-conflict-refused")
def test_undo_that_does_not_merge_is_refused_and_its_page_shows_both_texts(tab):
    change = made(tab, ["- one\n", "- two\n", "- three\n"])[1]
    answer = tab.undo(change)
    page = tab.page(answer.json()["show"])
    texts = re.findall(r"<pre[^>]*>\n(.*?)</pre>", page, re.DOTALL)
    assert (answer.status_code, answer.json()["error"]["code"], texts, tab.text(FOOD)) == (
        409,
        "changed",
        ["- three\n", "- one\n"],
        "- three\n",
    )
    assert ("data-digest" in page, "/account/memory/note?path=Memory/food.md" in page) == (False, True)


def test_the_page_of_a_taking_back_says_when_nothing_is_left_of_the_change(tab):
    (change,) = made(tab, ["- one\n"])
    tab.undo(change)
    page = tab.page(f"/account/memory/change/{change}/revert")
    again = tab.undo(change)
    assert ("Nothing of this change is left" in page, again.status_code) == (True, 404)


def test_a_secret_does_not_come_back_by_undo(tab):
    secret = "- sk-proj-" + "aB3" * 16 + "\n"
    tab.save(FOOD, secret, keep_secrets=True)
    (change,) = made(tab, ["- gone\n"])
    answer = tab.undo(change)
    page = tab.page(f"/account/memory/change/{change}/revert")
    assert (answer.status_code, answer.json()["error"]["code"], "looks like a secret" in page, tab.text(FOOD)) == (
        422,
        "secret",
        True,
        "- gone\n",
    )


@pytest.mark.case("foreign-id-as-unknown")
@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("GET", "/account/memory/change/{}"),
        ("GET", "/account/memory/change/{}/revert"),
        ("GET", "/account/memory?before={}"),
        ("POST", "/changes/{}/revert"),
    ],
)
def test_a_change_of_somebody_else_answers_exactly_as_an_unknown_one(tab, ada, method, address):
    (change,) = made(tab, ["- of the admin\n"])
    body = {"json": {}} if method == "POST" else {}
    foreign, unknown = (ada.browser.request(method, address.format(name), **body) for name in (change, "0" * 32))
    assert (foreign.status_code, foreign.json(), tab.text(FOOD)) == (404, unknown.json(), "- of the admin\n")
