"""Pages: Jinja with autoescape, texts from the locales, static files under the hash of what they hold.

A key that is missing is an error, in Python as in a template: nothing is shown half. All static files share one hash in
their address, so that a script's relative import finds the same version.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

HOST = Path(__file__).resolve().parent.parent
STATIC = HOST / "static"
LANGUAGE = "en"


@cache
def locale(language: str) -> Mapping[str, str]:
    """Return the texts of a language by key."""
    texts: dict[str, str] = json.loads((HOST / "locales" / f"{language}.json").read_text(encoding="utf-8"))
    return texts


def t(key: str, /, **facts: object) -> str:
    """Return a text, filled in with facts."""
    return locale(LANGUAGE)[key].format_map(facts)


@cache
def static_digest() -> str:
    """Return the hash of all static files."""
    found = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            found.update(f"{path.relative_to(STATIC).as_posix()}\0{path.stat().st_size}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def static(path: str) -> str:
    """Return the address of a static file."""
    return f"/static/{static_digest()}/{path}"


def script_texts() -> dict[str, str]:
    """Return the texts that scripts use: the keys that begin with `js.`."""
    return {key.removeprefix("js."): text for key, text in locale(LANGUAGE).items() if key.startswith("js.")}


def local_time(moment: datetime, time_zone: str) -> str:
    """Write a time for a person, with its offset; UTC while their time zone is unknown."""
    local = moment.astimezone(ZoneInfo(time_zone or "UTC"))
    offset = local.strftime("%z")
    return f"{local:%Y-%m-%d %H:%M} " + (f"{offset[:3]}:{offset[3:5]}" if local.utcoffset() else "UTC")


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(HOST / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(t=t, static=static, script_texts=script_texts, language=LANGUAGE)
    found.filters["local_time"] = local_time
    return found


def render(
    request: Request, name: str, /, *, status: int = 200, headers: Mapping[str, str] | None = None, **context: object
) -> HTMLResponse:
    """Return a page. Every template also has `person` (or None), `csrf_token` and `path`."""
    seen = {
        "person": getattr(request.state, "person", None),
        "csrf_token": getattr(request.state, "csrf_token", ""),
        "path": request.url.path,
    }
    return HTMLResponse(_environment().get_template(name).render(seen | context), status, headers)


def fragment(name: str, /, **context: object) -> str:
    """Return a piece of a page, for an event of a stream or an answer to a script."""
    return _environment().get_template(name).render({"person": None, "csrf_token": "", "path": ""} | context)
