"""The add-on on the Memory tab: off and on, agreeing, its page."""

import re

import pytest
from sqlalchemy import update

from short_memory.access import AddonGrant
from short_memory.scopes import Conversation
from short_memory_host import database as db
from tests.host.conftest import PAGE
from tests.host.memory_tab.conftest import INDEX


def switch(tab, on):
    return tab.browser.post("/account/memory/addon", json={"on": on}).status_code


def block(tab):
    return tab.held.memory.turn(Conversation("c_1", tab.id), can_call=True).block


def agree(tab, digest):
    return tab.browser.post("/account/memory/addon/agree", json={"digest": digest})


def grant_older_version(tab, *, on):
    manifest = tab.held.addon.addon.manifest
    tab.held.granting.enable(tab.id, AddonGrant(manifest.id, on, "sha256:older", manifest.context_files[:1]))


@pytest.mark.case("addon-off-deletes-nothing")
def test_switching_off_ends_the_reading_and_keeps_the_files_and_on_brings_it_back(tab):
    tab.save(INDEX, "- home: lives in Rome -> home.md\n")
    before = block(tab)
    off, without, kept, page = switch(tab, on=False), block(tab), tab.text(INDEX), tab.page()
    on, after = switch(tab, on=True), block(tab)
    assert ("lives in Rome" in before, off, without, kept, on, after) == (
        True,
        204,
        "",
        "- home: lives in Rome -> home.md\n",
        204,
        before,
    )
    assert ("lives in Rome" in page, re.search(r'id="addon-on"[^>]* checked', page)) == (True, None)


def test_switching_off_is_for_one_person_alone(tab, ada):
    ada.save(INDEX, "- home: lives in Oslo -> home.md\n")
    switch(tab, on=False)
    assert "lives in Oslo" in block(ada)


def test_name_version_and_state_of_the_program_stand_on_the_tab(tab):
    manifest, page = tab.held.addon.addon.manifest, tab.page()
    words = (manifest.name, manifest.version, "Its program", "/account/memory/about")
    assert [word in page for word in words] == [True] * 4


def test_without_an_agreement_there_is_no_switch_and_nothing_is_allowed(tab):
    tab.held.granting.remove(tab.id, tab.held.addon.addon.manifest.id)
    page = tab.page()
    assert ("data-switch" in page, "does nothing before you agree" in page, switch(tab, on=True)) == (False, True, 404)


def test_agreeing_allows_what_the_manifest_asks_for(tab):
    manifest = tab.held.addon.addon.manifest
    tab.held.granting.remove(tab.id, manifest.id)
    shown = re.search(r'data-agree="([^"]*)"', tab.page())[1]
    answer = agree(tab, shown)
    wanted = AddonGrant(manifest.id, on=True, digest=manifest.capabilities_digest, files=manifest.context_files)
    assert (answer.status_code, tab.held.granting.of(tab.id).addons, "data-agree" in tab.page()) == (
        204,
        (wanted,),
        False,
    )


def test_a_version_that_asks_for_something_else_says_what_in_the_hosts_words(tab):
    grant_older_version(tab, on=True)
    page = tab.page()
    words = ("asks for something else", "Memory/channels/{binding}-{hash}/index.md", "gets no network")
    assert [word in page for word in words] == [True] * 3


@pytest.mark.parametrize("on", [True, False])
def test_agreeing_to_a_new_version_leaves_the_switch_as_it_was(tab, on):
    grant_older_version(tab, on=on)
    agree(tab, tab.held.addon.addon.manifest.capabilities_digest)
    assert [one.on for one in tab.held.granting.of(tab.id).addons] == [on]


def test_a_yes_to_another_list_than_the_present_one_allows_nothing(tab):
    grant_older_version(tab, on=True)
    answer = agree(tab, "sha256:older")
    assert (answer.status_code, len(tab.held.granting.of(tab.id).addons[0].files)) == (422, 1)


@pytest.mark.case("page-safe")
def test_the_page_of_the_addon_links_to_places_of_this_host_and_makes_words_of_others(tab):
    page = tab.page("/account/memory/about")
    assert ('<a href="/account/memory">Open my notes</a>' in page, "host:" in page) == (True, False)


@pytest.mark.parametrize(("language", "words"), [("it", "Apri le mie note"), ("de", "Open my notes")])
def test_the_page_of_the_addon_comes_in_the_persons_language_or_in_english(tab, host, language, words):
    with host.database.write() as connection:
        connection.execute(update(db.people).where(db.people.c.id == tab.id).values(language=language))
    assert words in tab.browser.get("/account/memory/about", headers=PAGE).text


@pytest.mark.case("host-csrf")
@pytest.mark.parametrize(
    ("address", "body"),
    [
        ("/account/memory/addon", {"on": False}),
        ("/account/memory/addon/agree", {"digest": ""}),
        ("/account/memory/note", {"path": INDEX, "text": "", "version": ""}),
        ("/account/memory/note/delete", {"path": INDEX, "version": ""}),
        ("/account/memory/topic", {"at": INDEX, "name": "food", "first": "x"}),
        ("/changes/0/revert", {}),
    ],
)
def test_nothing_is_changed_without_the_token_of_the_session(tab, address, body):
    del tab.browser.headers["x-csrf-token"]
    assert tab.browser.post(address, json=body).status_code == 403
