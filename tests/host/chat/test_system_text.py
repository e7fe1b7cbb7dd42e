"""What stands before a conversation: from what is the same for everybody to what changes most."""

import pytest

from short_memory.bundle import Skill
from short_memory_host.chat.system_text import IDENTITY, SAVING, SKILLS, skill_tool, system_text

ONE, TWO = (Skill(name, f"About {name}.", f"Body of {name}.", "") for name in ("one", "two"))
BLOCK = '<notes version="1">\n</notes>\n'


def test_the_parts_stand_in_the_order_in_which_they_change():
    listed = f"{SKILLS}\n- one: About one.\n- two: About two."
    assert system_text(BLOCK, [ONE, TWO], proposes=True) == f"{IDENTITY}\n\n{listed}\n\n{SAVING}\n\n{BLOCK}"


def test_without_notes_and_skills_there_are_the_hosts_words_alone():
    assert system_text("", [], proposes=False) == IDENTITY


@pytest.mark.case("block-names-offered-tools")
def test_a_turn_that_cannot_propose_does_not_speak_of_it():
    assert "propose_change" not in system_text(BLOCK, [ONE], proposes=False)


@pytest.mark.case("skills-only-where-allowed")
def test_a_turn_without_skills_does_not_speak_of_their_tool():
    assert "skill_read" not in system_text(BLOCK, [], proposes=True)


def test_the_body_of_a_skill_stands_only_where_it_is_read():
    assert "Body of one." not in system_text(BLOCK, [ONE], proposes=True)


def test_the_tool_takes_the_names_of_the_skills_and_nothing_else():
    function = skill_tool([ONE, TWO])["function"]
    assert function["parameters"]["properties"]["name"]["enum"] == ["one", "two"]
    assert (function["parameters"]["required"], function["parameters"]["additionalProperties"]) == (["name"], False)
