"""The wire to a model, against a real server."""

import asyncio
import socket
import threading

import pytest

from short_memory_host.upstream import BUILT_IN, CheckLine, Text, ToolCall, Upstream, UpstreamError, Upstreams, check
from tests.scripted_upstream import Answer, Call, ScriptedUpstream, Wait, calls, decides, fails, fragment, says

ASKED = [{"role": "user", "content": "hello"}]
TOOL = {"type": "function", "function": {"name": "context_read", "parameters": {"type": "object"}}}
WORD = {
    "type": "object",
    "properties": {"word": {"enum": ["a", "b"]}},
    "required": ["word"],
    "additionalProperties": False,
}


@pytest.fixture
def server():
    with ScriptedUpstream() as opened:
        yield opened


def upstream(base_url, **more):
    given = {"id": "u", "name": "Ours", "api_key": "sk-secret", "model": "scripted", "local": True, "tools": "native"}
    return Upstream(**given | {"base_url": base_url, "may_see_notes": False} | more)


def streamed(one, *, tools=(), **more):
    async def run():
        upstreams = Upstreams(**more)
        try:
            return [part async for part in upstreams.stream(one, ASKED, tools=tools)]
        finally:
            await upstreams.close()

    return asyncio.run(run())


def decided(one):
    async def run():
        upstreams = Upstreams()
        try:
            return await upstreams.decide(one, ASKED, schema=WORD)
        finally:
            await upstreams.close()

    return asyncio.run(run())


def refusal(run, *given, **more):
    with pytest.raises(UpstreamError) as caught:
        run(*given, **more)
    return caught.value


def test_a_model_that_is_not_local_sees_no_notes_until_the_owner_allows_it():
    elsewhere = {"local": False, "may_see_notes": False}
    assert [upstream("", **elsewhere | more).sees_notes for more in ({}, {"local": True}, {"may_see_notes": True})] == [
        False,
        True,
        True,
    ]


def test_the_key_is_not_in_what_an_upstream_prints():
    assert "sk-secret" not in repr(upstream(""))


def test_text_comes_in_the_pieces_in_which_it_was_sent(server):
    server.will(says("Hel", "lo"))
    assert streamed(upstream(server.base_url)) == [Text("Hel"), Text("lo")]


def test_the_first_piece_is_given_before_the_rest_was_sent(server):
    rest = threading.Event()
    server.will(says("first", Wait(rest), "second"))

    async def run():
        upstreams, got = Upstreams(), []
        async for part in upstreams.stream(upstream(server.base_url), ASKED):
            got.append((part, rest.is_set()))
            rest.set()
        await upstreams.close()
        return got

    assert asyncio.run(run()) == [(Text("first"), False), (Text("second"), True)]


def test_tools_are_not_named_where_none_is_offered(server):
    server.will(says("a"), says("b"))
    streamed(upstream(server.base_url))
    streamed(upstream(server.base_url), tools=[TOOL])
    assert [request.get("tools") for request in server.requests] == [None, [TOOL]]


def test_parallel_calls_are_told_apart_by_their_index(server):
    server.will(
        Answer(
            (
                fragment(0, call_id="x", name="context_read"),
                fragment(1, call_id="y", name="propose_change", arguments="{"),
                fragment(0, arguments='{"topic":'),
                fragment(1, arguments="}"),
                fragment(0, arguments='"food"}'),
            ),
            finish="tool_calls",
        )
    )
    assert streamed(upstream(server.base_url), tools=[TOOL]) == [
        ToolCall("x", "context_read", '{"topic":"food"}'),
        ToolCall("y", "propose_change", "{}"),
    ]


def test_malformed_arguments_are_handed_on_as_the_model_wrote_them(server):
    server.will(calls(Call("context_read", '{"topic": food')))
    assert streamed(upstream(server.base_url)) == [ToolCall("call_1", "context_read", '{"topic": food')]


def test_text_before_a_call_is_kept(server):
    server.will(Answer(("Let me look.", Call("context_read"))))
    assert streamed(upstream(server.base_url)) == [Text("Let me look."), ToolCall("call_1", "context_read", "{}")]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad-answer"),
        (401, "refused"),
        (403, "refused"),
        (404, "not-found"),
        (408, "timed-out"),
        (413, "too-long"),
        (429, "overloaded"),
        (500, "bad-answer"),
        (503, "overloaded"),
        (504, "timed-out"),
    ],
)
def test_a_status_is_told_as_what_it_means(server, status, code):
    server.will(fails(status))
    assert refusal(streamed, upstream(server.base_url)).code == code


def test_an_error_names_neither_the_key_nor_what_the_server_wrote(server):
    server.will(fails(500, {"message": "your key sk-secret and your nuts"}))
    error = refusal(streamed, upstream(server.base_url))
    told = f"{error} {error!r} {error.__cause__}"
    assert (error.text, "sk-secret" in told, "nuts" in told) == (
        "Ours failed (status 500). Try again; if it stays so, look at its log.",
        False,
        False,
    )


def test_a_conversation_that_is_too_long_is_told_apart(server):
    server.will(fails(400, {"message": "the request exceeds the available context size", "code": 400}))
    assert refusal(streamed, upstream(server.base_url)).code == "too-long"


def test_an_error_in_the_middle_of_a_stream_is_an_error(server):
    server.will(Answer(("a", {"error": {"message": "out of memory", "type": "server_error"}})))
    assert refusal(streamed, upstream(server.base_url)).code == "bad-answer"


def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(server):
    with ScriptedUpstream() as other:
        server.will(fails(307, location=f"{other.base_url}/chat/completions"))
        error = refusal(streamed, upstream(server.base_url))
        assert (error.code, "status 307" in error.text, other.requests) == ("bad-answer", True, [])


def test_an_answer_that_breaks_off_in_the_middle_is_an_error(server):
    server.will(says("half", breaks_off=True))
    assert refusal(streamed, upstream(server.base_url)).code == "broken-off"


def test_a_stream_that_ends_without_saying_so_is_an_error(server):
    server.will(says("half", finish=None))
    assert refusal(streamed, upstream(server.base_url)).code == "broken-off"


def test_a_page_in_place_of_a_stream_is_told_as_a_wrong_address(server):
    server.will(Answer(body="<html>hello</html>"))
    error = refusal(streamed, upstream(server.base_url))
    assert (error.code, "/v1" in error.text) == ("bad-answer", True)


def test_a_chunk_that_is_no_json_is_an_error(server):
    server.will(Answer(body="data: {nonsense\n\n"))
    assert refusal(streamed, upstream(server.base_url)).code == "bad-answer"


def test_a_server_that_falls_silent_is_timed_out(server):
    never = threading.Event()
    server.will(says(Wait(never), "late"))
    code = refusal(streamed, upstream(server.base_url), silence_s=0.2).code
    never.set()
    assert (code, len(server.requests)) == ("timed-out", 1)


def test_an_address_where_nobody_listens_is_unreachable():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    assert refusal(streamed, upstream(f"http://127.0.0.1:{port}/v1")).code == "unreachable"


def test_a_model_elsewhere_is_asked_once_more_when_it_is_overloaded(server):
    server.will(fails(503, retry_after="0"), says("hello"))
    assert (streamed(upstream(server.base_url, local=False)), len(server.requests)) == ([Text("hello")], 2)


def test_one_client_serves_an_address_and_key_until_it_is_closed(server):
    async def run():
        upstreams, one = Upstreams(), upstream(server.base_url)
        first = upstreams.client(one)
        same = upstreams.client(upstream(server.base_url, name="Renamed")) is first
        other = upstreams.client(upstream(server.base_url, api_key="another")) is first
        await upstreams.close()
        return same, other, first.is_closed()

    assert asyncio.run(run()) == (True, False, True)


def test_nothing_of_the_environment_goes_along(server, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-somebody")
    server.will(says("a"))
    streamed(upstream(server.base_url))
    sent = server.headers[0]
    assert (sent["authorization"], [name for name in sent if name.startswith("openai-")]) == ("Bearer sk-secret", [])


def test_a_decision_that_fits_its_schema_is_returned(server):
    server.will(decides(word="a"))
    assert (decided(upstream(server.base_url)), server.requests[0]["response_format"]["json_schema"]["schema"]) == (
        {"word": "a"},
        WORD,
    )


@pytest.mark.parametrize("answer", [decides(word="c"), says("no json"), says(""), says("[1]"), Answer(body="{}")])
def test_a_decision_that_does_not_fit_is_refused(server, answer):
    server.will(answer)
    assert refusal(decided, upstream(server.base_url)).code == "bad-answer"


def test_only_the_built_in_model_is_told_of_slots(server):
    server.will(decides(word="a"), decides(word="a"), says("a"), says("a"))
    own, other = upstream(server.base_url, id=BUILT_IN), upstream(server.base_url)
    decided(own), decided(other), streamed(own), streamed(other)
    assert [request.get("id_slot") for request in server.requests] == [0, None, 1, None]


def test_the_check_says_what_works(server):
    server.will(says("hel", "lo"), calls(Call("weather", {"city": "Rome"})), decides(word="apple"))
    assert asyncio.run(check(upstream(server.base_url))) == [
        CheckLine(ok=True, text="Reachable, and the model scripted is there."),
        CheckLine(ok=True, text="Its answers stream."),
        CheckLine(ok=True, text="It calls tools by itself: native tools fit."),
        CheckLine(ok=True, text="It keeps to a JSON schema: guided tools fit."),
    ]


def test_the_check_says_what_to_choose_for_a_model_that_calls_no_tools(server):
    server.will(says("hel", "lo"), says("I cannot know."), says("a poem"))
    lines = asyncio.run(check(upstream(server.base_url, model="missing")))
    assert lines == [
        CheckLine(ok=False, text="Reachable, but the model missing is not in its list. It has: scripted."),
        CheckLine(ok=True, text="Its answers stream."),
        CheckLine(ok=False, text="It does not call tools by itself: choose guided tools."),
        CheckLine(ok=True, text="It does not keep to a JSON schema: choose native tools."),
    ]


def test_the_check_ends_at_a_server_that_is_not_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    text = "Ours cannot be reached. Look whether it runs and whether its address is right."
    assert asyncio.run(check(upstream(f"http://127.0.0.1:{port}/v1"))) == [CheckLine(ok=False, text=text)]
