"""Where add-ons keep their files: which templates can name one place (contract 2.7).

A template is compared folder by folder, in any letter case, because a folder may be copied to a system that has none. A
folder with a placeholder may become any name.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from short_memory.bundle.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from short_memory.bundle.manifest import Manifest
    from short_memory.scopes import ContextFile


def shared_places(new: Manifest, installed: Iterable[Manifest]) -> list[Problem]:
    """Find the places that an add-on would share with another one that is installed.

    Another version of the add-on itself may be among the installed ones; it does not count.
    """
    return [
        Problem("manifest.yaml", 1, "CTX-130", _words(mine, other.id, theirs))
        for other in installed
        if other.id != new.id
        for mine in new.context_files
        for theirs in other.context_files
        if _in_folder(mine.index, theirs.index) or _in_folder(theirs.index, mine.index)
    ]


def same_places(files: Iterable[ContextFile]) -> Iterator[tuple[ContextFile, ContextFile]]:
    """Find the pairs of context files of one add-on that could be one file. One may lie in another one's folder."""
    for first, second in combinations(files, 2):
        if first.index.count("/") == second.index.count("/") and _in_folder(first.index, second.index):
            yield first, second


def _words(mine: ContextFile, other: str, theirs: ContextFile) -> str:
    return (
        f"{mine.index} would share a place with {theirs.index} of the add-on {other}. "
        f"Choose a folder of your own, or remove {other} first."
    )


def _in_folder(inner: str, outer: str) -> bool:
    """Say whether the index `inner` may lie in the folder of the index `outer`, or below it."""
    inner_folders, outer_folders = inner.split("/")[:-1], outer.split("/")[:-1]
    if len(inner_folders) < len(outer_folders):
        return False
    return all(_may_be_one(a, b) for a, b in zip(inner_folders, outer_folders, strict=False))


def _may_be_one(first: str, second: str) -> bool:
    return "{" in first + second or first.casefold() == second.casefold()
