"""The page of an add-on: Markdown by a stranger, shown inside the host.

Raw HTML is text. A link is https or a place of the host that the manifest declares; any other becomes its words. An
image becomes its words too: nothing is fetched for a page that is only read. The Markdown is CommonMark with tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from short_memory.bundle.hidden import HIDDEN, hidden_characters
from short_memory.bundle.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markdown_it.token import Token

BYTES = 65536
PLACE = "host:"
# No name before the host: https://good.example@bad.example leads to the second one.
_HTTPS = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.:-]*([/?#][!-~]*)?")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """The HTML of a page, safe to put into a document as it is, and what its author should know."""

    html: str
    problems: tuple[Problem, ...]


def render_page(raw: bytes, *, file: str, places: Mapping[str, str]) -> RenderedPage:
    """Render a page.

    Args:
        raw: The bytes of the Markdown file; more than `BYTES` are not rendered.
        file: What problems call the file.
        places: The address on this host of each place that the manifest declares, such as `account/memory`.

    Returns:
        HTML without scripts, styles, images and hidden characters. A page that cannot be read is empty.

    """
    if len(raw) > BYTES:
        words = f"This has {len(raw)} bytes; at most {BYTES} are shown. Shorten it."
        return RenderedPage("", (Problem(file, 1, "PAG-001", words),))
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        words = f"Byte {error.start} is not UTF-8. Save the file as UTF-8."
        return RenderedPage("", (Problem(file, line, "PAG-002", words),))
    return _rendered(text, file, places)


def _rendered(text: str, file: str, places: Mapping[str, str]) -> RenderedPage:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only whoever shows a page pays for it

    options = {"html": False, "linkify": False, "typographer": False}
    markdown = MarkdownIt("commonmark", options).enable("table")
    # Every link is taken for one here, so that a bad one is seen below and not left standing as source text.
    markdown.validateLink = lambda url: True  # type: ignore[method-assign] # noqa: ARG005 - the name is the library's
    problems = list(hidden_characters(text, file=file, code="PAG-003"))
    tokens = markdown.parse(HIDDEN.sub("", text))
    for block in tokens:
        if block.children is not None:
            line = block.map[0] + 1 if block.map else 1
            problems += [Problem(file, line, code, words) for code, words in _without_strangers(block, places)]
    return RenderedPage(str(markdown.renderer.render(tokens, markdown.options, {})), tuple(sorted(problems)))


def _without_strangers(block: Token, places: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Keep the links that may be there, give them this host's addresses, and make words of all else that points out."""
    kept: list[Token] = []
    open_links: list[bool] = []
    for token in block.children or []:
        if token.type == "link_open":
            target = str(token.attrs["href"])
            open_links.append(_pointed(token, target, places))
            if not open_links[-1]:
                shown = f"The link to {target[:_SHOWN]} is shown as words."
                yield "PAG-004", f"{shown} Link to https, or to a host: place that page.opens lists."
        if token.type == "image":
            yield "PAG-005", "An image is shown as its words. Take it out."
            token.type, token.tag, token.children = "text", "", None
        if token.type not in {"link_open", "link_close"} or open_links[-1]:
            kept.append(token)
        if token.type == "link_close":
            open_links.pop()
    block.children = kept


def _pointed(link: Token, target: str, places: Mapping[str, str]) -> bool:
    """Let a link point to where it may, and say whether it may at all."""
    place = target.removeprefix(PLACE)
    if target.startswith(PLACE) and place in places:
        link.attrs = {"href": places[place]}
        return True
    link.attrs = {"href": target, "rel": "noopener noreferrer", "target": "_blank"}
    return _HTTPS.fullmatch(target) is not None
