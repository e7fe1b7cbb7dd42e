"""The kit, against the reference host: in this process for speed, and once over a pipe as any host would be."""

import json
import sys
from pathlib import Path

import pytest

from release import kit
from release.case_source import ConformanceCase, Step, conformance_cases
from release.kit import run, run_case
from release.reference_host import ReferenceHost

CASES = {case.id: case for case in conformance_cases()}
ROOT = Path(__file__).parents[2]
ADAPTER = [sys.executable, "-m", "release.reference_host"]


def case(*steps, needs=()):
    return ConformanceCase("a-case", "A case made here", "must", ("6.5",), frozenset(needs), {}, steps, "here")


def step(do, *, errors=(), save=(), expect=(), **arguments):
    return Step(do, arguments, errors, dict(save), expect)


def wrong(findings):
    return [finding.what for finding in findings if not finding.ok]


@pytest.fixture
def _at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", CASES)
def test_the_reference_host_passes_every_case(name):
    assert wrong(run_case(CASES[name], ReferenceHost())) == []


@pytest.mark.usefixtures("_at_the_root")
def test_the_kit_runs_all_cases_over_a_pipe(capsys):
    status = kit.main(["--adapter", *ADAPTER])

    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert status == 0
    assert summary["cases"] == len(CASES)
    assert summary["failed"] == {"must": [], "should": [], "may": []}


@pytest.mark.usefixtures("_at_the_root")
def test_a_broken_must_is_an_exit_status_and_a_printed_line(capsys):
    status = kit.main(
        ["--only", "propose-expiry", "--only", "read-list", "--adapter", *ADAPTER, "--bug", "expiry-late"]
    )

    printed = capsys.readouterr().out
    assert status == 1
    assert "FAIL propose-expiry" in printed
    assert "pass read-list" in printed
    assert json.loads(printed.splitlines()[-1])["failed"] == {"must": ["propose-expiry"], "should": [], "may": []}


def test_a_case_that_is_not_there_is_an_error_and_not_a_pass(capsys):
    with pytest.raises(SystemExit) as ended:
        kit.main(["--only", "propose-expiri", "--adapter", *ADAPTER])

    assert ended.value.code == 2
    assert "no case has the id propose-expiri" in capsys.readouterr().err


def test_a_broken_should_is_reported_and_is_no_failure_of_the_kit():
    report = run([CASES["ctx-block-stable"]], ReferenceHost("clock-in-block"))

    assert report.failed("should") == ["ctx-block-stable"]
    assert report.failed("must") == []


def test_a_case_whose_needs_the_host_does_not_claim_is_left_out_and_listed():
    report = run([case(step("turn"), needs=["telepathy"]), CASES["read-list"]], ReferenceHost())

    assert report.skipped == ["a-case"]
    assert list(report.findings) == ["read-list"]


def test_a_verb_that_the_host_does_not_know_fails_the_case():
    assert wrong(run_case(case(step("dance")), ReferenceHost())) == ["step 1, dance: is a verb of the adapter"]


def test_a_given_that_does_not_work_fails_the_case_before_its_steps():
    made = ConformanceCase(
        "a-case", "t", "must", ("1.4",), frozenset(), {"install": [{"manifest": "api: 9\n"}]}, (step("turn"),), "here"
    )

    assert wrong(run_case(made, ReferenceHost())) == ["given: install works"]


def test_a_call_that_should_have_failed_ends_the_case():
    steps = (step("turn", errors=("no-tool",)), step("turn"))

    assert wrong(run_case(case(*steps), ReferenceHost())) == ["step 1, turn: fails with no-tool"]


def test_success_may_be_one_of_the_outcomes():
    assert wrong(run_case(case(step("turn", errors=(None, "no-tool"))), ReferenceHost())) == []


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        ({"see": "a", "equals": 1}, True),
        ({"see": "a", "equals": 2}, False),
        ({"see": "a", "differs": 2}, True),
        ({"see": "a", "differs": 1}, False),
        ({"see": "gone", "differs": 1}, False),
        ({"see": "text", "contains": "note"}, True),
        ({"see": "gone", "contains": "note"}, False),
        ({"see": "text", "absent": "card"}, True),
        ({"see": "text", "absent": "note"}, False),
        ({"see": "gone", "absent": "note"}, False),
        ({"see": "text", "starts": "a "}, True),
        ({"see": "text", "starts": "note"}, False),
        ({"see": "text", "ends": "note"}, True),
        ({"see": "text", "ends": "a "}, False),
        ({"see": "text", "matches": "^a n"}, True),
        ({"see": "text", "matches": "^n"}, False),
        ({"see": "list", "has": "x"}, True),
        ({"see": "list", "has": "z"}, False),
        ({"see": "list", "lacks": "z"}, True),
        ({"see": "list", "lacks": "x"}, False),
        ({"see": "gone", "lacks": "x"}, False),
        ({"see": "list.length", "equals": 2}, True),
        ({"see": "list.1", "equals": "y"}, True),
        ({"see": "list.7", "equals": None}, True),
        ({"see": "rows.*.n", "equals": [1, 2]}, True),
        ({"see": "$", "contains": "note"}, True),
    ],
)
def test_a_check_holds_exactly_when_it_should(check, holds):
    answer = {"ok": True, "a": 1, "text": "a note", "list": ["x", "y"], "rows": [{"n": 1}, {"n": 2}]}

    findings = run_case(case(step("turn", expect=(check,))), lambda _: answer)

    assert findings[-1].ok == holds


def test_a_saved_value_stands_in_later_steps():
    seen = []

    def call(request):
        seen.append(request)
        return {"ok": True, "proposal": "p7"}

    run_case(case(step("propose", save={"p": "proposal"}, edits=[]), step("decide", proposal="$p")), call)

    assert seen[-1] == {"do": "decide", "who": "ann", "yes": True, "proposal": "p7"}
    assert seen[-2] == {
        "do": "tool",
        "chat": "c",
        "name": "propose_change",
        "args": {"scope": "user", "why": "asked", "edits": []},
    }


def test_a_value_that_was_not_there_equals_nothing_later():
    steps = (step("turn", save={"x": "gone"}), step("turn", expect=({"see": "gone", "equals": "$x"},)))

    assert wrong(run_case(case(*steps), lambda _: {"ok": True})) == ['step 2, turn: gone equals "$x"']
