"""Add-ons of the reference host: installed by their manifest, agreed to, switched off, removed (contract 1, 2.7, 8)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from release.reference_host.world import Installed, RefusalError, World
from short_memory.bundle.manifest import CheckedManifest, Manifest, check_manifest
from short_memory.bundle.places import shared_places

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
API = 2
# What each lenience takes out of the manifest before it is checked, so that the fault is what a careless reader does.
_LENIENT = {
    "double-keys": (r"(?m)^(stage: .*\n)stage: .*\n", r"\1"),
    "anchors": (r"&\w+ ", ""),
    "large-manifest": (r"(?m)^#.*\n", ""),
    "unknown-key-refused": (r"(?m)^rating: .*", "api: 2"),
    "unknown-key-unsaid": (r"(?m)^rating: .*\n", ""),
    "unknown-capability": (r"(?m)^ +(widgets|pinned): .*\n", ""),
    "api-3-runs": (r"(?m)^api: 3", "api: 2"),
    "api-1-runs": (r"(?m)^api: 1", "api: 2"),
}


def install(
    world: World,
    owner: str,
    *,
    manifest: str | None = None,
    patch: Sequence[Sequence[str]] = (),
    agree: bool = True,
) -> dict[str, Any]:
    """Install the add-on under test, or the manifest given."""
    checked = _checked(world, _source(manifest, patch))
    new = checked.manifest
    if new is None:
        raise RefusalError(checked.problems[0].code, str(checked.problems[0]))
    others = [each.manifest for (whose, _), each in world.addons.items() if whose == owner]
    for problem in shared_places(new, others):
        if not _overlooked(world, new, others):
            raise RefusalError(problem.code, str(problem))
    codes = [warning.code for warning in checked.warnings]
    key = (owner, new.id)
    if not agree and _must_ask(world, key, new):
        return {"state": "waiting", "warnings": codes}
    world.addons[key] = Installed(new)
    world.consents[key] = new.capabilities_digest
    return {"state": "on", "warnings": codes}


def switch(world: World, owner: str, addon: str, state: str) -> dict[str, Any]:
    """Switch an add-on on or off, or remove it."""
    if state != "removed":
        world.addons[owner, addon].on = state == "on"
        return {}
    world.addons.pop((owner, addon), None)
    world.consents.pop((owner, addon), None)
    for (whose, _), grants in world.agents.items():
        if whose == owner and not world.broken("grants-kept"):
            grants.pop(addon, None)
    if world.broken("removal-deletes"):
        world.files = {key: text for key, text in world.files.items() if not key[1].startswith("Memory/")}
    return {}


def is_on(world: World, addon: Installed) -> bool:
    """Say whether an add-on counts as on: by the owner's choice, whatever its process does (contract 8.3)."""
    if world.broken("dead-is-off") and not addon.alive:
        return False
    return addon.on or world.broken("off-still-reads")


def skills(manifest: Manifest) -> list[dict[str, str]]:
    """Return name, description and body of each skill of the add-on under test."""
    return [_skill(folder) for folder in manifest.skills]


@cache
def _skill(folder: str) -> dict[str, str]:
    _, front, body = (ROOT / folder / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
    head = yaml.safe_load(front)
    return {"name": head["name"], "description": head["description"], "body": body}


def _source(manifest: str | None, patch: Sequence[Sequence[str]]) -> str:
    text = (ROOT / "manifest.yaml").read_text(encoding="utf-8") if manifest is None else manifest
    for old, new in patch:
        if old not in text:
            raise RefusalError("bad-case", f"{old!r} does not stand in the manifest.")
        text = text.replace(old, new)
    return text


def _checked(world: World, source: str) -> CheckedManifest:
    if world.bug in _LENIENT:
        pattern, instead = _LENIENT[world.bug]
        source = re.sub(pattern, instead, source)
    return _check(source.encode())


@cache
def _check(raw: bytes) -> CheckedManifest:
    return check_manifest(raw, host_api=API)


def _overlooked(world: World, new: Manifest, others: Sequence[Manifest]) -> bool:
    theirs = {each.index for other in others for each in other.context_files}
    same = any(each.index in theirs for each in new.context_files)
    return world.broken("shared-places") if same else world.broken("nested-places")


def _must_ask(world: World, key: tuple[str, str], new: Manifest) -> bool:
    agreed = world.consents.get(key)
    if world.broken("asks-always"):
        return True
    if agreed is None:
        return not world.broken("no-consent")
    return agreed != new.capabilities_digest and not world.broken("no-new-consent")
