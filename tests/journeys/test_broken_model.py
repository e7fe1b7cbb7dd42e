"""A model that fails: every failure is a sentence that the person understands, and Retry answers anew."""

import json
import threading

import pytest
from playwright.sync_api import expect

from tests.journeys.asked import said_by, tools
from tests.scripted_upstream import Call, calls, fails, says

FOOD = {"topic": "food"}


def results(request):
    return [one["content"] for one in request["messages"] if one["role"] == "tool"]


@pytest.mark.case("loop-upstream-errors")
@pytest.mark.case("chat-retry")
def test_each_failure_of_the_model_is_a_sentence_and_retry_answers_anew(window, server):
    failures = [
        (fails(500), "Scripted failed (status 500)."),
        (fails(401), "Scripted refused the key (status 401)."),
        (fails(504), "Scripted did not answer in time (status 504)."),
        (says("Half an answer", breaks_off=True), "broke off in the middle of the answer"),
        (says(), "Scripted gave an empty answer."),
        (says("All is well."), None),
    ]
    server.will(*(answer for answer, _ in failures))
    window.ask("Hello")
    for _, sentence in failures[:-1]:
        expect(window.notices).to_have_count(1)
        expect(window.notices).to_contain_text(sentence)
        window.retry()
    expect(window.notices).to_have_count(0)
    expect(window.answers).to_have_text(["All is well."])
    assert [said_by("user", one) for one in server.requests] == [["Hello"]] * len(failures)


@pytest.mark.case("loop-upstream-errors")
def test_a_model_that_keeps_silent_for_too_long_is_told_to_the_person(window, server, waiting):
    window.host.held.upstreams._timeout = 0.3
    server.will(says(waiting, "late"))
    window.ask("Hello")
    expect(window.notices).to_contain_text("Scripted did not answer in time.")


@pytest.mark.case("loop-upstream-errors")
def test_a_model_that_is_not_there_is_told_to_the_person_and_the_question_stays(window, server):
    server.__exit__()
    window.ask("Hello")
    expect(window.notices).to_contain_text("Scripted cannot be reached.")
    window.page.reload()
    expect(window.words).to_have_text(["Hello"])
    expect(window.notices).to_contain_text("Scripted cannot be reached.")


@pytest.mark.case("loop-malformed-arguments")
@pytest.mark.case("loop-unknown-tool")
@pytest.mark.case("loop-parallel-calls")
def test_bad_calls_are_answered_to_the_model_each_in_its_place_and_the_turn_goes_on(window, server, keep_nuts):
    keep_nuts()
    server.requests.clear()
    server.will(
        calls(
            Call("context_read", '{"topic": ', "a"),
            Call("no_such_tool", {"x": 1}, "b"),
            Call("context_read", FOOD, "c"),
        ),
        says("Now I know."),
    )
    window.ask("What do you know?")
    expect(window.answers.last).to_have_text("Now I know.")
    expect(window.chips).to_have_text(["opened food"])
    malformed, unknown, read = results(server.requests[1])[-3:]
    assert "must be one JSON object" in malformed
    assert "That tool is not offered here." in unknown
    assert "allergic to nuts" in read
    asked = server.requests[1]["messages"]
    assert [one["tool_call_id"] for one in asked if one["role"] == "tool"][-3:] == ["a", "b", "c"]


@pytest.mark.case("loop-eight-rounds")
def test_a_model_that_calls_without_end_gets_eight_rounds_and_then_has_to_answer(window, server, keep_nuts):
    keep_nuts()
    server.requests.clear()
    server.always(lambda body: calls(Call("context_read", FOOD)) if "tools" in body else says("Enough."))
    window.ask("What do you know?")
    expect(window.answers.last).to_have_text("Enough.")
    assert [bool(tools(one)) for one in server.requests] == [True] * 8 + [False]


@pytest.mark.case("loop-eight-rounds")
def test_a_model_that_never_answers_ends_in_a_sentence(window, server, keep_nuts):
    keep_nuts()
    server.requests.clear()
    server.always(calls(Call("context_read", FOOD)))
    window.ask("What do you know?")
    expect(window.notices).to_contain_text("Scripted gave an empty answer.")
    assert len(server.requests) == 9


@pytest.mark.case("chat-streams-and-stops")
@pytest.mark.case("chat-retry")
def test_stop_keeps_what_was_said_and_retry_answers_anew(window, server, waiting):
    server.will(says("Half an ", waiting, "answer"), says("A **whole** answer."), says("Fine."))
    window.say("Hello")
    expect(window.answers.last).to_have_text("Half an ")
    expect(window.button("Send")).to_be_hidden()
    window.button("Stop").click()
    window.answered()
    expect(window.notices).to_have_text(["Stopped."])
    for _ in range(2):
        expect(window.answers).to_contain_text(["Half an"])
        window.page.reload()
    expect(window.notices).to_have_text(["Stopped."])

    window.retry()
    expect(window.answers).to_have_text(["A whole answer."])
    expect(window.answers.locator("strong")).to_have_text("whole")
    expect(window.notices).to_have_count(0)
    window.ask("Thanks")
    assert [one["content"] for one in server.requests[-1]["messages"][1:]] == ["Hello", "A **whole** answer.", "Thanks"]


@pytest.mark.case("chat-streams-and-stops")
def test_a_question_that_was_stopped_before_any_word_is_not_asked_again_by_itself(window, server, waiting):
    asked = threading.Event()
    server.always(lambda _: asked.set() or says(waiting, "Now."))
    window.say("Hello")
    assert asked.wait(10)
    window.button("Stop").click()
    window.answered()
    window.page.reload()
    expect(window.notices).to_have_text(["Stopped."])
    waiting.event.set()
    window.retry()
    expect(window.answers).to_have_text(["Now."])


@pytest.mark.case("chat-streams-and-stops")
def test_after_a_stop_the_next_words_are_taken_at_once(window, server, waiting):
    server.will(says("Half an ", waiting, "answer"), says("All right."))
    window.say("Hello")
    expect(window.answers.last).to_have_text("Half an ")
    window.button("Stop").click()
    window.ask("Something else")
    expect(window.answers).to_contain_text(["Half an", "All right."])


@pytest.mark.case("chat-streams-and-stops")
def test_a_page_that_is_loaded_again_in_the_middle_of_an_answer_keeps_the_thread(window, server, waiting):
    server.will(says("Half an ", waiting, "answer"), says("A whole answer."))
    window.say("Hello")
    expect(window.answers.last).to_have_text("Half an ")
    window.page.reload()
    expect(window.words).to_have_text(["Hello"])
    expect(window.answers).to_contain_text(["Half an"])
    window.retry()
    expect(window.answers).to_have_text(["A whole answer."])
    assert "Half" not in json.dumps(server.requests[1])


@pytest.mark.case("chat-retry")
@pytest.mark.case("outcome-told-once")
def test_retry_keeps_the_card_and_tells_the_model_again_what_it_was_told(window, server, nuts):
    nuts()
    window.ask("Remember that I'm allergic to nuts")
    server.will(says("Shall I?"), says("Good."), says("Very good."))
    window.retry()
    expect(window.cards).to_have_count(1)
    window.confirm()
    window.ask("Done")
    window.retry()
    told = [[text for text in said_by("user", one) if "confirmed" in text] for one in server.requests[-2:]]
    assert [len(texts) for texts in told] == [1, 1]
    assert told[0] == told[1]
