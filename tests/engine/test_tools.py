"""The tools of a turn: schemas, and answers that are values whatever a model writes."""

import json
from datetime import UTC

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from short_memory import tools
from short_memory.errors import ShortMemoryError
from tests.engine.notes import OWNER, talk

NUTS = {"scope": "user", "edits": [{"file": "food.md", "old": "", "new": "- no nuts"}], "why": "asked"}


def call(notes, name, arguments, chat=None):
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return tools.call(notes.memory, chat or talk(), name, written, zone=UTC)


def code(notes, name, arguments):
    result = call(notes, name, arguments)
    return None if result.error is None else result.error.code


@pytest.fixture
def filled(notes):
    notes.save("Memory/food.md", "- no nuts\n")
    return notes


@pytest.mark.case("no-verb-confirms")
def test_there_is_no_tool_that_confirms():
    assert list(tools.SCHEMAS) == ["context_read", "propose_change", "revert_change"]


def test_the_tools_have_the_schemas_that_models_were_tried_with():
    assert tools.offered(["context_read", "propose_change", "revert_change"]) == snapshot(
        [
            {
                "type": "function",
                "function": {
                    "name": "context_read",
                    "description": "Open topics of the person's notes. Do this before you answer whenever one could change the answer.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "topic": {
                                "anyOf": [
                                    {"type": "string", "description": "A name from the list of topics, or scope/name."},
                                    {
                                        "type": "array",
                                        "items": {
                                            "type": "string",
                                            "description": "A name from the list of topics, or scope/name.",
                                        },
                                        "minItems": 1,
                                        "maxItems": 8,
                                    },
                                ]
                            }
                        },
                        "required": ["topic"],
                        "additionalProperties": False,
                    },
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "propose_change",
                    "description": "Propose a change of the notes. Nothing is written: the person sees a card and confirms or declines it. Append one fact with an empty `old`; the host adds the day, and the index line of a new topic.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "scope": {
                                "type": "string",
                                "enum": ["user", "agent", "channel"],
                                "description": "Whose notes.",
                            },
                            "edits": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "properties": {
                                        "file": {
                                            "type": "string",
                                            "description": "index.md, or a topic's file such as food.md. A new one is made.",
                                        },
                                        "old": {
                                            "type": "string",
                                            "description": "Text that stands in the file exactly once. Empty: append `new` as a line.",
                                        },
                                        "new": {
                                            "type": "string",
                                            "description": "What takes its place, or the line to append, such as `- no lactose`.",
                                        },
                                        "text": {
                                            "type": ["string", "null"],
                                            "description": "Instead of old and new: the whole new text; null deletes.",
                                        },
                                    },
                                    "required": ["file"],
                                    "additionalProperties": False,
                                },
                                "minItems": 1,
                                "maxItems": 16,
                            },
                            "why": {
                                "type": "string",
                                "maxLength": 200,
                                "description": "One line: why this is worth a note.",
                            },
                        },
                        "required": ["scope", "edits", "why"],
                        "additionalProperties": False,
                    },
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "revert_change",
                    "description": "Take back the last change that the person confirmed in this chat, when they ask for it.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "change": {"type": "string", "description": "Its id; without one, the last of this chat."}
                        },
                        "additionalProperties": False,
                    },
                },
            },
        ]
    )


def test_reading_gives_the_text_and_what_was_opened(filled):
    result = call(filled, "context_read", {"topic": "food"})
    assert (result.text, result.opened, result.error) == ("- no nuts\n", ("food",), None)
    assert call(filled, "context_read", {"topic": ["food", "user/food", "food"]}).opened == ("food", "user/food")


@pytest.mark.case("propose-answer-whole")
def test_a_proposal_is_answered_with_its_whole_text_and_never_as_saved(notes):
    result = call(notes, "propose_change", NUTS)
    assert result.text == (
        "Proposed, not saved. The person decides on the card in the chat or in the inbox until 2026-12-01 12:00 UTC. "
        f"Proposal {result.proposal.id}. The whole text as it would be:\n"
        "Memory/food.md:\n- 2026-11-30: no nuts\n\nMemory/index.md:\n- food: no nuts -> food.md\n"
    )
    assert notes.files() == {}


def test_a_deletion_is_shown_as_one(filled):
    result = call(filled, "propose_change", {"scope": "user", "edits": {"file": "food.md", "text": None}, "why": ""})
    assert result.text.endswith("Memory/food.md:\n(deleted)\nMemory/index.md:\n")


@pytest.mark.case("revert-model-last-only")
def test_taking_back_says_which_change_did_it(notes):
    notes.confirm(call(notes, "propose_change", NUTS).proposal)
    result = call(notes, "revert_change", "")
    assert (result.text, notes.files()) == ("Taken back: the notes are as they were before that change.", {})
    assert notes.notebook.change(OWNER, result.change).cause == "revert"
    assert code(notes, "revert_change", {"change": None}) == "no-change"


@pytest.mark.case("chat-yes-confirms-nothing")
def test_nothing_that_a_model_calls_confirms(notes):
    one = call(notes, "propose_change", NUTS).proposal
    for name in ("confirm", "confirm_change", "apply_change", "propose_change", "revert_change", "context_read", ""):
        call(notes, name, {"proposal": one.id, "digest": one.digest, "confirm": True, "topic": "yes"})
    assert (notes.memory.proposal(OWNER, one.id).state, notes.files()) == ("open", {})


@pytest.mark.parametrize("name", ["nope", "", "Context_read", "context_read"])
@pytest.mark.case("loop-unknown-tool")
def test_a_tool_that_the_turn_does_not_offer_is_answered(notes, name):
    result = call(notes, name, {"topic": "food"})
    assert (result.error.code, result.text) == (
        "no-tool",
        "That tool is not offered here. Tools for notes in this turn: propose_change, revert_change.",
    )


@pytest.mark.case("loop-malformed-arguments")
@pytest.mark.parametrize(
    "written",
    ["{", "[]", "null", "1", '"x"', "{'topic': 'food'}", "{" * 3000, "[" * 100000, "9" * 5000, "\ud800", "nul", "{}{}"],
)
def test_arguments_that_are_no_object_are_answered(filled, written):
    assert code(filled, "context_read", written) == "bad-arguments"


@pytest.mark.parametrize("topic", [None, 1, {}, [], [1], ["food", None], ["food"] * 9, True])
def test_a_topic_is_a_name_or_up_to_eight(filled, topic):
    assert code(filled, "context_read", {"topic": topic}) == "bad-arguments"
    assert code(filled, "context_read", {}) == "bad-arguments"
    assert code(filled, "context_read", {"topic": ["food"] * 8}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"scope": None}, {"scope": 1}, {"why": None}, {"why": ["x"]}, {"edits": None}, {"edits": "x"}, {"edits": [1]}, {"edits": [{}]},
        {"edits": [{"file": 1, "text": "x"}]}, {"edits": [{"file": "a.md"}]}, {"edits": [{"file": "a.md", "old": "x"}]},
        {"edits": [{"file": "a.md", "new": "x"}]}, {"edits": [{"file": "a.md", "old": "", "new": None}]},
        {"edits": [{"file": "a.md", "old": "", "new": "x", "text": None}]}, {"edits": [{"file": "a.md", "text": 1}]},
        {"edits": [{"file": "a.md", "text": "x", "mode": "w"}]}, {"edits": []},
    ],
)  # fmt: skip
def test_arguments_of_another_shape_are_answered(notes, change):
    assert code(notes, "propose_change", {**NUTS, **change}) == "bad-arguments"
    assert notes.memory.open_proposals(OWNER) == []


def test_a_reason_may_be_left_out(notes):
    assert code(notes, "propose_change", {"scope": "user", "edits": NUTS["edits"]}) is None


@pytest.mark.parametrize("change", [1, ["x"], {"id": "x"}, True])
def test_the_change_to_take_back_is_a_text(notes, change):
    notes.confirm(notes.append())
    assert code(notes, "revert_change", {"change": change}) == "bad-arguments"


@pytest.mark.case("propose-validated-at-once")
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"scope": "agent"}, "no-scope"),
        ({"edits": [{"file": "../x.md", "text": "x"}]}, "bad-file"),
        ({"edits": [{"file": "food.md", "old": "tea", "new": "x"}]}, "no-match"),
        ({"edits": [{"file": "food.md", "text": "x\n" * 65}]}, "over-cap"),
        ({"edits": [{"file": "food.md", "text": "\ud83d"}]}, "bad-text"),
        ({"edits": [{"file": "food.md", "text": "- no nuts\n"}]}, "unchanged"),
        ({"edits": [{"file": "food.md", "text": "password: Tr0ub4dor&3"}]}, "secret"),
        ({"why": "a\nb"}, "bad-arguments"),
    ],
)
def test_every_refusal_is_an_answer_with_its_code(filled, change, expected):
    assert code(filled, "propose_change", {**NUTS, **change}) == expected


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["file", "old", "new", "text", "topic", "scope"]) | st.text(), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(list(tools.SCHEMAS)),
    st.dictionaries(st.sampled_from(["topic", "scope", "edits", "why", "change"]), anything) | anything,
)
def test_whatever_a_model_writes_is_answered_and_writes_nothing(filled, name, given_arguments):
    before = filled.files()
    result = call(filled, name, given_arguments)
    assert result.error is None or isinstance(result.error, ShortMemoryError)
    assert filled.files() == before
