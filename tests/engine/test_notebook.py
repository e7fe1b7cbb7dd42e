"""The door for an owner's own hands: open, save, delete, look back, take back; and a walk through all of it."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from short_memory.caps import Cap, Size
from short_memory.changes import FileChange
from short_memory.errors import (
    BadFileError,
    BadTextError,
    ChangedError,
    ConflictError,
    LimitError,
    NoChangeError,
    NoMatchError,
    OverCapError,
    SecretError,
    StaleError,
    UnchangedError,
)
from short_memory.scopes import OUTSIDE
from tests.clock import Clock
from tests.engine.notes import ADDON, ALL, OWNER, ROOM, Notes, append, talk

FOOD, INDEX = "Memory/food.md", "Memory/index.md"
COACH, CHANNEL = "Memory/agents/coach", f"Memory/channels/{ROOM.binding}-{ROOM.hash}"


class TestOpening:
    def test_a_note_that_is_not_there_is_empty_and_has_no_version(self, notes):
        note = notes.notebook.open(OWNER, FOOD)
        assert (note.text, note.version, note.why_not, note.file, note.cap, note.size) == (
            "",
            "",
            "",
            "food.md",
            Cap(64, 4096),
            Size(0, 0),
        )

    def test_a_note_is_shown_as_it_is_and_measured_as_it_counts(self, notes):
        notes.write(INDEX, "\ufeff- a: é -> a.md\r\n")
        note = notes.notebook.open(OWNER, INDEX)
        assert (note.text, note.size, note.cap) == ("\ufeff- a: é -> a.md\r\n", Size(1, 16), Cap(40, 2048))

    @pytest.mark.parametrize(
        ("raw", "why"), [(b"\xff", "it is not UTF-8"), (b"x" * 65537, "it has 65537 bytes; at most 65536 are read")]
    )
    def test_a_note_that_no_chat_reads_says_why(self, notes, raw, why):
        notes.write(FOOD, raw)
        note = notes.notebook.open(OWNER, FOOD)
        assert (note.text, note.version, note.why_not) == ("", "", why)

    @pytest.mark.parametrize(
        "path",
        ["food.md", "Other/food.md", "Memory/../food.md", "Memory/agents/index.md", "Memory/agents/a/b/x.md", "Memory/Food.md",
         "Memory/channels/telegram-short/x.md", "/Memory/food.md", "Memory//food.md", "Memory/food", "", "Memory/agents/../../x.md"],
    )  # fmt: skip
    def test_a_place_that_no_add_on_declares_is_refused(self, notes, path):
        for call in (
            notes.notebook.open,
            lambda owner, name: notes.notebook.save(owner, name, "x", version=""),
            lambda owner, name: notes.notebook.delete(owner, name, version=""),
        ):
            with pytest.raises(BadFileError):
                call(OWNER, path)
        assert notes.files() == {}

    def test_shelves_hold_every_scope_with_its_notes_and_what_does_not_fit_together(self, notes):
        notes.write(INDEX, "- food: x -> food.md\n- plans: y -> plans.md\n")
        notes.write(FOOD, "- a\n")
        notes.write("Memory/loose.md", "- b\n")
        notes.write("Memory/README.txt", "no note")
        notes.write(f"{COACH}/index.md", "")
        notes.write("Memory/agents/.hidden/index.md", "")
        notes.write("Memory/agents/file.md", "")
        notes.write(f"{CHANNEL}/index.md", "")
        notes.write("Memory/channels/telegram-short/index.md", "")
        found = notes.notebook.shelves(OWNER)
        assert [(shelf.scope.kind, shelf.name, [note.file for note in shelf.notes]) for shelf in found] == [
            ("user", "", ["food.md", "index.md", "loose.md"]),
            ("agent", "coach", ["index.md"]),
            ("channel", f"{ROOM.binding}-{ROOM.hash}", ["index.md"]),
        ]
        assert (found[0].dangling, found[0].unlisted) == (("plans.md",), ("loose.md",))

    def test_the_shelf_of_the_person_is_there_before_any_note_is(self, notes):
        assert [(shelf.name, shelf.notes) for shelf in notes.notebook.shelves(OWNER)] == [("", ())]
        assert notes.notebook.shelves("bea") == []


class TestSaving:
    def test_a_new_topic_gets_its_entry_in_the_same_change_set(self, notes):
        change = notes.save(FOOD, "---\ntitle: x\n---\n- no nuts\r\n")
        assert (change.cause, notes.staged()) == ("edit", [])
        assert notes.files() == {FOOD: "---\ntitle: x\n---\n- no nuts\n", INDEX: "- food: no nuts -> food.md\n"}

    def test_a_topic_that_has_its_entry_and_an_index_are_saved_alone(self, notes):
        assert len(notes.save(INDEX, "- food: x -> food.md\n").files) == 1
        assert len(notes.save(FOOD, "- a\n").files) == 1
        assert len(notes.save(FOOD, "- b\n").files) == 1

    @pytest.mark.case("tab-save-conflict")
    @pytest.mark.case("version-conflict-refused")
    @pytest.mark.parametrize("version", ["", "0000000000", "x"])
    def test_another_version_is_refused_with_the_present_text(self, notes, version):
        notes.save(FOOD, "- a\n")
        for call in (
            lambda: notes.notebook.save(OWNER, FOOD, "- b\n", version=version),
            lambda: notes.notebook.delete(OWNER, FOOD, version=version),
        ):
            with pytest.raises(ConflictError) as refused:
                call()
            assert refused.value.present == "- a\n"
        assert notes.text(FOOD) == "- a\n"

    def test_a_file_that_is_gone_is_a_conflict_with_nothing_there(self, notes):
        with pytest.raises(ConflictError) as refused:
            notes.notebook.save(OWNER, FOOD, "- b\n", version="0000000000")
        assert refused.value.present is None

    def test_an_edit_of_an_editor_is_journaled_before_it_is_refused(self, notes):
        version = notes.save(FOOD, "- a\n") and notes.notebook.open(OWNER, FOOD).version
        notes.write(FOOD, "- by hand\n")
        with pytest.raises(ConflictError):
            notes.notebook.save(OWNER, FOOD, "- b\n", version=version)
        latest = notes.notebook.history(OWNER, limit=1)[0]
        assert (latest.actor, latest.files) == (OUTSIDE, (FileChange(FOOD, b"- a\n", b"- by hand\n"),))

    def test_the_same_text_is_no_change(self, notes):
        notes.save(FOOD, "- a\n")
        with pytest.raises(UnchangedError):
            notes.save(FOOD, "- a\r\n")

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ("x\n" * 65, OverCapError),
            ("a\x00", BadTextError),
            ("\ud800", BadTextError),
            ("password: Tr0ub4dor&3", SecretError),
        ],
    )
    def test_an_owner_is_held_to_the_same_rules(self, notes, text, error):
        with pytest.raises(error):
            notes.save(FOOD, text)
        assert notes.files() == {}

    @pytest.mark.case("secret-overrule-owner-only")
    def test_an_owner_keeps_a_secret_by_hand_and_it_does_not_go_into_the_index(self, notes):
        notes.save(FOOD, "- password: Tr0ub4dor&3\n", keep_secrets=True)
        assert notes.files() == {FOOD: "- password: Tr0ub4dor&3\n", INDEX: "- food: … -> food.md\n"}
        notes.save(FOOD, "- password: Tr0ub4dor&3\n- tea\n")
        with pytest.raises(SecretError):
            notes.save(FOOD, "- password: Tr0ub4dor&3\n- password: hunter2hunter2!\n")
        assert not hasattr(notes.memory, "keep_secrets")

    def test_a_new_topic_that_does_not_fit_into_the_index_is_refused_whole(self, notes):
        notes.save(INDEX, "".join(f"- t{n}: x -> t{n}.md\n" for n in range(40)))
        with pytest.raises(OverCapError):
            notes.save(FOOD, "- a\n")
        assert notes.text(FOOD) is None


class TestDeleting:
    def test_a_topic_goes_with_its_entries(self, notes):
        notes.save(INDEX, "- food: x -> food.md\n- home: y -> home.md\n")
        notes.save(FOOD, "- a\n")
        change = notes.notebook.delete(OWNER, FOOD, version=notes.notebook.open(OWNER, FOOD).version)
        assert (len(change.files), notes.files()) == (2, {INDEX: "- home: y -> home.md\n"})

    def test_a_topic_without_an_entry_or_an_index_goes_alone(self, notes):
        notes.write(FOOD, "- a\n")
        assert len(notes.notebook.delete(OWNER, FOOD, version=notes.notebook.open(OWNER, FOOD).version).files) == 1
        notes.save(INDEX, "- home: y -> home.md\n")
        notes.write(FOOD, "- a\n")
        assert len(notes.notebook.delete(OWNER, FOOD, version=notes.notebook.open(OWNER, FOOD).version).files) == 1
        assert len(notes.notebook.delete(OWNER, INDEX, version=notes.notebook.open(OWNER, INDEX).version).files) == 1
        assert notes.files() == {}

    def test_what_is_not_there_cannot_be_deleted(self, notes):
        with pytest.raises(UnchangedError):
            notes.notebook.delete(OWNER, FOOD, version="")


class TestHistory:
    def test_it_is_the_latest_first_and_goes_on_before_one(self, notes):
        made = [notes.save(FOOD, f"- {n}\n") for n in range(4)]
        assert notes.notebook.history(OWNER, limit=2) == [made[3], made[2]]
        assert notes.notebook.history(OWNER, limit=9, before=made[2].id) == [made[1], made[0]]
        assert notes.notebook.change(OWNER, made[1].id) == made[1]

    @pytest.mark.case("foreign-id-as-unknown")
    def test_a_foreign_change_set_answers_as_an_unknown_one(self, notes):
        change = notes.save(FOOD, "- a\n")
        notes.granting.enable("bea", ADDON)
        answers = set()
        for owner, name in [("bea", change.id), ("bea", "0" * 32), (OWNER, "0" * 32)]:
            for call in (
                notes.notebook.change,
                notes.notebook.plan_revert,
                lambda owner, name: notes.notebook.revert(owner, name, digest=None),
            ):
                with pytest.raises(NoChangeError) as refused:
                    call(owner, name)
                answers.add(refused.value.text)
        assert len(answers) == 1
        assert (notes.notebook.history("bea", limit=9), notes.notebook.history("bea", limit=9, before=change.id)) == (
            [],
            [],
        )

    @pytest.mark.case("outside-edit-journaled")
    def test_everything_that_other_programs_did_is_one_change_set(self, notes):
        notes.save(FOOD, "- a\n")
        notes.place(FOOD).unlink()
        notes.write(INDEX, "- b\r\n")
        notes.write("Memory/new.md", b"- n\n")
        notes.write("Memory/broken.md", b"\xff")
        change = notes.notebook.absorb(OWNER)
        assert {one.path: (one.before, one.after) for one in change.files} == {
            FOOD: (b"- a\n", None),
            INDEX: (b"- food: a -> food.md\n", b"- b\r\n"),
            "Memory/new.md": (None, b"- n\n"),
        }
        assert notes.notebook.absorb(OWNER) is None


class TestTakingBack:
    @pytest.mark.case("revert-exact")
    def test_a_change_with_nothing_on_top_is_taken_back_exactly_at_once(self, notes):
        notes.write(FOOD, b"\xef\xbb\xbf- a\r\n")
        notes.write(INDEX, "- food: a -> food.md\n")
        change = notes.confirm(notes.append("- b"))
        back = notes.notebook.revert(OWNER, change.id, digest=None)
        assert (back.cause, back.reverts, notes.place(FOOD).read_bytes()) == (
            "revert",
            change.id,
            b"\xef\xbb\xbf- a\r\n",
        )
        assert notes.notebook.taken_back([change.id, back.id]) == {change.id: back.id}

    def test_a_change_whose_taking_back_was_taken_back_counts_as_there_again(self, notes):
        change = notes.confirm(notes.append("- b"))
        back = notes.notebook.revert(OWNER, change.id, digest=None)
        again = notes.notebook.revert(OWNER, back.id, digest=None)
        assert notes.notebook.taken_back([change.id, back.id, again.id]) == {back.id: again.id}
        gone = notes.notebook.revert(OWNER, change.id, digest=None)
        assert notes.notebook.taken_back([change.id])[change.id] == gone.id

    def test_two_files_are_taken_back_together_and_the_taking_back_too(self, notes):
        change = notes.confirm(notes.append())
        there = notes.files()
        back = notes.notebook.revert(OWNER, change.id, digest=None)
        assert notes.files() == {}
        notes.notebook.revert(OWNER, back.id, digest=None)
        assert notes.files() == there

    @pytest.mark.case("revert-merge-shown")
    def test_a_merge_is_shown_before_it_is_done(self, notes):
        notes.save(FOOD, "- a\n- b\n- c\n- d\n")
        change = notes.save(FOOD, "- A\n- b\n- c\n- d\n")
        notes.save(FOOD, "- A\n- b\n- c\n- D\n")
        with pytest.raises(StaleError):
            notes.notebook.revert(OWNER, change.id, digest=None)
        plan = notes.notebook.plan_revert(OWNER, change.id)
        assert (plan.exact, plan.files[0].new) == (False, "- a\n- b\n- c\n- D\n")
        notes.save(FOOD, "- A\n- b\n- c\n- E\n")
        with pytest.raises(StaleError):
            notes.notebook.revert(OWNER, change.id, digest=plan.digest)
        notes.notebook.revert(OWNER, change.id, digest=notes.notebook.plan_revert(OWNER, change.id).digest)
        assert notes.text(FOOD) == "- a\n- b\n- c\n- E\n"

    @pytest.mark.case("revert-conflict-refused")
    def test_later_work_on_the_same_line_is_refused_with_both_texts_and_both_files_stay(self, notes):
        change = notes.confirm(notes.append("- a"))
        notes.save(FOOD, "- changed\n")
        with pytest.raises(ChangedError) as refused:
            notes.notebook.revert(OWNER, change.id, digest=None)
        assert refused.value.texts == {FOOD: ("- changed\n", None)}
        assert notes.text(INDEX) == "- food: a -> food.md\n"

    def test_what_is_back_already_cannot_be_taken_back(self, notes):
        notes.save(FOOD, "- a\n")
        change = notes.save(FOOD, "- b\n")
        notes.save(FOOD, "- a\n")
        with pytest.raises(NoChangeError):
            notes.notebook.plan_revert(OWNER, change.id)

    @pytest.mark.case("outside-edit-journaled")
    def test_an_edit_from_outside_is_taken_back_to_the_bytes_that_somebody_saw(self, notes):
        notes.save(FOOD, "- a\n")
        notes.write(FOOD, b"- \xff\r\n")
        first = notes.notebook.absorb(OWNER)
        notes.write(FOOD, b"- c\n")
        second = notes.notebook.absorb(OWNER)
        notes.notebook.revert(OWNER, second.id, digest=None)
        assert notes.place(FOOD).read_bytes() == b"- \xff\r\n"
        notes.notebook.revert(OWNER, first.id, digest=notes.notebook.plan_revert(OWNER, first.id).digest)
        assert notes.place(FOOD).read_bytes() == b"- a\n"

    def test_a_secret_or_a_file_over_its_cap_does_not_come_back(self, notes):
        notes.save(FOOD, "- password: Tr0ub4dor&3\n", keep_secrets=True)
        secret = notes.save(FOOD, "- a\n")
        notes.write(FOOD, "- x\n" * 70)
        notes.notebook.absorb(OWNER)
        big = notes.save(FOOD, "- b\n")
        with pytest.raises(OverCapError):
            notes.notebook.revert(OWNER, big.id, digest=None)
        notes.save(FOOD, "- a\n")
        with pytest.raises(SecretError):
            notes.notebook.revert(OWNER, secret.id, digest=notes.notebook.history(OWNER, limit=1)[0].id)

    def test_what_no_add_on_declares_any_more_comes_back_unjudged(self, notes):
        notes.write(FOOD, "- x\n" * 70)
        notes.notebook.absorb(OWNER)
        change = notes.save(FOOD, "- b\n")
        notes.granting.remove(OWNER, "memory")
        notes.notebook.revert(OWNER, change.id, digest=None)
        assert notes.text(FOOD) == "- x\n" * 70

    def test_notes_of_agents_and_channels_are_taken_back_too(self, notes):
        notes.granting.allow_agent(OWNER, "coach", "memory", ALL)
        chat = talk(agent="coach", channel=ROOM)
        for kind in ("agent", "channel"):
            change = notes.confirm(notes.propose(chat, append("- a"), kind=kind))
            notes.notebook.revert(OWNER, change.id, digest=None)
        assert notes.files() == {}


TEXTS = st.lists(st.sampled_from(["- a", "- b", "- c", "- d"]), min_size=1, max_size=6).map(
    lambda lines: "\n".join(lines) + "\n"
)
FILES = st.sampled_from([FOOD, "Memory/home.md"])
EXPECTED = (
    StaleError, ChangedError, NoChangeError, UnchangedError, NoMatchError, LimitError, OverCapError, ConflictError,
)  # fmt: skip


class Walk(RuleBasedStateMachine):
    """Whatever is done in whatever order: the files are what the list of versions says, and any version can be had back."""

    changes = Bundle("changes")
    proposals = Bundle("proposals")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.notes = Notes(Path(self.folder.name), self.clock)
        self.notes.granting.enable(OWNER, ADDON)
        self.versions = [{}]
        self.count = 0

    def teardown(self):
        self.notes.close()
        self.folder.cleanup()

    def wrote(self, change):
        """Go on with the oracle: a change set starts from the files as they were and says what they became."""
        now = dict(self.versions[-1])
        for one in change.files:
            assert now.get(one.path) == (None if one.before is None else one.before.decode())
            now[one.path] = None if one.after is None else one.after.decode()
        self.versions.append({path: text for path, text in now.items() if text is not None})
        return change

    @rule(target=changes, path=FILES, text=TEXTS)
    def save(self, path, text):
        try:
            return self.wrote(self.notes.save(path, text))
        except UnchangedError:
            return None

    @rule(target=changes, path=FILES)
    def delete(self, path):
        try:
            return self.wrote(
                self.notes.notebook.delete(OWNER, path, version=self.notes.notebook.open(OWNER, path).version)
            )
        except UnchangedError:
            return None

    @rule(target=changes, path=FILES, text=TEXTS)
    def edit_from_outside(self, path, text):
        self.notes.write(path, text)
        change = self.notes.notebook.absorb(OWNER)
        return None if change is None else self.wrote(change)

    @rule(target=proposals, file=st.sampled_from(["food.md", "home.md"]), line=st.sampled_from(["- a", "- e", "- f"]))
    def propose(self, file, line):
        self.count += 1
        with suppress(*EXPECTED):
            return self.notes.append(line, file=file, chat=talk(f"c{self.count}"))
        return None

    @rule(target=changes, one=proposals)
    def confirm(self, one):
        if one is None:
            return None
        known = {change.id for change in self.notes.notebook.history(OWNER, limit=999)}
        try:
            change = self.notes.confirm(one)
        except StaleError:
            return None
        if change.id not in known:
            assert change.files == one.files
            self.wrote(change)
        return change

    @rule(target=changes, change=changes, look=st.booleans())
    def take_back(self, change, look):
        if change is None:
            return None
        try:
            digest = self.notes.notebook.plan_revert(OWNER, change.id).digest if look else None
            back = self.notes.notebook.revert(OWNER, change.id, digest=digest)
        except EXPECTED:
            return None
        at = [version.id for version in reversed(self.notes.notebook.history(OWNER, limit=999))].index(change.id)
        if at == len(self.versions) - 2:
            assert self.notes.files() == self.versions[at]
        return self.wrote(back)

    @invariant()
    def the_files_are_the_latest_version(self):
        assert self.notes.files() == self.versions[-1]
        assert self.notes.staged() == []

    @invariant()
    def the_history_has_every_version(self):
        assert len(self.notes.notebook.history(OWNER, limit=999)) == len(self.versions) - 1


TestWalk = Walk.TestCase
TestWalk.settings = settings(
    max_examples=30, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
