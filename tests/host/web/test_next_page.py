"""Where a person goes after signing in."""

import pytest

from short_memory_host.web.next_page import safe


@pytest.mark.parametrize("path", ["/", "/account", "/chat/c_1?x=1#y"])
def test_a_place_of_this_host_is_kept(path):
    assert safe(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "account",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example",
        "/\t/evil.example",
        "/é",
        "javascript:alert(1)",
    ],
)
def test_anything_else_becomes_the_start_page(path):
    assert safe(path) == "/"
