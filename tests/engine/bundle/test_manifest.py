import subprocess
import sys

import pytest

from short_memory import caps
from short_memory.bundle import capabilities_digest, check_manifest
from short_memory.bundle.manifest import Executable, Page
from short_memory.caps import Cap
from short_memory.scopes import ContextFile


def test_the_manifest_of_this_repository_has_no_problem_for_author_and_host(check):
    for host_api in (None, 2):
        checked = check(host_api=host_api)
        assert (checked.problems, checked.warnings) == ((), ())
        assert checked.manifest is not None


def test_what_a_manifest_declares_becomes_values(check):
    manifest = check().manifest
    assert (manifest.api, manifest.id, manifest.name, manifest.version) == (2, "memory", "Short memory", "1.0.0")
    assert (manifest.license, manifest.publisher, manifest.stage) == ("MIT", "Short memory authors", "stable")
    assert (manifest.languages, manifest.icon, manifest.tools) == (("en", "it"), "page/icon.png", ())
    assert manifest.skills == ("skills/memory", "skills/memory-check-own-files")
    assert manifest.page == Page("page/page.md", ("account/memory", "files"))
    assert manifest.capabilities_digest == capabilities_digest(manifest.capabilities)
    assert list(manifest.reasons) == ["yours", "agent", "channel"]
    assert manifest.executable == Executable(
        protocol="mcp-stdio",
        runtime="python",
        entry="addon/short_memory_addon/main.py",
        requires=">=3.10",
        platforms=("any",),
        start_s=5,
        stop_s=2,
        memory_mib=64,
        network="none",
        files="none",
    )


@pytest.mark.case("manifest-three-files")
def test_the_context_files_are_the_three_of_the_contract_with_the_caps_of_the_engine(check):
    cap = Cap(caps.INDEX_LINES, caps.INDEX_BYTES)
    places = {
        ("yours", "user", "Your notes"): "Memory/index.md",
        ("agent", "agent", "Notes for this agent"): "Memory/agents/{agent}/index.md",
        ("channel", "channel", "Notes for this conversation"): "Memory/channels/{binding}-{hash}/index.md",
    }
    assert check().manifest.context_files == tuple(
        ContextFile(
            addon="memory",
            id=id_,
            scope=scope,
            title=title,
            index=index,
            cap=cap,
            topic_bytes=caps.TOPIC_BYTES,
            propose=True,
        )
        for (id_, scope, title), index in places.items()
    )


def test_what_a_manifest_leaves_out_has_the_defaults_of_the_schema():
    text = (
        "api: 2\nid: zoo\nname: Zoo\nversion: 1.0.0\nsummary: x\nlicense: MIT\npublisher: {name: x, url: https://x.org}\n"
        "capabilities:\n  tools: [{name: feed_all}]\n"
        "  contextFiles: [{id: a, scope: user, title: T, index: Zoo/index.md}]\n"
        "executable: {protocol: mcp-stdio, runtime: binary, entry: run}\n"
    )
    manifest = check_manifest(text.encode()).manifest
    assert (manifest.description, manifest.icon, manifest.page, manifest.links) == ("", None, None, {})
    assert (manifest.keywords, manifest.languages, manifest.skills, manifest.tools) == ((), (), (), ("feed_all",))
    assert (manifest.stage, manifest.publisher_url, manifest.reasons) == ("stable", "https://x.org", {})
    (file,) = manifest.context_files
    assert (file.cap, file.topic_bytes, file.propose) == (Cap(40, 2048), 4096, False)
    executable = manifest.executable
    assert (executable.requires, executable.platforms, executable.start_s, executable.stop_s) == ("", ("any",), 5, 2)
    assert (executable.memory_mib, executable.network, executable.files) == (128, "none", "none")


def only(checked):
    assert checked.manifest is None
    (problem,) = checked.problems
    return problem


@pytest.mark.case("manifest-api-refused")
def test_a_manifest_of_a_higher_api_is_refused_in_the_words_of_the_contract(check):
    problem = only(check(("api: 2", "api: 3"), host_api=2))
    words = "This add-on needs add-on API 3; this host offers 2. Update the host, or install an older version of the add-on."
    assert (problem.line, problem.code, problem.text) == (2, "API-001", words)


def test_a_host_of_api_1_refuses_a_manifest_of_api_2(check):
    assert only(check(host_api=1)).text.startswith(
        "This add-on needs add-on API 2; this host offers 1. Update the host"
    )


def test_context_files_in_a_manifest_of_api_1_are_refused_in_the_words_of_the_contract(check, manifest_text):
    problem = only(check(("api: 2", "api: 1"), host_api=2))
    words = "capabilities.contextFiles needs add-on API 2; this manifest says api: 1. Write api: 2."
    assert (problem.code, problem.text) == ("API-002", words)
    assert manifest_text.split("\n")[problem.line - 1] == "  contextFiles:"


@pytest.mark.parametrize("capabilities", ["capabilities: {tools: []}", "capabilities: 5", "x-nothing: 1"])
@pytest.mark.parametrize("api", [1, 0, -1])
def test_a_manifest_of_an_api_without_a_schema_is_refused(capabilities, api):
    problem = only(check_manifest(f"api: {api}\n{capabilities}\n".encode(), host_api=2))
    assert (problem.code, problem.text) == (
        "API-003",
        f"Add-on API {api} has no published schema. Write one of these: api: 2.",
    )


@pytest.mark.parametrize("api", ["true", "yes", "'2'", "2.0", "", "[2]"])
def test_an_api_that_is_no_whole_number_is_refused(check, api):
    assert only(check(("api: 2", f"api: {api}"), host_api=2)).code == "MAN-001"


def test_a_manifest_without_an_api_is_refused():
    assert only(check_manifest(b"id: zoo\n")).code == "MAN-001"


def test_a_manifest_that_is_no_yaml_is_refused_with_its_line():
    problem = only(check_manifest(b"api: 2\nid: *x\n", file="there.yaml"))
    assert (problem.file, problem.line, problem.code) == ("there.yaml", 2, "YML-004")


def test_an_unknown_key_is_a_problem_for_the_author_and_a_warning_for_a_host(check):
    change = ("stage: stable", "stage: stable\nrating: 5")
    assert only(check(change)).code == "MAN-090"
    checked = check(change, host_api=2)
    assert ([warning.code for warning in checked.warnings], checked.problems) == (["MAN-080"], ())
    assert checked.manifest.id == "memory"


def test_an_unknown_key_of_the_executable_is_a_warning_for_a_host(check):
    checked = check(("  network: none", "  network: none\n  gpu: one"), host_api=2)
    assert [warning.code for warning in checked.warnings] == ["MAN-080"]
    assert checked.manifest is not None


@pytest.mark.parametrize(
    "change",
    [
        ("  page:\n", "  widgets: [a]\n  page:\n"),
        ("      title: Your notes\n", "      title: Your notes\n      write: true\n"),
        ("    opens:", "    scripts: [a]\n    opens:"),
    ],
)
def test_an_unknown_capability_is_refused_by_a_host_as_well(check, change):
    assert only(check(change, host_api=2)).code == "CAP-090"


def test_a_value_under_capabilities_that_is_unknown_is_refused_by_a_host_as_well(check):
    assert only(check(("opens: [account/memory", "opens: [admin/users, account/memory"), host_api=2)).code == "MAN-023"


def test_a_warning_stands_beside_problems(check):
    checked = check(("stage: stable", "rating: 5"), ("id: memory\n", ""), host_api=2)
    assert ([each.code for each in checked.problems], [each.code for each in checked.warnings]) == (
        ["MAN-002"],
        ["MAN-080"],
    )


@pytest.mark.case("manifest-yaml-traps")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("propose: true", "propose: yes"), "CTX-109"),
        (("propose: true", "propose: no"), "CTX-109"),
        (('version: "1.0.0"', "version: 1.10"), "MAN-004"),
        (("id: memory\n", 'id: "memory\\n"\n'), "MAN-002"),
        (("id: memory\n", "id: on\n"), None),
        (("languages: [en, it]", "languages: [no, it]"), None),
    ],
)
def test_the_traps_of_yaml_are_text_or_a_problem_and_never_another_value(codes, change, code):
    assert set(codes(change)) == ({code} if code else set())


@pytest.mark.case("manifest-problems-collected")
def test_problems_come_in_the_order_of_the_file_and_each_once(check):
    problems = check(
        ("id: memory\n", "id: M\n"), ("maxLines: 40", "maxLines: 99"), ("license: MIT", "license: ''")
    ).problems
    assert [problem.code for problem in problems] == ["MAN-002", "MAN-007", "CTX-106", "CTX-106", "CTX-106"]
    assert list(problems) == sorted(set(problems))


def test_an_id_of_a_context_file_that_is_used_twice_is_refused(check):
    problem = only(check(("id: agent\n", "id: yours\n")))
    words = "capabilities.contextFiles[1].id is yours, used above already. Give each its own."
    assert (problem.code, problem.text) == ("CTX-120", words)


def test_templates_of_one_add_on_that_could_be_one_file_are_refused(check):
    problem = only(check(("index: Memory/index.md", "index: Memory/agents/cook/index.md")))
    assert problem.code == "CTX-121"
    assert "Memory/agents/{agent}/index.md could be the same file as Memory/agents/cook/index.md" in problem.text


def test_a_feature_that_the_host_does_not_have_is_refused(check):
    change = ("stage: stable", "stage: stable\nrequires: {features: [channels, notes.sync]}")
    problem = only(check(change, host_api=2, features=["channels"]))
    words = "This add-on needs the feature notes.sync, which this host does not have."
    assert (problem.code, problem.text.partition(" Update")[0]) == ("API-004", words)
    assert check(change, host_api=2, features=["channels", "notes.sync"]).manifest is not None
    assert check(change).manifest is not None


def test_importing_the_engine_and_the_bundle_reads_no_yaml_and_no_schema_library():
    program = "import sys, short_memory, short_memory.bundle; print(sorted({'yaml', 'jsonschema', 'markdown_it'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
