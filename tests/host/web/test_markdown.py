"""A model's Markdown: nothing in it acts, fetches, or looks like a part of the page."""

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from short_memory_host.web.markdown import MOST_CHARACTERS, rendered

pytestmark = pytest.mark.case("chat-markdown-sanitised")

ALLOWED = set(
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul".split()  # noqa: SIM905 - reads as a list
)
# The worst that was found for the parsers of this kind, each as one pattern that is repeated.
PATTERNS = {
    "brackets": "[",
    "closed brackets": "[]",
    "links": "[a](",
    "images": "![a](",
    "nested links": "[[a](b)",
    "quotes": "> ",
    "stars": "*a ",
    "double stars": "**a ",
    "mixed stars": "*a_ ",
    "tildes": "~~a ",
    "backticks": "`a``",
    "growing backticks": "",
    "entities": "&amp",
    "angle": "<a ",
    "autolinks": "<http://a",
    "comment": "<!--",
    "processing": "<?",
    "declaration": "<!A ",
    "cdata": "<![CDATA[",
    "lists": "- ",
    "numbers": "1. ",
    "tables": "|a",
    "table rows": "|a|\n|-|\n",
    "definitions": "[a]: <b> 'c\n",
    "lines": "a\n",
    "backslashes": "\\",
    "addresses": "http://a.b ",
    "quotes and dashes": "\"'-- ",
}
LIMIT_S = 6.0  # the worst took 2.3 s where this was written


class Elements(HTMLParser):
    """Collects every element with its attributes."""

    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def elements(text):
    return Elements(str(rendered(text))).found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**a** and *b*", "<p><strong>a</strong> and <em>b</em></p>\n"),
        ("~~a~~", "<p><s>a</s></p>\n"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
        ("3. a", '<ol start="3">\n<li>a</li>\n</ol>\n'),
        ("# a\n\n---\n\n> b", "<h1>a</h1>\n<hr>\n<blockquote>\n<p>b</p>\n</blockquote>\n"),
        ("`<b>`", "<p><code>&lt;b&gt;</code></p>\n"),
        ("a  \nb", "<p>a<br>\nb</p>\n"),
        ("", ""),
    ],
)
def test_what_markdown_is_for_is_shown(text, expected):
    assert str(rendered(text)) == expected


def test_code_is_kept_as_it_stands_and_names_no_class():
    text = '```html\n<script>alert("x")</script>\n\tindented & more\n```'
    code = '<pre><code>&lt;script&gt;alert("x")&lt;/script&gt;\n\tindented &amp; more\n</code></pre>\n'
    assert str(rendered(text)) == code


def test_a_table_is_shown_without_styles():
    found = elements("| a | b |\n|:--|--:|\n| 1 | 2 |")
    assert [tag for tag, _ in found].count("td") == 2
    assert [attributes for _, attributes in found if attributes] == []


@pytest.mark.parametrize("address", ["https://a.example/x?y=1", "http://a.example", "mailto:a@b.example"])
def test_a_link_to_another_place_shows_where_it_goes_and_says_nothing_about_us(address):
    assert elements(f"[a]({address})") == [("p", {}), ("a", {"href": address, "rel": "noopener noreferrer"})]


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#10;script:alert(1)",
        "&#106;avascript:alert(1)",
        "javascript&colon;alert(1)",
        "%6Aavascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "data:image/png;base64,AAAA",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://a/b",
        "ftp://a.example",
        "//a.example/x",
        "/account/memory",
        "/sign-out",
        "sign-out",
        "?x=1",
        "#top",
        "",
    ],
)
def test_no_other_address_becomes_a_link(address):
    for text in (f"[a]({address})", f"[a](<{address}>)", f"[a][b]\n\n[b]: <{address}>", f"<{address}>"):
        assert [attributes["href"] for tag, attributes in elements(text) if "href" in attributes] == []


def test_a_bare_address_stays_text():
    assert elements("see https://a.example and www.b.example") == [("p", {})]


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<style>*{display:none}</style>",
        "<p style='position:fixed' onclick=x id=y class=card>a</p>",
        "<form action=/proposals/1/confirm method=post><button>Confirm</button><input></form>",
        "<iframe src=https://a.example></iframe>",
        "<a href=javascript:alert(1)>a</a>",
        "<meta http-equiv=refresh content=0>",
        "<base href=https://a.example>",
        "<link rel=stylesheet href=https://a.example>",
        "<article class=card data-proposal=1><button data-decide=confirm>Confirm</button></article>",
        "<details open><summary>a</summary></details>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
        "<!-- a --><template><b>c</b></template>",
        "<plaintext><xmp><textarea><title><select><option>",
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "a {} b", "- {}", "> {}", "| a |\n|-|\n| {} |", "**{}**", "[{}](https://a.b)"]
)
def test_html_of_a_model_is_text(html, around):
    found = elements(around.format(html))
    assert {tag for tag, _ in found} <= ALLOWED
    assert {name for _, attributes in found for name in attributes} <= {"href", "rel"}
    assert [attributes["href"] for _, attributes in found if "href" in attributes] in ([], ["https://a.b"])


@pytest.mark.parametrize(
    "text", ["![a](https://a.example/x.png)", "![a][b]\n\n[b]: https://a.example/x", "[![a](x)](y)"]
)
def test_an_image_fetches_nothing(text):
    assert [(tag, attributes) for tag, attributes in elements(text) if tag == "img" or "src" in attributes] == []


@pytest.mark.case("card-host-words")
def test_thirty_imitations_of_a_card_hold_nothing_to_press():
    buttons = (
        "<button>Confirm</button> [Confirm](/proposals/1/confirm) [ ] Confirm <input type=button value=Confirm>\n\n"
    )
    found = elements("### Keep a new note?\n\n" + buttons * 30)
    assert [one for one in found if one[0] not in ("p", "h3", "a") or "href" in one[1]] == []


@pytest.mark.parametrize("name", PATTERNS)
def test_hostile_text_at_the_cap_is_rendered_in_a_few_seconds(name):
    pattern = PATTERNS[name]
    if name == "growing backticks":
        text = " ".join("`" * number for number in range(1, 360))
    else:
        text = (pattern * (MOST_CHARACTERS // len(pattern) + 1))[:MOST_CHARACTERS]
    began = time.process_time()
    found = rendered(text[:MOST_CHARACTERS])
    spent = time.process_time() - began
    assert (spent < LIMIT_S, len(found) > 0) == (True, True), f"{spent:.1f} s"


def test_deep_nesting_at_the_cap_breaks_nothing():
    for pattern in ("> ", "- ", "1. ", "*", "[", "(", "> - "):
        assert {tag for tag, _ in elements(pattern * 2000 + "a")} <= ALLOWED


def test_a_text_over_the_cap_is_shown_as_it_stands():
    text = "<b>" + "a" * MOST_CHARACTERS
    assert str(rendered(text)) == f"<pre>&lt;b&gt;{'a' * MOST_CHARACTERS}</pre>"
    assert not str(rendered("a" * MOST_CHARACTERS)).startswith("<pre>")


PIECES = st.lists(
    st.sampled_from(
        [
            "<",
            ">",
            "[a](",
            ")",
            "javascript:",
            "<script>",
            "onerror=",
            '"',
            "'",
            "`",
            "```\n",
            "![",
            "|",
            "\n",
            "&#x6a;",
            "\x00",
            "a",
        ]
    )
)


@given(PIECES)
def test_no_mixture_of_pieces_gives_an_element_or_attribute_that_is_not_listed(pieces):
    found = elements("".join(pieces))
    assert {tag for tag, _ in found} <= ALLOWED
    addresses = [attributes["href"] for _, attributes in found if "href" in attributes]
    assert all(re.match(r"(https?|mailto):", one) for one in addresses)
    assert {name for _, attributes in found for name in attributes} <= {"href", "rel", "start"}
