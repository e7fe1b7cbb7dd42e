"""Puts a change set's files in place, all or none, and takes them back when the disk refuses.

A later start keeps a change that a killed process left if all of its files are in place, and takes it back otherwise;
the name of its folder in `.staging` overrules what the files say: `<change>.aborted` was refused and goes back,
`<change>.placed` was promised and stays. Taking back needs no space on the disk: the bytes before were staged as well.
So what was reported as failed never appears, and a kill at any point leaves a change set whole or absent.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from short_memory.errors import ConflictError, UnreadableError
from short_memory.store.files import STAGING, Files, parts, read_at, write_new

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from short_memory.changes import ChangeSet, FileChange

ABORTED = ".aborted"
PLACED = ".placed"


class Staging:
    """The staging folder of one root of files."""

    def __init__(self, root: Path, files: Files) -> None:
        self._root = root / STAGING
        self._files = files

    def stage(self, change: ChangeSet) -> None:
        """Write what the change will need: the new bytes durably, the old bytes for taking back.

        Raises:
            OSError: The disk refused; nothing is left behind.
        """
        try:
            (self._root / change.id).mkdir(mode=0o700)
            with _opened(self._root / change.id) as folder:
                for number, one in enumerate(change.files):
                    _stage_one(folder, number, one)
        except OSError:
            self.clear(change.id)
            raise

    def place(self, change: ChangeSet) -> None:
        """Put the staged files in place and make their folders durable.

        Raises:
            OSError: The disk refused.
            ConflictError: A file is no longer what the change saw.
        """
        touched: dict[tuple[str, ...], None] = {}
        with _opened(self._root / change.id) as staged:
            for number, one in enumerate(change.files):
                folders, name = parts(one.path)
                with self._files.folder(change.owner, folders, make=one.after is not None) as folder:
                    _place_one(staged, folder, name, number, one)
                touched[folders] = None
        for folders in touched:
            with self._files.folder(change.owner, folders) as folder:
                os.fsync(folder)

    def abort(self, change: ChangeSet) -> None:
        """Mark the change as going back, and put back what was placed.

        Raises:
            OSError: The disk refused this too; where the mark stands, the next write or start tries again.
        """
        (self._root / change.id).rename(self._root / f"{change.id}{ABORTED}")
        with _opened(self._root) as folder:
            _sync(folder)
        with _opened(self._root / f"{change.id}{ABORTED}") as staged:
            for number, one in enumerate(change.files):
                self._put_back(change.owner, staged, number, one)

    def mark_placed(self, change: ChangeSet) -> None:
        """Mark a change as whole and promised where the journal could not be told: nothing later takes it back.

        Without the mark its files, which are all in place, say the same.
        """
        with suppress(OSError):
            (self._root / change.id).rename(self._root / f"{change.id}{PLACED}")

    def stands(self, change: ChangeSet) -> bool:
        """Say whether a later start would keep the change: it has no mark, and all of its files are in place."""
        return (self._root / change.id).exists() and self._is_placed(change)

    def settle(self, change: ChangeSet) -> bool:
        """Finish what a killed process began: forward or back, whole in either case.

        Returns:
            True if the change is in place now, False if it is absent.
        """
        if (self._root / f"{change.id}{PLACED}").exists():
            return True
        self._drop_second_names(change)
        if not (self._root / f"{change.id}{ABORTED}").exists() and self._is_placed(change):
            return True
        for one in change.files:
            if self._present(change.owner, one) == one.after:
                self._write(change.owner, one.path, one.before)
        return False

    def clear(self, change: str) -> None:
        """Remove what was staged for a change; what cannot be removed now is swept at the next start."""
        for name in _names(change):
            with suppress(OSError):
                (self._root / name).unlink() if (self._root / name).is_file() else shutil.rmtree(self._root / name)

    def leftovers(self) -> list[str]:
        """Return the changes for which something is still staged."""
        return sorted({path.name.removesuffix(ABORTED).removesuffix(PLACED) for path in self._root.iterdir()})

    def _is_placed(self, change: ChangeSet) -> bool:
        return all(self._present(change.owner, one) == one.after for one in change.files)

    def _present(self, owner: str, one: FileChange) -> bytes | bool | None:
        """Return the present bytes, None for no file; False for what is neither, such as a link put there since."""
        folders, name = parts(one.path)
        # Not `Files.read`: a folder that may not be opened now says nothing about what it holds.
        try:
            with self._files.folder(owner, folders) as folder:
                return _bytes_at(folder, name, one.path)
        except FileNotFoundError:
            return None
        except UnreadableError:
            return False

    def _drop_second_names(self, change: ChangeSet) -> None:
        """A new file that was being put in place has a staged name as well, with which it cannot be read."""
        for name in _names(change.id):
            for number, _ in enumerate(change.files):
                for end in ("new", "gone"):
                    (self._root / name / f"{number}.{end}").unlink(missing_ok=True)

    def _put_back(self, owner: str, staged: int, number: int, one: FileChange) -> None:
        folders, name = parts(one.path)
        with suppress(FileNotFoundError, UnreadableError), self._files.folder(owner, folders) as folder:
            if one.after is None:
                _put_back_deleted(staged, folder, name, number)
            elif _was_placed(staged, folder, name, number, one):
                _put_back_placed(staged, folder, name, number, one)
            _sync(folder)

    def _write(self, owner: str, path: str, raw: bytes | None) -> None:
        folders, name = parts(path)
        with self._files.folder(owner, folders, make=raw is not None) as folder, _opened(self._root) as staging:
            if raw is None:
                os.unlink(name, dir_fd=folder)
            else:
                temporary = f"settle-{os.urandom(8).hex()}"
                write_new(staging, temporary, raw, durable=True)
                os.rename(temporary, name, src_dir_fd=staging, dst_dir_fd=folder)
            os.fsync(folder)


def _names(change: str) -> tuple[str, ...]:
    return change, f"{change}{ABORTED}", f"{change}{PLACED}"


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _stage_one(folder: int, number: int, one: FileChange) -> None:
    if one.after is not None:
        write_new(folder, f"{number}.new", one.after, durable=True)
    if one.before is not None:
        write_new(folder, f"{number}.old", one.before, durable=False)


def _place_one(staged: int, folder: int, name: str, number: int, one: FileChange) -> None:
    if _bytes_at(folder, name, one.path) != one.before:
        raise ConflictError(one.path, None)
    if one.after is None:
        os.rename(name, f"{number}.gone", src_dir_fd=folder, dst_dir_fd=staged)
    elif one.before is None:
        # A link, not a rename: it fails if a file appeared meanwhile, and never replaces one that nobody saw.
        try:
            os.link(f"{number}.new", name, src_dir_fd=staged, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            raise ConflictError(one.path, None) from None
        os.unlink(f"{number}.new", dir_fd=staged)
    else:
        os.rename(f"{number}.new", name, src_dir_fd=staged, dst_dir_fd=folder)


def _was_placed(staged: int, folder: int, name: str, number: int, one: FileChange) -> bool:
    """Say whether the target is ours: its staged name is gone, or is a second name of the same file.

    What somebody wrote over ours since is theirs and stays.
    """
    new = _inode(staged, f"{number}.new")
    if new is not None:
        return new == _inode(folder, name)
    with suppress(UnreadableError):
        return _bytes_at(folder, name, one.path) == one.after
    return False


def _put_back_placed(staged: int, folder: int, name: str, number: int, one: FileChange) -> None:
    if one.before is None:
        os.unlink(name, dir_fd=folder)
        return
    _make_durable(staged, f"{number}.old")
    os.rename(f"{number}.old", name, src_dir_fd=staged, dst_dir_fd=folder)


def _put_back_deleted(staged: int, folder: int, name: str, number: int) -> None:
    """Give a deleted file its name again, unless another file has it by now."""
    with suppress(FileNotFoundError, FileExistsError):
        os.link(f"{number}.gone", name, src_dir_fd=staged, dst_dir_fd=folder, follow_symlinks=False)
        os.unlink(f"{number}.gone", dir_fd=staged)


def _inode(folder: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino
    except FileNotFoundError:
        return None


def _make_durable(folder: int, name: str) -> None:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    """Make durable if the disk lets us; taking back goes on without, since the journal has the bytes too."""
    with suppress(OSError):
        os.fsync(descriptor)


def _bytes_at(folder: int, name: str, path: str) -> bytes | None:
    try:
        return read_at(folder, name, path)
    except FileNotFoundError:
        return None
