"""The chat over HTTP: what a browser sends and gets, and what happens when it goes away or comes twice."""

import asyncio
import json
import threading

import pytest
from starlette.testclient import TestClient

from short_memory.changes import ChangeSet, FileChange
from short_memory.scopes import OWNER
from short_memory.store.note_store import NoteStore
from short_memory_host.app import create_app
from short_memory_host.chat import queries, routes, service
from short_memory_host.web import upstreams
from tests.clock import NOON
from tests.host.chat.conftest import Talk, add_upstream, events_of
from tests.host.conftest import ORIGIN, PAGE
from tests.scripted_upstream import Call, ScriptedUpstream, Wait, calls, fails, says

NUTS = {"scope": "user", "edits": [{"file": "food.md", "old": "", "new": "- allergic to nuts"}], "why": "Asked to."}
ADDRESSES = [
    ("GET", "", None),
    ("POST", "/messages", {"text": "Hello"}),
    ("POST", "/answer", {}),
    ("POST", "/answer", {"anew": True}),
    ("POST", "/title", {"title": "Mine"}),
    ("POST", "/upstream", {"upstream": "u_nobodys"}),
    ("POST", "/delete", {}),
]


class Stream:
    """One request for an answer, of a browser that can go away while the answer comes."""

    def __init__(self, talk, **body):
        self.talk, self.body = talk, json.dumps(body).encode()
        self.came, self.status, self.text = threading.Event(), None, ""
        self._left = asyncio.Event()
        self._task = talk.host.loop.start_task_soon(self._run)

    def leave(self):
        self.talk.host.loop.call(self._left.set)
        return self.end()

    def end(self):
        self._task.result(30)
        return [json.loads(one[5:]) for one in self.text.splitlines() if one.startswith("data:")]

    async def _run(self):
        browser = self.talk.browser
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        sent = {"host": ORIGIN.removeprefix("http://"), "cookie": cookies, "content-type": "application/json"}
        sent |= {"x-csrf-token": browser.headers["x-csrf-token"], "content-length": str(len(self.body))}
        path = f"/chat/{self.talk.id}/answer"
        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http"}
        scope |= {"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "client": None}
        scope |= {"headers": [(name.encode(), value.encode()) for name, value in sent.items()], "state": {}}
        await self.talk.host.app(scope, self._receive, self._send)

    async def _receive(self):
        if self.body is not None:
            body, self.body = self.body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        self.status = message.get("status", self.status)
        self.text += message.get("body", b"").decode()
        if "data:" in self.text:
            self.came.set()


@pytest.fixture
def held_back(server):
    """An answer whose second half comes only when the test is over."""
    rest = threading.Event()
    server.will(says("Hel", Wait(rest), "lo"))
    yield rest
    rest.set()


def beginning(talk, **body):
    """Ask for an answer and wait until it has begun."""
    stream = Stream(talk, **body)
    assert stream.came.wait(30)
    return stream


def refused(answer):
    return answer.status_code, answer.json()["error"]["code"]


# Conversations


@pytest.mark.case("chat-conversations")
def test_a_conversation_begins_with_its_first_message_and_gets_its_title_from_it(talk):
    answer = talk.browser.post("/chat", json={"text": "  What can I\ncook tonight?  "})
    address = answer.json()["url"]
    page = talk.browser.get(address, headers=PAGE).text
    assert (answer.status_code, "What can I cook tonight?</span>" in page) == (201, True)
    assert ('data-unanswered="true"' in page, 'aria-current="page"' in page) == (True, True)


@pytest.mark.case("chat-conversations")
def test_a_conversation_is_renamed_and_deleted(talk, server):
    server.will(says("Hi"))
    talk.ask()
    renamed = talk.post("/title", title=" A  new\nname ")
    page = talk.page()
    deleted = talk.post("/delete")
    assert (renamed.json(), "A new name</span>" in page, deleted.status_code) == ({"title": "A new name"}, True, 204)
    assert (talk.browser.get(f"/chat/{talk.id}", headers=PAGE).status_code, talk.kept()) == (404, [])
    assert "A new name" not in talk.browser.get("/", headers=PAGE).text


@pytest.mark.case("addon-off-deletes-nothing")
def test_deleting_a_conversation_keeps_its_open_proposals_in_the_inbox(talk, server):
    server.will(calls(Call("propose_change", NUTS)), says("Ok"))
    talk.ask()
    talk.post("/delete")
    assert "allergic to nuts" in talk.browser.get("/inbox", headers=PAGE).text


@pytest.mark.parametrize("title", ["", " \n"])
def test_a_title_is_not_empty(talk, title):
    assert refused(talk.begin().post("/title", title=title)) == (422, "bad-input")


@pytest.mark.parametrize("what", ["", "/messages"])
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"text": " \n"}, "The message is empty"),
        ({"text": "a" * 65_537}, "more than 65536 bytes"),
        ({}, "can't be read: text"),
        ({"text": None}, "can't be read: text"),
        ({"text": 3}, "can't be read: text"),
    ],
)
def test_what_is_no_message_is_refused_and_not_kept(talk, what, body, words):
    talk.begin()
    answer = talk.browser.post(f"/chat/{talk.id}/messages" if what else "/chat", json=body)
    assert (*refused(answer), words in answer.json()["error"]["text"], len(talk.kept())) == (422, "bad-input", True, 1)


def test_the_longest_message_is_taken(talk):
    assert (talk.begin().post("/messages", text="é" * 32_768).status_code, len(talk.kept())) == (204, 2)


@pytest.mark.parametrize(
    ("what", "body", "status"),
    [
        ("", b'{"text": "a\\ud800b"}', 201),
        ("", b'{"text": "a", "upstream": "\\ud800"}', 404),
        ("/{}/messages", b'{"text": "a\\ud800b"}', 204),
        ("/{}/title", b'{"title": "a\\ud800b"}', 200),
        ("/{}/upstream", b'{"upstream": "\\ud800"}', 404),
    ],
)
def test_half_a_character_is_replaced_and_breaks_nothing(talk, what, body, status):
    talk.begin()
    address = f"/chat{what.format(talk.id)}"
    answer = talk.browser.post(address, content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, talk.browser.get(f"/chat/{talk.id}", headers=PAGE).status_code) == (status, 200)


@pytest.mark.case("foreign-id-as-unknown")
@pytest.mark.parametrize("accept", [PAGE, {}], ids=["page", "script"])
@pytest.mark.parametrize(("method", "what", "body"), ADDRESSES)
def test_the_conversation_of_somebody_else_answers_exactly_as_an_unknown_one(talk, method, what, body, accept):
    other = Talk(talk.host, talk.host.member("Ada")).begin("Private words")
    answers = []
    for chat in (other.id, "c_" + "0" * 32, "nobodys-chat"):
        answer = talk.browser.request(method, f"/chat/{chat}{what}", json=body, headers=accept)
        answers.append((answer.status_code, answer.text.replace(chat, "ID")))
    assert (answers[0][0], "Private" in answers[0][1], len(other.kept())) == (404, False, 1)
    assert answers == [answers[0]] * 3


def test_pages_hold_what_was_said_as_text(talk, server):
    server.will(says("<img src=x onerror=alert(1)> [x](javascript:alert(1))"))
    talk.ask("<script>alert(1)</script>")
    page = talk.page()
    assert ["<script>alert" in page, "<img src=x" in page, "&lt;script&gt;alert(1)" in page] == [False, False, True]
    assert ('data-unanswered="false"' in page, 'href="javascript' in page) == (True, False)


# Models


def test_without_a_model_an_answer_is_refused_with_what_to_do(host):
    talk = Talk(host, host.sign_in()).begin()
    answer = talk.post("/answer")
    assert (*refused(answer), "choose another one below" in answer.json()["error"]["text"]) == (409, "no-model", True)
    assert "There is no model yet" in talk.page()


def test_the_chosen_model_answers_from_then_on(talk, host, server):
    server.will(says("First"))
    with ScriptedUpstream() as second:
        other = add_upstream(host, second, name="Second")
        second.will(says("By choice"), says("From the beginning"))
        talk.ask()
        chosen = talk.post("/upstream", upstream=other)
        talk.ask("And you?")
        talk.id = ""
        talk.begin(upstream=other).answer()
    assert (chosen.status_code, len(server.requests), len(second.requests)) == (204, 1, 2)


def test_a_model_that_is_not_there_cannot_be_chosen(talk):
    answer = talk.begin().post("/upstream", upstream="u_nobodys")
    with talk.host.database.read() as connection:
        assert (refused(answer), queries.listed(connection, _person(talk))[0].upstream) == ((404, "not-found"), None)


def _person(talk):
    with talk.host.database.read() as connection:
        return connection.exec_driver_sql("SELECT person FROM conversations").scalar_one()


@pytest.mark.case("locality-gate")
@pytest.mark.case("locality-by-tick")
def test_a_model_without_the_tick_gets_no_note_until_its_owner_allows_it_and_only_of_theirs(talk, host, server):
    server.will(calls(Call("propose_change", NUTS)), says("Ok"))
    talk.ask("Remember that I'm allergic to nuts")
    (proposal,) = talk.held.memory.open_proposals(_person(talk))
    talk.browser.post(f"/proposals/{proposal.id}/confirm", json={"digest": proposal.digest})
    with ScriptedUpstream() as cloud:
        away = add_upstream(host, cloud, name="Cloud", local=False)
        cloud.always(says("Hi"))
        talk.post("/upstream", upstream=away)
        talk.ask("Hello")
        talk.answer(anew=True)
        before = json.dumps(cloud.requests[:2])
        with host.database.read() as connection:
            seen = upstreams.reach(upstreams.find(connection, away, person=_person(talk)))
        consent = talk.browser.post(f"/models/{away}/consent", json={"given": True, "seen": seen})
        talk.ask("And now?")
        after = json.dumps(cloud.requests[2])
    words = ("food.md", "<notes", "tools", "tool_call", "From the host", "skill")
    assert ([word for word in words if word in before], consent.status_code) == ([], 204)
    assert [word for word in words if word not in after] == []


@pytest.mark.case("addon-off-deletes-nothing")
@pytest.mark.case("skills-only-where-allowed")
def test_switching_the_addon_off_stops_block_tools_and_skills_in_the_next_turn(talk, server):
    server.will(says("Hi"), says("Hi"), says("Hi"))
    talk.ask()
    switched = [talk.browser.post("/account/memory/addon", json={"on": False}).status_code]
    talk.ask()
    switched.append(talk.browser.post("/account/memory/addon", json={"on": True}).status_code)
    talk.ask()
    offered = [[one["function"]["name"] for one in request.get("tools", [])] for request in server.requests]
    skills = ["memory-check-own-files:" in request["messages"][0]["content"] for request in server.requests]
    tools = ["propose_change", "revert_change", "skill_read"]
    assert (offered, skills, switched) == ([tools, [], tools], [True, False, True], [204, 204])


# Streams


@pytest.mark.case("chat-streams-and-stops")
def test_an_answer_is_a_stream_that_nobody_keeps(talk, server):
    server.will(says("Hi"))
    answer = talk.begin().post("/answer")
    assert (answer.headers["content-type"].partition(";")[0], answer.headers["cache-control"]) == (
        "text/event-stream",
        "no-store",
    )
    assert [one["kind"] for one in events_of(answer)] == ["text", "said", "done"]


@pytest.mark.case("chat-streams-and-stops")
def test_the_first_words_come_before_the_model_has_said_the_last(talk, held_back):
    stream = beginning(talk.begin())
    first = stream.text
    held_back.set()
    assert ("lo" in first, [one.get("text") for one in stream.end()[:2]]) == (False, ["Hel", "lo"])


@pytest.mark.case("chat-streams-and-stops")
def test_a_browser_that_goes_away_stops_the_answer_and_keeps_what_came(talk, held_back):
    beginning(talk.begin()).leave()
    assert (talk.kept()[-1].content, "Stopped." in talk.page()) == ({"text": "Hel", "stopped": True}, True)
    assert talk.held.answering == set()


@pytest.mark.case("chat-streams-and-stops")
def test_a_stop_before_the_first_word_is_kept_so_that_nobody_asks_again_by_itself(talk, server):
    arrived, rest = threading.Event(), threading.Event()

    def silent(body):
        arrived.set()
        return says(Wait(rest), "Late")

    server.will(silent)
    stream = Stream(talk.begin())
    assert arrived.wait(30)
    stream.leave()
    rest.set()
    page = talk.page()
    assert (talk.kept()[-1].content, talk.answer()) == ({"text": "", "stopped": True}, [{"kind": "done"}])
    assert ('data-unanswered="false"' in page, "Stopped." in page, len(server.requests)) == (True, True, 1)


@pytest.mark.case("chat-retry")
def test_what_is_asked_right_after_a_stop_waits_until_the_stop_is_through(talk, host):
    talk.begin()
    talk.held.answering.add(talk.id)
    with host.database.read() as connection:
        chat = queries.find(connection, talk.id, person=_person(talk))
    asked = host.loop.start_task_soon(service.is_free, talk.held, chat)
    host.loop.call(asyncio.sleep, 0)
    waited = not asked.done()
    host.loop.call(talk.held.answering.discard, talk.id)
    assert (waited, asked.result(30)) == (True, True)


@pytest.mark.case("chat-retry")
def test_a_stopped_answer_can_be_asked_for_again(talk, server, held_back):
    beginning(talk.begin()).leave()
    server.will(says("Whole"))
    talk.answer(anew=True)
    assert [one.content["text"] for one in talk.kept()] == ["Hello", "Whole"]
    assert [one["role"] for one in server.requests[-1]["messages"]] == ["system", "user"]


@pytest.mark.case("chat-retry")
def test_a_retry_drops_the_old_answer_alone(talk, server):
    server.will(says("One"), says("Two"), fails(500), says("Three"))
    talk.ask("First")
    talk.ask("Second")
    talk.answer(anew=True)
    talk.answer(anew=True)
    assert [one.content["text"] for one in talk.kept()] == ["First", "One", "Second", "Three"]
    assert "Two" not in json.dumps(server.requests[-1])


def test_while_an_answer_comes_no_other_is_made_and_nothing_is_said_in_between(talk, server, held_back):
    stream = beginning(talk.begin())
    answers = [refused(talk.post("/answer")), refused(talk.post("/answer", anew=True))]
    said = refused(talk.post("/messages", text="Me too"))
    held_back.set()
    stream.end()
    assert (answers, said) == ([(409, "busy")] * 2, (409, "busy"))
    assert ([one.content["text"] for one in talk.kept()], len(server.requests)) == (["Hello", "Hello"], 1)


def test_of_two_requests_that_came_at_once_the_second_fails_and_drops_nothing(talk, host):
    talk.begin()
    with host.database.read() as connection:
        chat = queries.find(connection, talk.id, person=_person(talk))
    talk.held.answering.add(talk.id)

    async def second():
        return [one async for one in routes._stream(talk.held, None, chat, None, anew=True)]

    (event,) = host.loop.call(second)
    assert (json.loads(event["data"])["kind"], talk.held.answering) == ("failed", {talk.id})


def test_another_conversation_is_answered_meanwhile(talk, server, held_back):
    first = talk.begin().id
    stream = beginning(talk)
    server.will(says("Quick"))
    talk.id = ""
    events = talk.ask("Hi")
    held_back.set()
    stream.end()
    assert ([one["kind"] for one in events], first == talk.id) == (["text", "said", "done"], False)


def test_a_conversation_can_be_deleted_while_it_is_answered(talk, held_back):
    stream = beginning(talk.begin())
    deleted = talk.post("/delete")
    stream.leave()
    assert (deleted.status_code, talk.kept(), talk.held.answering) == (204, [], set())


@pytest.mark.case("host-csrf")
@pytest.mark.parametrize(("method", "what", "body"), ADDRESSES[1:])
def test_nothing_is_said_or_changed_without_the_token_of_the_session(talk, method, what, body):
    talk.begin()
    del talk.browser.headers["x-csrf-token"]
    answer = talk.browser.request(method, f"/chat/{talk.id}{what}", json=body)
    assert (refused(answer), len(talk.kept())) == ((403, "csrf"), 1)


# The start of the host


@pytest.mark.case("crash-whole-or-absent")
def test_a_start_settles_what_a_killed_host_left_half_done(settings, clock):
    files = (
        FileChange("Memory/food.md", None, b"- a\n"),
        FileChange("Memory/index.md", None, b"- food: a -> food.md\n"),
    )
    change = ChangeSet("c1", "anna", NOON, OWNER, "edit", files)
    store = NoteStore(settings.data)
    store._staging.stage(change)
    store.journal.intend(change, None)
    store._staging.place(change)
    store.close()
    app = create_app(settings, clock=clock)
    with TestClient(app, base_url=ORIGIN):
        found = app.state.held.notebook.history("anna", limit=9)
    staged = list((settings.data / "files" / ".staging").iterdir())
    notes = {one.name: one.read_text() for one in (settings.data / "files" / "anna" / "Memory").iterdir()}
    assert ([one.id for one in found], staged) == (["c1"], [])
    assert notes == {"food.md": "- a\n", "index.md": "- food: a -> food.md\n"}
