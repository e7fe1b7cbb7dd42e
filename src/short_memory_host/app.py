"""The composition root: the only place that knows every part of the host and ties them together.

To add an area: write its `routes.py` with a `router`, include it below; what it holds open becomes a field of
`web.held.Held`, opened and closed in `_lifespan`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from short_memory_host import logs
from short_memory_host.accounts import routes as accounts
from short_memory_host.accounts import service as accounts_service
from short_memory_host.database import open_database
from short_memory_host.models import routes as models
from short_memory_host.settings import Settings
from short_memory_host.web import errors, templates
from short_memory_host.web.held import Clock, Held
from short_memory_host.web.security import Security
from short_memory_host.web.throttle import Throttle

DATABASE = "host.db"


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
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI, settings: Settings, clock: Clock) -> AsyncIterator[None]:
    """Open what the host holds, and close it in the opposite order."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = await run_in_threadpool(open_database, settings.data / DATABASE)
    try:
        await run_in_threadpool(accounts_service.first_person, database, now=clock())
        app.state.held = Held(settings=settings, clock=clock, database=database, throttle=Throttle())
        yield
    finally:
        database.close()
