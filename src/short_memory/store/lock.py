"""Locks shared by every program on the machine: one for each owner, and one that says that something is being staged.

Each is a flock, so that it ends with the process that holds it and never has to be cleared by a person.
"""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_mine = threading.local()


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock at `path`, waiting for whoever has it. Not to be taken twice by one thread."""
    with _opened(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _mine.path = path
        try:
            yield
        finally:
            _mine.path = None


def is_mine(path: Path) -> bool:
    """Say whether this thread holds the lock, so that waiting for it would never end."""
    return getattr(_mine, "path", None) == path


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold the lock together with others, waiting only for who has it `alone`."""
    with _opened(path) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Hold the lock if nobody else does; gives whether that was so, and waits for nobody."""
    with _opened(path) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
