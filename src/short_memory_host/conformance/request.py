"""A request to the adapter: a JSON object whose fields are read with the types that the protocol gives them.

A field that nobody reads is ignored; one that is missing or of another type is refused, in words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from short_memory.scopes import is_id

if TYPE_CHECKING:
    from collections.abc import Mapping

BAD_REQUEST = "bad-request"
T = TypeVar("T")
_NAMELESS = re.compile(r"[\0\ud800-\udfff]")


class RequestError(Exception):
    """The adapter refuses a request; `code` and `text` are the answer."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


@dataclass(frozen=True, slots=True)
class Request:
    """The fields of one request. Every method raises RequestError for a value that does not fit."""

    fields: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a name that must be there. With a NUL or an unpaired surrogate it could name nothing anywhere."""
        if _NAMELESS.search(found := self._typed(name, str)):
            raise RequestError(BAD_REQUEST, f"`{name}` must be a text without NUL and unpaired surrogates.")
        return found

    def name(self, name: str) -> str:
        """Return the name of a thing that may not be there; null names nothing, and so does the empty text."""
        return "" if self.fields.get(name) is None else self.text(name)

    def text_or_none(self, name: str) -> str | None:
        """Return a text, or None where it is null or left out."""
        return None if self.fields.get(name) is None else self._typed(name, str)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a truth value."""
        return self._typed(name, bool) if name in self.fields else default

    def mapping(self, name: str) -> dict[str, Any]:
        """Return an object; an empty one where it is null or left out."""
        return {} if self.fields.get(name) is None else self._typed(name, dict)

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Return a list of pairs of texts; an empty one where it is left out."""
        rows = self._typed(name, list) if name in self.fields else []
        if not all(isinstance(row, list) and len(row) == 2 and _are_texts(row) for row in rows):  # noqa: PLR2004 - a pair
            raise RequestError(BAD_REQUEST, f"`{name}` must be a list of pairs of texts.")
        return [(old, new) for old, new in rows]

    def one_of(self, name: str, *choices: str) -> str:
        """Return a text that is one of the choices."""
        if (found := self.text(name)) not in choices:
            raise RequestError(BAD_REQUEST, f"`{name}` must be one of {', '.join(choices)}.")
        return found

    def person(self, name: str) -> str:
        """Return the id of a person."""
        if not is_id(found := self.text(name)):
            raise RequestError(BAD_REQUEST, f"`{name}` must be the id of a person: a-z, 0-9, hyphens, underscores.")
        return found

    def moment(self, name: str) -> datetime:
        """Return a time with its zone."""
        try:
            found = datetime.fromisoformat(self.text(name))
        except ValueError:
            found = None
        if found is None or found.tzinfo is None:
            raise RequestError(BAD_REQUEST, f"`{name}` must be a time such as 2026-12-01T10:00:00Z.")
        return found

    def _typed(self, name: str, kind: type[T]) -> T:
        found = self.fields.get(name)
        if not isinstance(found, kind):
            raise RequestError(BAD_REQUEST, f"`{name}` must be there and be of the type {kind.__name__}.")
        return found


def _are_texts(row: list[object]) -> bool:
    return all(isinstance(one, str) for one in row)
