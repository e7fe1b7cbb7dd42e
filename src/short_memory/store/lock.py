"""One lock per owner, shared by every program on the machine.

It is a flock, so that it ends with the process that holds it and never has to be cleared by a person.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock at `path`, waiting for whoever has it. Not to be taken twice by one thread."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
