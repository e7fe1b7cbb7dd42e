"""The case inventory: every promised behaviour has a test, and every test that names a case names one that is there.

A conformance case is proved by the kit, which tests run whole against the reference host and against ours. A promise is
proved by a test that carries `@pytest.mark.case("id")`. Tests are read, not run.

    python -m release.inventory
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from release.case_source import CaseError, ConformanceCase, Promise, conformance_cases, promises
from release.house_checks import undocumented_names, untested_modules, untranslated_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
CONTRACT = "docs/host-contract.md"
# Clauses that no host shows and no test proves, and why.
UNPROVED = {"1.6": "binds later versions of the contract"}
_CLAUSE = re.compile(r"^(\d+\.\d+) ", re.MULTILINE)
_SOURCE = re.compile(r"contract ((?:\d+(?:\.\d+)?(?:, )?)+)")
# The tests that run every conformance case; without them the cases prove nothing.
RUN_THE_KIT = ("tests/release/test_kit.py", "tests/release/test_host_conformance.py")


@dataclass(frozen=True, slots=True)
class Marker:
    """One `@pytest.mark.case(...)`; `id` is None where the id is not written out."""

    id: str | None
    file: str
    line: int


def markers(root: Path) -> list[Marker]:
    """Read every marker of every test file."""
    return [
        marker
        for path in sorted((root / "tests").rglob("*.py"))
        for marker in _markers_of(path, path.relative_to(root).as_posix())
    ]


def case_problems(
    cases: Iterable[ConformanceCase], promised: Iterable[Promise], found: Iterable[Marker]
) -> Iterator[str]:
    """Compare cases and tests both ways."""
    conformance = {case.id for case in cases}
    by_id = {promise.id: promise for promise in promised}
    proved = set()
    for marker in found:
        at = f"{marker.file}:{marker.line}"
        if marker.id is None:
            yield f"{at}: a case marker takes ids written out as text. Write them out."
        elif marker.id in by_id and by_id[marker.id].later:
            yield f"{at}: {marker.id} is listed as built later. It has a test now: write proved_by: tests."
        elif marker.id not in by_id and marker.id not in conformance:
            yield f"{at}: {marker.id} is no case. List it in release/cases, or correct the id."
        proved.add(marker.id)
    for promise in by_id.values():
        if not promise.later and promise.id not in proved:
            where = f"release/cases/{promise.file}"
            yield f'{where}: {promise.id} has no test. Mark one with @pytest.mark.case("{promise.id}").'


def clause_problems(contract: str, cases: Iterable[ConformanceCase], promised: Iterable[Promise]) -> Iterator[str]:
    """Compare the clauses of the contract with those that cases and promises name, both ways."""
    clauses = set(_CLAUSE.findall(contract))
    named = {clause: f"release/cases/{case.file}: {case.id}" for case in cases for clause in case.clauses}
    for promise in promised:
        for found in _SOURCE.findall(promise.source):
            exact = [each for each in found.split(", ") if "." in each]
            named |= dict.fromkeys(exact, f"release/cases/{promise.file}: {promise.id}")
    for clause in sorted(clauses - set(named) - set(UNPROVED)):
        yield f"{CONTRACT}: no case names clause {clause}. Write one in release/cases."
    for clause in sorted(set(named) - clauses):
        yield f"{named[clause]} names clause {clause}, which {CONTRACT} does not have. Correct the number."


def problems(root: Path) -> Iterator[str]:
    """Run every check of the inventory and of the house."""
    for name in RUN_THE_KIT:
        if not (root / name).exists():
            yield f"{name}: is not there, so the conformance cases are not run."
    cases, promised = conformance_cases(), promises()
    yield from case_problems(cases, promised, markers(root))
    yield from clause_problems((root / CONTRACT).read_text(encoding="utf-8"), cases, promised)
    yield from untested_modules(root)
    yield from untranslated_codes()
    yield from undocumented_names(root)


def main() -> int:
    """Print each problem as one line, or one line of counts."""
    try:
        found = list(problems(ROOT))
    except (CaseError, SyntaxError) as error:
        found = [f"The cases and tests could not be read: {error}"]
    for problem in found:
        print(problem)
    if found:
        print(f"{len(found)} problems.")
        return 1
    promised = promises()
    later = sum(promise.later for promise in promised)
    print(
        f"{len(conformance_cases())} conformance cases, {len(promised) - later} promises with "
        f"{len(markers(ROOT))} markers in tests, {later} promises for later."
    )
    return 0


def _markers_of(path: Path, name: str) -> Iterator[Marker]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), filename=name)):
        if isinstance(node, ast.Call) and _is_case_mark(node.func):
            ids = [_written(argument) for argument in node.args] or [None]
            yield from (Marker(id_, name, node.lineno) for id_ in ids)


def _written(argument: ast.expr) -> str | None:
    return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else None


def _is_case_mark(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "case"
        and isinstance(function.value, ast.Attribute)
        and function.value.attr == "mark"
    )


if __name__ == "__main__":
    sys.exit(main())
