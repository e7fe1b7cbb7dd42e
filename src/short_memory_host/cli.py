"""The command `short-memory`: starts the host, and prints links to come in with. It asks nothing.

Exit codes: 0 done, or ended by Ctrl-C; 1 it can't run, and one line on stderr says why; 2 the command or a setting is
wrong.
"""

import argparse
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from pydantic import ValidationError

from short_memory.errors import ShortMemoryError
from short_memory_host import logs
from short_memory_host.accounts import service as accounts
from short_memory_host.app import DATABASE, create_app
from short_memory_host.database import DatabaseRefusedError, open_database
from short_memory_host.settings import Settings
from short_memory_host.web.errors import HostError, text

RUNNING = "address"
"""The file in the data folder that holds the address of the running host."""

GRACE_S = 1
"""How long open answers may go on after Ctrl-C."""


class CannotRunError(Exception):
    """The command can't do its work; the text says why and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = _parser().parse_args(arguments)
    try:
        settings = _settings(given)
    except ValidationError as error:
        _complain(_setting_problem(error))
        return 2
    try:
        command: str = given.command or "up"
        if command == "up":
            up(settings)
        elif command == "sign-in":
            say_link(sign_in(settings, given.person))
        else:
            say_link(add_person(settings, given.name, admin=given.admin))
    except HostError as error:
        _complain(text(error))
        return 1
    except (CannotRunError, DatabaseRefusedError, ShortMemoryError, OSError) as error:
        _complain(str(error))
        return 1
    return 0


def up(settings: Settings) -> None:
    """Run the host until Ctrl-C."""
    logs.set_up(settings.log_level)
    prepare(settings)
    with listen(settings) as listener:
        port = listener.getsockname()[1]
        settings = settings.model_copy(update={"listen": _with_port(settings, port)})
        server = Server(create_app(settings, clock=now), settings)
        # uvicorn ends in good order on both signals and then raises them again for whoever started it.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    (settings.data / RUNNING).unlink(missing_ok=True)
    if not server.came_up:
        raise CannotRunError("The host could not start; the lines above say where.")


def sign_in(settings: Settings, person: str | None) -> str:
    """Return a new sign-in link. Works with and without a running host."""
    prepare(settings)
    return _link(settings, person)


def add_person(settings: Settings, name: str, *, admin: bool) -> str:
    """Add a person and return the link with which they come in."""
    prepare(settings)
    database = open_database(settings.data / DATABASE)
    try:
        accounts.add_person(database, name, role="admin" if admin else "member", now=now())
    finally:
        database.close()
    return _link(settings, name)


def prepare(settings: Settings) -> None:
    """Make the data folder, its database and the first person.

    Raises:
        CannotRunError: The folder can't be made.
    """
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRunError(
            f"{settings.data} can't be made ({error.strerror}). Choose a folder with --data."
        ) from error
    if settings.data.stat().st_uid == os.getuid():
        settings.data.chmod(0o700)
    database = open_database(settings.data / DATABASE)
    try:
        accounts.first_person(database, now=now())
    finally:
        database.close()


def listen(settings: Settings) -> socket.socket:
    """Return a listening socket.

    Raises:
        CannotRunError: The port is taken or the address is not of this machine.
    """
    host, port = settings.address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise CannotRunError(
            f"{settings.listen} can't be listened on ({error.strerror}). "
            "Stop what uses it, or choose another with --listen HOST:PORT."
        ) from error
    # asyncio sends small answers at once only on sockets that name their protocol; else each waits 40 ms for its peer.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=made.detach())


class Server(uvicorn.Server):
    """uvicorn, which says where it is once it is there."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        config = uvicorn.Config(
            app,
            access_log=False,
            log_config=None,
            server_header=False,
            # Only a proxy that the settings announce may say who the client is.
            proxy_headers=settings.public_url is not None,
            timeout_graceful_shutdown=GRACE_S,
            h11_max_incomplete_event_size=32 * 1024,
        )
        super().__init__(config)
        self.settings = settings
        self.came_up = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell the person where."""
        await super().startup(sockets)
        self.came_up = self.started
        if self.started:
            announce(self.settings)


def announce(settings: Settings) -> None:
    """Print the address, and a sign-in link while nobody has a way in."""
    (settings.data / RUNNING).write_text(settings.url, encoding="utf-8")
    say(f"Short memory runs at {settings.url}")
    database = open_database(settings.data / DATABASE)
    try:
        needed = accounts.needs_link(database, now=now())
    finally:
        database.close()
    if needed:
        say(f"Sign in once with this link, within 15 minutes: {_link(settings, None)}")
    else:
        say(f"For a new sign-in link: {settings.command} sign-in")
    say(f"Notes and everything else lie in {settings.data}. Ctrl-C ends it.")


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def say(line: str) -> None:
    """Print one line for the person."""
    print(line, flush=True)  # noqa: T201 - what the command is for


def say_link(link: str) -> None:
    """Print a link for the person, and what it is good for beside it, where a program that reads the link does not."""
    say(link)
    print("It works once, within 15 minutes, while the host runs.", file=sys.stderr)  # noqa: T201 - for the person


def _link(settings: Settings, person: str | None) -> str:
    database = open_database(settings.data / DATABASE)
    try:
        secret = accounts.new_link(database, person, now=now())
    finally:
        database.close()
    return f"{_address(settings)}/sign-in?token={secret}"


def _address(settings: Settings) -> str:
    running = settings.data / RUNNING
    if settings.public_url is None and running.exists():
        return running.read_text(encoding="utf-8").strip()
    return settings.url


def _with_port(settings: Settings, port: int) -> str:
    host = settings.address.host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _settings(given: argparse.Namespace) -> Settings:
    named = ("data", "listen", "public_url", "model")
    return Settings(**{name: value for name, value in vars(given).items() if name in named})


def _setting_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    name = str(problem["loc"][0])
    said = str(problem["msg"]).removeprefix("Value error, ")
    return f"--{name.replace('_', '-')} (or SHORT_MEMORY_{name.upper()}) {said}"


def _complain(line: str) -> None:
    print(f"short-memory: {line}", file=sys.stderr)  # noqa: T201 - the one line that says why


def _parser() -> argparse.ArgumentParser:
    # Suppressed defaults: what stands before the command must not be overwritten by what does not stand after it.
    shared = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument("--data", type=Path, metavar="FOLDER", help="the folder that holds everything")
    shared.add_argument("--listen", metavar="HOST:PORT", help="where to listen (127.0.0.1:8087)")
    shared.add_argument("--public-url", metavar="URL", help="where people reach the host, when that is another address")
    model = shared.add_mutually_exclusive_group()
    model.add_argument("--model", metavar="FILE", help="a GGUF file to use as built-in model")
    model.add_argument("--no-model", dest="model", action="store_const", const="none", help="no built-in model")
    typed = os.environ.get("SHORT_MEMORY_COMMAND", "short-memory")
    parser = argparse.ArgumentParser(
        typed, description="A few notes about you, for every model you run.", parents=[shared]
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("up", parents=[shared], help="run the host (also without a command)")
    link = commands.add_parser("sign-in", parents=[shared], help="print a new sign-in link")
    link.add_argument("--person", metavar="NAME", help="for whom; without it, for the first admin")
    add = commands.add_parser("add-person", parents=[shared], help="add a person and print their sign-in link")
    add.add_argument("name", metavar="NAME")
    add.add_argument("--admin", action="store_true", help="with the role admin")
    return parser


if __name__ == "__main__":
    sys.exit(main())
