"""The one door for chats: the life of a proposal, in every order in which things can happen to it."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from threading import Thread
from zoneinfo import ZoneInfo

import pytest

from short_memory import caps
from short_memory.access import AgentGrant
from short_memory.changes import FileChange
from short_memory.errors import (
    AlreadyDeclinedError,
    BadArgumentsError,
    BadFileError,
    BadTextError,
    ChangedError,
    ConfirmedError,
    DeclinedError,
    ExpiredError,
    LimitError,
    NoChangeError,
    NoProposalError,
    NoScopeError,
    OverCapError,
    SecretError,
    StaleError,
    UnchangedError,
    UnreadableError,
)
from short_memory.memory import Memory
from short_memory.proposals import Edit
from short_memory.scopes import OWNER as BY_OWNER
from short_memory.scopes import Actor
from short_memory.store.note_store import NoteStore
from tests.clock import NOON
from tests.engine.notes import ALL, OWNER, ROOM, append, talk

FOOD, INDEX = "Memory/food.md", "Memory/index.md"
SAVED = {FOOD: "- 2026-11-30: allergic to nuts\n", INDEX: "- food: allergic to nuts -> food.md\n"}


class TestProposing:
    @pytest.mark.case("write-only-by-owner")
    def test_a_proposal_touches_no_note(self, notes):
        one = notes.append()
        assert (notes.files(), one.state, one.end - one.made) == ({}, "open", timedelta(hours=24))
        assert {file.path: file.new for file in one.files} == SAVED

    @pytest.mark.case("propose-completes-index")
    def test_the_entry_of_a_new_topic_is_part_of_the_proposal(self, notes):
        assert notes.append().files == (
            FileChange(FOOD, None, SAVED[FOOD].encode()),
            FileChange(INDEX, None, SAVED[INDEX].encode()),
        )

    @pytest.mark.case("propose-collapses-identical")
    def test_the_same_asked_again_is_the_same_proposal(self, notes, clock):
        one = notes.append()
        clock.move(hours=1)
        assert notes.propose(talk("c2"), append("- 2020-01-01: allergic to nuts"), why="again").id == one.id
        assert [open_one.id for open_one in notes.memory.open_proposals(OWNER)] == [one.id]

    @pytest.mark.case("propose-declined-30-days")
    @pytest.mark.parametrize(
        ("later", "remembered"),
        [({"days": 29, "hours": 23}, True), ({"days": 30}, True), ({"days": 30, "milliseconds": 1}, False)],
    )
    def test_a_declined_proposal_is_remembered_for_30_days(self, notes, clock, later, remembered):
        one = notes.append()
        notes.memory.decline(OWNER, one.id)
        clock.move(**later)
        if remembered:
            with pytest.raises(AlreadyDeclinedError) as refused:
                notes.append(chat=talk("c2"))
            assert refused.value.proposal == one.id
        else:
            assert notes.append(chat=talk("c2")).state == "open"

    def test_what_was_declined_may_be_asked_in_other_words(self, notes):
        notes.memory.decline(OWNER, notes.append().id)
        assert notes.append("- nuts make me ill").state == "open"

    @pytest.mark.case("propose-limits")
    def test_a_sixth_open_proposal_of_a_conversation_is_refused(self, notes):
        made = [notes.append(f"- fact {n}") for n in range(5)]
        with pytest.raises(LimitError, match="5 proposals open in this chat"):
            notes.append("- fact 5")
        assert notes.append("- fact 5", chat=talk("c2")).state == "open"
        notes.memory.decline(OWNER, made[0].id)
        assert notes.append("- fact 6").state == "open"

    @pytest.mark.case("propose-limits")
    def test_a_21st_proposal_of_an_agent_in_24_hours_is_refused(self, notes, clock):
        notes.granting.allow_agent(OWNER, "coach", "memory", ALL)
        for n in range(20):
            notes.memory.decline(OWNER, notes.append(f"- fact {n}").id)
        with pytest.raises(LimitError, match="20 proposals in the last 24 hours"):
            notes.append("- fact 20")
        assert notes.append("- fact 20", chat=talk(agent="coach")).state == "open"
        clock.move(hours=24)
        assert notes.append("- fact 21").state == "open"

    @pytest.mark.case("propose-limits")
    def test_a_61st_open_proposal_is_refused(self, notes):
        for agent in range(4):
            notes.granting.allow_agent(OWNER, f"a{agent}", "memory", ALL)
        for n in range(60):
            notes.append(f"- fact {n}", chat=talk(f"c{n // 5}", agent=f"a{n // 20}"))
        with pytest.raises(LimitError, match="60 proposals open in all"):
            notes.append("- fact 60", chat=talk("c99", agent="a3"))

    def test_limits_of_one_person_are_not_those_of_another(self, notes):
        notes.granting.enable("bea", notes.granting.of(OWNER).addons[0])
        for n in range(5):
            notes.append(f"- fact {n}")
        assert notes.append("- fact", chat=talk(owner="bea")).state == "open"

    @pytest.mark.case("propose-dates-item")
    @pytest.mark.parametrize(
        ("utc", "zone", "day"),
        [
            (datetime(2026, 11, 30, 22, 59, 59, tzinfo=UTC), "Europe/Rome", "2026-11-30"),
            (datetime(2026, 11, 30, 23, 0, tzinfo=UTC), "Europe/Rome", "2026-12-01"),
            (datetime(2026, 6, 30, 21, 59, tzinfo=UTC), "Europe/Rome", "2026-06-30"),
            (datetime(2026, 6, 30, 22, 0, tzinfo=UTC), "Europe/Rome", "2026-07-01"),
            (datetime(2026, 11, 30, 10, 59, tzinfo=UTC), "Pacific/Auckland", "2026-11-30"),
            (datetime(2026, 11, 30, 11, 0, tzinfo=UTC), "Pacific/Auckland", "2026-12-01"),
            (datetime(2026, 11, 30, 9, 59, tzinfo=UTC), "Pacific/Honolulu", "2026-11-29"),
        ],
    )
    def test_a_fact_gets_the_day_that_it_is_for_the_person(self, notes, clock, utc, zone, day):
        clock.now = utc
        one = notes.propose(talk(), append("- tea"), zone=ZoneInfo(zone))
        assert one.files[0].new == f"- {day}: tea\n"

    def test_only_scopes_that_the_turn_may_write_can_be_named(self, notes):
        notes.granting.allow_agent(OWNER, "coach", "memory", AgentGrant(read=True))
        for chat, kind, listed in [
            (talk(), "agent", "user"),
            (talk(), "nobody", "user"),
            (talk(agent="coach"), "user", "none"),
        ]:
            with pytest.raises(NoScopeError, match=f"Scopes you can use: {listed}."):
                notes.propose(chat, append("- a"), kind=kind)

    def test_a_proposal_of_an_agent_or_a_channel_writes_there(self, notes):
        notes.granting.allow_agent(OWNER, "coach", "memory", ALL)
        chat = talk(agent="coach", channel=ROOM)
        for kind, folder in [
            ("agent", "Memory/agents/coach"),
            ("channel", f"Memory/channels/{ROOM.binding}-{ROOM.hash}"),
        ]:
            notes.confirm(notes.propose(chat, append("- a", "x.md"), kind=kind))
            assert notes.text(f"{folder}/x.md") == "- 2026-11-30: a\n"

    @pytest.mark.parametrize(
        ("why", "error"),
        [
            ("x" * 201, BadArgumentsError),
            ("a\nb", BadArgumentsError),
            ("a\x00", BadTextError),
            ("a\rb", BadTextError),
            ("a\u202eb", BadTextError),
            ("password: Tr0ub4dor&3", SecretError),
        ],
    )
    def test_a_reason_is_one_clean_line(self, notes, why, error):
        with pytest.raises(error):
            notes.propose(talk(), append("- a"), why=why)
        assert notes.propose(talk(), append("- a"), why="x" * 200).why == "x" * 200

    @pytest.mark.parametrize("name", ["../food.md", "agents/coach/food.md", "/etc/passwd", "Food.md", "food"])
    def test_a_path_is_refused_before_the_disk_is_asked(self, notes, name):
        with pytest.raises(BadFileError):
            notes.append(file=name)

    def test_a_file_that_is_no_text_is_not_written_over(self, notes):
        notes.write(FOOD, b"\xff")
        with pytest.raises(UnreadableError, match="not UTF-8"):
            notes.append()

    def test_a_hard_link_is_refused_and_does_not_hold_the_lock_for_ever(self, notes, tmp_path):
        (tmp_path / "x").write_text("x")
        notes.write(INDEX, "").unlink()
        notes.place(INDEX).hardlink_to(tmp_path / "x")
        with pytest.raises(UnreadableError, match="second name"):
            notes.append()
        notes.place(INDEX).unlink()
        assert notes.append().state == "open"


class TestConfirming:
    def test_a_confirmed_proposal_is_what_the_card_showed(self, notes):
        one = notes.append()
        change = notes.confirm(one)
        assert (notes.files(), change.files, change.actor, change.cause) == (SAVED, one.files, BY_OWNER, "proposal")
        assert (change.conversation, change.proposal, notes.staged()) == ("c1", one.id, [])
        assert notes.memory.proposal(OWNER, one.id).change == change.id

    @pytest.mark.case("confirm-idempotent")
    def test_confirming_again_gives_the_first_change_set_whatever_card_it_names(self, notes, clock):
        one = notes.append()
        first = notes.confirm(one)
        clock.move(days=3)
        assert [notes.memory.confirm(OWNER, one.id, digest) for digest in (one.digest, None, "other")] == [first] * 3
        assert len(notes.notebook.history(OWNER, limit=9)) == 1

    @pytest.mark.case("confirm-digest")
    @pytest.mark.parametrize("digest", ["", "0" * 64, "abc"])
    def test_a_yes_for_another_card_is_refused_and_the_proposal_stays_open(self, notes, digest):
        one = notes.append()
        with pytest.raises(StaleError) as refused:
            notes.memory.confirm(OWNER, one.id, digest)
        assert (refused.value.redrawn, notes.files(), notes.memory.proposal(OWNER, one.id)) == (True, {}, one)

    @pytest.mark.case("foreign-id-as-unknown")
    def test_a_foreign_proposal_answers_as_an_unknown_one(self, notes):
        one = notes.append()
        notes.granting.enable("bea", notes.granting.of(OWNER).addons[0])
        answers = set()
        for owner, name in [("bea", one.id), ("bea", "0" * 32), (OWNER, "0" * 32), ("nobody", one.id)]:
            for call in (notes.memory.proposal, notes.memory.decline, notes.memory.propose_again):
                answers.add(_refusal(call, owner, name))
            answers.add(_refusal(notes.memory.confirm, owner, name, one.digest))
        assert answers == {("no-proposal", NoProposalError().text)}
        assert notes.memory.proposal(OWNER, one.id).state == "open"

    @pytest.mark.case("propose-expiry-24h")
    def test_a_proposal_is_closed_at_24_hours_sharp(self, notes, clock):
        early, late = notes.append("- early"), notes.append("- late", file="late.md")
        clock.move(hours=24, milliseconds=-1)
        assert notes.confirm(early).proposal == early.id
        clock.move(milliseconds=1)
        with pytest.raises(ExpiredError):
            notes.confirm(late)
        assert notes.memory.open_proposals(OWNER) == []

    @pytest.mark.case("propose-expiry-24h")
    @pytest.mark.parametrize(
        "made",
        [
            datetime(2026, 3, 28, 12, tzinfo=ZoneInfo("Europe/Rome")),
            datetime(2026, 10, 24, 12, tzinfo=ZoneInfo("Europe/Rome")),
        ],
    )
    def test_24_hours_are_24_hours_where_the_clocks_change(self, notes, clock, made):
        clock.now = made.astimezone(UTC)
        one = notes.propose(talk(), append("- a"), zone=made.tzinfo)
        assert one.end - made.astimezone(UTC) == timedelta(hours=24)
        clock.move(hours=23, minutes=59, seconds=59)
        assert notes.memory.proposal(OWNER, one.id).state == "open"
        clock.move(seconds=1)
        assert notes.memory.proposal(OWNER, one.id).state == "expired"

    @pytest.mark.case("expiry-clock-back")
    def test_a_clock_set_back_does_not_reopen_what_was_seen_to_expire(self, notes, clock):
        one = notes.append()
        clock.move(hours=25)
        assert notes.memory.open_proposals(OWNER) == []
        clock.move(hours=-24)
        with pytest.raises(ExpiredError):
            notes.confirm(one)

    @pytest.mark.case("confirm-redraw-or-stale")
    def test_an_append_on_a_changed_file_is_drawn_again_and_asked_again(self, notes):
        one = notes.append()
        notes.write(INDEX, "- home: Rome -> home.md\n")
        with pytest.raises(StaleError) as refused:
            notes.confirm(one)
        assert refused.value.redrawn is True
        again = notes.memory.proposal(OWNER, one.id)
        assert (again.digest != one.digest, again.end, again.state) == (True, one.end, "open")
        notes.confirm(again)
        assert notes.text(INDEX) == "- home: Rome -> home.md\n- food: allergic to nuts -> food.md\n"

    @pytest.mark.case("confirm-redraw-or-stale")
    def test_a_whole_text_on_a_changed_file_is_stale_and_stays_so(self, notes):
        notes.save(FOOD, "- tea\n")
        one = notes.propose(talk(), Edit("food.md", text="- rice\n"))
        notes.write(FOOD, "- tea\n- salt\n")
        for _ in range(2):
            with pytest.raises(StaleError) as refused:
                notes.confirm(one)
            assert refused.value.redrawn is False
        notes.write(FOOD, "- tea\n")
        assert notes.memory.proposal(OWNER, one.id).state == "stale"
        assert notes.text(FOOD) == "- tea\n"

    def test_a_file_that_became_unreadable_makes_a_proposal_stale(self, notes):
        one = notes.append()
        notes.write(FOOD, b"\xff")
        assert notes.memory.proposal(OWNER, one.id).state == "stale"

    @pytest.mark.case("final-states-final")
    def test_a_decision_is_the_last_one(self, notes, clock):
        declined, confirmed, expired = (notes.append(f"- {n}", file=f"{n}.md") for n in "abc")
        notes.memory.decline(OWNER, declined.id)
        change = notes.confirm(confirmed)
        with pytest.raises(DeclinedError):
            notes.confirm(declined)
        with pytest.raises(ConfirmedError):
            notes.memory.decline(OWNER, confirmed.id)
        assert notes.memory.decline(OWNER, declined.id).state == "declined"
        clock.move(days=2)
        with pytest.raises(ExpiredError):
            notes.memory.decline(OWNER, expired.id)
        assert notes.memory.confirm(OWNER, confirmed.id, None) == change
        assert notes.files().keys() == {"Memory/b.md", INDEX}

    @pytest.mark.case("version-conflict-refused")
    @pytest.mark.parametrize(("edit", "redrawn"), [(append("- tea"), True), (Edit("food.md", text="- tea\n"), False)])
    def test_an_edit_between_the_check_and_the_write_is_kept_and_the_yes_refused(self, notes, edit, redrawn):
        notes.save(FOOD, "- rice\n")
        one = notes.propose(talk(), edit)
        with closing(EditedMeanwhile(notes.data, notes.place(FOOD))) as store, pytest.raises(StaleError) as refused:
            Memory(store, notes.clock).confirm(OWNER, one.id, one.digest)
        assert (refused.value.redrawn, notes.text(FOOD), notes.staged()) == (redrawn, "- mine\n", [])
        assert notes.memory.proposal(OWNER, one.id).state == ("open" if redrawn else "stale")

    @pytest.mark.case("fifty-confirms-one-change")
    def test_50_confirmations_at_once_give_one_change_set(self, notes):
        one, found = notes.append(), []

        def confirm():
            with notes.again() as other:
                found.append(other.memory.confirm(OWNER, one.id, one.digest).id)

        threads = [Thread(target=confirm) for _ in range(25)]
        threads += [Thread(target=lambda: found.append(notes.confirm(one).id)) for _ in range(25)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(found), len(set(found)), len(notes.notebook.history(OWNER, limit=99))) == (50, 1, 1)


class EditedMeanwhile(NoteStore):
    """A store whose disk another program edits after everything was checked."""

    def __init__(self, data, place):
        super().__init__(data)
        self.place = place

    def apply(self, change, *, decided=None):
        self.place.write_text("- mine\n")
        super().apply(change, decided=decided)


def _refusal(call, *arguments):
    with pytest.raises(NoProposalError) as refused:
        call(*arguments)
    return refused.value.code, refused.value.text


class TestProposingAgain:
    def test_an_owner_opens_a_declined_proposal_anew(self, notes, clock):
        old = notes.append()
        notes.memory.decline(OWNER, old.id)
        clock.move(days=2)
        again = notes.memory.propose_again(OWNER, old.id)
        assert (again.state, again.end, again.files) == ("open", clock.now + timedelta(hours=24), old.files)
        assert (again.id != old.id, again.digest != old.digest) == (True, True)
        assert notes.memory.propose_again(OWNER, old.id).id == again.id
        assert notes.memory.propose_again(OWNER, again.id).id == again.id
        assert notes.append().id == again.id
        notes.confirm(again)
        assert notes.files() == SAVED

    def test_what_is_confirmed_or_may_not_be_written_any_more_is_not_opened(self, notes):
        confirmed, declined = notes.append(), notes.append("- tea")
        notes.confirm(confirmed)
        notes.memory.decline(OWNER, declined.id)
        with pytest.raises(ConfirmedError):
            notes.memory.propose_again(OWNER, confirmed.id)
        notes.granting.switch(OWNER, "memory", on=False)
        with pytest.raises(NoScopeError):
            notes.memory.propose_again(OWNER, declined.id)

    def test_what_the_notes_say_by_now_is_not_opened(self, notes):
        one = notes.append()
        notes.memory.decline(OWNER, one.id)
        notes.save(FOOD, "- allergic to nuts\n")
        with pytest.raises(UnchangedError):
            notes.memory.propose_again(OWNER, one.id)


class TestNews:
    @pytest.mark.case("outcome-told-once")
    def test_a_model_is_told_once_what_became_of_its_proposals(self, notes, clock):
        names = {name: notes.append(f"- {name}", file=f"{name}.md") for name in ("yes", "no", "late")}
        assert notes.memory.news(talk()) == []
        change = notes.confirm(names["yes"])
        notes.memory.decline(OWNER, names["no"].id)
        clock.move(hours=24)
        news = notes.memory.news(talk())
        assert [(one.id, one.state, one.change) for one in news] == [
            (names["yes"].id, "confirmed", change.id),
            (names["no"].id, "declined", None),
            (names["late"].id, "expired", None),
        ]
        assert (notes.memory.news(talk("c2")), notes.memory.news(talk(owner="bea"))) == ([], [])
        notes.memory.told(news)
        assert notes.memory.news(talk()) == []
        assert [one.state for one in notes.memory.proposals_of(talk())] == ["confirmed", "declined", "expired"]

    def test_being_told_changes_nothing_but_that(self, notes):
        one = notes.append()
        notes.memory.told([one])
        notes.confirm(one)
        notes.memory.told([one])
        assert notes.memory.proposal(OWNER, one.id).state == "confirmed"

    def test_nothing_is_told_of_a_confirmation_that_is_still_being_written(self, notes):
        one = notes.append()
        told = []

        class Looking(NoteStore):
            def apply(self, change, *, decided=None):
                self.journal.intend(change, decided)
                thread = Thread(target=lambda: told.append(notes.memory.news(talk())))
                thread.start()
                thread.join(0.2)
                assert told == []
                self.journal.failed(change.id)
                waiting.append(thread)

        waiting = []
        with closing(Looking(notes.data)) as store:
            Memory(store, notes.clock).confirm(OWNER, one.id, one.digest)
        waiting[0].join()
        assert told == [[]]


class TestTakingBackByAModel:
    @pytest.mark.case("revert-model-last-only")
    def test_a_model_takes_back_the_last_confirmed_proposal_of_its_chat_once(self, notes):
        notes.confirm(notes.append())
        change = notes.confirm(notes.append("- tea"))
        back = notes.memory.revert_own(talk(), None)
        assert (back.reverts, back.cause, back.actor, notes.files()) == (change.id, "revert", Actor("model"), SAVED)
        for name in (None, change.id, back.id):
            with pytest.raises(NoChangeError):
                notes.memory.revert_own(talk(), name)

    def test_an_earlier_one_another_chats_or_none_is_no_change(self, notes):
        with pytest.raises(NoChangeError):
            notes.memory.revert_own(talk(), None)
        first, second = notes.confirm(notes.append()), notes.confirm(notes.append("- tea"))
        for chat, name in [
            (talk(), first.id),
            (talk("c2"), second.id),
            (talk("c2"), None),
            (talk(owner="bea"), second.id),
        ]:
            with pytest.raises(NoChangeError):
                notes.memory.revert_own(chat, name)
        assert notes.memory.revert_own(talk(), second.id).reverts == second.id

    def test_what_the_owner_took_back_is_not_taken_back_again(self, notes):
        change = notes.confirm(notes.append())
        notes.notebook.revert(OWNER, change.id, digest=None)
        with pytest.raises(NoChangeError):
            notes.memory.revert_own(talk(), None)

    @pytest.mark.parametrize("after", ["- 2026-11-30: allergic to nuts\n- mine\n", "- other\n", None])
    def test_files_that_are_not_as_it_left_them_are_refused(self, notes, after):
        notes.confirm(notes.append())
        notes.place(FOOD).unlink()
        if after is not None:
            notes.write(FOOD, after)
        with pytest.raises(ChangedError) as refused:
            notes.memory.revert_own(talk(), None)
        assert FOOD in refused.value.texts
        assert notes.text(FOOD) == after

    def test_a_model_without_the_right_to_propose_takes_nothing_back(self, notes):
        notes.granting.allow_agent(OWNER, "coach", "memory", ALL)
        chat = talk(agent="coach")
        notes.confirm(notes.append(chat=chat))
        notes.granting.allow_agent(OWNER, "coach", "memory", AgentGrant(read=True))
        with pytest.raises(NoChangeError):
            notes.memory.revert_own(chat, None)

    def test_a_secret_or_a_file_over_its_cap_does_not_come_back(self, notes):
        notes.save(FOOD, "- password: Tr0ub4dor&3\n", keep_secrets=True)
        notes.confirm(notes.propose(talk(), Edit("food.md", text="- tea\n")))
        with pytest.raises(SecretError):
            notes.memory.revert_own(talk(), None)
        notes.write(FOOD, "- x\n" * 70)
        notes.confirm(notes.propose(talk(), Edit("food.md", text="- rice\n")))
        with pytest.raises(OverCapError):
            notes.memory.revert_own(talk(), None)


def test_a_change_set_that_the_journal_lost_is_no_change(notes):
    one = notes.append()
    change = notes.confirm(one)
    with notes.store.journal._write() as run:
        run.exec_driver_sql("UPDATE changes SET owner = 'bea' WHERE id = ?", (change.id,))
    with pytest.raises(NoChangeError):
        notes.confirm(one)


def test_what_an_editor_did_before_a_proposal_stands_in_the_history(notes):
    notes.write(INDEX, "- home: Rome -> home.md\n")
    notes.confirm(notes.append())
    assert [one.cause for one in notes.notebook.history(OWNER, limit=9)] == ["proposal", "outside"]


def test_the_limits_are_those_of_the_promises():
    assert (caps.OPEN_IN_A_CONVERSATION, caps.A_DAY_AND_AGENT, caps.OPEN_IN_ALL) == (5, 20, 60)
    assert NOON.tzinfo is UTC
