import subprocess
import sys
from pathlib import Path

import pytest

from short_memory.bundle.skills import BODY_LINES, BYTES, DESCRIPTION_CHARACTERS, Skill, check_skill

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "skills").glob("*/SKILL.md"))
GOOD = "---\nname: food\ndescription: >-\n  What to eat.\n  Use it at noon.\n---\n\n# Food\n\nEat it.\n"


def check(text, *, file="skills/food/SKILL.md", **options):
    return check_skill(text.encode(), file=file, **options)


def found(text, **options):
    checked = check(text, **options)
    assert (checked.skill is None) is bool(checked.problems)
    return [(problem.line, problem.code) for problem in checked.problems]


def test_a_skill_is_its_name_its_description_in_one_line_and_its_body():
    skill = Skill("food", "What to eat. Use it at noon.", "# Food\n\nEat it.\n", "skills/food/SKILL.md")
    assert (check(GOOD).skill, check(GOOD).problems) == (skill, ())


@pytest.mark.case("skills-valid")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_our_own_skills_pass_our_check_and_the_reference_validator(file):
    name = file.relative_to(ROOT).as_posix()
    assert check_skill(file.read_bytes(), file=name).problems == ()
    command = Path(sys.executable).with_name("agentskills")
    done = subprocess.run([command, "validate", file.parent], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (0, f"Valid skill: {file.parent}\n")


def test_this_repository_has_both_skills():
    assert [file.parent.name for file in FILES] == ["memory", "memory-check-own-files"]


def test_the_skill_says_how_to_append_and_never_to_write_the_index_line_of_a_new_topic():
    body = check_skill(FILES[0].read_bytes(), file="skills/memory/SKILL.md").skill.body
    assert '"old": ""' in body
    assert "A new topic gets its line in `index.md` from the host." in body


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [(1, "SKL-003")]),
        ("# Food\n", [(1, "SKL-003")]),
        ("---\nname: food\n", [(1, "SKL-003")]),
        (" ---\n---\n", [(1, "SKL-003")]),
        (GOOD.replace("Use it", "Use --- it"), [(5, "SKL-003")]),
        (GOOD.replace("name: food", "name: *x"), [(2, "YML-004")]),
        (GOOD.replace("name: food", "name: food\nmetadata: {a: b}"), [(3, "YML-010")]),
        (GOOD.replace("Eat it.", "Eat\u200b it."), [(10, "SKL-004")]),
        (GOOD.replace("\n", "\r\n"), [(1, "SKL-003")]),
        (GOOD.replace("# Food\n", "# Food\r\n"), [(8, "SKL-004")]),
        (GOOD.replace("name: food", "name: food\nversion: '1'"), [(3, "SKL-005")]),
        (GOOD.replace("name: food", "name: drink"), [(2, "SKL-006")]),
        (GOOD.replace("name: food", "name: Food"), [(2, "SKL-006")]),
        (GOOD.replace("name: food", "name: 5"), [(2, "SKL-006")]),
        (GOOD.replace("name: food\n", ""), [(2, "SKL-006")]),
        (GOOD.replace("name: food", f"name: {'f' * 65}"), [(2, "SKL-006")]),
        (GOOD.replace("name: food", "name: cibò"), [(2, "SKL-006")]),
        ("---\nname: food\n---\n\nEat.\n", [(2, "SKL-007")]),
        ("---\nname: food\ndescription: 5\n---\n\nEat.\n", [(3, "SKL-007")]),
        ("---\nname: food\ndescription: ' '\n---\n\nEat.\n", [(3, "SKL-007")]),
        ("---\nname: food\ndescription: |\n  a\n  b\n---\n\nEat.\n", [(3, "SKL-007")]),
        (GOOD.replace("Use it", "Use <b> it"), [(3, "SKL-007")]),
        (GOOD.replace("Use it", "Use context_read"), [(3, "SKL-007")]),
        (GOOD.replace("name: food", "name: food\nlicense: 5"), [(3, "SKL-008")]),
        (GOOD.replace("name: food", "name: food\nallowed-tools: ''"), [(3, "SKL-008")]),
        (GOOD.replace("name: food", f"name: food\ncompatibility: {'x' * 501}"), [(3, "SKL-008")]),
        (GOOD.replace("name: food", "name: food\nmetadata: x"), [(3, "SKL-008")]),
        (GOOD.replace("name: food", "name: food\nmetadata:\n  api: 2"), [(3, "SKL-008")]),
        ("---\nname: food\ndescription: x\n---\n \n", [(1, "SKL-009")]),
        (GOOD + "x\n" * BODY_LINES, [(1, "SKL-009")]),
    ],
)
def test_a_skill_that_some_reader_would_take_otherwise_is_refused(text, expected):
    assert found(text) == expected


def test_everything_that_may_stand_in_the_front_matter_may():
    extra = "license: MIT\ncompatibility: any\nallowed-tools: none\nmetadata:\n  a: b\n"
    assert found(GOOD.replace("description:", f"{extra}description:")) == []


def test_all_problems_are_told_at_once():
    text = "---\nname: Food\ndescription: use propose_change\nx: y\n---\n"
    assert [code for _, code in found(text)] == ["SKL-009", "SKL-006", "SKL-007", "SKL-005"]


def test_a_description_has_at_most_1024_characters():
    head = "---\nname: food\ndescription: "
    assert found(head + "x" * DESCRIPTION_CHARACTERS + "\n---\nEat.\n") == []
    assert found(head + "x" * (DESCRIPTION_CHARACTERS + 1) + "\n---\nEat.\n") == [(3, "SKL-007")]


def test_a_description_names_no_tool_that_the_add_on_declares():
    assert found(GOOD, tools=["noon"]) == [(3, "SKL-007")]
    assert found(GOOD, tools=["no", "oon"]) == []


def test_a_file_over_65536_bytes_and_one_that_is_not_utf_8_are_refused_unread():
    big = check_skill(b"x" * (BYTES + 1), file="skills/food/SKILL.md")
    bad = check_skill(b"---\nname: \xff\n---\n", file="skills/food/SKILL.md")
    assert [(each.line, each.code) for each in (*big.problems, *bad.problems)] == [(1, "SKL-001"), (2, "SKL-002")]
