"""The JSON Schema of the manifest, one for each add-on API, and its faults in words.

Each property carries `x-code` and `x-fix`: the code of a fault in it and what to do about it. The schema is the strict
form for authors; whoever reads as a host turns unknown keys outside `capabilities` into warnings (contract 1.2).
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from short_memory.bundle.yaml_subset import Place

Schema = dict[str, Any]

FILES = {2: "manifest.schema.json"}
NEWEST = max(FILES)
UNKNOWN_KEY, UNKNOWN_CAPABILITY = "MAN-090", "CAP-090"
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a manifest does not fit its schema."""

    place: Place
    code: str
    text: str


@cache
def schema(api: int) -> Schema:
    """Return the schema of an add-on API as it is published. It is shared: nobody may change it."""
    raw = resources.files("short_memory.bundle").joinpath(FILES[api]).read_text(encoding="utf-8")
    found: Schema = json.loads(raw)
    return found


def faults(manifest: dict[str, Any], api: int) -> list[Fault]:
    """Find every way in which a manifest does not fit the schema of an add-on API, each once."""
    return list(dict.fromkeys(_faults(manifest, api)))


def _faults(manifest: dict[str, Any], api: int) -> Iterator[Fault]:
    for error in _validator(api).iter_errors(manifest):
        place: Place = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            yield from _unknown(place, error.instance, error.schema, api)
        elif error.validator == "required":
            for key in sorted(set(error.validator_value) - set(error.instance)):
                code, fix = _advice((*place, key), {}, schema(api))
                yield Fault((*place, key), code, f"{dotted((*place, key))} is missing. {fix}")
        else:
            code, fix = _advice(place, error.schema, schema(api))
            yield Fault(place, code, f"{dotted(place)} is {_short(error.instance)}. {fix}")


def dotted(place: Place) -> str:
    """Write a place the way people read it: `capabilities.contextFiles[0].id`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def filled(value: dict[str, Any], node: Schema) -> dict[str, Any]:
    """Add the defaults that the schema names for keys that are not there."""
    defaults = {key: known["default"] for key, known in node["properties"].items() if "default" in known}
    return {**defaults, **value}


@cache
def _validator(api: int) -> Any:  # noqa: ANN401 - jsonschema is not imported yet
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only whoever checks an add-on pays for it

    return Draft202012Validator(_anchored(schema(api)))


def _anchored(node: Any) -> Any:  # noqa: ANN401 - any of JSON's types
    r"""Write `\Z` for the `$` of every pattern: JSON's means the end, Python's lets a last line end through."""
    if isinstance(node, list):
        return [_anchored(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {key: _anchored(each) for key, each in node.items()}
    if isinstance(node.get("pattern"), str):
        found["pattern"] = _end(node["pattern"])
    if "patternProperties" in node:
        found["patternProperties"] = {_end(key): each for key, each in found["patternProperties"].items()}
    return found


def _end(pattern: str) -> str:
    return pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern


def _unknown(place: Place, value: dict[str, Any], node: Schema, api: int) -> Iterator[Fault]:
    known, free = list(node["properties"]), node.get("patternProperties", {})
    for key in sorted(set(value) - set(known)):
        if any(re.search(pattern, key) for pattern in free):
            continue
        near = difflib.get_close_matches(key, known, 1)
        hint = f"Did you mean {near[0]}?" if near else f"Known here: {', '.join(known)}."
        code = UNKNOWN_CAPABILITY if place[:1] == ("capabilities",) else UNKNOWN_KEY
        yield Fault((*place, key), code, f"{dotted((*place, key))} is not a key of API {api}. {hint}")


def _advice(place: Place, rule: Schema, root: Schema) -> tuple[str, str]:
    """Return the code and the fix of the rule itself or, as most have none, of the nearest property around it."""
    node, found = root, rule
    for step in place:
        node = _resolved(node["items"] if isinstance(step, int) else node["properties"].get(step, {}), root)
        found = node if "x-code" in node and "x-code" not in rule else found
    return found["x-code"], found["x-fix"]


def _resolved(node: Schema, root: Schema) -> Schema:
    if "$ref" not in node:
        return node
    return {**root["$defs"][node["$ref"].rpartition("/")[2]], **node}


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
