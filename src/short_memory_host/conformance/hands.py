"""The hands of a person on their own files: what an editor or a sync tool does there, past the host.

Nothing of this goes through the store. A path stays inside the owner's files, and a link may leave them only for the
folder around them.
"""

from __future__ import annotations

import os
from pathlib import Path

from short_memory_host.conformance.request import BAD_REQUEST, RequestError


def put(root: Path, path: str, text: str | None) -> None:
    """Put the bytes of a text in place, in place of a link as well; None removes what is there."""
    target = _inside(root, path)
    if text is None or target.is_symlink():
        target.unlink(missing_ok=True)
    if text is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "surrogatepass"))


def get(root: Path, path: str) -> str | None:
    """Return the text of a file; None where no file is, or a link to one."""
    target = _inside(root, path)
    if target.is_symlink() or not target.is_file():
        return None
    return target.read_bytes().decode("utf-8", "surrogatepass")


def link(root: Path, path: str, target: str, text: str | None) -> None:
    """Put a symbolic link at a path; with a text, its target is made first."""
    place, leads = _inside(root, path), Path(os.path.normpath(root / target))
    if not leads.is_relative_to(root.parent):
        raise RequestError(BAD_REQUEST, "`target` must be relative to the owner's files, such as ../outside.md.")
    if text is not None:
        leads.parent.mkdir(parents=True, exist_ok=True)
        leads.write_bytes(text.encode("utf-8", "surrogatepass"))
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(leads)


def _inside(root: Path, path: str) -> Path:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise RequestError(BAD_REQUEST, "`path` must be relative to the owner's files, such as Memory/index.md.")
    return root.joinpath(*parts)
