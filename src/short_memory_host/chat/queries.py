"""Conversations and their messages in the host's database. A foreign id answers exactly as an unknown one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select, update

from short_memory_host import database as db
from short_memory_host.chat.messages import Message
from short_memory_host.web.errors import UnknownError
from short_memory_host.web.ids import new_id

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Row

MOST_LISTED = 200
_chats = db.conversations
_messages = db.messages
# Asked in every turn, and made once: to build a statement costs more than to run it.
_FIND = select(_chats).where(_chats.c.id == bindparam("chat"), _chats.c.person == bindparam("owner"))
_MESSAGES = select(_messages).where(_messages.c.conversation == bindparam("chat")).order_by(_messages.c.id)


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation of a person. `upstream` is the model that was chosen for it, if one was."""

    id: str
    person: str
    title: str
    agent: str | None
    upstream: str | None


def listed(connection: Connection, person: str) -> list[Chat]:
    """Return a person's conversations, latest first."""
    query = select(_chats).where(_chats.c.person == person).order_by(_chats.c.updated.desc()).limit(MOST_LISTED)
    return [_chat(row) for row in connection.execute(query)]


def find(connection: Connection, chat: str, *, person: str) -> Chat:
    """Return one conversation of a person.

    Raises:
        UnknownError: There is none, or it is somebody else's.
    """
    row = connection.execute(_FIND, {"chat": chat, "owner": person}).one_or_none()
    if row is None:
        raise UnknownError
    return _chat(row)


def add(connection: Connection, *, person: str, title: str, upstream: str | None, now: datetime) -> str:
    """Begin a conversation and return its id."""
    chat = new_id("c_")
    row = {"id": chat, "person": person, "title": title, "upstream": upstream, "created": now, "updated": now}
    connection.execute(insert(_chats).values(row))
    return chat


def rename(connection: Connection, chat: str, title: str) -> None:
    """Give a conversation a title."""
    connection.execute(update(_chats).where(_chats.c.id == chat).values(title=title))


def choose(connection: Connection, chat: str, upstream: str) -> None:
    """Choose the model of a conversation."""
    connection.execute(update(_chats).where(_chats.c.id == chat).values(upstream=upstream))


def remove(connection: Connection, chat: str) -> None:
    """Delete a conversation with its messages."""
    connection.execute(delete(_chats).where(_chats.c.id == chat))


def messages(connection: Connection, chat: str) -> list[Message]:
    """Return the messages of a conversation in their order."""
    rows = connection.execute(_MESSAGES, {"chat": chat})
    return [Message(row.role, json.loads(row.content), row.id) for row in rows]


def keep(connection: Connection, chat: str, message: Message, *, now: datetime) -> None:
    """Add a message to a conversation; where that was deleted meanwhile, there is nothing to add it to."""
    if connection.execute(update(_chats).where(_chats.c.id == chat).values(updated=now)).rowcount == 0:
        return
    content = json.dumps(message.content, ensure_ascii=False)
    row = {"conversation": chat, "role": message.role, "content": content, "created": now}
    connection.execute(insert(_messages).values(row))


def drop_answer(connection: Connection, chat: str) -> None:
    """Remove what came after the person's last message, so that it is answered anew.

    What the host told the model stays, for it is told once, and so does the receipt of what the model took back.
    """
    kept = messages(connection, chat)
    last = max((one.id for one in kept if one.role == "user"), default=0)
    gone = [one.id for one in kept if one.id > last and one.role != "host" and not one.content.get("change")]
    connection.execute(delete(_messages).where(_messages.c.id.in_(gone)))


def _chat(row: Row[tuple[object, ...]]) -> Chat:
    return Chat(row.id, row.person, row.title, row.agent, row.upstream)
