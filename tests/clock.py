"""The clock of the tests: it stands still until a test moves it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass
class Clock:
    """The time, which stands until it is moved."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        """Go on by an amount of time; negative is back."""
        self.now += timedelta(**by)
