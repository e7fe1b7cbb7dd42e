"""The guided step: what is asked, what a decision becomes, and how results are told."""

import asyncio
import json

import jsonschema
import pytest

from short_memory import prompt
from short_memory_host import guided
from short_memory_host.guided import Situation, Topic
from short_memory_host.upstream import Upstream, UpstreamError, Upstreams
from tests.scripted_upstream import ScriptedUpstream, decides, fails, says

FOOD = Topic("user", "food", "vegetarian")
HOME = Topic("user", "home", "lives in Rome", "where-i-live.md")
AGENT_FOOD = Topic("agent", "food", "recipes tried")


@pytest.fixture
def server():
    with ScriptedUpstream() as opened:
        yield opened


def situation(*topics, **more):
    given = {"may_read": True, "may_propose": ("user",), "previous": (), "text": "what can I cook?"}
    return Situation(**{"topics": topics} | given | more)


def next_call(server, asked):
    upstream = Upstream("u", "Ours", server.base_url, "", "scripted", local=True, may_see_notes=False, tools="guided")

    async def run():
        upstreams = Upstreams()
        try:
            return await guided.next_call(upstreams, upstream, asked)
        finally:
            await upstreams.close()

    return asyncio.run(run())


def note(topic, fact, wants="remember this about me"):
    return {"wants": wants, "do": "note", "topic": topic, "fact": fact}


def proposed(asked, decided):
    return json.loads(guided.call(asked, decided).arguments)


def fits(asked, decided):
    return jsonschema.Draft202012Validator(guided.schema(asked)).is_valid(decided)


READ_FOOD = {"wants": "advice for me", "do": "read", "topics": ["food"]}
REPLY = {"wants": "small talk", "do": "reply"}


def test_a_decision_to_read_becomes_a_call_of_context_read(server):
    server.will(decides(**READ_FOOD))
    call = next_call(server, situation(FOOD))
    assert (call.name, json.loads(call.arguments)) == ("context_read", {"topic": ["food"]})


def test_a_decision_to_reply_becomes_no_call(server):
    server.will(decides(**REPLY))
    assert next_call(server, situation(FOOD)) is None


def test_on_empty_notes_a_fact_becomes_a_proposal_for_a_new_topic(server):
    server.will(decides(**note("food", "allergic to nuts")))
    call = next_call(server, situation(text="remember that I'm allergic to nuts"))
    assert (call.name, json.loads(call.arguments)) == (
        "propose_change",
        {
            "scope": "user",
            "edits": [{"file": "food.md", "old": "", "new": "- allergic to nuts"}],
            "why": "You told me this to remember.",
        },
    )


def test_a_fact_for_a_topic_that_is_there_goes_to_its_file():
    assert proposed(situation(HOME), note("home", "moved"))["edits"][0]["file"] == "where-i-live.md"


def test_the_reason_says_when_it_was_a_yes_to_an_offer():
    asked = situation(text="yes")
    assert proposed(asked, note("home", "moved", "accept the offer"))["why"] == "You said yes to a note of this."


def test_without_an_exchange_before_there_is_no_offer_to_accept_or_decline():
    accepted, declined = note("home", "moved", "accept the offer"), REPLY | {"wants": "decline the offer"}
    before = (("user", "I moved."), ("assistant", "Shall I note that?"))
    asked = [situation(), situation(previous=before)]
    assert [[fits(one, decided) for decided in (accepted, declined)] for one in asked] == [[False, False], [True, True]]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("ricorda che non sopporto il coriandolo", "sopporto il coriandolo"),
        ("remember I can't stand cilantro", "stands cilantro"),
        ("Ich esse kein Fleisch", "isst Fleisch"),
    ],
)
def test_a_fact_that_was_turned_around_gives_way_to_the_persons_words(said, fact):
    assert proposed(situation(text=said), note("food", fact))["edits"][0]["new"] == f"- {said}"


def test_a_fact_that_denies_what_the_person_denied_is_kept():
    asked = situation(text="remember I can't stand cilantro")
    assert proposed(asked, note("food", "no cilantro"))["edits"][0]["new"] == "- no cilantro"


def test_a_fact_is_written_as_one_line():
    assert proposed(situation(), note("food", "- no\n  nuts"))["edits"][0]["new"] == "- no nuts"


@pytest.mark.parametrize(("slug", "file"), [("index", "notes.md"), ("--", "notes.md"), ("-a--b-", "a-b.md")])
def test_a_new_topic_never_gets_a_file_that_is_none(slug, file):
    assert proposed(situation(), note(slug, "x y"))["edits"][0]["file"] == file


def test_a_name_that_two_scopes_have_is_told_apart_by_the_scope():
    asked = situation(FOOD, AGENT_FOOD)
    assert [fits(asked, READ_FOOD | {"topics": [name]}) for name in ("food", "user/food", "agent/food")] == [
        False,
        True,
        True,
    ]


def test_a_topic_of_a_scope_that_takes_no_proposals_is_no_place_for_a_fact():
    asked = situation(AGENT_FOOD)
    assert proposed(asked, note("food", "no nuts"))["scope"] == "user"


def test_a_fact_for_the_agent_goes_to_the_agents_topic():
    asked = situation(FOOD, AGENT_FOOD, may_propose=("user", "agent"))
    assert proposed(asked, note("agent/food", "liked the soup"))["scope"] == "agent"


def test_a_fact_that_repeats_an_example_is_dropped():
    assert guided.call(situation(), note("music", "plays the cello")) is None


def test_only_what_the_turn_may_do_can_be_decided():
    decisions = [REPLY, READ_FOOD, note("food", "no nuts")]
    asked = [
        situation(FOOD),
        situation(),
        situation(FOOD, may_read=False),
        situation(FOOD, may_propose=()),
    ]
    assert [[fits(one, decided) for decided in decisions] for one in asked] == [
        [True, True, True],
        [True, False, True],
        [True, False, True],
        [True, True, False],
    ]


@pytest.mark.parametrize("asked", [situation(may_propose=()), situation(FOOD, may_read=False, may_propose=())])
def test_where_nothing_can_be_decided_the_model_is_not_asked(server, asked):
    assert (next_call(server, asked), server.requests) == (None, [])


def test_the_beginning_of_the_prompt_is_the_same_for_everybody():
    one = guided.prompt(situation(FOOD, text="a"))
    other = guided.prompt(situation(HOME, text="b", previous=(("user", "c"), ("assistant", "d"))))
    assert one[:-1] == other[:-1]


def test_the_message_stands_after_topics_and_the_exchange_before():
    asked = situation(FOOD, previous=(("user", "I moved."), ("assistant", "Shall I note that?")), text="yes")
    assert guided.prompt(asked)[-1]["content"] == (
        "Topics:\n- food: vegetarian\n\nBefore, the person: I moved.\nBefore, the assistant: Shall I note that?\n\nMessage: yes"
    )


def test_a_long_message_is_asked_about_by_its_beginning():
    asked = situation(text="x" * 5000)
    assert len(guided.prompt(asked)[-1]["content"]) < 1600


def test_every_example_is_an_answer_that_its_own_schema_allows():
    asked = [
        situation(*(Topic("user", name, gist) for name, gist in one.topics), previous=one.previous)
        for one in guided.EXAMPLES
    ]
    assert [fits(one, example.decided) for one, example in zip(asked, guided.EXAMPLES, strict=True)] == [True] * len(
        asked
    )


def test_an_answer_without_form_means_just_reply(server):
    server.will(says("I would read the notes."))
    assert next_call(server, situation(FOOD)) is None


def test_a_model_that_is_not_there_is_an_error(server):
    server.will(fails(401))
    with pytest.raises(UpstreamError) as caught:
        next_call(server, situation(FOOD))
    assert caught.value.code == "refused"


def called(name, result, call_id="c1"):
    function = {"name": name, "arguments": "{}"}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": result},
    ]


def user(text):
    return {"role": "user", "content": text}


def test_what_was_read_stands_beside_the_question_in_the_persons_message():
    read = called("context_read", "- no nuts\n")
    assert guided.fold([user("cook?"), *read]) == [user(guided.READ.format(result="- no nuts", text="cook?"))]


def test_no_tool_is_named_to_a_model_that_is_offered_none():
    system = {"role": "system", "content": f"a\n{prompt.OPEN_TOPICS}\nb"}
    assert guided.fold([system]) == [{"role": "system", "content": "a\nb"}]


def test_an_earlier_turn_is_folded_the_same_way_in_later_ones():
    first = [user("cook?"), *called("context_read", "- no nuts")]
    later = [*first, {"role": "assistant", "content": "Soup."}, user("thanks")]
    assert guided.fold(later)[0] == guided.fold(first)[0]


def test_a_proposal_is_told_as_one_that_is_not_saved_yet():
    (folded,) = guided.fold([user("remember x"), *called("propose_change", "Proposed, not saved. …")])
    assert folded["content"] == guided.PROPOSED.format(text="remember x")


def test_after_a_proposal_the_host_speaks_and_after_anything_else_the_model():
    results = [("propose_change", "Proposed, not saved."), ("propose_change", "Over the cap."), ("context_read", "- a")]
    assert [guided.words_after(*one) for one in results] == [guided.PROPOSED_WORDS, None, None]


def test_a_refused_proposal_is_told_with_its_reason():
    (folded,) = guided.fold([user("remember x"), *called("propose_change", "There is a secret in {line 1}.")])
    assert "There is a secret in {line 1}." in folded["content"]


def test_nothing_is_left_of_calls_and_results():
    folded = guided.fold([user("a"), *called("context_read", "n"), {"role": "assistant", "content": "b"}, user("c")])
    assert [sorted(message) for message in folded] == [["content", "role"]] * 3


def test_the_conversation_that_is_handed_in_stays_as_it_was():
    given = [user("a"), *called("context_read", "n")]
    guided.fold(given)
    assert given == [user("a"), *called("context_read", "n")]
