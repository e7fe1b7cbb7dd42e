"""The owner's files: opened by descriptor, component by component, so that no link and no name leads out.

A name is checked against a grammar before it reaches the system. What is not a plain file with one name is refused,
also where another program planted it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from short_memory import caps
from short_memory.errors import UnreadableError
from short_memory.scopes import is_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Signature = tuple[int, int, int, int] | None

STAGING = ".staging"
# As long as a binding's id, a hyphen and an opaque name together.
_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,128}")
_DEPTH = 4
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_NOTE = {
    errno.ELOOP: "it is a link",
    errno.ENXIO: "it is not a plain file",
    errno.EACCES: "this program may not read it",
}
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class HardLinkedError(UnreadableError):
    """The file has a second name: another program's, or ours for a moment while a new file is put in place."""


def check_folder(owner: str) -> None:
    """Refuse a name that no folder of notes has, such as an owner's id that leads out, before it is part of any path.

    Raises:
        UnreadableError: It is not one.
    """
    if _FOLDER.fullmatch(owner) is None:
        raise UnreadableError("That folder", "its name is not one that a folder of notes can have")


def parts(path: str) -> tuple[tuple[str, ...], str]:
    """Part a path relative to the owner's files into its folders and its file name.

    Raises:
        UnreadableError: The path is not of the grammar of notes.
    """
    *folders, name = path.split("/")
    if not 0 < len(folders) <= _DEPTH or not is_file(name) or not all(map(_FOLDER.fullmatch, folders)):
        raise UnreadableError("That file", "its name is not one that a note can have")
    return tuple(folders), name


class Files:
    """All owners' files under one root, `<root>/<owner>/Memory/…`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        (root / STAGING).mkdir(mode=0o700, parents=True, exist_ok=True)

    def place(self, owner: str, path: str) -> str:
        """Return the full name of a file, for `signature` and for messages; it is never opened by it."""
        return f"{self._root}/{owner}/{path}"

    @contextmanager
    def folder(self, owner: str, folders: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        """Give the descriptor of a folder of the owner's, making what is missing if asked.

        Raises:
            FileNotFoundError: It is not there.
            UnreadableError: A link or a file stands in its place.
        """
        descriptor = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in (owner, *folders):
                inner = _enter(descriptor, part, make=make)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    def read(self, owner: str, path: str) -> bytes | None:
        """Return a file's bytes; None if it is not there.

        Raises:
            UnreadableError: It is a link, not a plain file, has a second name, is larger than `caps.READ_BYTES`, or
                stands in a folder that this program may not open.
        """
        folders, name = parts(path)
        try:
            with self.folder(owner, folders) as descriptor:
                return read_at(descriptor, name, path)
        except FileNotFoundError:
            return None
        except PermissionError:
            raise UnreadableError(path, "this program may not open its folder") from None

    def names(self, owner: str, folders: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """Return the notes and the folders in one folder, sorted, at most `caps.FILES_A_FOLDER` of each.

        What is no folder of the owner's, such as a link, holds none; nor does one that this program may not open.
        """
        try:
            with self.folder(owner, folders) as descriptor, os.scandir(descriptor) as found:
                rows = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        except (FileNotFoundError, PermissionError, UnreadableError):
            return [], []
        files = sorted(name for name, is_folder in rows if not is_folder and is_file(name))
        inner = sorted(name for name, is_folder in rows if is_folder and _FOLDER.fullmatch(name))
        return files[: caps.FILES_A_FOLDER], inner[: caps.FILES_A_FOLDER]


def signature(place: str) -> Signature:
    """Return what tells one state of a file from the next without reading it; None if it is not there."""
    try:
        found = os.lstat(place)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def read_at(folder: int, name: str, path: str) -> bytes:
    """Read a plain file in an open folder. Errors as `Files.read`, and FileNotFoundError."""
    try:
        descriptor = os.open(name, _OPEN_FILE, dir_fd=folder)
    except OSError as error:
        if error.errno in _NO_NOTE:
            raise UnreadableError(path, _NO_NOTE[error.errno]) from None
        raise
    try:
        return _read_plain(descriptor, path)
    finally:
        os.close(descriptor)


def write_new(folder: int, name: str, raw: bytes, *, durable: bool) -> None:
    """Write a new file of mode 0600 in an open folder; an existing name fails."""
    descriptor = os.open(name, _NEW_FILE, 0o600, dir_fd=folder)
    try:
        left = memoryview(raw)
        while left:
            left = left[os.write(descriptor, left) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_plain(descriptor: int, path: str) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableError(path, "it is not a plain file")
    if found.st_nlink != 1:
        raise HardLinkedError(path, "it has a second name on the disk")
    if found.st_size > caps.READ_BYTES:
        raise UnreadableError(path, f"it has {found.st_size} bytes; at most {caps.READ_BYTES} are read")
    raw = b""
    while len(raw) <= caps.READ_BYTES and (more := os.read(descriptor, caps.READ_BYTES + 1 - len(raw))):
        raw += more
    return raw


def _enter(folder: int, name: str, *, make: bool) -> int:
    check_folder(name)
    try:
        return os.open(name, _OPEN_FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise UnreadableError(name, "a link or a file stands in place of the folder") from None
        raise
    os.mkdir(name, 0o700, dir_fd=folder)
    os.fsync(folder)
    return os.open(name, _OPEN_FOLDER, dir_fd=folder)
