"""Names that may stand in a path, and the places of context files."""

import pytest

from short_memory.caps import Cap
from short_memory.scopes import Channel, Scope, is_file, is_hash, is_id, place
from tests.engine.notes import AGENT, CHANNEL, ROOM, USER, talk

GOOD_FILES = [
    "index.md",
    "food.md",
    "a.md",
    "0.md",
    "trip-to-rome.md",
    "a" * 64 + ".md",
    "console.md",
    "com10.md",
    "a-.md",
]
BAD_FILES = [
    "", ".md", "food", "food.txt", "food.md.md", "Food.md", "FOOD.MD", "food.MD", "-food.md", "fo od.md", "food.md ", " food.md",
    "food.md\n", "food.md\0", "food\0.md", "../food.md", "./food.md", "/food.md", "agents/food.md", "a\\food.md", "C:food.md",
    "food.md:x", "food_1.md", "fòod.md", "fооd.md", "ﬁsh.md", ".food.md", "..", ".", "~", "~.md", "%2e%2e.md", "food.md/",
    "con.md", "prn.md", "aux.md", "nul.md", "com1.md", "lpt9.md", "a" * 65 + ".md", "food.md.", "git~1", ".git", "food..md",
]  # fmt: skip


@pytest.mark.parametrize("name", GOOD_FILES)
def test_a_plain_lower_case_name_is_a_file(name):
    assert is_file(name)


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_name_that_could_mean_two_files_or_another_folder_is_none(name):
    assert not is_file(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("anna", True),
        ("a_b-1", True),
        ("", False),
        ("A", False),
        ("a/b", False),
        ("..", False),
        ("a\n", False),
        ("a" * 64, True),
        ("a" * 65, False),
    ],
)
def test_an_id_may_stand_in_a_path_only_if_it_is_plain(text, expected):
    assert is_id(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0123456789abcdef", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("a" * 15, False),
        ("a-" * 10, False),
        ("A" * 16, False),
    ],
)
def test_an_opaque_name_has_16_to_64_letters_and_digits(text, expected):
    assert is_hash(text) is expected


@pytest.mark.parametrize(
    ("file", "chat", "expected"),
    [
        (USER, talk(), "Memory/index.md"),
        (USER, talk(agent="coach"), "Memory/index.md"),
        (AGENT, talk(agent="coach"), "Memory/agents/coach/index.md"),
        (AGENT, talk(), None),
        (CHANNEL, talk(channel=ROOM), "Memory/channels/telegram-0123456789abcdef/index.md"),
        (CHANNEL, talk(), None),
    ],
)
def test_a_template_is_filled_in_from_the_conversation(file, chat, expected):
    assert place(file, chat) == expected


def test_a_scope_knows_the_paths_and_caps_of_its_files():
    scope = Scope("memory", "user", "Your notes", "Memory/index.md", Cap(40, 2048), Cap(64, 4096), may_propose=True)
    assert (scope.folder, scope.path("food.md")) == ("Memory", "Memory/food.md")
    assert (scope.cap_of("index.md"), scope.cap_of("food.md")) == (Cap(40, 2048), Cap(64, 4096))


def test_two_channels_never_share_a_folder():
    one, other = Channel("tg", "x-0123456789abcdef"), Channel("tg-x", "0123456789abcdef")
    assert place(CHANNEL, talk(channel=one)) == place(CHANNEL, talk(channel=other))
    assert [is_hash(one.hash), is_hash(other.hash)] == [False, True]
