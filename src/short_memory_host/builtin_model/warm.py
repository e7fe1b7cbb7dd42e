"""What the built-in model has read of the guided step's constant text, kept on disk from one start to the next.

Reading it takes a slow machine a minute; taking it from the disk takes a moment. Only the constant text is kept: it is
read and written down before anybody can ask the model anything.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Final

import httpx2

from short_memory_host import guided
from short_memory_host.upstream import DECISION_SLOT

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from short_memory_host.upstream import Upstream, Upstreams

PATIENCE_S: Final = 60.0


async def warm(upstreams: Upstreams, upstream: Upstream, *, model: Path, folder: Path) -> None:
    """Give the model the constant text: from the folder if it is kept there, else by reading it, and keep it then.

    Raises:
        UpstreamError: The model could not be asked.
    """
    kept = folder / name(model)
    if kept.exists() and await _slot(upstream, "restore", kept.name):
        return
    await guided.warm_up(upstreams, upstream)
    await asyncio.to_thread(_empty, folder)
    await _slot(upstream, "save", kept.name)


def name(model: Path) -> str:
    """Return the name of what is kept: another one for another text, another model, or another state of its file."""
    found = model.stat()
    text = json.dumps([guided.constant_text(), str(model), found.st_size, found.st_mtime_ns])
    return f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.bin"


def _empty(folder: Path) -> None:
    for old in folder.glob("*.bin"):
        old.unlink(missing_ok=True)


async def _slot(upstream: Upstream, action: Literal["save", "restore"], file: str) -> bool:
    """Let the server save or restore the slot of decisions; False where it does not."""
    address = upstream.base_url.removesuffix("/v1")
    headers = {"authorization": f"Bearer {upstream.api_key}"}
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_S) as client:
            answer = await client.post(
                f"{address}/slots/{DECISION_SLOT}", params={"action": action}, json={"filename": file}, headers=headers
            )
    except httpx2.TransportError:
        return False
    return answer.is_success
