import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from short_memory.bundle.problems import Problem
from short_memory.bundle.yaml_subset import BYTES, DEPTH, Document, read_yaml


def read(text, **options):
    return read_yaml(text.encode(), file="m.yaml", **options)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-7", -7),
        ("1.10", 1.1),
        ("-0.5", -0.5),
        ("999999999999999", 999999999999999),
        # What YAML 1.1 reads as something else than it says.
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("True", "True"),
        ("NULL", "NULL"),
        ("010", "010"),
        ("0x10", "0x10"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("1e3", "1e3"),
        ("+1", "+1"),
        (".5", ".5"),
        ("1.", "1."),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("2026-11-30", "2026-11-30"),
        ("1000000000000000", "1000000000000000"),
        ("1" * 5000, "1" * 5000),
        ("'true'", "true"),
        ('"1"', "1"),
        ('""', ""),
        ("|\n  true\n", "true\n"),
        (">-\n  1\n", "1"),
        ("[no, 1, 'a b']", ["no", 1, "a b"]),
        ("{b: [c]}", {"b": ["c"]}),
    ],
)
def test_a_value_is_what_json_would_say_and_else_text(written, value):
    document = read(f"a: {written}")
    assert repr(document.value) == repr({"a": value})


@pytest.mark.parametrize("key", ["1", "true", "no", "~", "<<", "''", '"a b"'])
def test_a_key_is_always_text(key):
    (found,) = read(f"{key}: x").value
    assert found == key.strip("'\"")


@pytest.mark.case("manifest-yaml-traps")
@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("a: {", 1, "YML-000"),
        ("a: b\n c: d", 2, "YML-000"),
        ("a: \x01", 1, "YML-000"),
        ('a: "\\UFFFFFFFF"', 1, "YML-000"),
        ('a: "\\x"', 1, "YML-000"),
        ("a: b\n...\n%X\n", 4, "YML-000"),
        ("a:\n" + " - [[[[[[[[[[[[[[[1", 2, "YML-003"),
        ("a: &x 1\nb: *x", 1, "YML-004"),
        ("a: 1\nb: *x", 2, "YML-004"),
        ("a: &x [1]", 1, "YML-004"),
        ("&x a: 1", 1, "YML-004"),
        ("a: 1\n? [b]\n: c", 2, "YML-005"),
        ("*x : 1", 1, "YML-005"),
        ("a: 1\nb: 2\na: 3", 3, "YML-006"),
        ("a: {b: 1, 'b': 2}", 1, "YML-006"),
        ("", 1, "YML-007"),
        ("# only words", 1, "YML-007"),
        ("---", 1, "YML-007"),
        ("- a", 1, "YML-007"),
        ("text", 1, "YML-007"),
        ("a: b\n---\nc: d", 2, "YML-007"),
        ('a: "\\ud800"', 1, "YML-008"),
        ('"\\udfff": a', 1, "YML-008"),
        ("a: !!str 1", 1, "YML-009"),
        ("a: !x {}", 1, "YML-009"),
        ("!!binary a: 1", 1, "YML-009"),
        ("%YAML 1.1\n---\na: b", 1, "YML-009"),
        ("%TAG ! tag:x\n---\na: b", 1, "YML-009"),
    ],
)
def test_what_readers_see_differently_is_refused(text, line, code):
    found = read(text)
    assert (found.file, found.line, found.code) == ("m.yaml", line, code)


def test_every_fault_says_what_to_do():
    for text in (
        "a: {",
        "a: \x01",
        "a: *x",
        "[a]: b",
        "a: 1\na: 1",
        "",
        'a: "\\ud800"',
        "a: !x 1",
        "%YAML 1.2\n---\na: 1",
    ):
        assert len(read(text).text.removesuffix(".").split(". ")) >= 2, text


@pytest.mark.case("manifest-yaml-traps")
def test_a_text_of_65536_bytes_is_read_and_one_more_is_not():
    head = "a: "
    assert isinstance(read(head + "x" * (BYTES - len(head))), Document)
    assert read(head + "x" * (BYTES - len(head) + 1)).code == "YML-001"


def test_bytes_that_are_not_utf_8_are_refused_with_their_line():
    found = read_yaml(b"a: b\nc: \xff", file="m.yaml")
    assert (found.line, found.code) == (2, "YML-002")


def test_a_byte_order_mark_is_read_over():
    assert read("\ufeffa: 1").value == {"a": 1}


def test_twelve_levels_are_read_and_thirteen_are_not():
    def deep(levels):
        return "a: " + "[" * (levels - 1) + "1" + "]" * (levels - 1)

    assert isinstance(read(deep(DEPTH)), Document)
    assert read(deep(DEPTH + 1)).code == "YML-003"


def test_a_document_knows_the_line_of_each_place():
    document = read("a:\n  - b: 1\n    c: |\n      x\n  - 2\nd: e", first_line=10)
    places = {(): 10, ("a",): 10, ("a", 0): 11, ("a", 0, "b"): 11, ("a", 0, "c"): 12, ("a", 1): 14, ("d",): 15}
    assert document.lines == places
    assert document.line(("a", 0, "missing", 7)) == 11


def test_brackets_and_braces_are_refused_where_the_reader_says_so():
    assert [read(text, flow=False).code for text in ("a: [b]", "a: {b: c}", "{a: b}")] == ["YML-010"] * 3
    assert read("a:\n- b\nc:\n  d: e", flow=False).value == {"a": ["b"], "c": {"d": "e"}}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15) + 1, 10**15 - 1)
    | st.text(st.characters(min_codepoint=32, max_codepoint=126)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text("abc", min_size=1), JSON, max_size=4))
def test_json_is_read_as_itself(value):
    document = read(json.dumps(value))
    if isinstance(document, Problem):
        assert document.code == "YML-003"
    else:
        assert document.value == value


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60) | st.text("a: -[]{}\n'\"&*!%|>#?\t\\0", max_size=40).map(str.encode))
def test_no_bytes_at_all_raise(raw):
    assert isinstance(read_yaml(raw, file="m.yaml"), Document | Problem)
