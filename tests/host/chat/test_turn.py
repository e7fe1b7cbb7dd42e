"""One turn, against a real store and a real server that answers as scripted."""

import asyncio
import json
import threading
from contextlib import aclosing
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

import pytest

from short_memory.access import AgentGrant
from short_memory.bundle import Skill
from short_memory.scopes import Conversation
from short_memory_host.chat.messages import Message
from short_memory_host.chat.turn import ROUNDS, Asked, Failed, Kept, Opened, Proposed, TakenBack, run_turn
from short_memory_host.upstream import Text, Upstream, Upstreams
from tests.clock import Clock
from tests.engine.notes import ADDON, OWNER, Notes
from tests.scripted_upstream import Answer, Call, ScriptedUpstream, Wait, calls, decides, fails, says

CANARY = "canary-5b1e"
FOOD, INDEX = "Memory/food.md", "Memory/index.md"
NUTS = {"scope": "user", "edits": [{"file": "food.md", "old": "", "new": "- allergic to nuts"}], "why": "Asked to."}
SKILLS = (
    Skill("memory", "Notes about the person.", "The body of the skill.", "skills/memory/SKILL.md"),
    Skill("other", "Something else.", "Another body.", "skills/other/SKILL.md"),
)
TALK, ROME = Conversation("c1", OWNER), ZoneInfo("Europe/Rome")
OFFERED = ["context_read", "propose_change", "revert_change", "skill_read"]


@dataclass
class Chat:
    """A conversation that keeps what a turn says it must keep, as the service does."""

    notes: Notes
    server: ScriptedUpstream
    messages: list
    conversation: Conversation = TALK
    zone: ZoneInfo = ROME
    skills: tuple = SKILLS

    def say(self, text="Hello", **more):
        """Say something and return the events of the answer."""
        self.messages.append(Message("user", {"text": text}))
        return self.turn(**more)

    def turn(self, *, until=None, **more):
        """Answer; `until` is the kind of event after which the person goes away."""
        asked = Asked(self.conversation, self.upstream(**more), list(self.messages), self.zone, self.skills)
        return asyncio.run(self._run(asked, until))

    async def _run(self, asked, until):
        upstreams, found = Upstreams(), []
        try:
            async with aclosing(run_turn(self.notes.memory, upstreams, asked)) as events:
                async for event in events:
                    found.append(event)
                    if isinstance(event, Kept):
                        self.messages.append(event.message)
                    if until is not None and until(event):
                        break
        finally:
            await upstreams.close()
        return found

    def upstream(self, **more):
        given = {"id": "u", "name": "Ours", "api_key": "k", "model": "scripted", "local": True, "tools": "native"}
        return Upstream(**given | {"base_url": self.server.base_url, "may_see_notes": False} | more)

    # What the model got

    def request(self, number=-1):
        return self.server.requests[number]

    def system(self, number=-1):
        return self.request(number)["messages"][0]["content"]

    def offered(self, number=-1):
        return [one["function"]["name"] for one in self.request(number).get("tools", [])]

    def results(self, number=-1):
        """Return what the tools gave, by the id of the call."""
        said = self.request(number)["messages"]
        return [(one["tool_call_id"], one["content"]) for one in said if one["role"] == "tool"]

    def last_words(self, number=-1):
        return [one["content"] for one in self.request(number)["messages"] if one["role"] == "user"][-1]


@pytest.fixture
def server():
    with ScriptedUpstream() as opened:
        yield opened


@pytest.fixture
def notes(tmp_path):
    found = Notes(tmp_path / "data", Clock())
    found.granting.enable(OWNER, ADDON)
    yield found
    found.close()


@pytest.fixture
def chat(notes, server):
    return Chat(notes, server, [])


@pytest.fixture
def known(chat):
    """A conversation of somebody with a note about food."""
    chat.notes.write(INDEX, "- food: no nuts -> food.md\n- home: in Rome -> home.md\n")
    chat.notes.write(FOOD, "- 2026-11-01: no nuts\n")
    return chat


def texts(events):
    return "".join(one.text for one in events if isinstance(one, Text))


def of_kind(events, kind):
    return [one for one in events if isinstance(one, kind)]


def read(topic="food", name="a"):
    return Call("context_read", {"topic": topic}, id=name)


def propose(name="a", **more):
    return Call("propose_change", NUTS | more, id=name)


def shares_prefix(earlier, later):
    """Say whether a request begins with all the bytes of an earlier one's messages."""
    count = len(earlier["messages"])
    return json.dumps(later["messages"][:count]) == json.dumps(earlier["messages"])


def everything_sent(server):
    return json.dumps(server.requests, ensure_ascii=False)


# Words, block, tools


def test_words_come_as_they_are_sent_and_are_kept_as_one_message(chat):
    chat.server.will(says("Hel", "lo"))
    events = chat.say()
    kept = Kept(Message("assistant", {"text": "Hello", "calls": []}))
    assert events == [Text("Hel"), Text("lo"), kept]


def test_a_turn_offers_the_tools_of_the_notes_and_of_the_skills_and_the_block_stands_last(known):
    known.server.will(says("Hi"))
    known.say()
    assert (known.offered(), known.system().endswith("</notes>\n")) == (OFFERED, True)
    assert [word in known.system() for word in ("- memory: Notes about", "- food: no nuts -> food.md")] == [True, True]


@pytest.mark.case("block-names-offered-tools")
def test_without_notes_the_model_may_propose_and_is_told_of_nothing_to_open(chat):
    chat.server.will(says("Hi"))
    chat.say()
    assert (chat.offered(), "context_read" in chat.system()) == (OFFERED[1:], False)


@pytest.mark.case("block-names-offered-tools")
def test_an_addon_without_skills_offers_its_tools_all_the_same(known):
    known.skills = ()
    known.server.will(says("Hi"))
    known.say()
    assert (known.offered(), "skill_read" in known.system()) == (OFFERED[:3], False)


@pytest.mark.case("block-names-offered-tools")
@pytest.mark.parametrize("grant", [AgentGrant(read=True), AgentGrant(read=True, propose=True), AgentGrant()])
def test_the_prompt_of_a_saved_agent_names_only_the_tools_that_it_has(known, grant):
    known.notes.granting.allow_agent(OWNER, "cook", ADDON.id, grant)
    known.conversation = Conversation("c1", OWNER, agent="cook")
    known.server.will(says("Hi"))
    known.say()
    named = {name for name in OFFERED if name in known.system()}
    assert named <= set(known.offered())
    assert [grant.read, grant.propose] == ["context_read" in known.offered(), "propose_change" in known.offered()]


@pytest.mark.case("skills-only-where-allowed")
@pytest.mark.case("addon-off-deletes-nothing")
def test_where_the_addon_is_off_there_is_no_block_no_tool_and_no_skill(known):
    known.notes.granting.switch(OWNER, ADDON.id, on=False)
    known.server.will(says("Hi"))
    known.say()
    sent = everything_sent(known.server)
    assert [word in sent for word in ("tools", "nuts", "Notes about the person", "skill_read", "propose")] == [
        False
    ] * 5
    assert known.notes.text(FOOD) == "- 2026-11-01: no nuts\n"


@pytest.mark.case("addon-off-deletes-nothing")
def test_an_addon_that_is_switched_off_is_gone_in_the_next_turn_of_the_same_chat(known):
    known.server.will(calls(read()), says("No nuts."), says("Hi"))
    known.say()
    known.notes.granting.switch(OWNER, ADDON.id, on=False)
    known.say("And?")
    assert (known.offered(), "<notes version" in known.system(), "skill_read" in known.system()) == ([], False, False)


# Rounds


@pytest.mark.case("loop-parallel-calls")
@pytest.mark.case("chat-opened-chip")
def test_parallel_calls_are_all_answered_in_their_order(known):
    known.notes.write("Memory/home.md", "- 2026-11-01: in Rome\n")
    known.server.will(calls(read("home", "x"), propose("y"), read("food", "z")), says("Done"))
    events = known.say()
    results = known.results()
    assert [name for name, _ in results] == ["x", "y", "z"]
    assert [word in text for word, (_, text) in zip(("in Rome", "Proposed", "no nuts"), results, strict=True)] == [
        True
    ] * 3
    shown = [one for one in events if isinstance(one, Opened | Proposed)]
    assert [type(one).__name__ for one in shown] == ["Opened", "Proposed", "Opened"]
    assert [one.topics for one in of_kind(events, Opened)] == [("home",), ("food",)]


@pytest.mark.case("read-framed-as-data")
def test_what_was_opened_stands_in_a_frame_and_a_refusal_does_not(known):
    known.server.will(calls(read("food", "x"), read("secret", "y")), says("Done"))
    known.say()
    results = dict(known.results())
    assert (results["x"].startswith("<notes>\nFacts the person"), "<notes>" in results["y"]) == (True, False)


@pytest.mark.case("loop-eight-rounds")
def test_after_eight_rounds_the_model_answers_without_tools(known):
    known.server.always(lambda body: calls(read()) if "tools" in body else says("Enough"))
    events = known.say()
    assert [bool(one.get("tools")) for one in known.server.requests] == [True] * ROUNDS + [False]
    assert (texts(events), len(of_kind(events, Opened))) == ("Enough", ROUNDS)
    assert len(known.results()) == ROUNDS


@pytest.mark.case("loop-eight-rounds")
def test_a_call_after_the_eighth_round_is_not_run_and_the_words_beside_it_are_the_answer(known):
    known.server.will(*[calls(read())] * ROUNDS, calls("Well then.", propose()))
    events = known.say()
    assert (texts(events), of_kind(events, Proposed), known.notes.memory.open_proposals(OWNER)) == (
        "Well then.",
        [],
        [],
    )
    assert known.messages[-1].content == {"text": "Well then.", "calls": []}


@pytest.mark.case("loop-malformed-arguments")
@pytest.mark.parametrize("arguments", ['{"topic": ', "[]", '"food"', "null", '{"topic": 3}', "[" * 30_000])
def test_malformed_arguments_are_answered_and_the_turn_goes_on(known, arguments):
    known.server.will(calls(Call("context_read", arguments, id="a")), says("Sorry"))
    events = known.say()
    code = of_kind(events, Kept)[1].message.content["code"]
    assert (code, texts(events), known.request()["messages"][-2]["tool_calls"][0]["function"]["arguments"]) == (
        "bad-arguments",
        "Sorry",
        arguments,
    )


@pytest.mark.case("loop-unknown-tool")
@pytest.mark.parametrize("name", ["search_web", "confirm", "", "skill_read "])
def test_a_call_of_a_tool_that_is_not_there_is_answered_and_the_turn_goes_on(known, name):
    known.server.will(calls(Call(name, id="a")), says("Sorry"))
    events = known.say()
    assert (texts(events), "not offered here" in known.results()[0][1]) == ("Sorry", True)


@pytest.mark.case("loop-unknown-tool")
def test_a_tool_that_the_turn_does_not_offer_is_not_run_where_the_addon_is_off(known):
    known.notes.granting.switch(OWNER, ADDON.id, on=False)
    known.server.will(calls(read("food", "a"), Call("skill_read", {"name": "memory"}, id="b")), says("Sorry"))
    events = known.say()
    assert (texts(events), of_kind(events, Opened)) == ("Sorry", [])
    assert ["not offered here" in text for _, text in known.results()] == [True, True]


@pytest.mark.case("loop-unknown-tool")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"name": "memory"}, "The body of the skill."),
        ({"name": "../memory"}, "No such skill here. Skills: memory, other."),
        ({}, "No such skill here. Skills: memory, other."),
        ("nonsense", "No such skill here. Skills: memory, other."),
        ("[]", "No such skill here. Skills: memory, other."),
    ],
)
def test_the_body_of_a_skill_can_be_read_and_an_unknown_one_is_answered_with_those_there_are(chat, arguments, expected):
    chat.server.will(calls(Call("skill_read", arguments, id="a")), says("Ok"))
    chat.say()
    assert chat.results() == [("a", expected)]


@pytest.mark.case("no-verb-confirms")
@pytest.mark.case("write-only-by-owner")
@pytest.mark.case("chat-yes-confirms-nothing")
def test_nothing_that_a_model_or_a_person_says_in_the_chat_writes_a_note(chat):
    names = ["confirm", "confirm_proposal", "propose_change", "revert_change", "context_read", "skill_read"]
    chat.server.will(
        calls(propose()), says("Shall I?"), calls(*[Call(one, {"yes": True}) for one in names]), says("Ok")
    )
    chat.say("Remember that I'm allergic to nuts")
    chat.say("yes")
    assert (chat.notes.files(), [one.state for one in chat.notes.memory.open_proposals(OWNER)]) == ({}, ["open"])


@pytest.mark.case("propose-dates-item")
@pytest.mark.parametrize(("zone", "day"), [("Pacific/Kiritimati", "2026-12-01"), ("UTC", "2026-11-30")])
def test_a_proposed_fact_gets_the_day_in_the_time_zone_of_the_person(chat, zone, day):
    chat.zone = ZoneInfo(zone)
    chat.server.will(calls(propose()), says("Ok"))
    (made,) = of_kind(chat.say(), Proposed)
    assert made.proposal.files[0].new == f"- {day}: allergic to nuts\n"


@pytest.mark.case("revert-model-last-only")
def test_a_model_takes_back_the_last_confirmed_change_of_its_chat(chat):
    chat.server.will(calls(propose()), says("Ok"), calls(Call("revert_change", {}, id="b")), says("Back"))
    (made,) = of_kind(chat.say(), Proposed)
    chat.notes.confirm(made.proposal)
    before = chat.notes.files()
    (back,) = of_kind(chat.say("No, undo that"), TakenBack)
    assert (sorted(before), chat.notes.files()) == (["Memory/food.md", "Memory/index.md"], {})
    assert chat.notes.notebook.change(OWNER, back.change).actor.kind == "model"


@pytest.mark.case("propose-declined-30-days")
def test_what_was_declined_is_answered_with_its_card_so_that_it_can_come_back(chat):
    chat.server.will(calls(propose()), says("Ok"), calls(propose("b")), says("You said no."))
    (made,) = of_kind(chat.say(), Proposed)
    chat.notes.memory.decline(OWNER, made.proposal.id)
    (again,) = of_kind(chat.say("Remember it"), Proposed)
    assert (again.proposal.id, again.proposal.state) == (made.proposal.id, "declined")
    assert "already declined" in chat.results()[-1][1]


def test_a_model_that_says_nothing_fails_with_a_sentence(chat):
    chat.server.will(says("", " \n"))
    (failed,) = of_kind(chat.say(), Failed)
    assert (failed.code, failed.text.startswith("Ours gave an empty answer.")) == ("bad-answer", True)


def test_a_model_may_say_nothing_beside_a_card(chat):
    chat.server.will(calls(propose()), says(""))
    events = chat.say()
    assert (len(of_kind(events, Proposed)), of_kind(events, Failed)) == (1, [])


def test_halves_of_characters_are_replaced_for_no_file_can_hold_them(chat):
    chat.server.will(says("A\ud83d", "\U0001f600"), calls(Call("x\udc00", '{"a": "\ud800"}', id="i\ud800")), says("B"))
    chat.say()
    chat.say()
    said = [(one.content["text"], one.content["calls"]) for one in chat.messages if one.role == "assistant"]
    call = {"id": "i\ufffd", "name": "x\ufffd", "arguments": '{"a": "\ufffd"}'}
    assert said == [("A\ufffd\U0001f600", []), ("", [call]), ("B", [])]


# What became of proposals


def told(chat, number=-1):
    return "From the host" in chat.last_words(number)


@pytest.mark.case("outcome-told-once")
def test_the_model_is_told_once_and_in_the_same_place_ever_after_what_became_of_a_proposal(chat):
    chat.server.will(calls(propose()), says("Ok"), says("Good"), says("Bye"))
    (made,) = of_kind(chat.say(), Proposed)
    change = chat.notes.confirm(made.proposal)
    events = chat.say("Thanks")
    line = f"the person's answer to your proposal {made.proposal.id}: confirmed as change {change.id}."
    host = Message("host", {"lines": [line], "proposals": [made.proposal.id]})
    assert events[0] == Kept(host)
    assert chat.last_words() == f"(From the host, not from the person: {line})\n\nThanks"
    chat.say("Bye")
    assert (told(chat), everything_sent(chat.server).count(made.proposal.id)) == (False, 1 + 1 + 3)
    assert shares_prefix(chat.request(-2), chat.request(-1))


@pytest.mark.case("outcome-told-once")
@pytest.mark.parametrize("state", ["declined", "expired", "stale"])
def test_each_other_outcome_is_told_by_its_name(chat, state):
    chat.server.will(calls(propose(edits=[{"file": "food.md", "text": "- a\n"}])), says("Ok"), says("Good"))
    (made,) = of_kind(chat.say(), Proposed)
    if state == "declined":
        chat.notes.memory.decline(OWNER, made.proposal.id)
    elif state == "expired":
        chat.notes.clock.move(hours=24)
    else:
        chat.notes.write(FOOD, "- b\n")
    chat.say("And?")
    assert f"proposal {made.proposal.id}: {state}." in chat.last_words()


@pytest.mark.case("outcome-told-once")
def test_an_outcome_that_no_model_got_because_it_failed_is_in_the_next_request_once(chat):
    chat.server.will(calls(propose()), says("Ok"), fails(500), says("Good"))
    (made,) = of_kind(chat.say(), Proposed)
    chat.notes.memory.decline(OWNER, made.proposal.id)
    failed = of_kind(chat.say("Thanks"), Failed)
    chat.say("Still there?")
    assert (len(failed), chat.last_words().count("(From the host")) == (1, 1)
    assert "declined" in chat.last_words()
    assert len([one for one in chat.messages if one.role == "host"]) == 1


@pytest.mark.case("outcome-told-once")
def test_an_outcome_is_kept_once_also_when_the_person_goes_away_before_it_was_sent(chat):
    chat.server.will(calls(propose()), says("Ok"), says("Good"))
    (made,) = of_kind(chat.say(), Proposed)
    chat.notes.memory.decline(OWNER, made.proposal.id)
    chat.say("Thanks", until=lambda event: isinstance(event, Kept))
    chat.turn()
    assert (len([one for one in chat.messages if one.role == "host"]), told(chat)) == (1, True)
    assert chat.notes.memory.news(chat.conversation) == []


@pytest.mark.case("outcome-told-once")
def test_a_model_that_may_not_see_notes_does_not_use_up_what_another_must_be_told(chat):
    chat.server.will(calls(propose()), says("Ok"), says("Hi"), says("Good"))
    (made,) = of_kind(chat.say(), Proposed)
    chat.notes.memory.decline(OWNER, made.proposal.id)
    chat.say("Thanks", local=False)
    first = told(chat)
    chat.say("Thanks again")
    assert (first, told(chat)) == (False, True)


# Prompt caches


@pytest.mark.case("block-stable-prefix")
def test_consecutive_requests_share_their_bytes_while_no_note_changes(known):
    known.server.will(
        calls(read("food", "a"), read("home", "b")),
        says("No nuts."),
        says("Hi"),
        calls(propose()),
        says("Ok"),
        says("Bye"),
    )
    for words in ("What can I eat?", "Hello", "Remember", "Bye"):
        known.say(words)
    pairs = list(zip(known.server.requests, known.server.requests[1:], strict=False))
    assert [shares_prefix(*pair) for pair in pairs] == [True] * 5
    assert len({json.dumps(one["tools"]) for one in known.server.requests}) == 1


@pytest.mark.case("block-stable-prefix")
def test_what_is_the_same_for_everybody_stands_before_what_belongs_to_one(known):
    known.server.will(says("Hi"), says("Hi"))
    known.say()
    before = known.system()
    known.notes.write(INDEX, "- food: no lactose -> food.md\n")
    known.say()
    shared = before.partition("<notes")[0]
    assert (known.system().startswith(shared), len(shared) > 200, known.system() == before) == (True, True, False)


# Models that may not see notes


def past_of_notes(chat):
    """A conversation in which another model read, proposed and was told."""
    chat.notes.write(INDEX, f"- food: {CANARY} -> food.md\n")
    chat.notes.write(FOOD, f"- 2026-11-01: {CANARY}\n")
    canary = [{"file": "food.md", "old": "", "new": f"- {CANARY} too"}]
    chat.server.will(calls(read("food", CANARY)), calls(propose(edits=canary, why=CANARY)), says("Ok"))
    (made,) = of_kind(chat.say("What?"), Proposed)
    chat.notes.confirm(made.proposal)
    chat.server.requests.clear()
    return made.proposal


@pytest.mark.case("locality-gate")
@pytest.mark.case("skills-only-where-allowed")
@pytest.mark.parametrize("tools", ["native", "guided"])
def test_a_model_that_may_not_see_notes_gets_no_byte_of_them_also_after_a_retry(chat, tools):
    made = past_of_notes(chat)
    chat.server.will(says("Hi"), says("Hi again"))
    chat.say("Hello", local=False, tools=tools)
    chat.messages.pop()
    chat.turn(local=False, tools=tools)
    sent = everything_sent(chat.server)
    told_of = (CANARY, "<notes", "tools", "tool_call", "skill", "From the host", made.id, "response_format", "propose")
    assert ([word for word in told_of if word in sent], len(chat.server.requests)) == ([], 2)
    assert [one["role"] for one in chat.request()["messages"]] == ["system", "user", "assistant", "user"]


@pytest.mark.case("locality-gate")
def test_a_permission_of_the_owner_opens_the_gate_as_the_tick_does(chat):
    past_of_notes(chat)
    chat.server.will(says("Hi"))
    chat.say("Hello", local=False, may_see_notes=True)
    assert (CANARY in chat.system(), chat.offered(), len(chat.results())) == (True, OFFERED, 2)


@pytest.mark.case("locality-gate")
@pytest.mark.case("locality-by-tick")
def test_a_model_that_may_not_see_notes_cannot_read_propose_or_take_back_by_calling_unasked(chat):
    past_of_notes(chat)
    before = chat.notes.files()
    wanted = [
        read("food"),
        propose("b"),
        Call("revert_change", {}, id="c"),
        Call("skill_read", {"name": "memory"}, id="d"),
    ]
    chat.server.will(calls("Let me see.", *wanted), calls(*wanted))
    first, second = chat.say("Hello", local=False), chat.say("Hello", local=False)
    assert (chat.notes.files(), chat.notes.memory.open_proposals(OWNER)) == (before, [])
    assert [type(one).__name__ for one in first] == ["Text", "Kept"]
    assert [one.code for one in of_kind(second, Failed)] == ["bad-answer"]
    assert len(chat.server.requests) == 2


# Guided


@pytest.mark.case("guided-one-decision")
def test_a_guided_model_decides_first_and_then_answers_with_the_result_folded_in(known):
    known.server.will(decides(wants="advice for me", do="read", topics=["food"]), says("Rice."))
    events = known.say("What can I cook?", tools="guided")
    decision, answer = known.server.requests
    assert ("response_format" in decision, "response_format" in answer, "tools" in answer) == (True, False, False)
    assert [one["role"] for one in answer["messages"]] == ["system", "user"]
    assert ["no nuts" in known.last_words(), "What can I cook?" in known.last_words()] == [True, True]
    assert ([one.topics for one in of_kind(events, Opened)], texts(events)) == ([("food",)], "Rice.")


@pytest.mark.case("guided-one-decision")
@pytest.mark.case("guided-empty-notes")
def test_a_guided_model_proposes_on_empty_notes(chat):
    chat.server.will(decides(wants="remember this about me", do="note", topic="food", fact="allergic to nuts"))
    events = chat.say("I'm allergic to nuts, remember", tools="guided")
    (made,) = of_kind(events, Proposed)
    assert (made.proposal.files[0].path, made.proposal.files[0].new) == (FOOD, "- 2026-11-30: allergic to nuts\n")
    assert (chat.notes.files(), len(chat.server.requests)) == ({}, 1)


@pytest.mark.case("receipt-by-host")
def test_after_a_proposal_of_a_guided_model_the_host_speaks(chat):
    chat.server.will(decides(wants="remember this about me", do="note", topic="food", fact="allergic to nuts"))
    said = texts(chat.say("I'm allergic to nuts, remember", tools="guided"))
    assert ("confirm it on the card" in said, "saved" in said) == (True, False)


def test_a_guided_topic_whose_file_has_another_name_gets_its_fact_there(chat):
    chat.notes.write("Memory/index.md", "- meals: what I eat -> food.md\n")
    chat.server.will(decides(wants="remember this about me", do="note", topic="meals", fact="no lactose"))
    (made,) = of_kind(chat.say("Remember: no lactose", tools="guided"), Proposed)
    assert made.proposal.files[0].path == FOOD


@pytest.mark.case("guided-previous-exchange")
def test_the_decision_sees_the_exchange_before_so_that_a_yes_to_an_offer_counts(chat):
    chat.server.will(decides(wants="small talk", do="reply"), says("Shall I note that you live in Rome?"))
    chat.say("I live in Rome", tools="guided")
    chat.server.will(decides(wants="accept the offer", do="note", topic="home", fact="lives in Rome"), says("Ok"))
    events = chat.say("yes", tools="guided")
    asked = chat.request(2)["messages"][-1]["content"]
    assert ["I live in Rome" in asked, "Shall I note that" in asked, len(of_kind(events, Proposed))] == [True, True, 1]


def test_a_guided_model_that_just_replies_is_asked_once_more_and_without_result(known):
    known.server.will(decides(wants="small talk", do="reply"), says("Hi"))
    events = known.say(tools="guided")
    assert (texts(events), known.last_words(), len(known.server.requests)) == ("Hi", "Hello", 2)


def test_halves_of_characters_in_a_decision_are_replaced_too(known):
    decided = '{"wants": "remember this about me", "do": "note", "topic": "food", "fact": "no \\ud800 milk"}'
    known.server.will(says(decided))
    known.say("Remember: no milk", tools="guided")
    (call,) = next(one.content["calls"] for one in known.messages if one.role == "assistant")
    assert json.loads(call["arguments"])["edits"][0]["new"] == "- no \ufffd milk"


@pytest.mark.parametrize("bad", ["no JSON at all", '{"do": "confirm"}', "[]", "", "[" * 100_000])
def test_a_decision_that_keeps_to_no_form_is_no_error_and_the_model_just_replies(known, bad):
    known.server.will(says(bad), says("Hi"))
    events = known.say(tools="guided")
    assert (texts(events), of_kind(events, Failed), of_kind(events, Opened)) == ("Hi", [], [])


@pytest.mark.case("loop-upstream-errors")
def test_a_decision_that_fails_otherwise_ends_the_turn_with_a_sentence(known):
    known.server.will(fails(503))
    assert [one.code for one in of_kind(known.say(tools="guided"), Failed)] == ["overloaded"]


def test_a_guided_model_is_not_asked_to_decide_where_the_addon_is_off(known):
    known.notes.granting.switch(OWNER, ADDON.id, on=False)
    known.server.will(says("Hi"))
    known.say(tools="guided")
    assert ("response_format" in known.request(), len(known.server.requests)) == (False, 1)


def test_a_call_that_a_guided_model_makes_unasked_is_not_run(known):
    known.server.will(decides(wants="small talk", do="reply"), calls("Hi", propose()))
    events = known.say(tools="guided")
    assert (texts(events), of_kind(events, Proposed)) == ("Hi", [])


@pytest.mark.case("block-stable-prefix")
def test_the_answers_of_a_guided_model_share_their_bytes_too(known):
    script = [decides(wants="advice for me", do="read", topics=["food"]), says("Rice.")]
    known.server.will(*script, *script)
    known.say("What can I cook?", tools="guided")
    known.say("And tomorrow?", tools="guided")
    assert shares_prefix(known.request(1), known.request(3))


# What goes wrong


ERRORS = [
    (fails(401), "refused"),
    (fails(404), "not-found"),
    (fails(429), "overloaded"),
    (fails(413), "too-long"),
    (fails(504), "timed-out"),
    (fails(500), "bad-answer"),
    (Answer(body="<html>no model</html>"), "bad-answer"),
    (says("Half", breaks_off=True), "broken-off"),
    (says("Half", finish=None), "broken-off"),
]


@pytest.mark.case("loop-upstream-errors")
@pytest.mark.parametrize(("answer", "code"), ERRORS)
def test_each_error_of_an_upstream_ends_the_turn_with_its_code_and_a_sentence(chat, answer, code):
    chat.server.will(answer)
    failed = chat.say()[-1]
    assert (type(failed), failed.code, failed.text.endswith("."), len(failed.text) > 30) == (Failed, code, True, True)


@pytest.mark.case("loop-upstream-errors")
def test_a_model_that_cannot_be_reached_ends_the_turn_with_a_sentence(chat):
    closed = "http://127.0.0.1:1/v1"
    (failed,) = of_kind(chat.say(base_url=closed), Failed)
    assert (failed.code, "cannot be reached" in failed.text) == ("unreachable", True)


@pytest.mark.case("loop-upstream-errors")
def test_what_was_read_before_an_error_is_kept_and_the_next_request_is_valid(known):
    known.server.will(calls(read()), fails(500), says("No nuts."))
    first = known.say()
    known.say("Again")
    assert [type(one).__name__ for one in first] == ["Kept", "Kept", "Opened", "Failed"]
    assert [one["role"] for one in known.request()["messages"]] == ["system", "user", "assistant", "tool", "user"]


# Going away


def is_call(event):
    return isinstance(event, Kept) and event.message.role == "assistant" and bool(event.message.content["calls"])


def test_whoever_goes_away_before_the_calls_were_run_leaves_a_conversation_that_is_valid(known):
    known.server.will(calls(read("food", "a"), read("home", "b")), says("Hi"))
    known.say(until=is_call)
    known.say("Again")
    assert [one["role"] for one in known.request()["messages"]] == ["system", "user"]
    assert known.last_words() == "Hello\n\nAgain"


def test_whoever_goes_away_between_two_results_loses_none_that_was_there(known):
    known.server.will(calls(read("food", "a"), propose("b")), says("Hi"))
    events = known.say(until=lambda event: isinstance(event, Opened))
    known.say("Again")
    said = known.request()["messages"]
    assert ([one["id"] for one in said[2]["tool_calls"]], [name for name, _ in known.results()]) == (["a"], ["a"])
    assert (type(events[-1]), [one["role"] for one in said[1:]]) == (Opened, ["user", "assistant", "tool", "user"])
    assert known.notes.memory.open_proposals(OWNER) == []


def test_whoever_goes_away_waits_for_no_more_of_the_answer(chat):
    hold = Wait(threading.Event())
    chat.server.will(says("Hel", hold, "lo"))
    events = chat.say(until=lambda event: isinstance(event, Text))
    hold.event.set()
    assert events == [Text("Hel")]


def test_a_turn_changes_nothing_of_what_it_was_given(known):
    known.messages.append(Message("user", {"text": "Hello"}))
    given = list(known.messages)
    asked = Asked(known.conversation, known.upstream(), given, known.zone, SKILLS)
    known.server.will(calls(read()), says("Hi"))
    asyncio.run(known._run(asked, None))
    assert (len(given), replace(asked).messages) == (1, given)
