"""The engine beside its floors: block, context_read, propose, confirm and revert on real files and a real journal."""

from __future__ import annotations

import statistics
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

from bench.floors import DurableChange, Insert, Reads
from bench.rounds import Item, by_turns, timed_us
from short_memory.access import AddonGrant, AgentGrant
from short_memory.caps import INDEX_BYTES, INDEX_LINES, TOPIC_BYTES, Cap
from short_memory.granting import Granting
from short_memory.memory import Memory
from short_memory.notebook import Notebook
from short_memory.proposals import Edit
from short_memory.reading import Reader
from short_memory.scopes import Channel, ContextFile, Conversation
from short_memory.store.note_store import NoteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from short_memory.scopes import Kind

OWNER = "p_bench"
ROOM = Channel("telegram", "0123456789abcdef")
CHAT = Conversation("bench", OWNER, "coach", ROOM)
PLACES: dict[Kind, str] = {
    "user": "Memory/index.md",
    "agent": "Memory/agents/{agent}/index.md",
    "channel": "Memory/channels/{binding}-{hash}/index.md",
}
FILLED = ("Memory", "Memory/agents/coach", f"Memory/channels/{ROOM.binding}-{ROOM.hash}")


class World:
    """One person's notes in a data folder, and a clock that goes on so that no limit of a day is met."""

    def __init__(self, data: Path) -> None:
        self._hours = count()
        self.store = NoteStore(data)
        self.memory = Memory(self.store, self._now)
        self.notebook = Notebook(self.store, self._now)
        granting = Granting(self.store, self._now)
        granting.enable(OWNER, AddonGrant("memory", on=True, digest="", files=tuple(map(_declared, PLACES))))
        granting.allow_agent(OWNER, CHAT.agent or "", "memory", AgentGrant(read=True, propose=True))
        for folder in FILLED:
            place = data / "files" / OWNER / folder
            place.mkdir(parents=True, exist_ok=True)
            (place / "index.md").write_text(_full_index(), encoding="utf-8")
            (place / "food.md").write_text("- x\n" * 32 + "y" * 1920, encoding="utf-8")

    def _now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=next(self._hours))

    def close(self) -> None:
        """Close the store."""
        self.store.close()


def measure(folder: Path, *, rounds: int) -> Iterator[Item]:
    """Measure every item in this folder, whose disk is that of both sides."""
    with closing(World(folder / "data")) as world, closing(Insert(folder / "floor.db")) as insert:
        three, one = Reads(folder / "three", INDEX_BYTES, 3), Reads(folder / "one", INDEX_BYTES, 1)
        _settle(world)
        yield by_turns("block", lambda: world.memory.turn(CHAT, can_call=True), three, rounds=rounds, calls=50)
        yield by_turns("block, read anew", lambda: _anew(world), three, rounds=rounds, calls=10)
        yield by_turns("context_read", lambda: world.memory.read(CHAT, ["user/food"]), one, rounds=rounds, calls=20)
        yield from _writing(world, insert, DurableChange(folder / "change", insert), rounds)


def _writing(world: World, insert: Insert, durable: DurableChange, rounds: int) -> Iterator[Item]:
    """Propose, confirm and take back, each round one after the other with its floor beside it."""
    ours: dict[str, list[float]] = {"propose": [], "confirm": [], "revert": []}
    floors: dict[str, list[float]] = {"propose": [], "confirm": [], "revert": []}
    for number in range(rounds + 1):
        names: list[str] = []
        steps: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "propose": (lambda: names.append(_propose(world, number)), insert),  # noqa: B023 - called in this round
            "confirm": (lambda: names.append(world.memory.confirm(OWNER, names[0], None).id), durable),  # noqa: B023 - as above
            "revert": (lambda: world.notebook.revert(OWNER, names[1], digest=None), durable),  # noqa: B023 - as above
        }
        for item, (call, floor) in steps.items():
            ours[item].append(timed_us(call))
            floors[item].append(timed_us(floor))
    for item, times in ours.items():
        yield Item(item, statistics.median(times[1:]), statistics.median(floors[item][1:]), rounds)


def _propose(world: World, number: int) -> str:
    text = f"- fact {number}\n" + "- another fact of some length\n" * 30
    edits = [Edit("food.md", text=text), Edit("t1.md", text=text)]
    return world.memory.propose(CHAT, "user", edits, why="asked", zone=UTC).id


def _anew(world: World) -> None:
    Reader(world.store).turn(CHAT, can_call=True)


def _settle(world: World) -> None:
    """Wait until the files are old enough for a turn to be kept."""
    while world.memory.turn(CHAT, can_call=True) is not world.memory.turn(CHAT, can_call=True):
        pass


def _declared(kind: Kind) -> ContextFile:
    return ContextFile(
        "memory", kind, kind, "Notes", PLACES[kind], Cap(INDEX_LINES, INDEX_BYTES), TOPIC_BYTES, propose=True
    )


def _full_index() -> str:
    """Return an index at both of its caps: 40 lines and 2048 bytes."""
    lines = ["- food: what the person eats and does not eat -> food.md"]
    lines += [f"- t{number}: about this and that -> t{number}.md" for number in range(1, INDEX_LINES)]
    text = "\n".join(lines)
    return f"{text} \n".replace(" \n", "." * (INDEX_BYTES - len(text) - 1) + "\n")
