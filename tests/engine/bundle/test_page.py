import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from short_memory.bundle.page import BYTES, render_page

ROOT = Path(__file__).parents[3]
PLACES = {"account/memory": "/account#memory", "files": "/files"}
OUTSIDE = ' rel="noopener noreferrer" target="_blank"'


def render(text):
    return render_page(text.encode(), file="page/page.md", places=PLACES)


def found(text):
    return [(problem.line, problem.code) for problem in render(text).problems]


@pytest.mark.parametrize("name", ["page.md", "page.it.md"])
def test_our_own_pages_have_no_problem_and_open_the_memory_tab(name):
    page = render_page((ROOT / "page" / name).read_bytes(), file=name, places=PLACES)
    assert page.problems == ()
    assert '<a href="/account#memory">' in page.html
    assert '<a href="/files">' in page.html


def test_both_pages_say_the_same_in_as_many_parts():
    shapes = [
        re.findall(r"</?(?:h1|h2|p|table|tr|td|a)\b", render((ROOT / "page" / name).read_text(encoding="utf-8")).html)
        for name in ("page.md", "page.it.md")
    ]
    assert shapes[0] == shapes[1]


def test_raw_html_is_text():
    html = render("<script>x</script>\n\na <b onclick=x>b</b> <!-- c --> &lt;\n").html
    assert html == (
        "<p>&lt;script&gt;x&lt;/script&gt;</p>\n<p>a &lt;b onclick=x&gt;b&lt;/b&gt; &lt;!-- c --&gt; &lt;</p>\n"
    )


def test_a_declared_place_is_an_address_of_this_host():
    assert render('[a](host:account/memory "t")').html == '<p><a href="/account#memory">a</a></p>\n'


def test_an_https_link_opens_outside_and_tells_nothing():
    assert render("[a](https://a.org/x?y#z 't')").html == f'<p><a href="https://a.org/x?y#z"{OUTSIDE}>a</a></p>\n'


@pytest.mark.parametrize(
    "target",
    [
        "host:inbox",
        "host:",
        "HOST:files",
        "host:files/../admin",
        "http://a.org",
        "https:a.org",
        "https://good.org@evil.org",
        "https://",
        "//a.org",
        "/files",
        "#x",
        "page.it.md",
        "javascript:alert(1)",
        "JAVASCRIPT:x",
        "data:text/html,x",
        "data:image/png;base64,x",
        "file:///x",
        "mailto:a@b.org",
        "vbscript:x",
    ],
)
@pytest.mark.parametrize("form", ["[a]({})", "[a](<{}>)", "[a][1]\n\n[1]: {}"])
def test_a_link_to_anywhere_else_becomes_its_words(target, form):
    page = render(form.format(target))
    assert page.html == "<p>a</p>\n"
    assert [problem.code for problem in page.problems] == ["PAG-004"]


def test_an_automatic_link_is_treated_like_any_other():
    assert render("<javascript:x>").html == "<p>javascript:x</p>\n"
    assert render("<https://a.org>").html == f'<p><a href="https://a.org"{OUTSIDE}>https://a.org</a></p>\n'


def test_a_bare_address_and_typing_are_left_as_they_are():
    assert render('https://a.org (c) -- "x"...').html == "<p>https://a.org (c) -- &quot;x&quot;...</p>\n"


def test_an_image_becomes_its_words():
    page = render('![a "b"](https://a.org/x.png) [![c](d.png)](https://a.org)')
    assert page.html == f'<p>a &quot;b&quot; <a href="https://a.org"{OUTSIDE}>c</a></p>\n'
    assert [problem.code for problem in page.problems] == ["PAG-005", "PAG-005"]


def test_problems_have_the_line_of_their_block():
    assert found("a\n\n[x](y)\n\n| a |\n|---|\n| b |\n| [c](d) |\n") == [(3, "PAG-004"), (8, "PAG-004")]


def test_characters_that_nobody_sees_are_told_and_left_out():
    page = render("a\u202eb\n")
    assert (page.html, found("a\n\u202e")) == ("<p>ab</p>\n", [(2, "PAG-003")])


def test_a_page_over_65536_bytes_and_one_that_is_not_utf_8_are_not_shown():
    big = render_page(b"x" * (BYTES + 1), file="p", places=PLACES)
    bad = render_page(b"x\n\xff", file="p", places=PLACES)
    assert [(page.html, page.problems[0].line, page.problems[0].code) for page in (big, bad)] == [
        ("", 1, "PAG-001"),
        ("", 2, "PAG-002"),
    ]
    assert render_page(b"x" * BYTES, file="p", places=PLACES).problems == ()


class Tags(HTMLParser):
    """Collects the tags and addresses of a page the way a browser would see them."""

    def __init__(self):
        super().__init__()
        self.tags, self.addresses, self.attributes = set(), set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses |= {value for name, value in attrs if name in {"href", "src"}}


SHAPES = "[]()<>!`*_#|&\"'\\/:- \nab"
PARTS = st.sampled_from(
    [
        "[a](",
        "javascript:",
        "https://a.org",
        "host:files",
        "<script>",
        "![",
        "](",
        ")",
        "<img src=x>",
        "\n\n",
        "|",
        "&#106;",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PARTS | st.text(SHAPES, max_size=12), max_size=12).map("".join))
def test_no_markdown_makes_a_script_an_image_or_a_stray_address(text):
    seen = Tags()
    seen.feed(render(text).html)
    assert not seen.tags & {"script", "img", "iframe", "style", "form", "input", "object", "svg"}
    assert seen.attributes <= {"href", "rel", "target", "class", "start", "style"}
    assert all(address in PLACES.values() or address.startswith("https://") for address in seen.addresses)


@pytest.mark.parametrize("piece", ["[", "![[", "*a **a ", "> ", "[a](<b", "|\n", "`a", "<a "])
def test_a_page_of_65536_hostile_bytes_is_rendered_in_seconds(piece):
    began = time.process_time()
    render((piece * BYTES)[:BYTES])
    assert time.process_time() - began < 20
