"""The cases as they are written: what a case file may hold, and what is refused."""

import pytest

from release.case_source import CaseError, conformance_cases, expand, promises

PROMISE = """
- id: {id}
  title: Something MUST be so
  source: DESIGN 6
  since: 2
  level: must
  proved_by: tests
"""


def write(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")


def test_the_two_kinds_share_no_id_and_cover_every_part_of_the_contract():
    cases, promised = conformance_cases(), promises()

    ids = [case.id for case in cases] + [promise.id for promise in promised]
    assert len(ids) == len(set(ids))
    assert {clause[0] for case in cases for clause in case.clauses} == set("12345678")


def test_an_id_that_stands_in_two_files_is_refused(tmp_path):
    write(tmp_path, "a.yaml", PROMISE.format(id="one-thing"))
    write(tmp_path, "b.yaml", PROMISE.format(id="one-thing"))

    with pytest.raises(CaseError, match=r"b\.yaml: one-thing stands already in a\.yaml"):
        promises(tmp_path)


@pytest.mark.parametrize("name", ["Upper-case", "single", "two--dashes", "a:b", "line-end\\n"])
def test_an_id_outside_the_grammar_is_refused(tmp_path, name):
    write(tmp_path, "a.yaml", PROMISE.format(id=f'"{name}"'))

    with pytest.raises(CaseError, match="id"):
        promises(tmp_path)


def test_a_record_that_is_neither_case_nor_promise_is_refused(tmp_path):
    write(tmp_path, "a.yaml", "- {id: one-thing, title: Something MUST be so, since: 2, level: must}\n")

    with pytest.raises(CaseError, match="one-thing"):
        promises(tmp_path)


def test_a_key_that_yaml_reads_as_a_truth_value_is_refused(tmp_path):
    steps = "steps: [{do: turn, save: {no: context}}]"
    write(
        tmp_path,
        "a.yaml",
        f'- {{id: one-thing, title: Something MUST be so, since: 2, level: must, clauses: ["1.1"], {steps}}}\n',
    )

    with pytest.raises(CaseError, match="one-thing"):
        conformance_cases(tmp_path)


def test_rows_are_numbered_and_padded_to_the_byte():
    text = expand({"rows": 3, "row": "- città {n}", "bytes": 50})

    assert len(text.encode()) == 50
    assert text.startswith("- città 1\n- città 2\n- città 3x")
    assert text.endswith("x\n")


def test_rows_can_have_other_line_ends_a_mark_and_an_open_end():
    assert expand({"rows": 2, "row": "a{n}", "crlf": True, "bom": True}) == "\ufeffa1\r\na2\r\n"
    assert expand({"rows": 2, "row": "a{n}", "open": True}) == "a1\na2"


def test_rows_that_are_longer_than_the_bytes_asked_for_are_refused():
    with pytest.raises(CaseError, match="2 bytes more than the 4"):
        expand({"rows": 2, "row": "a{n}", "bytes": 4})


def test_texts_are_written_out_at_any_depth():
    assert expand([{"edits": [{"text": {"rows": 1, "row": "x"}}]}]) == [{"edits": [{"text": "x\n"}]}]
