"""Proposals, pure: what an edit becomes, what refuses it, when a card is drawn again or stale."""

import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from short_memory import proposals
from short_memory.access import placed
from short_memory.changes import FileChange
from short_memory.errors import (
    BadArgumentsError,
    BadFileError,
    BadTextError,
    ConfirmedError,
    DeclinedError,
    ExpiredError,
    NoMatchError,
    OverCapError,
    SecretError,
    StaleError,
    UnchangedError,
)
from short_memory.proposals import Edit, Proposal, draw, identity, redrawn
from tests.engine.notes import USER, append, talk

DAY = date(2026, 11, 30)
SCOPE = placed(USER, talk())
MADE = datetime(2026, 11, 30, 12, tzinfo=UTC)
INDEX = b"- food: nuts -> food.md\n"
FOOD = b"- 2026-01-01: no nuts\n"


def drawn(*edits, **present):
    there = {name.replace("_", "-") + ".md": raw for name, raw in present.items()}
    return {
        one.path.removeprefix("Memory/"): None if one.after is None else one.after.decode()
        for one in draw(SCOPE, edits, there, DAY)
    }


def proposal(*edits, **present):
    there = {name + ".md": raw for name, raw in present.items()}
    return Proposal("p1", talk(), SCOPE, edits, draw(SCOPE, edits, there, DAY), "", DAY, MADE, MADE + timedelta(days=1))


class TestEdits:
    def test_an_appended_fact_gets_the_day_and_a_new_topic_its_entry(self):
        assert drawn(append("- no nuts")) == {
            "food.md": "- 2026-11-30: no nuts\n",
            "index.md": "- food: no nuts -> food.md\n",
        }

    def test_an_entry_that_is_there_or_proposed_with_it_is_not_added_again(self):
        assert drawn(append("- tea"), food=FOOD, index=INDEX) == {
            "food.md": "- 2026-01-01: no nuts\n- 2026-11-30: tea\n"
        }
        both = drawn(append("- tea"), append("- drinks: tea -> food.md", "index.md"))
        assert both == {"food.md": "- 2026-11-30: tea\n", "index.md": "- drinks: tea -> food.md\n"}

    def test_a_topic_whose_name_an_entry_has_already_gets_a_name_of_its_own(self):
        assert (
            drawn(append("- tea"), index=b"- food: x -> meals.md\n")["index.md"]
            == "- food: x -> meals.md\n- food-2: tea -> food.md\n"
        )

    def test_an_index_entry_never_gets_a_day(self):
        assert drawn(append("- drinks: tea -> food.md", "index.md"), index=INDEX) == {
            "index.md": "- food: nuts -> food.md\n- drinks: tea -> food.md\n"
        }

    def test_a_line_that_is_no_list_item_and_one_with_a_date_stay_as_they_are(self):
        assert drawn(append("prose\n"), append("- 2025-01-01: tea"), food=FOOD, index=INDEX)["food.md"] == (
            "- 2026-01-01: no nuts\nprose\n- 2025-01-01: tea\n"
        )

    @pytest.mark.parametrize("line", ["", " ", "\n", "- a\n- b", "- a\r- b", "a\n\n"])
    def test_an_append_is_exactly_one_line(self, line):
        with pytest.raises(BadArgumentsError):
            drawn(append(line), food=FOOD, index=INDEX)

    def test_the_one_place_where_the_text_stands_is_replaced(self):
        assert drawn(Edit("food.md", old="no nuts", new="no fish"), food=FOOD, index=INDEX) == {
            "food.md": "- 2026-01-01: no fish\n"
        }
        assert drawn(Edit("food.md", old="no nuts\n", new=""), food=FOOD, index=INDEX) == {"food.md": "- 2026-01-01: "}

    @pytest.mark.parametrize(("old", "found"), [("fish", 0), ("n", 2), ("\ufeff", 0), ("aa", 2)])
    def test_text_that_stands_nowhere_or_more_than_once_is_refused_with_the_present_text(self, old, found):
        with pytest.raises(NoMatchError, match="nowhere" if found == 0 else f"{found} times") as refused:
            drawn(Edit("food.md", old=old, new="x"), food=b"- no nuts aaa\n", index=INDEX)
        assert refused.value.present == "- no nuts aaa\n"

    def test_looking_for_text_that_is_longer_than_the_file_takes_no_time(self):
        began = time.process_time()
        with pytest.raises(NoMatchError, match="nowhere"):
            drawn(Edit("food.md", old="a" * 4_000_000, new="x"), food=FOOD, index=INDEX)
        assert time.process_time() - began < 1

    def test_nothing_stands_in_a_file_that_is_not_there(self):
        with pytest.raises(NoMatchError, match="no file yet"):
            drawn(Edit("food.md", old="x", new="y"), index=INDEX)

    def test_a_whole_text_replaces_a_file_and_null_deletes_it_with_its_entry(self):
        assert drawn(Edit("food.md", text="- tea\r\n"), food=FOOD, index=INDEX) == {"food.md": "- tea\n"}
        assert drawn(Edit("food.md"), food=FOOD, index=INDEX) == {"food.md": None, "index.md": ""}
        assert drawn(Edit("index.md"), index=INDEX) == {"index.md": None}

    def test_edits_of_one_file_build_on_each_other(self):
        edits = [append("- tea"), Edit("food.md", old="tea", new="green tea"), append("- rice")]
        assert drawn(*edits)["food.md"] == "- 2026-11-30: green tea\n- 2026-11-30: rice\n"

    def test_a_last_line_without_an_end_is_ended_first(self):
        assert drawn(append("- tea"), food=b"- nuts", index=INDEX)["food.md"] == "- nuts\n- 2026-11-30: tea\n"

    def test_a_file_with_other_line_ends_is_shown_with_lf_when_it_is_written_and_left_alone_when_not(self):
        (one,) = draw(
            SCOPE,
            [append("- tea")],
            {"food.md": b"\xef\xbb\xbf- nuts\r\n", "index.md": INDEX.replace(b"\n", b"\r\n")},
            DAY,
        )
        assert (one.before, one.after) == (b"\xef\xbb\xbf- nuts\r\n", b"- nuts\n- 2026-11-30: tea\n")

    @pytest.mark.parametrize(
        ("edits", "present"),
        [
            ([append("- no nuts")], {"food": FOOD, "index": INDEX}),
            ([append("- 2020-05-05: no nuts")], {"food": FOOD, "index": INDEX}),
            ([append("- food: nuts -> food.md", "index.md")], {"index": INDEX}),
            ([Edit("food.md", text=FOOD.decode())], {"food": FOOD, "index": INDEX}),
            ([Edit("food.md", text="- a\n")], {"food": b"- a\r\n", "index": INDEX}),
            ([append("- a")], {"food": b"- a\r\n", "index": INDEX}),
            ([Edit("food.md", old="nuts", new="nuts")], {"food": FOOD, "index": INDEX}),
            ([Edit("food.md")], {}),
            ([append("- tea"), Edit("food.md", old="\n- 2026-11-30: tea", new="")], {"food": FOOD, "index": INDEX}),
        ],
    )
    def test_what_the_notes_say_already_is_no_change(self, edits, present):
        with pytest.raises(UnchangedError):
            drawn(*edits, **present)


class TestRefusals:
    @pytest.mark.parametrize("edits", [[], [append("- a")] * 17])
    def test_a_proposal_has_1_to_16_edits(self, edits):
        with pytest.raises(BadArgumentsError, match=f"it holds {len(edits)}"):
            draw(SCOPE, edits, {}, DAY)

    @pytest.mark.parametrize(
        "name", ["../food.md", "agents/food.md", "Food.md", "food", "food.md\n", "con.md", "/etc/passwd"]
    )
    def test_a_file_is_the_index_or_a_topic_of_the_scope(self, name):
        with pytest.raises(BadFileError):
            drawn(append("- a", name))

    @pytest.mark.case("propose-size-8k")
    @pytest.mark.parametrize(("size", "refused"), [(8192, False), (8193, True)])
    def test_a_proposal_has_at_most_8_kib_of_new_text(self, size, refused):
        edits = [
            Edit("a.md", text="x" * 4000),
            Edit("b.md", text="x" * 4000),
            Edit("c.md", old="", new="y" * (size - 8000)),
        ]
        if refused:
            with pytest.raises(OverCapError, match="8193 bytes of new text; at most 8192"):
                drawn(*edits)
        else:
            assert set(drawn(*edits)) == {"a.md", "b.md", "c.md", "index.md"}

    @pytest.mark.case("topic-cap-64-4096")
    @pytest.mark.parametrize(
        ("text", "measures"),
        [
            ("x\n" * 64, None),
            ("x\n" * 65, "65 lines and 130 bytes"),
            ("x" * 4096, None),
            ("x" * 4095 + "é", "1 lines and 4097 bytes"),
        ],
    )
    def test_a_topic_has_at_most_64_lines_and_4096_bytes(self, text, measures):
        if measures is None:
            assert drawn(Edit("a.md", text=text), index=b"- a: x -> a.md\n") == {"a.md": text}
        else:
            with pytest.raises(OverCapError, match=f"{measures}; at most 64 lines and 4096 bytes"):
                drawn(Edit("a.md", text=text), index=b"- a: x -> a.md\n")

    @pytest.mark.case("over-cap-repairable")
    @pytest.mark.case("index-cap-40-2048")
    def test_an_entry_too_many_is_refused_with_the_numbers_and_the_entries_there_are(self):
        full = "".join(f"- t{n}: x -> t{n}.md\n" for n in range(40)).encode()
        with pytest.raises(OverCapError, match=r"Memory/index\.md would have 41 lines .* at most 40 lines") as refused:
            drawn(append("- tea"), index=full)
        assert refused.value.entries == tuple(full.decode().split("\n")[:40])
        assert "- t39: x -> t39.md" in refused.value.text

    def test_a_file_over_its_cap_may_be_made_smaller_only_below_it(self):
        big = b"x\n" * 70
        with pytest.raises(OverCapError):
            drawn(append("- tea"), food=big, index=INDEX)
        assert drawn(Edit("food.md", text="x\n"), food=big, index=INDEX) == {"food.md": "x\n"}

    @pytest.mark.case("bad-text-refused")
    @pytest.mark.parametrize(
        "bad",
        ["a\x00", "a\u202eb", "a\u200bb", "a\u2028b", "<!-- a -->", "\ue000", "\u3164", "a\x85b", "a\x0bb", "a\x0cb"],
    )
    def test_text_that_cannot_be_seen_is_refused_with_its_line(self, bad):
        with pytest.raises(BadTextError) as refused:
            drawn(append(f"- {bad}"), food=FOOD, index=INDEX)
        assert refused.value.line == 2

    @pytest.mark.parametrize(
        "edit", [Edit("food.md", text="\ud800"), append("- \udfff"), Edit("food.md", old="no", new="\ud83d")]
    )
    def test_half_a_character_is_refused_as_bad_text(self, edit):
        with pytest.raises(BadTextError) as refused:
            drawn(edit, food=FOOD, index=INDEX)
        assert refused.value.rule == "unpaired-surrogate"

    @pytest.mark.case("secret-refused-everywhere")
    def test_a_secret_is_refused_with_its_line_and_never_its_value(self):
        with pytest.raises(SecretError) as refused:
            drawn(append("- wifi password: Tr0ub4dor&3"), food=FOOD, index=INDEX)
        assert (refused.value.line, "Tr0ub4dor" in refused.value.text) == (2, False)

    def test_what_the_owner_kept_is_not_judged_again_and_a_copy_of_it_is(self):
        kept = b"- password: Tr0ub4dor&3\n- \xe2\x80\xaex\n"
        assert drawn(append("- tea"), food=kept, index=INDEX)["food.md"].endswith("- 2026-11-30: tea\n")
        with pytest.raises(SecretError):
            drawn(Edit("food.md", old="x\n", new="x\n- password: Tr0ub4dor&3\n"), food=kept, index=INDEX)

    def test_a_secret_that_an_added_line_completes_is_refused(self):
        token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
        there = f"- {token[:20]}\n".encode()
        with pytest.raises(SecretError):
            drawn(Edit("food.md", text=f"- {token[:20]}\n{token[20:]}\n"), food=there, index=INDEX)


class TestRedrawing:
    def test_a_card_whose_files_did_not_move_stays_the_same(self):
        one = proposal(append("- tea"), food=FOOD, index=INDEX)
        assert redrawn(one, {"food.md": FOOD, "index.md": b"other"}) is one

    @pytest.mark.case("confirm-redraw-or-stale")
    def test_an_append_is_made_anew_on_the_present_text(self):
        one = proposal(append("- tea"), food=FOOD, index=INDEX)
        again = redrawn(one, {"food.md": FOOD + b"- rice\n", "index.md": INDEX})
        assert again.files == (FileChange("Memory/food.md", FOOD + b"- rice\n", FOOD + b"- rice\n- 2026-11-30: tea\n"),)
        assert (again.state, again.end, again.id) == ("open", one.end, one.id)
        assert again.digest != one.digest

    @pytest.mark.parametrize(
        ("edit", "now"),
        [
            (Edit("food.md", text="- tea\n"), FOOD + b"x\n"),
            (Edit("food.md"), FOOD + b"x\n"),
            (Edit("food.md", old="nuts", new="fish"), FOOD + b"nuts\n"),
            (Edit("food.md", old="nuts", new="fish"), None),
            (append("- tea"), FOOD + b"- 2026-05-05: tea\n"),
            (append("- tea"), b"x\n" * 64),
        ],
    )
    def test_what_cannot_be_made_anew_is_stale(self, edit, now):
        assert redrawn(proposal(edit, food=FOOD, index=INDEX), {"food.md": now, "index.md": INDEX}).state == "stale"

    def test_a_whole_text_of_a_file_that_did_not_move_is_kept_when_only_the_index_did(self):
        one = proposal(Edit("new.md", text="- tea\n"), index=INDEX)
        again = redrawn(one, {"new.md": None, "index.md": INDEX + b"- x: y -> x.md\n"})
        assert (again.state, [file.new for file in again.files]) == (
            "open",
            ["- tea\n", "- food: nuts -> food.md\n- x: y -> x.md\n- new: tea -> new.md\n"],
        )


class TestNames:
    @pytest.mark.case("propose-date-identity")
    def test_a_day_does_not_make_two_proposals_different(self):
        assert (
            identity(SCOPE, [append("- tea")])
            == identity(SCOPE, [append("- 2026-11-30: tea\n")])
            == identity(SCOPE, [append("- tea\r\n")])
        )

    @pytest.mark.parametrize(
        "edits",
        [
            [append("- coffee")],
            [append("- tea", "drinks.md")],
            [Edit("food.md", text="- tea")],
            [Edit("food.md", old="x", new="- tea")],
            [append("- tea"), append("- tea")],
        ],
    )
    def test_other_edits_are_another_proposal(self, edits):
        assert identity(SCOPE, edits) != identity(SCOPE, [append("- tea")])

    def test_the_same_edits_of_another_scope_are_another_proposal(self):
        assert identity(replace(SCOPE, index="Memory/agents/a/index.md"), [append("- tea")]) != identity(
            SCOPE, [append("- tea")]
        )

    def test_a_card_is_named_by_its_reason_its_end_and_every_byte(self):
        one = proposal(append("- tea"))
        others = [
            replace(one, why="x"),
            replace(one, end=MADE),
            replace(one, id="p2"),
            replace(one, files=one.files[:1]),
        ]
        assert one.digest not in [other.digest for other in others]
        assert (one.owner, one.identity) == ("anna", identity(SCOPE, one.edits))


@pytest.mark.case("final-states-final")
@pytest.mark.parametrize(
    ("state", "kind"),
    [("confirmed", ConfirmedError), ("declined", DeclinedError), ("expired", ExpiredError), ("stale", StaleError)],
)
def test_a_final_state_is_refused_with_its_own_code(state, kind):
    refusal = proposals.ended(replace(proposal(append("- tea")), state=state))
    assert (type(refusal), refusal.code) == (kind, state)


@pytest.mark.parametrize("after", [None, b"\xff"])
def test_a_deletion_and_bytes_that_are_no_text_come_back_unjudged(after):
    proposals.check_comes_back(FileChange("Memory/food.md", b"x", after), SCOPE.cap_of("food.md"))


def test_a_file_over_its_cap_does_not_come_back():
    with pytest.raises(OverCapError):
        proposals.check_comes_back(FileChange("Memory/food.md", b"x", b"x\r\n" * 65), SCOPE.cap_of("food.md"))
