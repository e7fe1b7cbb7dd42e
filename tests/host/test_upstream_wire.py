"""Chunks put together to text and calls, in the forms in which servers send them."""

import asyncio
from types import SimpleNamespace

import pytest

from short_memory_host.upstream_errors import UpstreamError
from short_memory_host.upstream_wire import MOST_CALLS, MOST_CHARACTERS, Text, ToolCall, parts
from tests.scripted_upstream import fragment

LAST = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}


class Loose(SimpleNamespace):
    """What a server sent, as the library hands it on: what is missing is None."""

    def __getattr__(self, name):
        return None


def loose(value):
    if isinstance(value, dict):
        return Loose(**{name: loose(one) for name, one in value.items()})
    return [loose(one) for one in value] if isinstance(value, list) else value


def read(*chunks):
    async def sent():
        for chunk in chunks:
            yield loose(chunk)

    async def run():
        return [part async for part in parts("Ours", sent())]

    return asyncio.run(run())


def refusal(*chunks):
    with pytest.raises(UpstreamError) as caught:
        read(*chunks)
    return caught.value.code


def test_whole_calls_that_share_one_index_are_two():
    first, second = (fragment(0, call_id=name, name=name, arguments="{}") for name in "ab")
    assert read(first, second, LAST) == [ToolCall("a", "a", "{}"), ToolCall("b", "b", "{}")]


def test_calls_without_an_index_are_told_apart_by_their_name():
    sent = fragment(None, name="a", arguments="{}"), fragment(None, name="b"), fragment(None, arguments="{}")
    assert [(call.name, call.arguments) for call in read(*sent, LAST)] == [("a", "{}"), ("b", "{}")]


def test_a_name_that_is_sent_again_with_every_piece_makes_no_new_call():
    sent = (fragment(0, call_id="x", name="a", arguments=piece) for piece in ("{", "}"))
    assert read(*sent, LAST) == [ToolCall("x", "a", "{}")]


def test_a_call_without_an_id_gets_one_of_its_own():
    first, second = read(fragment(0, name="a"), fragment(1, name="b"), LAST)
    assert (first.id.startswith("call_"), first.id != second.id) == (True, True)


def test_a_chunk_without_choices_is_passed_over():
    text = {"choices": [{"delta": {"content": "a"}}]}
    assert read({"choices": []}, {"usage": {}}, text, LAST) == [Text("a")]


@pytest.mark.parametrize("content", [5, ["a"], {"text": "a"}])
def test_a_piece_of_the_answer_that_is_no_text_is_another_form(content):
    assert refusal({"choices": [{"delta": {"content": content}}]}, LAST) == "bad-answer"


def test_an_answer_without_end_is_stopped():
    half = "a" * (MOST_CHARACTERS // 2)
    words = {"choices": [{"delta": {"content": half}}]}
    call = fragment(0, call_id="x", name="a", arguments=half)
    assert read(words, call, LAST) == [Text(half), ToolCall("x", "a", half)]
    assert refusal(words, call, fragment(0, arguments="a"), LAST) == "bad-answer"


def test_an_answer_of_more_calls_than_can_be_meant_is_refused():
    many = [fragment(number, call_id=f"c{number}", name="a", arguments="{}") for number in range(MOST_CALLS + 1)]
    assert len(read(*many[:-1], LAST)) == MOST_CALLS
    assert refusal(*many, LAST) == "bad-answer"


def test_no_chunk_is_another_error_than_a_missing_last_one():
    assert (refusal(), refusal(fragment(0, name="a"))) == ("bad-answer", "broken-off")
