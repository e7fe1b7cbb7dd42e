"""Pages: their texts, their look, and what is escaped."""

import json
import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from short_memory_host.web import templates

SOURCES = [*templates.HOST.rglob("*.html"), *templates.HOST.rglob("*.py")]


def test_a_missing_text_is_an_error():
    with pytest.raises(KeyError):
        templates.t("no.such.text")


def test_every_text_that_is_named_is_there():
    named = {
        key
        for path in SOURCES
        for key in re.findall(r"\bt\(\s*[\"']([a-z_.-]+[a-z_])[\"'](?! ~)", path.read_text(encoding="utf-8"))
    }
    assert named - set(templates.locale("en")) == set()


def test_every_text_of_the_scripts_is_there():
    scripts = (path.read_text(encoding="utf-8") for path in templates.STATIC.rglob("*.js"))
    named = {key for script in scripts for key in re.findall(r"\btext\(\"([a-z_]+)\"", script)}
    assert named - set(templates.script_texts()) == set()


def test_no_key_stands_twice_in_a_locale():
    for path in (templates.HOST / "locales").glob("*.json"):
        pairs = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=list)
        keys = sorted(key for key, _ in pairs)
        assert [one for one, two in pairwise(keys) if one == two] == []


def test_what_a_person_wrote_is_text_on_the_page(host):
    browser = host.sign_in()
    browser.post("/account", data={"name": "<img src=x onerror=alert(1)>"})
    page = browser.get("/account").text
    assert ("<img src=x" in page, "&lt;img src=x onerror=alert(1)&gt;" in page) == (False, True)


def test_a_variable_that_is_missing_is_an_error():
    with pytest.raises(UndefinedError):
        templates.fragment("models/built_in.html")


def test_the_texts_of_the_scripts_survive_the_attribute(host):
    page = host.browser().get("/sign-in", headers={"accept": "text/html"}).text
    raw = re.search(r'data-texts="([^"]*)"', page)[1]
    unescaped = raw.replace("&#34;", '"').replace("&amp;", "&")
    assert json.loads(unescaped) == templates.script_texts()


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("Europe/Rome", "2026-11-30 13:00 +01:00"),
        ("", "2026-11-30 12:00 UTC"),
        ("Asia/Kolkata", "2026-11-30 17:30 +05:30"),
    ],
)
def test_a_time_is_that_of_the_person_and_says_its_offset(zone, expected):
    assert templates.local_time(datetime(2026, 11, 30, 12, tzinfo=UTC), zone) == expected


def test_the_address_of_a_static_file_ends_with_its_name():
    assert re.fullmatch(r"/static/[0-9a-f]{16}/js/page\.js", templates.static("js/page.js"))


def test_no_script_writes_markup_but_what_the_host_made():
    scripts = [path.read_text(encoding="utf-8") for path in templates.STATIC.rglob("*.js")]
    written = [name for script in scripts for name in re.findall(r"\binnerHTML\s*=\s*([\w.]+)", script)]
    others = [script for script in scripts if re.search(r"outerHTML\s*=|insertAdjacentHTML|document\.write", script)]
    # What the host rendered comes in fields of these two names; text of anybody goes through textContent or append.
    assert ({name.rpartition(".")[2] for name in written} <= {"markup", "html"}, others) == (True, [])


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, two):
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["dark", "light"])
@pytest.mark.parametrize(
    ("ink", "grounds"),
    [
        ("text", "ground panel raised good-ground bad-ground ask-ground"),
        ("dim", "ground panel raised"),
        ("link", "ground panel raised good-ground"),
        ("primary-text", "primary"),
        ("ask-ink", "panel ask-ground"),
        ("ask-text", "ask"),
        ("good", "ground panel good-ground"),
        ("bad", "ground panel bad-ground"),
    ],
)
def test_text_stands_out_from_its_ground_as_wcag_aa_asks(theme, ink, grounds):
    css = Path(templates.STATIC / "host.css").read_text(encoding="utf-8")
    dark, light = (
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\n *\}", css, re.DOTALL)[:2]
    )
    colours = dark | light if theme else dark
    low = {ground: round(contrast(colours[ink], colours[ground]), 2) for ground in grounds.split()}
    assert {ground: ratio for ground, ratio in low.items() if ratio < 4.5} == {}
