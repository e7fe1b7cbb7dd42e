"""What an owner allows, in one small file an owner, which the hot path reads beside the notes.

Written whole, by rename. What cannot be read allows nothing.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

from short_memory.access import AddonGrant, AgentGrant, Grants
from short_memory.caps import Cap
from short_memory.scopes import ContextFile
from short_memory.store.files import check_folder

FORMAT = 1
log = logging.getLogger(__name__)


def place(root: Path, owner: str) -> str:
    """Return the full name of an owner's file of grants."""
    check_folder(owner)
    return f"{root}/{owner}.json"


def load(root: Path, owner: str) -> Grants:
    """Read what an owner allows; nothing is allowed where no file is."""
    try:
        return _read(json.loads(Path(place(root, owner)).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Grants()
    except (ValueError, KeyError, TypeError):
        log.error("the file of grants is damaged: nothing is allowed", extra={"owner": owner})  # noqa: TRY400 - no text
        return Grants()


def save(root: Path, owner: str, grants: Grants) -> None:
    """Keep what an owner allows, durably. The caller holds the owner's lock.

    Raises:
        OSError: The disk refused; what stood before stands.
    """
    target = Path(place(root, owner))
    # One name under the owner's lock: what a killed process left of it is replaced by the next.
    temporary = target.with_name(f".{owner}.new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(_written(grants), file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(target)
        _make_durable(root)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _make_durable(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _written(grants: Grants) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "addons": [
            {"id": one.id, "on": one.on, "digest": one.digest, "files": [_file(file) for file in one.files]}
            for one in grants.addons
        ],
        "agents": [[agent, addon, one.read, one.propose] for (agent, addon), one in grants.agents.items()],
        "rooms": sorted(grants.rooms),
    }


def _file(file: ContextFile) -> dict[str, Any]:
    return {
        "id": file.id,
        "scope": file.scope,
        "title": file.title,
        "index": file.index,
        "cap": [file.cap.lines, file.cap.bytes],
        "topicBytes": file.topic_bytes,
        "propose": file.propose,
    }


def _read(found: dict[str, Any]) -> Grants:
    if found["format"] != FORMAT:
        raise ValueError(FORMAT)
    return Grants(
        addons=tuple(map(_addon, found["addons"])),
        agents={(agent, addon): AgentGrant(read, propose) for agent, addon, read, propose in found["agents"]},
        rooms=frozenset((binding, name) for binding, name in found["rooms"]),
    )


def _addon(found: dict[str, Any]) -> AddonGrant:
    files = tuple(_context_file(found["id"], file) for file in found["files"])
    return AddonGrant(found["id"], found["on"], found["digest"], files)


def _context_file(addon: str, file: dict[str, Any]) -> ContextFile:
    return ContextFile(
        addon=addon,
        id=file["id"],
        scope=file["scope"],
        title=file["title"],
        index=file["index"],
        cap=Cap(*file["cap"]),
        topic_bytes=file["topicBytes"],
        propose=file["propose"],
    )
