"""The composition root: the only place that knows every part of the host and ties them together.

To add an area: write its `routes.py` with a `router`, include it below; what it holds open becomes a field of
`web.held.Held`, opened and closed in `_lifespan`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from short_memory.granting import Granting
from short_memory.memory import Memory
from short_memory.notebook import Notebook
from short_memory.store.note_store import NoteStore
from short_memory.writing import Clock
from short_memory_host import logs
from short_memory_host.accounts import routes as accounts
from short_memory_host.accounts import service as accounts_service
from short_memory_host.addons import RunningAddon, find_bundled, load_folder
from short_memory_host.builtin_model.running import BuiltInModel
from short_memory_host.chat import routes as chat
from short_memory_host.database import open_database
from short_memory_host.inbox import routes as inbox
from short_memory_host.memory_tab import routes as memory_tab
from short_memory_host.models import routes as models
from short_memory_host.settings import Settings
from short_memory_host.upstream import Upstreams
from short_memory_host.web import errors, templates
from short_memory_host.web.held import Held
from short_memory_host.web.security import Security
from short_memory_host.web.throttle import Throttle

DATABASE = "host.db"
MODELS = "models"


def create_app(settings: Settings, *, clock: Clock) -> FastAPI:
    """Return the host as an ASGI application.

    Args:
        settings: Where the data lies and under which names the host is reached.
        clock: Gives the time, aware and in UTC.
    """
    app = FastAPI(
        title="Short memory",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lambda app: _lifespan(app, settings, clock),
        middleware=[
            Middleware(logs.AccessLog),
            Middleware(Security, settings=settings),
            Middleware(errors.Unforeseen),
        ],
    )
    errors.install(app)
    app.mount(f"/static/{templates.static_digest()}", StaticFiles(directory=templates.STATIC), name="static")
    app.include_router(accounts.public)
    app.include_router(accounts.router)
    app.include_router(models.router)
    app.include_router(chat.router)
    app.include_router(inbox.router)
    app.include_router(memory_tab.router)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI, settings: Settings, clock: Clock) -> AsyncIterator[None]:
    """Open what the host holds, and close it in the opposite order."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with AsyncExitStack() as opened:
        database = await run_in_threadpool(open_database, settings.data / DATABASE)
        opened.callback(database.close)
        await run_in_threadpool(accounts_service.first_person, database, now=clock())
        store = NoteStore(settings.data)
        opened.callback(store.close)
        settled = await run_in_threadpool(store.recover)
        if settled:
            logs.write("recovered", count=settled)
        upstreams = Upstreams()
        opened.push_async_callback(upstreams.close)
        built_in = _built_in(settings, upstreams)
        if built_in is not None:
            built_in.start()
            opened.push_async_callback(built_in.stop)
        addon = RunningAddon(load_folder(find_bundled(Path(__file__).parent)))
        starting = asyncio.create_task(addon.start(), name="start of the add-on")
        opened.push_async_callback(addon.stop)
        opened.callback(starting.cancel)
        app.state.held = Held(
            settings=settings,
            clock=clock,
            database=database,
            throttle=Throttle(),
            memory=Memory(store, clock),
            notebook=Notebook(store, clock),
            granting=Granting(store, clock),
            upstreams=upstreams,
            addon=addon,
            built_in=built_in,
        )
        yield


def _built_in(settings: Settings, upstreams: Upstreams) -> BuiltInModel | None:
    """Return the built-in model as the settings want it, not started; None where they want none."""
    if settings.model == "none":
        return None
    own = None if settings.model == "built-in" else Path(settings.model)
    return BuiltInModel(upstreams, folder=settings.data / MODELS, model=own)
