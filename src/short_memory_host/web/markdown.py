"""A model's Markdown as HTML: rendered first, sanitised afterwards, so that nothing in it acts or fetches.

No image, no form, no style survives; a link shows where it goes only when it is http, https or mailto. Linking of bare
addresses and typographic changes stay off: they take quadratic time on hostile text.
"""

from functools import cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

MOST_CHARACTERS = 65_536
_TAGS = set(
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul".split()  # noqa: SIM905 - reads as a list
)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False}).enable(
        ["table", "strikethrough"]
    )


def rendered(text: str) -> Markup:
    """Return safe HTML; a text longer than any answer is shown as it stands."""
    if len(text) > MOST_CHARACTERS:
        return Markup("<pre>{}</pre>").format(escape(text))
    clean = nh3.clean(
        _parser().render(text),
        tags=_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer",
    )
    return Markup(clean)  # noqa: S704 - sanitised just above
