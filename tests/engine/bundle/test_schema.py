import json
import re

import pytest
from jsonschema import Draft202012Validator

from short_memory import caps
from short_memory.bundle.schema import FILES, NEWEST, dotted, faults, filled, schema

MAPPING = {
    "api": 2,
    "id": "x1",
    "name": "x",
    "version": "1.0.0",
    "summary": "x",
    "license": "MIT",
    "publisher": {"name": "x"},
    "capabilities": {"tools": []},
    "executable": {"protocol": "mcp-stdio", "runtime": "binary", "entry": "run"},
}


def found(**changes):
    return [(dotted(fault.place), fault.code) for fault in faults({**MAPPING, **changes}, 2)]


def walk(node):
    yield node
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(each)


def test_the_schema_is_one_and_carries_our_name():
    Draft202012Validator.check_schema(schema(2))
    assert (NEWEST, list(FILES), schema(2)["$id"]) == (
        2,
        [2],
        "io.github.short-memory:addon-api/2/manifest.schema.json",
    )


def test_the_caps_of_the_schema_are_those_of_the_engine():
    limits = schema(2)["$defs"]["contextFile"]["properties"]
    assert (limits["maxLines"]["maximum"], limits["maxLines"]["default"]) == (caps.INDEX_LINES, caps.INDEX_LINES)
    assert (limits["maxBytes"]["maximum"], limits["maxBytes"]["default"]) == (caps.INDEX_BYTES, caps.INDEX_BYTES)
    assert (limits["topicMaxBytes"]["maximum"], limits["topicMaxBytes"]["default"]) == (
        caps.TOPIC_BYTES,
        caps.TOPIC_BYTES,
    )


def test_every_code_of_the_schema_stands_for_one_thing_and_says_what_to_do():
    marked = [node for node in walk(schema(2)) if isinstance(node, dict) and "x-code" in node]
    codes = [node["x-code"] for node in marked]
    assert len(codes) == len(set(codes)) == 32
    assert all(re.fullmatch(r"(MAN|CTX)-[0-9]{3}", code) for code in codes)
    assert all(node["x-fix"].endswith(".") for node in marked)


def test_a_manifest_with_nothing_but_what_it_must_have_fits():
    assert found() == []


@pytest.mark.parametrize("key", sorted(MAPPING))
def test_each_required_key_is_missed_by_its_own_code(key):
    left = {name: value for name, value in MAPPING.items() if name != key}
    (fault,) = faults(left, 2)
    assert (dotted(fault.place), fault.code) == (key, schema(2)["properties"][key]["x-code"])
    assert fault.text.startswith(f"{key} is missing. ")


def test_all_that_is_missing_is_told_at_once():
    assert len(list(faults({}, 2))) == len(MAPPING)


@pytest.mark.parametrize(
    "bad",
    [
        "memory\n",
        "memory\r",
        "Memory",
        "m",
        "m" * 41,
        "1m",
        "a--b",
        "a-",
        "host",
        "host-x",
        "addon",
        "system-x",
        "x",
        "x-y",
        "",
        5,
        None,
        ["m"],
    ],
)
def test_an_id_is_2_to_40_lower_case_letters_digits_and_single_hyphens(bad):
    assert set(found(id=bad)) == {("id", "MAN-002")}


@pytest.mark.parametrize("good", ["me", "m" * 40, "a1-b2", "hosted", "xy"])
def test_a_good_id_fits(good):
    assert found(id=good) == []


@pytest.mark.parametrize(
    ("changes", "place", "code"),
    [
        ({"api": 3}, "api", "MAN-001"),
        ({"name": "a\nb"}, "name", "MAN-003"),
        ({"name": "x\n"}, "name", "MAN-003"),
        ({"name": "\u202eevil"}, "name", "MAN-003"),
        ({"name": "x" * 41}, "name", "MAN-003"),
        ({"version": 1.1}, "version", "MAN-004"),
        ({"version": "1.0"}, "version", "MAN-004"),
        ({"version": "1.0.0\n"}, "version", "MAN-004"),
        ({"version": "1.0.0+build"}, "version", "MAN-004"),
        ({"summary": ""}, "summary", "MAN-005"),
        ({"description": "a\x00"}, "description", "MAN-006"),
        ({"license": 5}, "license", "MAN-007"),
        ({"publisher": {}}, "publisher.name", "MAN-008"),
        ({"publisher": {"name": "x", "url": "http://x.org"}}, "publisher.url", "MAN-008"),
        ({"publisher": {"name": "x", "url": "https://good.org@evil.org"}}, "publisher.url", "MAN-008"),
        ({"publisher": {"name": "x", "url": "https://x.org/\n"}}, "publisher.url", "MAN-008"),
        ({"links": {"home": "javascript:x"}}, "links.home", "MAN-009"),
        ({"icon": "page/../icon.png"}, "icon", "MAN-010"),
        ({"icon": "/icon.png"}, "icon", "MAN-010"),
        ({"icon": "icon.svg"}, "icon", "MAN-010"),
        ({"keywords": ["a", "a"]}, "keywords", "MAN-011"),
        ({"stage": "beta"}, "stage", "MAN-012"),
        ({"languages": [False]}, "languages[0]", "MAN-013"),
        ({"languages": []}, "languages", "MAN-013"),
        ({"requires": {"features": ["X"]}}, "requires.features[0]", "MAN-014"),
        ({"capabilities": {}}, "capabilities", "MAN-020"),
        ({"capabilities": []}, "capabilities", "MAN-020"),
        ({"capabilities": {"tools": [{"name": "A"}]}}, "capabilities.tools[0].name", "MAN-021"),
        ({"capabilities": {"skills": ["skills/../x"]}}, "capabilities.skills[0]", "MAN-022"),
        ({"capabilities": {"page": {"file": "page.md"}}}, "capabilities.page.file", "MAN-023"),
        (
            {"capabilities": {"page": {"file": "page/x.md", "opens": ["admin"]}}},
            "capabilities.page.opens[0]",
            "MAN-023",
        ),
        ({"executable": {**MAPPING["executable"], "runtime": "node"}}, "executable.runtime", "MAN-030"),
        (
            {"executable": {**MAPPING["executable"], "runtime": "python", "entry": "a.py"}},
            "executable.requires",
            "MAN-030",
        ),
        ({"executable": {**MAPPING["executable"], "entry": "../run"}}, "executable.entry", "MAN-030"),
        ({"executable": {**MAPPING["executable"], "requires": ">=3..1"}}, "executable.requires", "MAN-030"),
        ({"executable": {**MAPPING["executable"], "startSeconds": True}}, "executable.startSeconds", "MAN-030"),
    ],
)
def test_a_value_that_does_not_fit_has_the_code_of_its_place(changes, place, code):
    assert set(found(**changes)) == {(place, code)}


def context_file(**changes):
    first = {"id": "a", "scope": "user", "title": "T", "index": "A/index.md", **changes}
    return found(capabilities={"contextFiles": [{key: value for key, value in first.items() if value is not None}]})


@pytest.mark.parametrize(
    ("changes", "key", "codes"),
    [
        ({"id": "A"}, "id", {"CTX-101"}),
        ({"id": "a\n"}, "id", {"CTX-101"}),
        ({"id": None}, "id", {"CTX-101"}),
        ({"scope": "world"}, "scope", {"CTX-102"}),
        ({"title": "a\nb"}, "title", {"CTX-103"}),
        ({"reason": ""}, "reason", {"CTX-104"}),
        ({"index": "memory/index.md"}, "index", {"CTX-105"}),
        ({"index": "A/../index.md"}, "index", {"CTX-105"}),
        ({"index": "A/index.md\n"}, "index", {"CTX-105"}),
        ({"maxLines": 0}, "maxLines", {"CTX-106"}),
        ({"maxLines": 41}, "maxLines", {"CTX-106"}),
        ({"maxBytes": 63}, "maxBytes", {"CTX-107"}),
        ({"maxBytes": 2049}, "maxBytes", {"CTX-107"}),
        ({"topicMaxBytes": 255}, "topicMaxBytes", {"CTX-108"}),
        ({"topicMaxBytes": 4097}, "topicMaxBytes", {"CTX-108"}),
        ({"propose": "yes"}, "propose", {"CTX-109"}),
        ({"index": "A/{agent}/index.md"}, "index", {"CTX-110"}),
        ({"scope": "agent"}, "index", {"CTX-111"}),
        ({"scope": "agent", "index": "A/{agent}/x/index.md"}, "index", {"CTX-111"}),
        ({"scope": "channel", "index": "A/{binding}/index.md"}, "index", {"CTX-112"}),
    ],
)
def test_a_context_file_that_does_not_fit_has_the_code_of_its_key(changes, key, codes):
    at = context_file(**changes)
    assert ({place for place, _ in at}, {code for _, code in at}) == ({f"capabilities.contextFiles[0].{key}"}, codes)


def test_a_scope_is_declared_once():
    file = {"id": "a", "scope": "user", "title": "T", "index": "A/index.md"}
    twice = {"contextFiles": [file, {**file, "id": "b", "index": "B/index.md"}]}
    assert found(capabilities=twice) == [("capabilities.contextFiles", "CTX-100")]


def test_an_unknown_key_is_told_with_the_one_that_was_meant():
    (fault,) = faults({**MAPPING, "licence": "MIT"}, 2)
    assert (fault.code, fault.text) == ("MAN-090", "licence is not a key of API 2. Did you mean license?")


def test_an_unknown_capability_has_a_code_of_its_own():
    (fault,) = faults({**MAPPING, "capabilities": {"tools": [], "zzz": 1}}, 2)
    words = "capabilities.zzz is not a key of API 2. Known here: tools, skills, contextFiles, page."
    assert (fault.code, fault.text) == ("CAP-090", words)


def test_a_key_inside_a_capability_is_unknown_in_the_same_way():
    file = {"id": "a", "scope": "user", "title": "T", "index": "A/index.md", "write": True}
    assert found(capabilities={"contextFiles": [file]}) == [("capabilities.contextFiles[0].write", "CAP-090")]


def test_the_authors_own_keys_begin_with_x():
    assert found(**{"x-mine": {"a": [1]}}) == []
    assert found(**{"x-mine": 1, "x-Mine": 1, "x-": 1, "x-a\n": 1}) == [
        ("x-", "MAN-090"),
        ("x-Mine", "MAN-090"),
        ("x-a\n", "MAN-090"),
    ]


def test_a_long_value_is_shown_by_its_beginning():
    (fault,) = faults({**MAPPING, "name": "n" * 500}, 2)
    assert fault.text == f'name is "{"n" * 56}.... Use one line of at most 40 characters.'


def test_defaults_fill_only_what_is_missing():
    node = schema(2)["properties"]["executable"]
    full = filled({"startSeconds": 9}, node)
    assert full == {"startSeconds": 9, "stopSeconds": 2, "memoryMiB": 128, "network": "none", "files": "none"}


def test_the_schema_means_the_same_to_any_reader():
    # Python's own $ would let a last line end through; the published pattern keeps the $ that JSON Schema knows.
    patterns = [
        node["pattern"] for node in walk(schema(2)) if isinstance(node, dict) and isinstance(node.get("pattern"), str)
    ]
    assert not any(r"\Z" in pattern for pattern in patterns)
    assert json.loads(json.dumps(schema(2))) == schema(2)
