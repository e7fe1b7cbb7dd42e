"""The kept messages in OpenAI's format: valid for any server, whatever a stop left behind, and closed for who may not see."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory.prompt import framed
from short_memory_host.chat.messages import Message, merged, waits, wire

CANARY = "canary-7f3a"


def person(text="Hello"):
    return Message("user", {"text": text})


def model(text="", *calls):
    made = [{"id": one, "name": "context_read", "arguments": '{"topic": "food"}'} for one in calls]
    return Message("assistant", {"text": text, "calls": made})


def result(call, text="- no nuts"):
    return Message("tool", {"call": call, "name": "context_read", "text": text, "opened": ["food"]})


def host(*lines):
    return Message("host", {"lines": list(lines), "proposals": []})


def on_the_wire(name):
    function = {"name": "context_read", "arguments": '{"topic": "food"}'}
    return {"id": name, "type": "function", "function": function}


def asking(*names, text=None):
    return {"role": "assistant", "content": text, "tool_calls": [on_the_wire(name) for name in names]}


def tool(name, text="- no nuts"):
    return {"role": "tool", "tool_call_id": name, "content": framed(text)}


HELLO = {"role": "user", "content": "Hello"}
FINE = {"role": "assistant", "content": "Fine."}


def test_a_conversation_with_calls_is_written_in_its_order():
    kept = [person(), model("Let me see.", "a", "b"), result("a"), result("b", "none"), model("Fine.")]
    expected = [HELLO, asking("a", "b", text="Let me see."), tool("a"), tool("b", "none"), FINE]
    assert wire(kept, sees_notes=True) == expected


def test_calls_that_a_stop_left_without_any_result_are_left_out():
    assert wire([person(), model("", "a", "b"), person("Again")], sees_notes=True) == [
        HELLO,
        {"role": "user", "content": "Again"},
    ]


def test_of_parallel_calls_only_those_with_a_result_are_written_after_a_stop():
    kept = [person(), model("Wait.", "a", "b"), result("a"), person("Again")]
    assert wire(kept, sees_notes=True) == [
        HELLO,
        asking("a", text="Wait."),
        tool("a"),
        {"role": "user", "content": "Again"},
    ]


def test_the_words_before_calls_without_results_stay():
    assert wire([person(), model("Fine.", "a")], sees_notes=True) == [HELLO, FINE]


def test_a_result_without_its_call_is_left_out():
    assert wire([person(), result("a"), model("Fine.")], sees_notes=True) == [HELLO, FINE]


def test_what_a_tool_said_of_no_topic_has_no_frame_and_for_the_guided_step_nothing_has():
    refused = Message("tool", {"call": "a", "name": "context_read", "text": "No such topic.", "opened": []})
    kept = [person(), model("", "a"), refused, model("", "b"), result("b")]
    texts = [
        [one["content"] for one in wire(kept, sees_notes=True, framed=frame) if one["role"] == "tool"]
        for frame in (True, False)
    ]
    assert texts == [["No such topic.", framed("- no nuts")], ["No such topic.", "- no nuts"]]


def test_a_message_of_the_person_between_a_call_and_its_result_comes_after_both():
    kept = [person(), model("", "a"), person("And?"), result("a"), model("Fine.")]
    assert wire(kept, sees_notes=True) == [HELLO, asking("a"), tool("a"), {"role": "user", "content": "And?"}, FINE]


def test_a_model_that_gives_every_call_the_same_id_gets_each_result_at_its_own_call():
    kept = [
        person(),
        model("", "x", "x"),
        result("x", "1"),
        result("x", "2"),
        model("", "x"),
        result("x", "3"),
        model("Fine."),
    ]
    expected = [HELLO, asking("x", "x"), tool("x", "1"), tool("x", "2"), asking("x"), tool("x", "3"), FINE]
    assert wire(kept, sees_notes=True) == expected


def test_what_the_host_says_stands_before_the_persons_message_and_in_it():
    kept = [person("Old"), model("Fine."), person(), host("one.", "two.")]
    assert wire(kept, sees_notes=True)[2] == {
        "role": "user",
        "content": "(From the host, not from the person: one.\ntwo.)\n\nHello",
    }


def test_a_receipt_that_a_retry_left_does_not_part_the_hosts_line_from_its_message():
    back = Message("tool", {"call": "a", "name": "revert_change", "text": "Taken back", "change": "ch_1"})
    assert wire([person(), back, host("one.")], sees_notes=True) == [
        {"role": "user", "content": "(From the host, not from the person: one.)\n\nHello"}
    ]


@pytest.mark.case("locality-gate")
def test_a_model_that_may_not_see_notes_gets_the_words_of_the_two_sides_alone():
    kept = [
        person(),
        host(CANARY),
        model("", CANARY),
        result(CANARY, CANARY),
        model("Look.", "b"),
        result("b", CANARY),
        model("Fine."),
    ]
    assert wire(kept, sees_notes=False) == [HELLO, {"role": "assistant", "content": "Look."}, FINE]


def test_an_answer_that_was_stopped_or_failed_stays_as_far_as_it_came():
    stopped = Message("assistant", {"text": "Half", "stopped": True})
    failed = Message("assistant", {"text": "", "failed": "timed-out", "problem": "Too slow."})
    assert wire([person(), stopped, person(), failed], sees_notes=True) == [
        HELLO,
        {"role": "assistant", "content": "Half"},
        HELLO,
    ]


def test_two_messages_of_one_side_in_a_row_become_one_as_many_chat_templates_want():
    found = merged([HELLO, {"role": "user", "content": "And?"}, FINE, FINE, asking("a"), tool("a"), FINE])
    assert found == [
        {"role": "user", "content": "Hello\n\nAnd?"},
        {"role": "assistant", "content": "Fine.\n\nFine."},
        asking("a"),
        tool("a"),
        FINE,
    ]


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ([person()], True),
        ([person(), host("one.")], True),
        ([person(), model("Fine.")], False),
        ([person(), model("", "a"), result("a")], False),
        ([person(), model("Fine."), person()], True),
        ([person(), result("a")], True),
        ([], False),
    ],
)
def test_only_a_message_without_the_beginning_of_an_answer_waits_for_one(kept, expected):
    assert waits(kept) == expected


NAMES = st.sampled_from(["a", "b"])
ANY = st.one_of(
    st.builds(person),
    st.builds(model, st.sampled_from(["", "Fine."])),
    st.lists(NAMES, min_size=1, max_size=3).map(lambda names: model("", *names)),
    st.builds(result, NAMES),
    st.builds(host, st.just("one.")),
)


@given(st.lists(ANY, max_size=12), st.booleans())
def test_every_call_on_the_wire_is_followed_by_its_results_and_no_result_stands_alone(kept, sees_notes):
    found = merged(wire([person(), *kept], sees_notes=sees_notes))
    due = []
    for one in found:
        if one["role"] == "tool":
            assert one["tool_call_id"] == due.pop(0)
            continue
        assert due == []
        due = [call["id"] for call in one.get("tool_calls", ())]
        assert one["content"] or due
    assert due == []
    spoken = [one["role"] for one in found if one["role"] != "tool" and "tool_calls" not in one]
    said = [one for one in found if one["role"] == "user"]
    assert (bool(said), set(spoken) <= {"user", "assistant"}) == (True, True)


@given(st.lists(ANY, max_size=8), st.lists(ANY, max_size=4))
def test_writing_the_same_messages_twice_gives_the_same_bytes_and_changes_none_of_them(kept, more):
    messages = [person(), *kept, *more]
    before = json.dumps([one.content for one in messages])
    first, second = wire(messages, sees_notes=True), wire(messages, sees_notes=True)
    assert (json.dumps(first), json.dumps([one.content for one in messages])) == (json.dumps(second), before)
