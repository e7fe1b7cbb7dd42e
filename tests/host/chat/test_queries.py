"""Conversations and messages in the database."""

from datetime import timedelta

import pytest

from short_memory_host.accounts import queries as people
from short_memory_host.chat import queries
from short_memory_host.chat.messages import Message
from short_memory_host.web.errors import UnknownError
from tests.clock import NOON


@pytest.fixture
def connection(host):
    with host.database.write() as opened:
        people.add(opened, "p_ada", name="Ada", role="member", now=NOON)
        people.add(opened, "p_bob", name="Bob", role="member", now=NOON)
        yield opened


def begun(connection, person="p_ada", after_s=0, title="T"):
    now = NOON + timedelta(seconds=after_s)
    return queries.add(connection, person=person, title=title, upstream=None, now=now)


def keep(connection, chat, *messages, after_s=0):
    for message in messages:
        queries.keep(connection, chat, message, now=NOON + timedelta(seconds=after_s))


def contents(connection, chat):
    return [(one.role, one.content) for one in queries.messages(connection, chat)]


USER, SAID = Message("user", {"text": "Hello"}), Message("assistant", {"text": "Hi"})
LINE = Message("host", {"lines": ["x"], "proposals": ["p"]})
RESULT = Message("tool", {"call": "a", "text": "x", "change": None})
BACK = Message("tool", {"call": "a", "text": "Taken back", "change": "ch_1"})


@pytest.mark.case("chat-conversations")
def test_conversations_are_listed_by_their_latest_message_and_only_ones_own(connection):
    first, second = begun(connection), begun(connection, after_s=1)
    begun(connection, "p_bob", after_s=2)
    before = [one.id for one in queries.listed(connection, "p_ada")]
    keep(connection, first, USER, after_s=3)
    assert (before, [one.id for one in queries.listed(connection, "p_ada")]) == ([second, first], [first, second])


def test_at_most_200_conversations_are_listed(connection):
    for number in range(queries.MOST_LISTED + 1):
        begun(connection, after_s=number)
    assert len(queries.listed(connection, "p_ada")) == queries.MOST_LISTED


@pytest.mark.case("foreign-id-as-unknown")
@pytest.mark.parametrize("person", ["p_bob", "p_nobody"])
def test_a_conversation_of_somebody_else_is_not_found(connection, person):
    chat = begun(connection)
    with pytest.raises(UnknownError):
        queries.find(connection, chat, person=person)
    assert queries.find(connection, chat, person="p_ada").id == chat


def test_messages_come_back_as_they_were_kept_and_in_their_order(connection):
    chat, other = begun(connection), begun(connection)
    said = Message("assistant", {"text": "né “x” \x00 😀", "calls": [{"id": "a"}], "stopped": True})
    keep(connection, chat, USER, said)
    keep(connection, other, USER)
    assert contents(connection, chat) == [("user", {"text": "Hello"}), ("assistant", said.content)]


def test_a_deleted_conversation_takes_its_messages_along_and_no_more(connection):
    chat, other = begun(connection), begun(connection)
    keep(connection, chat, USER)
    keep(connection, other, USER)
    queries.remove(connection, chat)
    assert ([len(contents(connection, one)) for one in (chat, other)], len(queries.listed(connection, "p_ada"))) == (
        [0, 1],
        1,
    )


def test_what_comes_for_a_deleted_conversation_is_let_go(connection):
    chat = begun(connection)
    queries.remove(connection, chat)
    keep(connection, chat, SAID)
    assert contents(connection, chat) == []


def test_a_conversation_takes_a_title_and_a_model(connection):
    chat = begun(connection)
    queries.rename(connection, chat, "Other")
    queries.choose(connection, chat, "u_1")
    found = queries.find(connection, chat, person="p_ada")
    assert (found.title, found.upstream) == ("Other", "u_1")


@pytest.mark.case("chat-retry")
def test_dropping_an_answer_removes_what_came_after_the_last_message_of_the_person(connection):
    chat, other = begun(connection), begun(connection)
    keep(connection, chat, USER, SAID, USER, SAID, RESULT, SAID)
    keep(connection, other, USER, SAID)
    queries.drop_answer(connection, chat)
    assert ([role for role, _ in contents(connection, chat)], len(contents(connection, other))) == (
        ["user", "assistant", "user"],
        2,
    )


@pytest.mark.case("outcome-told-once")
@pytest.mark.case("receipt-by-host")
def test_dropping_an_answer_keeps_what_the_host_said_and_the_receipt_of_a_taking_back(connection):
    chat = begun(connection)
    keep(connection, chat, USER, LINE, SAID, BACK, SAID)
    queries.drop_answer(connection, chat)
    assert contents(connection, chat) == [(one.role, one.content) for one in (USER, LINE, BACK)]
