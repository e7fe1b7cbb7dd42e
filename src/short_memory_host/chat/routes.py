"""The pages of the chat: HTTP in, events out, nothing else."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter, Request
from pydantic import BaseModel
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from short_memory_host.chat import queries, service
from short_memory_host.chat.messages import Message, waits
from short_memory_host.chat.queries import Chat
from short_memory_host.upstream import Upstream
from short_memory_host.web import templates
from short_memory_host.web.errors import InvalidInputError, UnknownError, text
from short_memory_host.web.held import Held, held
from short_memory_host.web.people import Person, SignedIn

router = APIRouter()


class Said(BaseModel):
    """What the person wrote, and the model that they chose."""

    text: str
    upstream: str | None = None


class Again(BaseModel):
    """Whether an answer that is there is to be made anew."""

    anew: bool = False


class Title(BaseModel):
    """A title for a conversation."""

    title: str


class Choice(BaseModel):
    """A model for a conversation."""

    upstream: str


@router.get("/")
def new_page(request: Request, person: SignedIn) -> Response:
    """Show an empty conversation."""
    return _page(request, person, None)


@router.get("/chat/{chat}")
def chat_page(request: Request, person: SignedIn, chat: str) -> Response:
    """Show a conversation."""
    return _page(request, person, _chat(held(request), person, chat))


@router.post("/chat")
def begin(request: Request, person: SignedIn, said: Said) -> Response:
    """Begin a conversation with its first message."""
    host, words = held(request), service.checked(said.text)
    if said.upstream is not None:
        _check_model(host, person, said.upstream)
    with host.database.write() as connection:
        now = host.clock()
        title = service.title_of(words)
        chat = queries.add(connection, person=person.id, title=title, upstream=said.upstream, now=now)
        queries.keep(connection, chat, Message("user", {"text": words}), now=now)
    return JSONResponse({"url": f"/chat/{chat}"}, 201)


@router.post("/chat/{chat}/messages")
async def say(request: Request, person: SignedIn, chat: str, said: Said) -> Response:
    """Add a message of the person's."""
    host, words = held(request), service.checked(said.text)
    found = await run_in_threadpool(_chat, host, person, chat)
    if not await service.is_free(host, found):
        raise service.BusyError
    await run_in_threadpool(service.keep, host, found, Message("user", {"text": words}))
    return Response(status_code=204)


@router.post("/chat/{chat}/answer")
async def answer(request: Request, person: SignedIn, chat: str, again: Again) -> Response:
    """Answer the last message, as a stream of events."""
    host = held(request)
    found, upstream = await _ready(host, person, chat)
    return EventSourceResponse(_stream(host, person, found, upstream, anew=again.anew), ping=15)


@router.post("/chat/{chat}/title")
def rename(request: Request, person: SignedIn, chat: str, title: Title) -> Response:
    """Give a conversation another title."""
    host, new = held(request), service.title_of(title.title)
    if not new:
        raise InvalidInputError("empty-title")
    found = _chat(host, person, chat)
    with host.database.write() as connection:
        queries.rename(connection, found.id, new)
    return JSONResponse({"title": new})


@router.post("/chat/{chat}/upstream")
def choose(request: Request, person: SignedIn, chat: str, choice: Choice) -> Response:
    """Choose the model that answers from now on."""
    host, found = held(request), _chat(held(request), person, chat)
    _check_model(host, person, choice.upstream)
    with host.database.write() as connection:
        queries.choose(connection, found.id, choice.upstream)
    return Response(status_code=204)


@router.post("/chat/{chat}/delete")
def delete(request: Request, person: SignedIn, chat: str) -> Response:
    """Delete a conversation. Its notes stay, and so do open proposals, in the inbox."""
    host, found = held(request), _chat(held(request), person, chat)
    with host.database.write() as connection:
        queries.remove(connection, found.id)
    return Response(status_code=204)


def _chat(host: Held, person: Person, chat: str) -> Chat:
    with host.database.read() as connection:
        return queries.find(connection, chat, person=person.id)


def _check_model(host: Held, person: Person, upstream: str) -> None:
    if all(one.id != upstream for one in service.models(host, person)):
        raise UnknownError


def _page(request: Request, person: Person, chat: Chat | None) -> Response:
    host = held(request)
    with host.database.read() as connection:
        chats = queries.listed(connection, person.id)
    found, wanted = service.models(host, person), chat.upstream if chat else None
    awaited = service.is_awaited(host, wanted)
    messages = [] if chat is None else service.messages_of(host, chat)
    thread = [] if chat is None else service.thread(host, person, chat, messages)
    return templates.render(
        request,
        "chat/chat.html",
        chat=chat,
        chats=chats,
        thread=thread,
        models=found,
        awaited=awaited,
        chosen=None if awaited else service.chosen(found, wanted),
        notes_on=any(one.on for one in host.granting.of(person.id).addons),
        unanswered=waits(messages),
        built_in=host.built_in,
    )


def _chat_and_model(host: Held, person: Person, chat: str) -> tuple[Chat, Upstream | None]:
    found = _chat(host, person, chat)
    return found, service.chosen(service.models(host, person), found.upstream)


async def _ready(host: Held, person: Person, chat: str) -> tuple[Chat, Upstream]:
    found, upstream = await run_in_threadpool(_chat_and_model, host, person, chat)
    if upstream is None:
        raise service.NoModelError
    if not await service.is_free(host, found):
        raise service.BusyError
    return found, upstream


def _drop_answer(host: Held, chat: Chat) -> None:
    with host.database.write() as connection:
        queries.drop_answer(connection, chat.id)


async def _stream(
    host: Held, person: Person, chat: Chat, upstream: Upstream, *, anew: bool
) -> AsyncGenerator[dict[str, str]]:
    if chat.id in host.answering:  # another request came first while this one was made ready
        yield {"data": json.dumps({"kind": "failed", "text": text(service.BusyError())})}
        return
    host.answering.add(chat.id)
    try:
        if anew:  # only now: the answer that another request is making must stay
            await run_in_threadpool(_drop_answer, host, chat)
        async with aclosing(service.answer(host, person, chat, upstream)) as events:
            async for event in events:
                yield {"data": json.dumps(event, ensure_ascii=False)}
    finally:
        host.answering.discard(chat.id)
