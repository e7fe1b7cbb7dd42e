"""What a turn reads: the block, the tools it offers, and the topics it can open.

Nothing is written and no database is asked. The answer for a conversation is kept until one of the files behind it
changes, which costs a stat of each.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from short_memory import access, caps, index, prompt
from short_memory.errors import NoTopicError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from short_memory.prompt import Section
    from short_memory.scopes import Conversation, Scope
    from short_memory.store.note_store import NoteStore, Seen

CONTEXT_READ = "context_read"
PROPOSE_CHANGE = "propose_change"
REVERT_CHANGE = "revert_change"
KEPT_TURNS = 4096


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic that this turn can open: its scope, the name and the hint of its entry, and the path of its file."""

    scope: Scope
    name: str
    gist: str
    path: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn of a conversation gets."""

    block: str
    tools: tuple[str, ...]
    sections: tuple[Section, ...]
    scopes: tuple[Scope, ...]
    topics: tuple[Topic, ...]


class Reader:
    """Reads turns and topics from a store, and keeps the turns of unchanged files."""

    def __init__(self, store: NoteStore) -> None:
        self._store = store
        self._kept: dict[tuple[Conversation, bool], tuple[Seen, Turn]] = {}
        self._keeping = threading.Lock()

    def turn(self, conversation: Conversation, *, can_call: bool) -> Turn:
        """Return what a turn of this conversation gets now.

        Args:
            conversation: Whose chat it is, and where it takes place.
            can_call: Whether the model can call tools in this turn.
        """
        key = (conversation, can_call)
        kept = self._kept.get(key)
        if kept is not None and kept[0].still():
            return kept[1]
        turn, seen = self._read_turn(conversation, can_call=can_call)
        if seen.settled():
            self._keep(key, seen, turn)
        return turn

    def read(self, conversation: Conversation, names: Sequence[str]) -> str:
        """Return the text of the topics, as context_read gives it (contract 5).

        Args:
            conversation: The chat that asks; access is asked anew.
            names: A name of a line, or `scope/name`, or several.

        Raises:
            NoTopicError: One of them is not among the topics of the turn, for whatever reason.
        """
        topics = self.turn(conversation, can_call=True).topics
        found: dict[str, Topic] = {}
        for name in names:
            hits = [topic for topic in topics if name in (topic.name, f"{topic.scope.kind}/{topic.name}")]
            if not hits:
                raise NoTopicError(list(dict.fromkeys(topic.name for topic in topics)))
            found.update((topic.path, topic) for topic in hits)
        if len(found) == 1:
            return self._body(conversation.owner, next(iter(found.values())))
        bodies = [f"[{one.scope.kind}] {one.name}\n{self._body(conversation.owner, one)}" for one in found.values()]
        return "\n".join(bodies)

    def text(self, owner: str, path: str) -> str:
        """Return a note's text in normal form; empty if it is not there or not readable as a note."""
        try:
            raw = self._store.read(owner, path)
            return "" if raw is None else caps.normal(raw.decode())
        except (UnreadableError, UnicodeDecodeError):
            return ""

    def _body(self, owner: str, topic: Topic) -> str:
        text = self.text(owner, topic.path)
        if not text:
            return "(this topic has no file yet)\n"
        kept, more = caps.cut(text, topic.scope.topic_cap)
        body = prompt.served(index.with_end(kept))
        return f"{body}{prompt.notice(more)}" if more else body

    def _read_turn(self, conversation: Conversation, *, can_call: bool) -> tuple[Turn, Seen]:
        owner = conversation.owner
        # What is seen before it is read can only make the answer look older than it is, never newer.
        grants = self._store.seen_grants(owner)
        scopes = access.scopes(conversation, self._store.grants(owner))
        seen = grants.and_(self._store.seen(owner, [scope.index for scope in scopes]))
        sections = prompt.sections([(scope, self.text(owner, scope.index)) for scope in scopes])
        block = prompt.block(sections, can_open=can_call)
        tools = _offered(scopes, has_block=bool(sections)) if can_call else ()
        return Turn(block.text, tools, sections, scopes, _topics(sections)), seen

    def _keep(self, key: tuple[Conversation, bool], seen: Seen, turn: Turn) -> None:
        with self._keeping:
            while len(self._kept) >= KEPT_TURNS:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (seen, turn)


def _offered(scopes: Sequence[Scope], *, has_block: bool) -> tuple[str, ...]:
    reads = (CONTEXT_READ,) if has_block else ()
    proposes = (PROPOSE_CHANGE, REVERT_CHANGE) if any(scope.may_propose for scope in scopes) else ()
    return reads + proposes


def _topics(sections: Sequence[Section]) -> tuple[Topic, ...]:
    return tuple(
        Topic(section.scope, entry.name, entry.gist, section.scope.path(entry.file))
        for section in sections
        for entry in index.entries(section.text)
    )
