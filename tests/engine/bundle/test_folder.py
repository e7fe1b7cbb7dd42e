import shutil
from pathlib import Path

import pytest

from short_memory.bundle import check_folder, page_file
from short_memory.bundle.folder import READ_BYTES

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path):
    """A copy of what this repository ships as the add-on."""
    for name in ("skills", "page", "addon"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "manifest.yaml", tmp_path)
    return tmp_path


def change(folder, old, new):
    path = folder / "manifest.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def codes(folder, **options):
    return [(problem.file, problem.code) for problem in check_folder(folder, **options).problems]


def test_the_add_on_of_this_repository_has_no_problem_for_author_and_host():
    for host_api in (None, 2):
        checked = check_folder(ROOT, host_api=host_api)
        assert (checked.problems, checked.warnings) == ((), ())
        assert [skill.name for skill in checked.skills] == ["memory", "memory-check-own-files"]
        assert checked.manifest.id == "memory"


@pytest.mark.parametrize(
    "name",
    ["manifest.yaml", "skills/memory/SKILL.md", "page/page.md", "page/icon.png", "addon/short_memory_addon/main.py"],
)
def test_a_file_that_is_missing_a_link_a_folder_or_huge_is_refused(folder, name):
    path = folder / name
    kept = path.read_bytes()
    path.unlink()
    assert codes(folder) == codes(folder, host_api=2) == [(name, "FLD-001")]
    (folder / "elsewhere").write_bytes(kept)
    path.symlink_to(folder / "elsewhere")
    assert codes(folder) == codes(folder, host_api=2) == [(name, "FLD-002")]
    path.unlink()
    path.mkdir()
    assert codes(folder) == [(name, "FLD-003")]
    path.rmdir()
    path.write_bytes(kept + b"\n" * READ_BYTES)
    assert codes(folder) == ([] if name.endswith(".py") else [(name, "FLD-003")])


def test_a_folder_on_the_way_that_is_a_link_is_refused(folder):
    (folder / "page").rename(folder / "real")
    (folder / "page").symlink_to(folder / "real")
    assert set(codes(folder)) == {
        ("page/icon.png", "FLD-002"),
        ("page/page.md", "FLD-002"),
        ("page/page.it.md", "FLD-002"),
    }


def test_a_manifest_with_a_problem_is_all_that_is_looked_at(folder):
    change(folder, "api: 2", "api: 3")
    shutil.rmtree(folder / "skills")
    assert codes(folder, host_api=2) == [("manifest.yaml", "API-001")]


@pytest.mark.case("manifest-problems-collected")
def test_problems_of_all_parts_are_told_at_once(folder):
    (folder / "skills/memory/SKILL.md").write_text("no front matter", encoding="utf-8")
    (folder / "page/page.md").write_text("[a](b)", encoding="utf-8")
    (folder / "page/icon.png").write_bytes(b"GIF89a")
    assert codes(folder) == [
        ("page/icon.png", "FLD-004"),
        ("page/page.md", "PAG-004"),
        ("skills/memory/SKILL.md", "SKL-003"),
    ]


@pytest.mark.parametrize(
    ("width", "height", "fine"),
    [(128, 128, True), (512, 512, True), (127, 127, False), (513, 513, False), (256, 128, False)],
)
def test_an_icon_is_a_square_png_of_128_to_512_pixels(folder, width, height, fine):
    path = folder / "page/icon.png"
    raw = path.read_bytes()
    path.write_bytes(raw[:16] + width.to_bytes(4) + height.to_bytes(4) + raw[24:])
    assert codes(folder) == ([] if fine else [("page/icon.png", "FLD-004")])


def test_a_skill_that_is_not_declared_is_told_to_its_author(folder):
    change(folder, "    - skills/memory-check-own-files\n", "")
    assert codes(folder) == [("skills/memory-check-own-files/SKILL.md", "FLD-005")]


def test_a_translation_whose_language_is_not_declared_is_told_to_its_author(folder):
    change(folder, "languages: [en, it]", "languages: [en]")
    assert codes(folder) == [("page/page.it.md", "FLD-006")]


def test_a_problem_of_a_translation_names_it(folder):
    (folder / "page/page.it.md").write_text("![a](b)", encoding="utf-8")
    assert codes(folder) == [("page/page.it.md", "PAG-005")]


def test_what_only_concerns_the_looks_is_a_warning_for_a_host(folder):
    (folder / "page/page.md").write_text("[a](b)", encoding="utf-8")
    (folder / "page/icon.png").write_bytes(b"GIF89a")
    change(folder, "languages: [en, it]", "languages: [en]\nrating: 5")
    change(folder, "    - skills/memory-check-own-files\n", "")
    checked = check_folder(folder, host_api=2)
    assert checked.problems == ()
    assert [warning.code for warning in checked.warnings] == ["MAN-080", "FLD-004", "FLD-006", "PAG-004", "FLD-005"]


def test_an_add_on_without_icon_and_page_has_no_problem(folder):
    change(folder, "icon: page/icon.png\n", "")
    change(folder, "  page:\n    file: page/page.md\n    opens: [account/memory, files]\n", "")
    shutil.rmtree(folder / "page")
    checked = check_folder(folder)
    assert checked.problems == ()
    assert page_file(folder, checked.manifest, "en") is None


@pytest.mark.parametrize(
    ("language", "file"),
    [
        ("it", "page/page.it.md"),
        ("it-CH", "page/page.it.md"),
        ("en", "page/page.md"),
        ("de", "page/page.md"),
        ("../x", "page/page.md"),
    ],
)
def test_a_page_is_shown_in_the_readers_language_if_there_is_one(folder, language, file):
    assert page_file(folder, check_folder(folder).manifest, language) == file


def test_a_language_without_a_page_gets_the_first_one(folder):
    (folder / "page/page.it.md").unlink()
    assert page_file(folder, check_folder(folder).manifest, "it") == "page/page.md"
    assert codes(folder) == []
