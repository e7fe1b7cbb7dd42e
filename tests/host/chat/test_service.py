"""The thread as it is shown, the running of a turn for a person, and what stays when they go away."""

import asyncio
import logging
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import replace

import pytest
from sqlalchemy import update

from short_memory_host import database as db
from short_memory_host.builtin_model.running import BuiltInModel
from short_memory_host.chat import queries, service
from short_memory_host.chat.service import Shown
from short_memory_host.upstream import Upstream
from short_memory_host.web import people
from short_memory_host.web.errors import InvalidInputError
from tests.scripted_upstream import Call, Wait, calls, fails, says

NUTS = {"scope": "user", "edits": [{"file": "food.md", "old": "", "new": "- allergic to nuts"}], "why": "Asked to."}


def propose(name="a"):
    return Call("propose_change", NUTS, id=name)


def chat_of(talk):
    with talk.host.database.read() as connection:
        row = connection.execute(db.conversations.select().where(db.conversations.c.id == talk.id)).one()
        return queries.find(connection, talk.id, person=row.person), people.find(connection, row.person)


def shown(talk):
    chat, person = chat_of(talk)
    return service.thread(talk.held, person, chat, service.messages_of(talk.held, chat))


def kinds(talk):
    return [one.kind for one in shown(talk)]


def pieces(talk):
    return [one.text for one in shown(talk) if one.kind == "piece"]


def card_id(html):
    return re.search(r'data-proposal="([^"]*)"', html)[1]


def digest(html):
    return re.search(r'data-digest="([^"]*)"', html)[1]


def decide(talk, html, verb):
    answer = talk.browser.post(f"/proposals/{card_id(html)}/{verb}", json={"digest": digest(html)})
    assert answer.status_code == 200
    return answer.json()["html"]


# Words


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u2003"])
def test_an_empty_message_is_refused(text):
    with pytest.raises(InvalidInputError) as caught:
        service.checked(text)
    assert caught.value.reason == "empty-message"


@pytest.mark.parametrize(("text", "fits"), [("a" * 65_536, True), ("a" * 65_537, False), ("é" * 32_769, False)])
def test_a_message_is_measured_in_bytes(text, fits):
    if fits:
        assert service.checked(text) == text
        return
    with pytest.raises(InvalidInputError) as caught:
        service.checked(text)
    assert (caught.value.reason, caught.value.facts) == ("long-message", {"most": 65_536})


def test_half_a_character_becomes_a_question_mark():
    assert service.checked("a\ud800b") == "a\ufffdb"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello", "Hello"),
        ("  two\n\nlines\t ", "two lines"),
        ("a" * 60, "a" * 60),
        ("a" * 61, "a" * 59 + "…"),
        ("a" * 58 + " bcd", "a" * 58 + "…"),
        (" ", ""),
    ],
)
def test_a_title_is_one_line_of_at_most_60_characters(text, expected):
    assert service.title_of(text) == expected


def upstream(name):
    return Upstream(name, name, "", "", "m", local=True, may_see_notes=False, tools="native")


def test_the_chosen_model_answers_or_the_first_where_none_was_chosen():
    both = [upstream("a"), upstream("b")]
    assert [service.chosen(both, wanted).id for wanted in ("b", None)] == ["b", "a"]


def test_no_other_model_answers_by_itself_where_the_chosen_one_is_gone():
    assert (service.chosen([upstream("a")], "gone"), service.chosen([], None)) == (None, None)


# The thread


def test_a_thread_shows_words_chips_cards_and_errors_in_their_places(talk, server):
    server.will(calls("Wait.", propose()), calls(Call("propose_change", {}, id="b")), says("**Done**"), fails(500))
    talk.ask("Remember <b>nuts</b>")
    talk.ask("And?")
    found = shown(talk)
    assert [one.kind for one in found] == ["user", "assistant", "piece", "assistant", "user", "failed"]
    assert found[0] == Shown("user", "Remember <b>nuts</b>")
    assert (found[3].text, "failed (status 500)" in found[5].text) == ("<p><strong>Done</strong></p>\n", True)


@pytest.mark.case("chat-opened-chip")
def test_what_was_opened_is_a_chip_in_the_thread(talk, server):
    server.will(calls(propose()), says("Ok"), calls(Call("context_read", {"topic": ["food"]}, id="b")), says("Rice"))
    talk.ask()
    decide(talk, pieces(talk)[0], "confirm")
    events = talk.ask("What can I cook?")
    assert {"kind": "chip", "text": "opened food"} in events
    assert Shown("chip", "opened food") in shown(talk)


@pytest.mark.case("receipt-by-host")
def test_a_card_stands_in_its_place_in_its_present_state(talk, server):
    server.will(calls(propose()), says("Ok"), says("Bye"))
    talk.ask()
    talk.ask("Bye")
    places = [kinds(talk)]
    states = [re.search(r'class="card card-(\w+)"', pieces(talk)[0])[1]]
    decide(talk, pieces(talk)[0], "confirm")
    states.append(re.search(r'class="card card-(\w+)"', pieces(talk)[0])[1])
    places.append(kinds(talk))
    assert (states, places) == (["open", "confirmed"], [["user", "piece", "assistant", "user", "assistant"]] * 2)


@pytest.mark.case("propose-expiry-24h")
def test_a_card_whose_time_is_over_offers_no_confirm(talk, server, clock):
    server.will(calls(propose()), says("Ok"))
    talk.ask()
    clock.move(hours=24)
    assert ("card-expired" in pieces(talk)[0], 'data-decide="confirm"' in pieces(talk)[0]) == (True, False)


@pytest.mark.case("receipt-by-host")
def test_a_receipt_says_that_its_change_was_undone(talk, server):
    server.will(calls(propose()), says("Ok"))
    talk.ask()
    html = decide(talk, pieces(talk)[0], "confirm")
    change = re.search(r'data-undo="([^"]*)"', html)[1]
    assert talk.browser.post(f"/changes/{change}/revert", json={}).status_code == 200
    assert (talk.files, "Undone." in pieces(talk)[0], "data-undo" in pieces(talk)[0]) == ({}, True, False)


@pytest.mark.case("receipt-by-host")
@pytest.mark.case("revert-model-last-only")
def test_what_the_model_took_back_has_a_receipt_with_undo_also_after_a_retry(talk, server):
    server.will(calls(propose()), says("Ok"), calls(Call("revert_change", {}, id="b")), says("Back"), says("Anew"))
    talk.ask()
    decide(talk, pieces(talk)[0], "confirm")
    events = talk.ask("Undo that")
    before = [one["html"] for one in events if one["kind"] == "piece"]
    talk.answer(anew=True)
    receipts = [one for one in pieces(talk) if "data-change" in one]
    assert (len(before), receipts, "Taken back: " in receipts[0], "data-undo" in receipts[0]) == (1, before, True, True)
    change = re.search('data-change="([^"]*)"', receipts[0])[1]
    assert talk.browser.post(f"/changes/{change}/revert", json={}).status_code == 200
    assert "Undone." in next(one for one in pieces(talk) if "data-change" in one)


def test_a_card_that_was_proposed_again_stands_at_the_end(talk, server):
    server.will(calls(propose()), says("Ok"))
    talk.ask()
    declined = decide(talk, pieces(talk)[0], "decline")
    again = decide(talk, declined, "again")
    first, last = pieces(talk)
    assert (kinds(talk), card_id(first), card_id(last)) == (
        ["user", "piece", "assistant", "piece"],
        card_id(declined),
        card_id(again),
    )


@pytest.mark.case("propose-declined-30-days")
def test_a_card_that_was_declined_in_another_chat_is_shown_where_the_model_asks_again(talk, server):
    server.will(calls(propose()), says("Ok"), calls(propose("b")), says("You said no."))
    talk.ask()
    declined = decide(talk, pieces(talk)[0], "decline")
    talk.id = ""
    events = talk.ask("Remember that I'm allergic to nuts")
    live = [one["html"] for one in events if one["kind"] == "piece"]
    assert [card_id(one) for one in [*live, *pieces(talk)]] == [card_id(declined)] * 2
    assert 'data-decide="again"' in live[0]


@pytest.mark.case("propose-collapses-identical")
def test_the_same_proposal_asked_twice_is_one_card(talk, server):
    server.will(calls(propose()), says("Ok"), calls(propose("b")), says("Ok"))
    talk.ask()
    talk.ask("Once more")
    assert kinds(talk) == ["user", "piece", "assistant", "user", "assistant"]


# Answering


@pytest.mark.case("chat-streams-and-stops")
def test_an_answer_comes_as_text_then_as_the_hosts_markup_then_done(talk, server):
    server.will(says("**He", "llo**"))
    assert talk.ask() == [
        {"kind": "text", "text": "**He"},
        {"kind": "text", "text": "llo**"},
        {"kind": "said", "html": "<p><strong>Hello</strong></p>\n"},
        {"kind": "done"},
    ]


@pytest.mark.case("loop-upstream-errors")
@pytest.mark.case("log-no-content")
def test_an_answer_that_fails_half_way_keeps_what_was_said_and_why(talk, server, caplog):
    caplog.set_level(logging.INFO, "short_memory_host")
    server.will(says("Secret half", breaks_off=True))
    events = talk.ask("My secret")
    assert [one["kind"] for one in events] == ["text", "failed", "done"]
    kept = talk.kept()[-1].content
    assert (kept["text"], kept["failed"], kept["problem"]) == ("Secret half", "broken-off", events[1]["text"])
    codes = [one.facts["code"] for one in caplog.records if one.getMessage() == "turn-failed"]
    assert (codes, [one for one in caplog.records if "ecret" in str(vars(one))]) == (["broken-off"], [])


def test_a_message_that_has_its_answer_is_not_answered_twice(talk, server):
    server.will(says("Hi"))
    talk.ask()
    assert (talk.answer(), len(server.requests), len(talk.kept())) == ([{"kind": "done"}], 1, 2)


@pytest.mark.case("propose-dates-item")
@pytest.mark.parametrize(("zone", "day"), [("Pacific/Kiritimati", "2026-12-01"), ("", "2026-11-30")])
def test_the_day_of_a_fact_is_that_of_the_persons_time_zone(talk, server, zone, day):
    with talk.host.database.write() as connection:
        connection.execute(update(db.people).values(time_zone=zone))
    server.will(calls(propose()), says("Ok"))
    talk.ask()
    assert f"{day}: allergic to nuts" in pieces(talk)[0]


def test_what_another_program_wrote_is_journaled_after_the_answer(talk, server):
    server.will(says("Hi"))
    _, person = chat_of(talk.begin())
    note = talk.host.settings.data / "files" / person.id / "Memory" / "food.md"
    note.parent.mkdir(parents=True)
    note.write_text("- by hand\n", encoding="utf-8")
    talk.answer()
    assert [one.cause for one in talk.held.notebook.history(person.id, limit=9)] == ["outside"]


# Going away: `until` says after which event


async def leave(talk, until):
    (chat, person), found = chat_of(talk), []
    (model,) = service.models(talk.held, person)
    async with aclosing(service.answer(talk.held, person, chat, model)) as events:
        async for event in events:
            found.append(event)
            if until(event):
                break
    return found


def left(talk, until):
    return talk.host.loop.call(leave, talk, until)


@pytest.mark.case("chat-streams-and-stops")
def test_who_stops_an_answer_keeps_what_they_saw(talk, server):
    rest = Wait(threading.Event())
    server.will(says("Hel", rest, "lo"))
    talk.begin()
    left(talk, lambda event: event["kind"] == "text")
    rest.event.set()
    assert talk.kept()[-1].content == {"text": "Hel", "stopped": True}
    assert [one.text for one in shown(talk)[1:]] == ["<p>Hel</p>\n", "Stopped."]


def test_an_answer_that_is_whole_is_not_kept_a_second_time_by_a_stop(talk, server):
    server.will(says("Hello"))
    talk.begin()
    left(talk, lambda event: event["kind"] == "said")
    assert [one.content for one in talk.kept()[1:]] == [{"text": "Hello", "calls": []}]


def test_a_stop_between_a_call_and_its_result_leaves_a_conversation_that_goes_on(talk, server):
    server.will(calls("Wait.", propose()), says("Hi"))
    talk.begin()
    left(talk, lambda event: event["kind"] == "said")
    talk.ask("Again")
    said = server.requests[-1]["messages"]
    assert ([one["role"] for one in said], "tool_calls" in str(said)) == (
        ["system", "user", "assistant", "user"],
        False,
    )


def test_a_stop_after_a_card_loses_neither_the_card_nor_its_result(talk, server):
    server.will(calls(propose()), says("Hi"))
    talk.begin()
    left(talk, lambda event: event["kind"] == "piece")
    assert ([one.role for one in talk.kept()], kinds(talk)) == (["user", "assistant", "tool"], ["user", "piece"])
    talk.ask("Again")
    assert [one["role"] for one in server.requests[-1]["messages"]] == ["system", "user", "assistant", "tool", "user"]


async def leave_while_it_waits_to_be_kept(talk):
    """Go away while the message of the model waits for a thread that keeps it."""
    queued, go_on = asyncio.Event(), threading.Event()

    class OneThread(ThreadPoolExecutor):
        def submit(self, *given, **more):
            queued.set()
            return super().submit(*given, **more)

    chat, person = chat_of(talk)
    events = service.answer(talk.held, person, chat, service.models(talk.held, person)[0])
    await anext(events)
    busy = OneThread(max_workers=1)
    busy.submit(go_on.wait)
    queued.clear()
    asyncio.get_running_loop().set_default_executor(busy)
    going_on = asyncio.ensure_future(anext(events))
    await queued.wait()
    going_on.cancel()
    await asyncio.wait([going_on])
    go_on.set()
    await asyncio.to_thread(int)  # the one thread takes one after the other
    return going_on.cancelled()


@pytest.mark.case("chat-streams-and-stops")
def test_a_message_that_waits_to_be_kept_when_the_person_goes_away_is_kept_whole_and_once(talk, server):
    server.will(says("Hello"))
    talk.begin()
    cancelled = talk.host.loop.call(leave_while_it_waits_to_be_kept, talk)
    assert (cancelled, [one.content for one in talk.kept()[1:]]) == (True, [{"text": "Hello", "calls": []}])


def test_a_conversation_that_is_deleted_while_it_is_answered_lets_the_answer_go(talk, server):
    server.will(says("Hel", "lo"))
    talk.begin()

    def delete(event):
        with talk.host.database.write() as connection:
            queries.remove(connection, talk.id)
        return False

    events = left(talk, delete)
    assert ([one["kind"] for one in events], talk.kept()) == (["text", "text", "said", "done"], [])


@pytest.mark.parametrize(
    ("wanted", "state", "expected"),
    [
        (None, "fetching", True),
        (None, "starting", True),
        ("built-in", "starting", True),
        ("u_other", "starting", False),
        (None, "ready", False),
        (None, "failed", False),
    ],
)
def test_a_new_chat_waits_for_the_built_in_model_and_takes_no_other_in_its_place(host, wanted, state, expected):
    held = host.app.state.held
    built_in = BuiltInModel(held.upstreams, folder=host.settings.data / "models", model=None)
    built_in.state = state
    assert service.is_awaited(replace(held, built_in=built_in), wanted) is expected


def test_nobody_waits_for_a_built_in_model_that_is_switched_off(host):
    assert service.is_awaited(host.app.state.held, None) is False
