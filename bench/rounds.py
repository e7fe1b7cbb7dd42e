"""Measuring two things by turns, so that whatever else the machine does strikes both alike."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self


@dataclass(frozen=True, slots=True)
class Item:
    """One measured item: the medians of ours and of its floor in microseconds, over n rounds."""

    item: str
    ours_us: float
    floor_us: float
    n: int

    @classmethod
    def of(cls, item: str, ours: Sequence[float], floor: Sequence[float]) -> Self:
        """Make an item of the microseconds of both sides."""
        return cls(item, statistics.median(ours), statistics.median(floor), len(ours))

    @property
    def ratio(self) -> float:
        """How many times longer ours takes."""
        return self.ours_us / self.floor_us

    def row(self) -> dict[str, str | float | int]:
        """Return the item as it is written to a file."""
        return {
            "item": self.item,
            "ours": round(self.ours_us, 2),
            "floor": round(self.floor_us, 2),
            "ratio": round(self.ratio, 2),
            "unit": "us",
            "n": self.n,
        }


def by_turns(
    item: str, ours: Callable[[], object], floor: Callable[[], object], *, rounds: int, calls: int = 1
) -> Item:
    """Time both by turns, `calls` at a time, with one round before the first that counts."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):
        for call, kept in zip((ours, floor), times, strict=True):
            kept.append(timed_us(call, calls))
    return Item(item, statistics.median(times[0][1:]), statistics.median(times[1][1:]), rounds)


def timed_us(call: Callable[[], object], calls: int = 1) -> float:
    """Return the microseconds that one call takes, as the mean of `calls`."""
    start = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return (time.perf_counter_ns() - start) / calls / 1000
