"""Who may read and propose: every gate is ANDed, for every combination of them."""

from itertools import product

import pytest

from short_memory import access
from short_memory.access import AddonGrant, AgentGrant, Grants
from short_memory.caps import Cap
from short_memory.scopes import Channel, ContextFile
from tests.engine.notes import ADDON, AGENT, CHANNEL, ROOM, USER, talk

GRANTED = {("coach", "memory"): AgentGrant(read=True, propose=True)}
READS = {("coach", "memory"): AgentGrant(read=True)}
OPEN_ROOM = frozenset({(ROOM.binding, ROOM.hash)})


def seen(chat, grants):
    return [(scope.kind, scope.may_propose) for scope in access.scopes(chat, grants)]


@pytest.mark.parametrize(
    ("chat", "grants", "expected"),
    [
        (talk(), Grants(), []),
        (talk(), Grants((ADDON,)), [("user", True)]),
        (talk(agent="coach"), Grants((ADDON,)), []),
        (talk(agent=""), Grants((ADDON,), {("", "memory"): AgentGrant(read=True, propose=True)}), []),
        (talk(agent="coach"), Grants((ADDON,), READS), [("user", False), ("agent", False)]),
        (talk(agent="coach"), Grants((ADDON,), GRANTED), [("user", True), ("agent", True)]),
        (talk(agent="chef"), Grants((ADDON,), GRANTED), []),
        (talk(channel=ROOM), Grants((ADDON,)), [("user", True), ("channel", True)]),
        (talk(channel=ROOM, shared=True), Grants((ADDON,)), [("channel", True)]),
        (talk(channel=ROOM, shared=True), Grants((ADDON,), {}, OPEN_ROOM), [("user", True), ("channel", True)]),
        (talk(shared=True), Grants((ADDON,), {}, OPEN_ROOM), []),
        (talk(agent="coach", channel=ROOM, shared=True), Grants((ADDON,), GRANTED), [("channel", True)]),
        (talk(agent="coach", channel=ROOM, shared=True), Grants((ADDON,), {}, OPEN_ROOM), []),
        (
            talk(agent="coach", channel=ROOM, shared=True),
            Grants((ADDON,), GRANTED, OPEN_ROOM),
            [("user", True), ("agent", True), ("channel", True)],
        ),
    ],
)
@pytest.mark.case("agent-closed-by-default")
@pytest.mark.case("channel-own-notes-only")
def test_a_turn_loads_what_every_gate_together_allows(chat, grants, expected):
    assert seen(chat, grants) == expected


@pytest.mark.case("gates-anded")
def test_one_closed_gate_closes_a_scope_whatever_the_others_say():
    quiet = AddonGrant("memory", on=True, digest="", files=tuple(_no_propose(file) for file in ADDON.files))
    for on, read, propose, declared in product([True, False], repeat=4):
        files = ADDON.files if declared else quiet.files
        grants = Grants((AddonGrant("memory", on, "", files),), {("coach", "memory"): AgentGrant(read, propose)})
        found = seen(talk(agent="coach"), grants)
        assert found == ([("user", propose and declared), ("agent", propose and declared)] if on and read else [])


def _no_propose(file):
    return ContextFile(
        file.addon, file.id, file.scope, file.title, file.index, file.cap, file.topic_bytes, propose=False
    )


@pytest.mark.parametrize(
    "chat",
    [
        talk(agent="../anna"),
        talk(agent="Coach"),
        talk(agent="a/b"),
        talk(channel=Channel("..", "0123456789abcdef")),
        talk(channel=Channel("telegram", "../../../../etc1")),
        talk(channel=Channel("telegram", "short")),
        talk(channel=Channel("tg", "x-0123456789abcdef")),
    ],
)
def test_a_name_that_could_leave_its_folder_loads_nothing_at_all(chat):
    grants = Grants((ADDON,), {(chat.agent or "", "memory"): AgentGrant(read=True, propose=True)})
    assert seen(chat, grants) == []


def test_scopes_come_in_the_order_user_agent_channel_and_inside_it_by_add_on():
    second = ContextFile("alpha", "x", "user", "Alpha", "Alpha/index.md", Cap(40, 2048), 4096, propose=False)
    grants = Grants(
        (ADDON, AddonGrant("alpha", on=True, digest="", files=(second,))),
        {**GRANTED, ("coach", "alpha"): AgentGrant(read=True)},
    )
    found = access.scopes(talk(agent="coach", channel=ROOM), grants)
    assert [(one.kind, one.addon) for one in found] == [
        ("user", "alpha"),
        ("user", "memory"),
        ("agent", "memory"),
        ("channel", "memory"),
    ]


def test_a_proposal_stands_only_while_its_scope_may_still_be_written():
    scope = access.scopes(talk(), Grants((ADDON,)))[0]
    other = access.placed(AGENT, talk(agent="coach"))
    assert access.may_propose(scope, talk(), Grants((ADDON,)))
    assert not access.may_propose(scope, talk(), Grants())
    assert not access.may_propose(scope, talk(agent="coach"), Grants((ADDON,), READS))
    assert not access.may_propose(other, talk(), Grants((ADDON,)))


def test_a_scope_has_its_place_without_any_grant():
    assert access.placed(AGENT, talk()) is None
    scope = access.placed(CHANNEL, talk(channel=ROOM))
    assert (scope.index, scope.topic_cap, scope.may_propose) == (
        "Memory/channels/telegram-0123456789abcdef/index.md",
        Cap(64, 4096),
        True,
    )
    assert access.placed(_no_propose(USER), talk()).may_propose is False
