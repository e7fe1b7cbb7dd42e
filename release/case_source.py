"""The cases as they are written: YAML in `release/cases`, checked against `case.schema.json`.

A conformance case has steps that the kit runs against any host; a promise has none and is proved by tests of our own.
Both share one grammar of ids, and no id stands twice.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import yaml

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "cases"
SCHEMA = HERE / "case.schema.json"

Record = dict[str, Any]


class CaseError(Exception):
    """A case file that cannot be used: which case, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call to the adapter, and what must be seen in its answer.

    `errors` are the codes that the call may fail with; None among them allows success. Empty means it must succeed.
    """

    do: str
    arguments: Record
    errors: tuple[str | None, ...]
    save: dict[str, str]
    expect: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class ConformanceCase:
    """A behaviour that any host shows through the adapter."""

    id: str
    title: str
    level: str
    clauses: tuple[str, ...]
    needs: frozenset[str]
    given: Record
    steps: tuple[Step, ...]
    file: str


@dataclass(frozen=True, slots=True)
class Promise:
    """A behaviour that our own tests prove. `later` says that nothing has built it yet."""

    id: str
    title: str
    level: str
    source: str
    later: bool
    file: str


def conformance_cases(folder: Path = FOLDER) -> list[ConformanceCase]:
    """Return every case with steps, in the order of the files."""
    return [_conformance(record, file) for record, file in _records(folder) if "steps" in record]


def promises(folder: Path = FOLDER) -> list[Promise]:
    """Return every promise, in the order of the files."""
    return [_promise(record, file) for record, file in _records(folder) if "steps" not in record]


def expand(value: object) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """Write out the texts that a case gives as rows, at any depth."""
    if isinstance(value, dict):
        if {"rows", "row"} <= set(value):
            return _rows(value)
        return {key: expand(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [expand(inner) for inner in value]
    return value


def _rows(form: Record) -> str:
    rows = [form["row"].replace("{n}", str(number)) for number in range(1, form["rows"] + 1)]
    if "bytes" in form:
        missing = form["bytes"] - len(("\n".join(rows) + "\n").encode())
        if missing < 0:
            raise CaseError(f"{form['rows']} rows have {-missing} bytes more than the {form['bytes']} asked for.")
        rows[-1] += "x" * missing
    end = "\r\n" if form.get("crlf") else "\n"
    return ("\ufeff" if form.get("bom") else "") + end.join(rows) + ("" if form.get("open") else end)


def _records(folder: Path) -> list[tuple[Record, str]]:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    found: list[tuple[Record, str]] = []
    seen: dict[str, str] = {}
    for path in sorted(folder.glob("*.yaml")):
        for record in yaml.safe_load(path.read_text(encoding="utf-8")):
            name = str(record.get("id") if isinstance(record, dict) else record)
            for error in validator.iter_errors(record):
                where = "/".join(map(str, error.absolute_path)) or "the case"
                raise CaseError(f"{path.name}, {name}: {where}: {error.message[:200]}")
            if name in seen:
                raise CaseError(f"{path.name}: {name} stands already in {seen[name]}. Give each case its own id.")
            seen[name] = path.name
            found.append((record, path.name))
    return found


def _conformance(record: Record, file: str) -> ConformanceCase:
    return ConformanceCase(
        id=record["id"],
        title=record["title"],
        level=record["level"],
        clauses=tuple(record["clauses"]),
        needs=frozenset(record.get("needs", [])),
        given=expand(record.get("given", {})),
        steps=tuple(_step(step) for step in record["steps"]),
        file=file,
    )


def _step(record: Record) -> Step:
    errors = record.get("error", [])
    return Step(
        do=record["do"],
        arguments=expand(record.get("with", {})),
        errors=tuple(errors) if isinstance(errors, list) else (errors,),
        save=record.get("save", {}),
        expect=tuple(expand(record.get("expect", []))),
    )


def _promise(record: Record, file: str) -> Promise:
    return Promise(
        id=record["id"],
        title=record["title"],
        level=record["level"],
        source=record["source"],
        later=record["proved_by"] == "later",
        file=file,
    )
