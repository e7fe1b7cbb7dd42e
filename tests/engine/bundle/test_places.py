import pytest

from short_memory.bundle.manifest import check_manifest
from short_memory.bundle.places import shared_places

NAMES = {"user": "Your notes", "agent": "Agent", "channel": "Chat"}


def addon(id_, **indexes):
    """Return the manifest of an add-on that keeps the given index for each scope."""
    files = "".join(
        f"    - {{id: {scope}, scope: {scope}, title: {NAMES[scope]}, index: '{index}'}}\n"
        for scope, index in indexes.items()
    )
    text = (
        f"api: 2\nid: {id_}\nname: {id_}\nversion: 1.0.0\nsummary: x\nlicense: MIT\npublisher: {{name: x}}\n"
        f"capabilities:\n  contextFiles:\n{files}"
        "executable: {protocol: mcp-stdio, runtime: binary, entry: run}\n"
    )
    checked = check_manifest(text.encode())
    assert checked.problems == ()
    return checked.manifest


MEMORY = addon(
    "memory",
    user="Memory/index.md",
    agent="Memory/agents/{agent}/index.md",
    channel="Memory/channels/{binding}-{hash}/index.md",
)


@pytest.mark.parametrize(
    "indexes",
    [
        {"user": "Memory/index.md"},
        {"user": "Memory/zoo/index.md"},
        {"user": "MEMORY/index.md"},
        {"user": "Memory/agents/cook/index.md"},
        {"agent": "Memory/agents/{agent}/index.md"},
        {"agent": "Memory/{agent}/index.md"},
        {"agent": "Memory/channels/{agent}/index.md"},
        {"channel": "Memory/x/{binding}-{hash}/index.md"},
    ],
)
def test_an_add_on_in_the_folder_of_another_is_refused(indexes):
    problems = shared_places(addon("zoo", **indexes), [MEMORY])
    assert {problem.code for problem in problems} == {"CTX-130"}
    assert "the add-on memory" in problems[0].text
    # Either way: the one that came first may be the inner one.
    assert {problem.code for problem in shared_places(MEMORY, [addon("zoo", **indexes)])} == {"CTX-130"}


@pytest.mark.parametrize(
    "indexes", [{"user": "Zoo/index.md"}, {"agent": "Memories/{agent}/index.md"}, {"user": "Zoo/Memory/index.md"}]
)
def test_add_ons_with_folders_of_their_own_live_together(indexes):
    assert shared_places(addon("zoo", **indexes), [MEMORY]) == []


def test_an_inner_folder_of_another_add_on_is_found_only_where_it_lies_inside():
    inner = addon("zoo", agent="Diary/agents/{agent}/index.md")
    assert shared_places(inner, [addon("diary", user="Diary/notes/index.md")]) == []
    assert len(shared_places(inner, [addon("diary", user="Diary/index.md")])) == 1
    assert len(shared_places(inner, [addon("diary", user="Diary/agents/x/index.md")])) == 1


def test_an_add_on_shares_no_place_with_another_version_of_itself():
    assert shared_places(MEMORY, [MEMORY]) == []


def test_every_add_on_that_is_in_the_way_is_named():
    others = [
        addon("zoo", user="Memory/index.md"),
        addon("diary", user="Memory/diary/index.md"),
        addon("far", user="Far/index.md"),
    ]
    problems = shared_places(addon("new", user="Memory/index.md"), others)
    assert [("zoo" in each.text, "diary" in each.text) for each in problems] == [(True, False), (False, True)]
