"""What the running host holds open, at `app.state.held`.

`app.py` fills it in; everything else asks `held(request)` for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import HTTPConnection

from short_memory_host.database import Database
from short_memory_host.settings import Settings
from short_memory_host.web.throttle import Throttle

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Held:
    """Opened by the lifespan of the application and closed by it."""

    settings: Settings
    clock: Clock
    database: Database
    throttle: Throttle


def held(request: HTTPConnection) -> Held:
    """Return what the host of this request holds."""
    found = request.app.state.held
    assert isinstance(found, Held)
    return found
