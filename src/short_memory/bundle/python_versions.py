"""Which versions of Python a program runs on: the `requires` of an executable.

A bound is compared in as many numbers as it names: `<=3.12` holds for 3.12.4, and so does `==3.12`.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_BOUND = re.compile(r"(>=|<=|==|!=|<)([0-9.]+)")
_COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
}


def runs_on(requires: str, version: tuple[int, ...]) -> bool:
    """Say whether a version of Python is within every bound.

    Args:
        requires: What the schema let through, for example `>=3.10,<4`.
        version: Major, minor and micro.

    """
    return all(_holds(sign, bound, version) for sign, bound in _BOUND.findall(requires))


def _holds(sign: str, bound: str, version: tuple[int, ...]) -> bool:
    numbers = tuple(int(number) for number in bound.split("."))
    return _COMPARE[sign](version[: len(numbers)], numbers)
