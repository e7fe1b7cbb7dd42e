"""Growing pauses after failed sign-ins, per account and per address.

In memory: a restart forgets, the terminal's link always works. The first three failures cost nothing; then the pause
doubles from 2 s up to 5 min and is forgotten an hour after the last failure.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

FREE_FAILURES = 3
LONGEST_PAUSE = timedelta(minutes=5)
FORGOTTEN_AFTER = timedelta(hours=1)
MOST_KEYS = 10_000


@dataclass(frozen=True, slots=True)
class Failures:
    """How often one key failed, and when last."""

    count: int
    last: datetime

    @property
    def until(self) -> datetime:
        """The end of the pause."""
        if self.count < FREE_FAILURES:
            return self.last
        doubled = timedelta(seconds=2 ** min(self.count - FREE_FAILURES + 1, 9))
        return self.last + min(doubled, LONGEST_PAUSE)


class Throttle:
    """Counts failures by key; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._failures: OrderedDict[str, Failures] = OrderedDict()

    def wait(self, *keys: str, now: datetime) -> timedelta:
        """Return how long the slowest of the keys still has to pause; zero when none has to."""
        with self._lock:
            pauses = [self._failures[key].until - now for key in keys if self._known(key, now)]
        return max([timedelta(0), *pauses])

    def failed(self, *keys: str, now: datetime) -> None:
        """Count a failure for each key."""
        with self._lock:
            for key in keys:
                before = self._failures[key].count if self._known(key, now) else 0
                self._failures[key] = Failures(before + 1, now)
                self._failures.move_to_end(key)
            while len(self._failures) > MOST_KEYS:
                self._failures.popitem(last=False)

    def succeeded(self, *keys: str) -> None:
        """Forget the keys."""
        with self._lock:
            for key in keys:
                self._failures.pop(key, None)

    def _known(self, key: str, now: datetime) -> bool:
        found = self._failures.get(key)
        return found is not None and now - found.last < FORGOTTEN_AFTER
