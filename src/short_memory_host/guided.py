"""The guided step: small models rarely call tools by themselves, so the host asks for one constrained decision first.

`next_call` asks, `fold` writes calls and their results as plain text, as such models understand them best. The prompt
is the same for everybody up to the topics: a slow machine reads it once, at `warm_up`, and keeps it. Wording and
examples are fitted to a model of 1.5 billion parameters; `python -m bench.guided` measures a change, docs/models.md
has the figures.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from short_memory.prompt import OPEN_TOPICS
from short_memory_host.guided_examples import EXAMPLES, RULES
from short_memory_host.upstream import ToolCall, UpstreamError
from short_memory_host.upstream_wire import new_call_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from short_memory_host.upstream import Message, Upstream, Upstreams

FACT_CHARACTERS: Final = 200
TOPICS_READ: Final = 4
SPOKEN_CHARACTERS: Final = 1500  # of each message in the decision's prompt; its beginning says what is wanted
REPLY_WANTS: Final = (
    "general knowledge",
    "an explanation",
    "a translation",
    "a story or poem",
    "maths or code",
    "small talk",
    "decline the offer",
    "an answer without notes",
)
READ_WANTS: Final = ("a fact about me", "advice for me", "a letter for me")
ACCEPTED: Final = "accept the offer"
NOTE_WANTS: Final = {
    "remember this about me": "You told me this to remember.",
    ACCEPTED: "You said yes to a note of this.",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """One line of an index of this turn. `file` is where it points; empty for the file of its name."""

    scope: str
    name: str
    gist: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the decision is made on.

    `may_propose` are the scopes to propose to, the first for new topics; `previous` is the exchange before, as role and
    text.
    """

    topics: tuple[Topic, ...]
    may_read: bool
    may_propose: tuple[str, ...]
    previous: tuple[tuple[str, str], ...]
    text: str


async def next_call(upstreams: Upstreams, upstream: Upstream, situation: Situation) -> ToolCall | None:
    """Ask what should happen before the model answers: read topics, propose a note, or nothing (None).

    Raises:
        UpstreamError: The model could not be asked. An answer that keeps to no form is no error: then it just replies.
    """
    if not (situation.may_propose or (situation.may_read and situation.topics)):
        return None
    try:
        decided = await upstreams.decide(upstream, prompt(situation), schema=schema(situation))
    except UpstreamError as error:
        if error.code == "bad-answer":
            return None
        raise
    return call(situation, decided)


def constant_text() -> list[Message]:
    """Return what the prompt of every decision begins with."""
    messages = [{"role": "system", "content": RULES}]
    for example in EXAMPLES:
        messages += [
            {"role": "user", "content": _asked(example.topics, example.previous, example.text)},
            {"role": "assistant", "content": json.dumps(example.decided, ensure_ascii=False)},
        ]
    return messages


async def warm_up(upstreams: Upstreams, upstream: Upstream) -> None:
    """Let the model read the constant part of the prompt, so that the first message does not wait for it."""
    empty = Situation((), may_read=False, may_propose=("user",), previous=(), text="Hello!")
    await upstreams.decide(upstream, prompt(empty), schema=schema(empty))


def prompt(situation: Situation) -> list[Message]:
    """Return the messages of the decision: rules and examples, then the topics, the exchange before and the message."""
    topics = [(name, topic.gist) for name, topic in _labels(situation).items()]
    return [*constant_text(), {"role": "user", "content": _asked(topics, situation.previous, situation.text)}]


def schema(situation: Situation) -> dict[str, Any]:
    """Return the JSON schema of the decision: only what this turn may do, and only topics it has."""
    # Without an exchange before, there was no offer to accept or decline.
    offered = bool(situation.previous)
    choices = [_choice("reply", [one for one in REPLY_WANTS if offered or one != "decline the offer"])]
    labels = list(_labels(situation))
    if situation.may_read and labels:
        topics = {"type": "array", "items": {"enum": labels}, "minItems": 1, "maxItems": TOPICS_READ}
        choices.append(_choice("read", list(READ_WANTS), topics=topics))
    if situation.may_propose:
        fact = {"type": "string", "minLength": 1, "maxLength": FACT_CHARACTERS}
        there = [name for name, topic in _labels(situation).items() if topic.scope in situation.may_propose]
        new = {"type": "string", "pattern": "^[a-z0-9-]{1,32}$"}
        topic = {"anyOf": [{"enum": there}, new]} if there else new
        choices.append(_choice("note", list(NOTE_WANTS)[: 1 + offered], topic=topic, fact=fact))
    return {"anyOf": choices}


def call(situation: Situation, decided: dict[str, Any]) -> ToolCall | None:
    """Turn a decision into the call that a stronger model would have made; None to just reply."""
    if decided["do"] == "read":
        return _call("context_read", {"topic": list(dict.fromkeys(decided["topics"]))})
    if decided["do"] != "note":
        return None
    fact = " ".join(decided["fact"].split()).removeprefix("- ")
    # A small model sometimes repeats an example in place of what was said.
    if not fact or fact in {example.decided.get("fact") for example in EXAMPLES}:
        return None
    if decided["wants"] != ACCEPTED and _denies(situation.text) and not _denies(fact):
        # It turned "can't stand" into "stands". The person's own words are longer and true.
        fact = " ".join(situation.text.split())[:FACT_CHARACTERS]
    topic = _target(situation, decided["topic"])
    edit = {"file": topic.file or f"{topic.name}.md", "old": "", "new": f"- {fact}"}
    why = NOTE_WANTS[decided["wants"]]
    return _call("propose_change", {"scope": topic.scope, "edits": [edit], "why": why})


def fold(messages: Sequence[Message]) -> list[Message]:
    """Write calls and their results as plain text into the person's message before them.

    Args:
        messages: A conversation in OpenAI's form, what was read in it without its frame: with the frame a small model
            answers that it knows nothing of the person.

    Returns:
        The same conversation without `tool_calls` and without messages of the role tool.
    """
    folded: list[Message] = []
    names: dict[str, str] = {}
    results: dict[int, list[tuple[str, str]]] = {}
    asked = -1
    for message in messages:
        if message["role"] == "tool":
            results.setdefault(asked, []).append((names.get(message["tool_call_id"], ""), message["content"] or ""))
            continue
        names |= {one["id"]: one["function"]["name"] for one in message.get("tool_calls") or ()}
        if message["role"] == "assistant" and not message.get("content"):
            continue
        if message["role"] == "user":
            asked = len(folded)
        # Such a model is offered no tool while it answers, so none is named.
        is_system = message["role"] == "system"
        content = message["content"].replace(f"{OPEN_TOPICS}\n", "") if is_system else message["content"]
        folded.append({"role": message["role"], "content": content})
    for position, found in results.items():
        if position >= 0:
            folded[position]["content"] = _with_results(folded[position]["content"], found)
    return folded


def words_after(name: str, result: str) -> str | None:
    """Return what the host says itself in place of a guided model's answer to a call; None: let the model answer.

    A small model says "noted" where nothing is saved yet, however it is told; so after a proposal the host speaks.
    """
    return PROPOSED_WORDS if name == "propose_change" and result.startswith("Proposed") else None


def _with_results(text: str, results: list[tuple[str, str]]) -> str:
    """Put what tools gave around the person's message; what matters most stands last."""
    for name, result in results:
        if words_after(name, result):
            text = PROPOSED.format(text=text)
        elif name == "propose_change":
            text = NOT_PROPOSED.format(text=text, result=result)
        else:
            text = READ.format(text=text, result=result.strip())
    return text


PROPOSED_WORDS: Final = "I proposed a note of this. It is kept only when you confirm it on the card."
PROPOSED: Final = f'{{text}}\n\n(From the host: a note of this was proposed. Repeat exactly: "{PROPOSED_WORDS}")'
NOT_PROPOSED: Final = (
    "{text}\n\n(From the host: no note of this could be made, for this reason: {result} "
    "Tell me in one sentence that you could not propose a note, and why.)"
)
READ: Final = (
    "{text}\n\n(What you know about me, and what your whole answer must suit:\n{result}\n"
    "Answer in a few sentences, in the language of my message. Suggest nothing that goes against this.)"
)


def _asked(topics: Sequence[tuple[str, str]], previous: Sequence[tuple[str, str]], text: str) -> str:
    lines = "\n".join(f"- {name}: {gist}" for name, gist in topics) or "(none yet)"
    before = "\n".join(f"Before, the {_WHO.get(role, role)}: {_short(said)}" for role, said in previous)
    return "\n\n".join(part for part in (f"Topics:\n{lines}", before, f"Message: {_short(text)}") if part)


_WHO: Final = {"user": "person"}


def _short(text: str) -> str:
    return text if len(text) <= SPOKEN_CHARACTERS else f"{text[:SPOKEN_CHARACTERS]} …"


def _choice(do: str, wants: list[str], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - pieces of a JSON schema
    properties = {"wants": {"enum": wants}, "do": {"const": do}, **more}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _labels(situation: Situation) -> dict[str, Topic]:
    """Name the topics: bare where one scope has the name, else with the scope, as context_read takes them."""
    names = [topic.name for topic in situation.topics]
    return {
        topic.name if names.count(topic.name) == 1 else f"{topic.scope}/{topic.name}": topic
        for topic in situation.topics
    }


# Words that turn a fact around, in the languages the step was measured in.
_DENIAL: Final = re.compile(
    r"\b(no|not|never|neither|nor|without|cannot|non|mai|né|senza|nicht|nie|niemals|ohne|kein\w*)\b|n[\u2019']t\b",
    re.IGNORECASE,
)


def _denies(text: str) -> bool:
    return _DENIAL.search(text) is not None


def _target(situation: Situation, label: str) -> Topic:
    there = _labels(situation).get(label)
    if there is not None and there.scope in situation.may_propose:
        return there
    return Topic(situation.may_propose[0], _slug(label), "")


def _slug(label: str) -> str:
    name = re.sub(r"-{2,}", "-", label.rpartition("/")[2]).strip("-")
    return "notes" if name in ("", "index") else name


def _call(name: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(new_call_id(), name, json.dumps(arguments, ensure_ascii=False))
