"""The editor of a note."""

import html
import re

import pytest

from tests.host.conftest import PAGE
from tests.host.memory_tab.conftest import FOOD, INDEX

SECRET = "- the key is sk-proj-" + "aB3" * 16 + "\n"


def textarea(page):
    """Read the text of the editor as a browser does: the first line end after the tag is not part of it."""
    return html.unescape(re.search(r"<textarea[^>]*>\n?(.*?)</textarea>", page, re.DOTALL)[1])


def editor(tab, path):
    return tab.page(f"/account/memory/note?path={path}")


def error(answer):
    found = answer.json()["error"]
    return answer.status_code, found["code"], found["line"]


def topic(tab, **more):
    body = {"at": INDEX, "name": "food", "first": "allergic to nuts"} | more
    return tab.browser.post("/account/memory/topic", json=body)


@pytest.mark.parametrize("text", ["- one\n", "\n- after an empty line\n", "</textarea><b>&amp;\n", "- no end"])
def test_the_editor_gives_back_the_text_of_the_file(tab, text):
    tab.put(FOOD, text)
    assert textarea(editor(tab, FOOD)) == text


@pytest.mark.case("tab-editor-meter")
def test_the_editor_shows_lines_and_bytes_against_the_caps_of_the_file(tab):
    tab.put(INDEX, "- food: likes -> food.md\n")
    tab.put(FOOD, "- è\n- b\n")
    meters = [
        (*re.findall(r'data-most-\w+="(\d+)"', page), *re.findall(r"<output>(.*?)</output>", page))
        for page in (editor(tab, INDEX), editor(tab, FOOD))
    ]
    assert meters == [("40", "2048", "1 / 40", "25 / 2048"), ("64", "4096", "2 / 64", "9 / 4096")]


def test_saving_writes_the_text_and_answers_with_the_new_version_and_a_receipt(tab):
    answer = tab.save(FOOD, "- likes olives\n").json()
    assert (answer["version"], "Saved: Memory/food.md" in answer["html"], tab.text(FOOD)) == (
        tab.version(FOOD),
        True,
        "- likes olives\n",
    )


@pytest.mark.case("tab-save-conflict")
@pytest.mark.case("version-conflict-refused")
def test_saving_on_another_version_writes_nothing_and_gives_the_present_text(tab):
    tab.save(FOOD, "- one\n")
    seen = tab.version(FOOD)
    tab.put(FOOD, "- another program was here\n")
    answer = tab.save(FOOD, "- mine\n", version=seen)
    assert (error(answer), answer.json()["present"], tab.text(FOOD)) == (
        (409, "conflict", None),
        {"text": "- another program was here\n", "version": tab.version(FOOD), "why_not": ""},
        "- another program was here\n",
    )


@pytest.mark.case("tab-save-conflict")
def test_mine_can_be_kept_on_the_version_that_the_conflict_gave(tab):
    tab.save(FOOD, "- one\n")
    tab.put(FOOD, "- theirs\n")
    present = tab.save(FOOD, "- mine\n", version="0000000000").json()["present"]
    kept = tab.save(FOOD, "- mine\n", version=present["version"])
    assert (kept.status_code, tab.text(FOOD)) == (200, "- mine\n")


def test_a_file_that_was_deleted_meanwhile_is_a_conflict_with_no_version(tab):
    tab.save(FOOD, "- one\n")
    seen = tab.version(FOOD)
    (tab.folder / FOOD).unlink()
    answer = tab.save(FOOD, "- mine\n", version=seen).json()
    assert answer["present"] == {"text": "", "version": "", "why_not": ""}


def test_a_text_over_its_cap_is_refused_with_the_numbers(tab):
    answer = tab.save(FOOD, "- x\n" * 65)
    assert (
        error(answer),
        "65 lines and 260 bytes; at most 64 lines and 4096 bytes" in answer.text,
        tab.text(FOOD),
    ) == (
        (422, "over-cap", None),
        True,
        None,
    )


def test_text_that_cannot_be_seen_is_refused_with_its_line(tab):
    answer = tab.save(FOOD, "- one\n- two\u202ethree\n")
    assert (error(answer), tab.text(FOOD)) == ((422, "bad-text", 2), None)


@pytest.mark.case("secret-refused-everywhere")
def test_a_secret_is_refused_with_rule_and_line_and_never_its_value(tab):
    answer = tab.save(FOOD, "- one\n" + SECRET)
    assert (error(answer), "sk-proj" in answer.text, "model-api-key" in answer.text, tab.text(FOOD)) == (
        (422, "secret", 2),
        False,
        True,
        None,
    )


@pytest.mark.case("secret-overrule-owner-only")
def test_the_owner_keeps_a_line_that_looks_like_a_secret_by_saying_so(tab):
    refused = tab.save(FOOD, SECRET, keep_secrets=False)
    kept = tab.save(FOOD, SECRET, keep_secrets=True)
    assert (refused.status_code, kept.status_code, tab.text(FOOD)) == (422, 200, SECRET)


def test_saving_the_same_text_is_answered_in_words_for_the_owner(tab):
    tab.save(FOOD, "- one\n")
    answer = tab.save(FOOD, "- one\n")
    assert (error(answer), "Nothing had to be written" in answer.text) == ((409, "unchanged", None), True)


def test_a_disk_that_refuses_is_answered_with_507_and_nothing_is_written(tab):
    tab.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    staging = tab.folder.parent / ".staging"
    staging.rmdir()
    staging.write_text("no folder")
    answer = tab.save(FOOD, "- one\n")
    assert (error(answer), tab.text(FOOD)) == ((507, "storage", None), None)


@pytest.mark.case("tab-new-and-delete-topic")
def test_a_new_topic_gets_its_first_fact_with_the_day_and_its_index_entry(tab):
    answer = topic(tab)
    assert (answer.status_code, answer.json()["url"], tab.text(FOOD), tab.text(INDEX)) == (
        201,
        "/account/memory/note?path=Memory/food.md",
        "- 2026-11-30: allergic to nuts\n",
        "- food: allergic to nuts -> food.md\n",
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Food", "lower-case letters"),
        ("index", "is not index"),
        ("../food", "lower-case letters"),
        ("a" * 33, "1 to 32"),
        ("", "1 to 32"),
        ("food", "food.md already"),
    ],
)
def test_a_topic_that_cannot_be_made_is_refused_with_the_grammar(tab, name, sentence):
    topic(tab)
    answer = topic(tab, name=name)
    assert (answer.status_code, sentence in answer.json()["error"]["text"]) == (422, True)


def test_a_new_topic_with_a_secret_is_refused_in_the_words_of_the_owner(tab):
    answer = topic(tab, first=SECRET)
    assert (error(answer), tab.text(FOOD)) == ((422, "secret", 1), None)


@pytest.mark.case("tab-new-and-delete-topic")
def test_deleting_a_topic_takes_its_entry_along_and_can_be_undone(tab):
    topic(tab)
    body = {"path": FOOD, "version": tab.version(FOOD)}
    deleted = tab.browser.post("/account/memory/note/delete", json=body)
    gone = (tab.text(FOOD), tab.text(INDEX))
    tab.undo(tab.last())
    assert (deleted.status_code, gone, tab.text(FOOD), tab.text(INDEX)) == (
        200,
        (None, ""),
        "- 2026-11-30: allergic to nuts\n",
        "- food: allergic to nuts -> food.md\n",
    )


def test_deleting_on_another_version_deletes_nothing(tab):
    topic(tab)
    answer = tab.browser.post("/account/memory/note/delete", json={"path": FOOD, "version": "0000000000"})
    assert (error(answer)[:2], answer.json()["present"]["text"]) == ((409, "conflict"), tab.text(FOOD))


@pytest.mark.case("links-not-followed")
def test_a_link_is_shown_with_its_reason_and_without_an_editor(tab, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("- of somebody else\n")
    tab.put(INDEX, "- food: a trap -> food.md\n")
    (tab.folder / FOOD).symlink_to(outside)
    page = editor(tab, FOOD)
    saved = tab.browser.post("/account/memory/note", json={"path": FOOD, "text": "- x\n", "version": ""})
    assert ("it is a link" in page, "<textarea" in page, saved.status_code, outside.read_text()) == (
        True,
        False,
        409,
        "- of somebody else\n",
    )


@pytest.mark.parametrize(
    "path", ["", "index.md", "../p_x/Memory/index.md", "Memory/../../x.md", "Notes/food.md", "Memory/Food.md"]
)
def test_a_path_outside_of_the_notes_answers_as_unknown_everywhere(tab, path):
    body = {"path": path, "text": "- x\n", "version": ""}
    answers = [
        tab.browser.get("/account/memory/note", params={"path": path}, headers=PAGE),
        tab.browser.post("/account/memory/note", json=body),
        tab.browser.post("/account/memory/note/delete", json=body),
        topic(tab, at=path.removesuffix("index.md") + "nowhere.md"),
    ]
    assert [answer.status_code for answer in answers] == [404, 404, 404, 404]


def test_the_same_path_of_two_people_leads_to_two_notes(tab, ada):
    tab.save(FOOD, "- of the admin\n")
    assert textarea(editor(ada, FOOD)) == ""
    ada.save(FOOD, "- of Ada\n")
    assert (tab.text(FOOD), ada.text(FOOD)) == ("- of the admin\n", "- of Ada\n")


def test_the_editor_of_an_index_says_what_an_entry_looks_like(tab):
    assert ("-&gt; home.md" in editor(tab, INDEX), "-&gt; home.md" in editor(tab, FOOD)) == (True, False)


@pytest.mark.case("log-no-content")
def test_saving_logs_who_and_how_much_and_never_the_text(tab, caplog):
    caplog.set_level("INFO", "short_memory_host")
    tab.save(FOOD, "- very private words\n")
    line = next(record for record in caplog.records if record.message == "note-saved")
    assert (line.facts["person"], line.facts["count"]) == (tab.id, 2)
    assert "private" not in " ".join(f"{record.message} {record.__dict__.get('facts')}" for record in caplog.records)
