"""The errors of an upstream: what is told, and what never is."""

import httpx2
import openai
import pytest

from short_memory_host.upstream_errors import UpstreamError, not_a_model, translated

REQUEST = httpx2.Request("POST", "http://127.0.0.1:9/v1/chat/completions")


def told(error, **more):
    with pytest.raises(UpstreamError) as caught, translated("Ours", **more):
        raise error
    return caught.value


def test_a_lost_connection_means_another_thing_before_and_in_the_middle_of_an_answer():
    lost = openai.APIConnectionError(request=REQUEST)
    assert [told(lost, under_way=under_way).code for under_way in (False, True)] == ["unreachable", "broken-off"]


def test_the_librarys_error_is_left_behind():
    error = told(openai.APITimeoutError(request=REQUEST))
    assert (error.code, error.__cause__, error.__suppress_context__) == ("timed-out", None, True)


def test_an_answer_nested_too_deep_to_be_read_is_in_another_form():
    assert told(RecursionError(), under_way=True).code == "bad-answer"


def test_an_error_that_is_one_of_ours_passes_as_it_is():
    ours = not_a_model("Ours")
    assert told(ours) is ours


def test_an_error_says_its_text():
    assert str(not_a_model("Ours")) == (
        "Ours answered, but not in OpenAI's form. Check its address: it usually ends in /v1."
    )
