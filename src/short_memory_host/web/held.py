"""What the running host holds open, at `app.state.held`.

`app.py` fills it in; everything else asks `held(request)` for it.
"""

from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from short_memory.granting import Granting
from short_memory.memory import Memory
from short_memory.notebook import Notebook
from short_memory.writing import Clock
from short_memory_host.addons import RunningAddon
from short_memory_host.builtin_model.running import BuiltInModel
from short_memory_host.database import Database
from short_memory_host.settings import Settings
from short_memory_host.upstream import Upstreams
from short_memory_host.web.throttle import Throttle


@dataclass(frozen=True, slots=True)
class Held:
    """Opened by the lifespan of the application and closed by it.

    `built_in` is None where it is switched off; `answering` holds the conversations in which a model answers now.
    """

    settings: Settings
    clock: Clock
    database: Database
    throttle: Throttle
    memory: Memory
    notebook: Notebook
    granting: Granting
    upstreams: Upstreams
    addon: RunningAddon
    built_in: BuiltInModel | None
    answering: set[str] = field(default_factory=set)


def held(request: HTTPConnection) -> Held:
    """Return what the host of this request holds."""
    found = request.app.state.held
    assert isinstance(found, Held)
    return found
