"""The case inventory, on trees made here; the tree of the project itself is `python -m release.inventory`."""

import pytest

from release import inventory
from release.case_source import ConformanceCase, Promise
from release.inventory import Marker, case_problems, clause_problems, markers

CASES = [ConformanceCase("block-exact", "t", "must", ("4.1",), frozenset(), {}, (), "context-files.yaml")]


def promise(name, *, later=False):
    return Promise(name, "Something MUST be so", "must", "DESIGN 6", later, "promises.yaml")


def marked(name):
    return Marker(name, "tests/test_x.py", 3)


def test_a_promise_without_a_test_is_a_problem():
    found = list(case_problems(CASES, [promise("own-notes")], []))

    assert found == [
        'release/cases/promises.yaml: own-notes has no test. Mark one with @pytest.mark.case("own-notes").'
    ]


def test_a_promise_with_a_test_and_a_conformance_case_are_none():
    assert list(case_problems(CASES, [promise("own-notes")], [marked("own-notes"), marked("block-exact")])) == []


def test_a_marker_with_an_unlisted_id_is_a_problem():
    found = list(case_problems(CASES, [], [marked("own-nots")]))

    assert found == ["tests/test_x.py:3: own-nots is no case. List it in release/cases, or correct the id."]


def test_what_is_listed_for_later_needs_no_test_and_may_have_none():
    assert list(case_problems(CASES, [promise("forget-all", later=True)], [])) == []
    assert list(case_problems(CASES, [promise("forget-all", later=True)], [marked("forget-all")])) == [
        "tests/test_x.py:3: forget-all is listed as built later. It has a test now: write proved_by: tests."
    ]


def test_a_marker_whose_id_is_not_written_out_is_a_problem():
    assert list(case_problems(CASES, [], [marked(None)])) == [
        "tests/test_x.py:3: a case marker takes ids written out as text. Write them out."
    ]


def test_a_clause_that_no_case_names_is_a_problem():
    text = "## 4 The block\n\n4.1 The wording.\n4.2 A section of 4.1 or 7.7 so.\n1.6 Later.\n"

    assert list(clause_problems(text, CASES, [])) == [
        "docs/host-contract.md: no case names clause 4.2. Write one in release/cases."
    ]


def test_a_promise_proves_the_clauses_that_its_source_names():
    named = Promise("own-notes", "t", "must", "DESIGN 6; contract 4.1, 9.2; issue 2.3", later=False, file="p.yaml")

    assert list(clause_problems("4.1 One.\n9.2 Two.\n", [], [named])) == []


def test_a_case_of_a_clause_that_is_not_there_is_a_problem():
    missing, wrong = clause_problems("4.2 Other.\n", CASES, [promise("own-notes")])

    assert missing == "docs/host-contract.md: no case names clause 4.2. Write one in release/cases."
    assert wrong == (
        "release/cases/context-files.yaml: block-exact names clause 4.1, which docs/host-contract.md does not have. "
        "Correct the number."
    )


def test_markers_are_read_wherever_they_stand(tmp_path):
    (tmp_path / "tests/deep").mkdir(parents=True)
    (tmp_path / "tests/deep/test_a.py").write_text(
        "import pytest\n"
        'pytestmark = pytest.mark.case("of-module")\n'
        '@pytest.mark.case("of-function", "and-another")\n'
        '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.case("of-row"))])\n'
        "def test_it(x): ...\n"
        "@pytest.mark.case(NAME)\n"
        "class TestIt: ...\n"
        'other.case("of-nobody")\n',
        encoding="utf-8",
    )

    found = {(marker.id, marker.line) for marker in markers(tmp_path)}

    assert found == {("of-module", 2), ("of-function", 3), ("and-another", 3), ("of-row", 4), (None, 6)}


def test_problems_are_printed_one_a_line_with_an_exit_status(monkeypatch, capsys):
    monkeypatch.setattr(inventory, "problems", lambda _: iter(["one thing", "another"]))

    assert inventory.main() == 1
    assert capsys.readouterr().out == "one thing\nanother\n2 problems.\n"


def test_without_problems_one_line_counts_what_is_there(monkeypatch, capsys):
    monkeypatch.setattr(inventory, "problems", lambda _: iter([]))

    assert inventory.main() == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert "conformance cases" in printed


def test_a_test_file_that_cannot_be_read_is_a_problem_and_no_crash(monkeypatch, capsys):
    def broken(_):
        raise SyntaxError("invalid syntax")

    monkeypatch.setattr(inventory, "problems", broken)

    assert inventory.main() == 1
    assert capsys.readouterr().out.startswith("The cases and tests could not be read: invalid syntax\n")


@pytest.mark.parametrize("name", inventory.RUN_THE_KIT)
def test_a_missing_run_of_the_kit_is_a_problem(tmp_path, name, monkeypatch):
    for check in ("untested_modules", "undocumented_names", "case_problems", "clause_problems"):
        monkeypatch.setattr(inventory, check, lambda *_: iter([]))
    monkeypatch.setattr(inventory, "untranslated_codes", lambda: iter([]))
    (tmp_path / "docs").mkdir()
    (tmp_path / inventory.CONTRACT).write_text("", encoding="utf-8")
    for each in set(inventory.RUN_THE_KIT) - {name}:
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text("", encoding="utf-8")

    assert list(inventory.problems(tmp_path)) == [f"{name}: is not there, so the conformance cases are not run."]
