"""The house's own checks, on trees made here."""

import sys
from types import ModuleType

import pytest

from release import house_checks
from release.house_checks import commands, settings, tools, undocumented_names, untested_modules, untranslated_codes
from short_memory.errors import every

CODES = {kind.code for kind in every()}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(house_checks, "EXEMPT", {})

    def put(name, text="VALUE = 1\n"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return tmp_path

    put("README.md", "")
    return put


@pytest.fixture
def table(monkeypatch):
    module = ModuleType("made_here")
    monkeypatch.setitem(sys.modules, "made_here", module)

    def put(value):
        module.TABLE = value
        return (("made_here", "TABLE"),)

    return put


@pytest.mark.parametrize(
    ("module", "tests"),
    [
        ("src/short_memory/block.py", "tests/engine/test_block.py"),
        ("src/short_memory/store/files.py", "tests/engine/store/test_files.py"),
        ("src/short_memory/store/files.py", "tests/engine/test_store.py"),
        ("src/short_memory_host/chat/turn.py", "tests/host/chat/test_turn.py"),
        ("addon/short_memory_addon/main.py", "tests/addon/test_main.py"),
    ],
)
def test_a_module_is_covered_by_its_own_file_or_one_of_its_package(tree, module, tests):
    root = tree(module)

    assert list(untested_modules(root)) != []
    tree(tests)
    assert list(untested_modules(root)) == []


def test_a_module_without_a_test_file_is_named_with_the_file_to_write(tree):
    root = tree("src/short_memory/store/files.py")

    said = (
        "src/short_memory/store/files.py: no test file. Write tests/engine/store/test_files.py, "
        "or name the module in EXEMPT of release/house_checks.py."
    )
    assert list(untested_modules(root)) == [said]


def test_a_package_that_holds_words_alone_needs_no_test_file(tree):
    root = tree("src/short_memory/store/__init__.py", '"""What it is."""\nimport json\n')

    assert list(untested_modules(root)) == []


def test_a_package_with_code_in_its_init_needs_one(tree):
    root = tree("src/short_memory/store/__init__.py", "def open_store(): ...\n")

    assert len(list(untested_modules(root))) == 1
    tree("tests/engine/store/test_store.py")
    assert list(untested_modules(root)) == []


def test_a_folder_can_be_exempt(tree, monkeypatch):
    monkeypatch.setattr(house_checks, "EXEMPT", {"src/short_memory/store": "a reason"})
    root = tree("src/short_memory/store/files.py")

    assert list(untested_modules(root)) == []


def test_an_exemption_counts_while_its_module_is_there(tree, monkeypatch):
    monkeypatch.setattr(house_checks, "EXEMPT", {"src/short_memory/block.py": "a reason"})
    root = tree("README.md")

    assert len(list(untested_modules(root))) == 1
    tree("src/short_memory/block.py")
    assert list(untested_modules(root)) == []


def test_a_code_that_a_table_lacks_is_a_problem(table):
    found = list(untranslated_codes(table(dict.fromkeys(CODES - {"stale"}, 409))))

    assert found == ["made_here.TABLE: stale is missing. Say what this surface makes of it."]


def test_a_code_that_the_engine_does_not_have_is_a_problem(table):
    found = list(untranslated_codes(table(dict.fromkeys(CODES | {"gone"}, 409))))

    assert found == ["made_here.TABLE: gone is no code of short_memory.errors. Take it out."]


def test_a_table_may_have_the_errors_themselves_as_keys(table):
    assert list(untranslated_codes(table(dict.fromkeys(every(), 1)))) == []


def test_settings_are_the_fields_of_the_settings(tree):
    root = tree(
        "src/short_memory_host/settings.py",
        "class Address:\n    port: int\nclass Settings:\n    model_config = {}\n    public_url: str\n    data: str\n",
    )

    assert settings(root) == ["SHORT_MEMORY_PUBLIC_URL", "SHORT_MEMORY_DATA"]


def test_commands_are_what_the_parser_is_given(tree):
    root = tree(
        "src/short_memory_host/cli.py",
        'c.add_parser("sign-in", help="x")\np.add_argument("name")\np.add_argument("-d", "--data")\n',
    )

    assert commands(root) == ["--data", "sign-in"]


def test_a_name_that_no_document_holds_is_a_problem(tree, monkeypatch):
    monkeypatch.setattr(house_checks, "NAMES", (house_checks.Named("tool", lambda _: ["context_read", "read"]),))
    root = tree("docs/tools.md", "The tool `context_read` opens topics.\n")

    assert list(undocumented_names(root)) == [
        "docs: the tool read stands in no document. Name it in docs/ or in the README."
    ]


def test_the_tools_are_those_of_the_contract(tmp_path):
    assert tools(tmp_path) == ["context_read", "propose_change", "revert_change"]
