"""What a turn reads: block, tools and topics; the kept turn notices every change; reads touch no database."""

import os
import shutil

import pytest

from short_memory import caps, reading
from short_memory.access import AgentGrant
from short_memory.errors import NoTopicError, UnreadableError
from short_memory.reading import Reader
from tests.engine.notes import ADDON, ALL, OWNER, ROOM, talk

NAMES = [
    "", " ", "nope", "Food", "FOOD", "food ", " food", "food\n", "food\0", "food.md", "./food", "../food", "food/..", "..", ".", "/",
    "//food", "/food", "Memory/food.md", "Memory/index.md", "index", "index.md", "user", "user/", "user /food", "user//food", "user/../food",
    "user/food.md", "User/food", "user/Food", "user\\food", "agent/food", "channel/food", "agent/goals", "channel/team", "goals", "team",
    "agents/coach/goals", "Memory/agents/coach/goals.md", "~/food", "~", "~root", "C:food", "C:\\food", "\\\\host\\food", "file:///food",
    "%2e%2e%2ffood", "..%2ffood", "%00", "food%00", "food?", "food*", "*", "food:x", "food::$DATA", "con", "aux", "nul", "com1", ".git",
    ".GIT", "git~1", ".hidden", "food.", "food..", "fооd", "ﬀood", "food\u200b", "\u202efood", "ｆｏｏｄ", "Food\u0301", "food/food",
    "food,home", "food home", "['food']", "food\thome", "food\r", "-", "--", "a" * 33, "a" * 10000, "../../../../etc/passwd",
    "/etc/passwd", "/proc/self/environ", "$HOME", "`id`", "$(id)", "'; drop table changes; --", "food/*", "null", "None", "undefined",
    "0", "-1", "true", "[user] food", "anna/food", "bea/food", "user/secret", "secret", "bea", "\ud800", "<notes>", "journal.db",
    "../grants/anna.json", ".staging", "user:food", "user.food",
]  # fmt: skip


def index(*names):
    return "".join(f"- {name}: about {name} -> {name}.md\n" for name in names)


def refusal(notes, name):
    with pytest.raises(NoTopicError) as refused:
        notes.memory.read(talk(), [name])
    return refused.value.text


@pytest.fixture
def filled(notes):
    """Notes in every scope of two owners."""
    notes.write("Memory/index.md", index("food", "home"))
    notes.write("Memory/food.md", "- no nuts\n")
    notes.write("Memory/home.md", "- Rome\n")
    notes.write("Memory/agents/coach/index.md", index("food", "goals"))
    notes.write("Memory/agents/coach/food.md", "- protein\n")
    notes.write("Memory/agents/coach/goals.md", "- marathon\n")
    notes.write(f"Memory/channels/{ROOM.binding}-{ROOM.hash}/index.md", index("team"))
    notes.write(f"Memory/channels/{ROOM.binding}-{ROOM.hash}/team.md", "- five\n")
    notes.write("Memory/index.md", index("secret"), owner="bea")
    notes.write("Memory/secret.md", "- canary\n", owner="bea")
    return notes


class TestTopics:
    def test_one_topic_is_its_text(self, filled):
        assert filled.memory.read(talk(), ["food"]) == "- no nuts\n"
        assert filled.memory.read(talk(), ["user/food"]) == "- no nuts\n"

    def test_several_topics_are_labelled(self, filled):
        expected = "[user] home\n- Rome\n\n[user] food\n- no nuts\n"
        assert filled.memory.read(talk(), ["home", "food", "home"]) == expected

    def test_a_name_of_several_scopes_gives_each_in_the_order_of_the_scopes(self, filled):
        filled.granting.allow_agent(OWNER, "coach", "memory", ALL)
        chat = talk(agent="coach")
        assert filled.memory.read(chat, ["food"]) == "[user] food\n- no nuts\n\n[agent] food\n- protein\n"
        assert filled.memory.read(chat, ["agent/food"]) == "- protein\n"

    @pytest.mark.case("read-one-answer")
    def test_a_name_that_is_no_topic_of_the_turn_gets_the_one_answer(self, filled):
        assert len(set(NAMES)) > 100
        assert {name: refusal(filled, name) for name in NAMES} == dict.fromkeys(
            NAMES, "No such topic here. Topics: food, home."
        )

    def test_one_unknown_name_among_others_refuses_them_all(self, filled):
        with pytest.raises(NoTopicError):
            filled.memory.read(talk(), ["food", "nope"])

    def test_the_answer_names_each_topic_once(self, filled):
        filled.granting.allow_agent(OWNER, "coach", "memory", ALL)
        with pytest.raises(NoTopicError) as refused:
            filled.memory.read(talk(agent="coach"), ["nope"])
        assert refused.value.topics == ("food", "home", "goals")

    def test_an_entry_without_its_file_says_so(self, notes):
        notes.write("Memory/index.md", index("plans"))
        assert notes.memory.read(talk(), ["plans"]) == "(this topic has no file yet)\n"

    @pytest.mark.case("read-over-cap-notice")
    def test_a_file_over_its_cap_is_served_to_the_cap_with_a_notice(self, notes):
        notes.write("Memory/index.md", index("food"))
        notes.write("Memory/food.md", "- x\n" * 66)
        assert notes.memory.read(talk(), ["food"]) == "- x\n" * 64 + "(2 more lines not loaded: over the cap)\n"

    def test_a_file_from_elsewhere_is_read_with_lf_and_tokens_as_text(self, notes):
        notes.write("Memory/index.md", "\ufeff" + index("food").replace("\n", "\r\n"))
        notes.write("Memory/food.md", "\ufeff- a\tb\r\n</notes>\r\n<|im_end|>\x07")
        assert notes.memory.read(talk(), ["food"]) == "- a\tb\n&lt;/notes>\n&lt;|im_end|>\n"

    def test_a_file_that_is_no_text_is_left_out(self, notes):
        notes.write("Memory/index.md", index("food"))
        notes.write("Memory/food.md", b"\xff\xfe-\0 \0")
        assert notes.memory.read(talk(), ["food"]) == "(this topic has no file yet)\n"
        notes.write("Memory/index.md", b"- food: \xff -> food.md\n")
        assert notes.block() == ""

    def test_a_topic_below_the_cut_of_its_index_cannot_be_opened(self, notes):
        notes.write("Memory/index.md", index(*(f"t{n}" for n in range(41))))
        assert len(notes.memory.turn(talk(), can_call=True).topics) == 40
        with pytest.raises(NoTopicError):
            notes.memory.read(talk(), ["t40"])


class TestTools:
    def test_a_turn_offers_what_it_can_do(self, notes):
        assert notes.memory.turn(talk(), can_call=True).tools == ("propose_change", "revert_change")
        notes.write("Memory/index.md", index("food"))
        assert notes.memory.turn(talk(), can_call=True).tools == ("context_read", "propose_change", "revert_change")
        assert notes.memory.turn(talk(), can_call=False).tools == ()

    def test_an_agent_that_may_only_read_is_offered_no_proposal(self, filled):
        filled.granting.allow_agent(OWNER, "coach", "memory", AgentGrant(read=True))
        assert filled.memory.turn(talk(agent="coach"), can_call=True).tools == ("context_read",)
        assert filled.memory.turn(talk(agent="chef"), can_call=True).tools == ()

    @pytest.mark.case("addon-off-deletes-nothing")
    def test_switching_the_add_on_off_stops_block_and_tools_in_the_next_turn_and_keeps_the_files(self, filled):
        before = filled.files()
        assert filled.block() != ""
        filled.granting.switch(OWNER, "memory", on=False)
        turn = filled.memory.turn(talk(), can_call=True)
        assert (turn.block, turn.tools, turn.scopes, turn.topics) == ("", (), (), ())
        assert filled.files() == before
        with pytest.raises(NoTopicError):
            filled.memory.read(talk(), ["food"])
        filled.granting.switch(OWNER, "memory", on=True)
        assert filled.block() != ""


class TestKeptTurns:
    @pytest.mark.case("block-stable-prefix")
    def test_the_block_is_the_same_object_while_nothing_changes(self, filled):
        filled.age("Memory/index.md")
        first = filled.memory.turn(talk(), can_call=True)
        assert filled.memory.turn(talk(), can_call=True) is first

    def test_a_file_that_was_just_written_is_not_kept(self, filled):
        os.utime(filled.place("Memory/index.md"))
        first = filled.memory.turn(talk(), can_call=True)
        assert filled.memory.turn(talk(), can_call=True) is not first

    @pytest.mark.parametrize("how", ["in place", "rename", "delete", "new", "restored time"])
    def test_a_kept_turn_notices_every_change_of_a_file(self, filled, how):
        place = filled.place("Memory/index.md")
        filled.age("Memory/index.md")
        kept = filled.memory.turn(talk(), can_call=True)
        other = index("fool", "home")
        assert len(other) == len(index("food", "home"))
        if how == "in place":
            with place.open("r+") as file:
                file.write(other)
        elif how == "rename":
            (place.parent / "x").write_text(other)
            (place.parent / "x").rename(place)
        elif how == "restored time":
            was = place.stat()
            place.write_text(other)
            os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))
        else:
            place.unlink()
            if how == "new":
                filled.memory.turn(talk(), can_call=True)
                place.write_text(other)
        now = filled.memory.turn(talk(), can_call=True)
        assert now is not kept
        assert [topic.name for topic in now.topics] == ([] if how == "delete" else ["fool", "home"])

    def test_a_kept_turn_notices_that_its_folder_is_gone_and_back(self, filled):
        filled.age("Memory/index.md")
        assert filled.block() != ""
        folder = filled.place("Memory")
        folder.rename(folder.with_name("Away"))
        assert filled.block() == ""
        folder.with_name("Away").rename(folder)
        assert filled.block() != ""

    def test_a_kept_turn_notices_what_another_program_grants(self, filled):
        filled.age("Memory/index.md")
        chat = talk(agent="coach")
        assert filled.block(chat) == ""
        with filled.again() as other:
            other.granting.allow_agent(OWNER, "coach", "memory", ALL)
        assert "[agent]" in filled.block(chat)

    def test_the_two_forms_of_a_turn_are_kept_apart(self, filled):
        filled.age("Memory/index.md")
        assert len({filled.block(can_call=True), filled.block(can_call=False), filled.block(can_call=True)}) == 2

    def test_only_so_many_turns_are_kept(self, filled, monkeypatch):
        monkeypatch.setattr(reading, "KEPT_TURNS", 2)
        filled.age("Memory/index.md")
        reader = Reader(filled.store)
        turns = [reader.turn(talk(f"c{n}"), can_call=True) for n in range(3)]
        assert reader.turn(talk("c2"), can_call=True) is turns[2]
        assert reader.turn(talk("c0"), can_call=True) is not turns[0]

    @pytest.mark.case("block-stable-prefix")
    def test_consecutive_blocks_share_all_bytes_until_a_note_changes_and_up_to_the_change_after(self, filled):
        first, second = filled.block(), filled.block(talk("c2"))
        assert first == second
        filled.write("Memory/index.md", index("food", "home", "work"))
        third = filled.block()
        assert third.startswith(first.removesuffix("</notes>\n"))


class TestReadsWriteNothing:
    @pytest.mark.case("reads-write-nothing")
    def test_a_turn_and_a_topic_do_not_even_open_the_database(self, tmp_path, filled):
        filled.close()
        journal = filled.data / "journal.db"
        hidden = tmp_path / "journal.db"
        journal.rename(hidden)
        before = {place: place.stat().st_mtime_ns for place in filled.data.rglob("*")}
        with filled.again() as other:
            assert other.memory.read(talk(), ["food"]) == "- no nuts\n"
            assert other.block() != ""
            assert {place: place.stat().st_mtime_ns for place in filled.data.rglob("*")} == before
        assert not journal.exists()

    def test_a_missing_folder_is_not_made_by_reading(self, notes):
        assert notes.block(talk(owner="nobody")) == ""
        assert notes.store.read("nobody", "Memory/index.md") is None
        assert not (notes.data / "files" / "nobody").exists()


class TestWhatIsPlantedInTheFolder:
    @pytest.mark.case("links-not-followed")
    @pytest.mark.parametrize(
        "kind", ["link", "hard link", "fifo", "folder", "device", "huge", "link to a folder", "socket"]
    )
    def test_what_is_no_plain_file_of_the_owner_is_left_out(self, filled, tmp_path, kind):
        secret = tmp_path / "outside.md"
        secret.write_text(index("canary"))
        place = filled.place("Memory/index.md")
        place.unlink()
        plant(place, kind, secret)
        assert filled.block() == ""
        assert "canary" not in str(filled.notebook.shelves(OWNER))
        assert secret.read_text() == index("canary")

    @pytest.mark.parametrize("part", ["Memory", "Memory/agents", "Memory/agents/coach"])
    def test_a_link_in_place_of_a_folder_is_not_followed(self, filled, tmp_path, part):
        filled.granting.allow_agent(OWNER, "coach", "memory", ALL)
        place = filled.place(part)
        shutil.move(place, tmp_path / "moved")
        place.symlink_to(tmp_path / "moved", target_is_directory=True)
        assert "[agent]" not in filled.block(talk(agent="coach"))
        assert filled.notebook.shelves(OWNER)

    def test_an_owner_is_one_folder_and_nothing_else(self, filled):
        for owner in ("../files/anna", "..", ".", "", "anna/Memory", "anna\0", ".staging", "-x"):
            with pytest.raises(UnreadableError):
                filled.block(talk(owner=owner))


def plant(place, kind, secret):
    if kind == "link":
        place.symlink_to(secret)
    elif kind == "hard link":
        place.hardlink_to(secret)
    elif kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "device":
        os.mknod(place, 0o20666, os.makedev(1, 5))
    elif kind == "socket":
        os.mknod(place, 0o140666)
    elif kind == "huge":
        place.write_text(index("canary"))
        os.truncate(place, 1 << 30)
    else:
        place.symlink_to(secret.parent, target_is_directory=True)


def test_the_cap_of_what_is_read_is_far_above_every_cap_of_a_note():
    assert caps.READ_BYTES >= 8 * caps.TOPIC_BYTES
    assert ADDON.files[0].cap.bytes == caps.INDEX_BYTES
