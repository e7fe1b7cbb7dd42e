"""The conformance kit: it runs the cases of `release/cases` against a host, through the host's adapter.

The adapter is a process that answers one JSON object a line (`ADAPTER.md`), or any callable that takes and gives the
same objects. The kit brings the clock, and no model runs.

    python -m release.kit --adapter python -m short_memory_host.conformance
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from release.adapter import ProcessAdapter
from release.case_source import ConformanceCase, Record, Step, conformance_cases

Call = Callable[[Record], Record]
START = "2026-12-01T10:00:00Z"
OWNER = "ann"
CHAT = "c"
TOOLS = {"read": "context_read", "propose": "propose_change", "revert": "revert_change"}
_OF_A_CHAT = {"turn", "tool", "skill.read"}
_OF_NOBODY = {"clock"}
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: what was wanted and what came."""

    ok: bool
    what: str
    got: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run of the kit found. `findings` holds every case that ran; `skipped` those the host does not claim."""

    host: str
    contract: int
    findings: dict[str, list[Finding]]
    skipped: list[str]
    levels: dict[str, str] = field(default_factory=dict)

    def failed(self, level: str) -> list[str]:
        """Return the ids of the cases of a level in which something was not as wanted."""
        return [
            name
            for name, findings in self.findings.items()
            if self.levels[name] == level and not all(finding.ok for finding in findings)
        ]


def run(cases: Iterable[ConformanceCase], call: Call) -> Report:
    """Run the cases one after the other; each starts from an empty host."""
    hello = call({"do": "hello"})
    features = set(hello["features"])
    report = Report(str(hello["host"]), int(hello["contract"]), {}, [])
    for case in cases:
        if case.needs <= features:
            report.findings[case.id] = run_case(case, call)
            report.levels[case.id] = case.level
        else:
            report.skipped.append(case.id)
    return report


def run_case(case: ConformanceCase, call: Call) -> list[Finding]:
    """Run one case and return all that was looked at, up to the first call that did not work at all."""
    findings = [
        Finding(ok=False, what=f"given: {request['do']} works", got=_brief(answer.get("error", answer)))
        for request in _given(case.given)
        if not (answer := call(request)).get("ok")
    ]
    if findings:
        return findings
    names: Record = {}
    for number, step in enumerate(case.steps, 1):
        answer = call(_request(step, names))
        at = f"step {number}, {step.do}: "
        findings.append(_outcome(step, answer, at))
        if not findings[-1].ok:
            break
        seen = {name: _look(answer, path) for name, path in step.save.items()}
        # What the answer lacks is not saved, so that two missing values never pass for equal ones.
        names |= {name: value for name, value in seen.items() if value is not None}
        findings += [_check(_fill(check, names), answer, at) for check in step.expect]
    return findings


def _given(given: Record) -> list[Record]:
    requests: list[Record] = [{"do": "reset", "now": given.get("now", START)}]
    requests += [{"do": "install", "owner": OWNER, **install} for install in given.get("install", [{}])]
    for verb, key, name in (("agent", "agents", "id"), ("chat", "chats", "id")):
        default: Record = {CHAT: {}} if key == "chats" else {}
        for one, fields in given.get(key, default).items():
            requests.append({"do": verb, "owner": OWNER, name: one, **fields})
    for path, text in given.get("files", {}).items():
        requests.append({"do": "file.put", "owner": OWNER, "path": path, "text": text})
    return requests


def _request(step: Step, names: Record) -> Record:
    arguments = _fill(step.arguments, names)
    if step.do in TOOLS:
        chat = arguments.pop("chat", CHAT)
        if step.do == "propose":
            arguments = {"scope": "user", "why": "asked", **arguments}
        return {"do": "tool", "chat": chat, "name": TOOLS[step.do], "args": arguments}
    if step.do in _OF_A_CHAT:
        return {"do": step.do, "chat": CHAT, **arguments}
    if step.do == "decide":
        return {"do": step.do, "who": OWNER, "yes": True, **arguments}
    if step.do in _OF_NOBODY:
        return {"do": step.do, **arguments}
    return {"do": step.do, "owner": OWNER, **arguments}


def _fill(value: object, names: Record) -> Any:  # noqa: ANN401 - JSON in, JSON out
    """Put saved values in the place of `$name`."""
    if isinstance(value, str) and value.startswith("$"):
        return names.get(value[1:], value)
    if isinstance(value, dict):
        return {key: _fill(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, names) for inner in value]
    return value


def _outcome(step: Step, answer: Record, at: str) -> Finding:
    if answer.get("unsupported"):
        return Finding(ok=False, what=at + "is a verb of the adapter", got="unsupported")
    code = None if answer.get("ok") else (answer.get("error") or {}).get("code", "an error without a code")
    wanted = step.errors or (None,)
    what = " or ".join("works" if error is None else f"fails with {error}" for error in wanted)
    return Finding(ok=code in wanted, what=at + what, got=_brief(answer.get("error") or code or "worked"))


def _look(answer: object, path: str) -> Any:  # noqa: ANN401 - any part of a JSON answer
    if path == "$":
        return json.dumps(answer, ensure_ascii=False)
    value = answer
    parts = path.split(".")
    for at, part in enumerate(parts):
        if part == "*":
            rest = ".".join(parts[at + 1 :])
            return [_look(each, rest) for each in value] if isinstance(value, list) else None
        if part == "length":
            value = len(value) if isinstance(value, (list, str)) else None
        elif isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": lambda seen, want: bool(seen == want),
    "differs": lambda seen, want: seen is not None and bool(seen != want),
    "contains": lambda seen, want: isinstance(seen, str) and want in seen,
    "absent": lambda seen, want: isinstance(seen, str) and want not in seen,
    "starts": lambda seen, want: isinstance(seen, str) and seen.startswith(want),
    "ends": lambda seen, want: isinstance(seen, str) and seen.endswith(want),
    "matches": lambda seen, want: isinstance(seen, str) and re.search(want, seen) is not None,
    "has": lambda seen, want: isinstance(seen, list) and want in seen,
    "lacks": lambda seen, want: isinstance(seen, list) and want not in seen,
}


def _check(check: Record, answer: Record, at: str) -> Finding:
    seen = _look(answer, check["see"])
    test = next(key for key in check if key != "see")
    ok = _TESTS[test](seen, check[test])
    return Finding(ok=ok, what=f"{at}{check['see']} {test} {_brief(check[test])}", got=_brief(seen))


def _brief(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"


def _print(report: Report) -> None:
    for name, findings in report.findings.items():
        wrong = [finding for finding in findings if not finding.ok]
        print(f"{'FAIL' if wrong else 'pass'} {name} {len(findings) - len(wrong)}/{len(findings)}")
        for finding in wrong:
            print(f"     {finding.what} | got {finding.got}")
    summary = {
        "host": report.host,
        "contract": report.contract,
        "cases": len(report.findings),
        "checks": sum(map(len, report.findings.values())),
        "skipped": report.skipped,
        "failed": {level: report.failed(level) for level in ("must", "should", "may")},
    }
    print(json.dumps(summary))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases against an adapter; the exit status is 1 if a `must` failed."""
    parser = argparse.ArgumentParser(prog="python -m release.kit", description="Run the conformance cases.")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="a case; may be given again")
    parser.add_argument("--adapter", nargs=argparse.REMAINDER, required=True, help="the adapter's command, last")
    asked = parser.parse_args(arguments)
    cases = [case for case in conformance_cases() if not asked.only or case.id in asked.only]
    if unknown := set(asked.only) - {case.id for case in cases}:
        parser.error(f"no case has the id {', '.join(sorted(unknown))}; the ids stand in release/cases")
    with ProcessAdapter(asked.adapter) as call:
        report = run(cases, call)
    _print(report)
    return 1 if report.failed("must") else 0


if __name__ == "__main__":
    sys.exit(main())
