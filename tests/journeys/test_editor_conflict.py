"""Two windows on one note: the second to save sees both texts, loses neither, and decides."""

import pytest
from playwright.sync_api import expect

NOTE = "/account/memory/note?path=Memory/food.md"
FIRST, SECOND = "- allergic to nuts\n- likes figs\n", "- allergic to nuts\n- likes plums\n"


def text_of(tab):
    return tab.page.get_by_label("Text", exact=True)


@pytest.mark.case("journey-editor-conflict")
@pytest.mark.case("tab-save-conflict")
@pytest.mark.case("tab-editor-meter")
def test_the_second_of_two_editors_sees_both_texts_and_keeps_its_own(window, keep_nuts):
    keep_nuts()
    first, second = window.another(), window.another()
    for tab, text in ((first, FIRST), (second, SECOND)):
        tab.open(NOTE)
        text_of(tab).fill(text)
    expect(second.page.get_by_label("Bytes").locator("xpath=..").locator("output")).to_have_text(
        f"{len(SECOND)} / 4096"
    )

    first.button("Save").click()
    expect(first.page.locator("#receipt")).to_contain_text("Saved")
    window.expected_refusals.add(409)
    second.button("Save").click()
    expect(second.page.get_by_label("Yours")).to_have_text(SECOND)
    expect(second.page.get_by_label("In the file now")).to_have_text(FIRST)
    expect(text_of(second)).to_have_value(SECOND)
    assert window.host.texts()["food.md"] == FIRST

    second.button("Keep mine").click()
    expect(second.page.locator("#receipt")).to_contain_text("Saved")
    assert window.host.texts()["food.md"] == SECOND


@pytest.mark.case("tab-save-conflict")
@pytest.mark.case("tab-changes-undo")
def test_taking_the_other_text_loses_nothing_and_each_save_can_be_undone(window, keep_nuts):
    keep_nuts()
    first, second = window.another(), window.another()
    for tab, text in ((first, FIRST), (second, SECOND)):
        tab.open(NOTE)
        text_of(tab).fill(text)
    first.button("Save").click()
    expect(first.page.locator("#receipt")).to_contain_text("Saved")
    window.expected_refusals.add(409)
    second.button("Save").click()
    second.button("Take theirs").click()
    expect(text_of(second)).to_have_value(FIRST)
    expect(second.page.get_by_label("Yours")).to_have_text(SECOND)

    window.go("Memory")
    expect(window.page.locator(".change-row")).to_have_count(2)
    window.page.locator(".change-row").first.get_by_role("button").click()
    expect(window.toast).to_contain_text("Undone.")
    assert window.host.texts()["food.md"] == "- 2026-11-30: allergic to nuts\n"
