"""The opaque name of a conversation from a messaging app (contract 2.1).

It is the same for one conversation as long as the data folder lives, and gives the conversation's own id away to nobody
without the folder's key: the ids of messaging apps are often telephone numbers, which a plain digest would not hide.
"""

import base64
import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

KEY = "channels.key"
KEY_BYTES = 32
NAME_CHARACTERS = 26


def load_key(data: Path) -> bytes:
    """Return the key of a data folder; the first call makes it."""
    target = data / KEY
    if not target.exists():
        _make_key(target)
    return target.read_bytes()


def opaque_name(key: bytes, *, binding: str, conversation: str) -> str:
    """Return the name of a conversation: 26 of `a-z2-7`, which hold 130 bits of an HMAC-SHA256.

    Args:
        key: What `load_key` gave.
        binding: The id of the messaging binding.
        conversation: The conversation's id as the messaging app names it; any text.
    """
    digest = hmac.new(key, b"".join(map(_measured, (binding, conversation))), hashlib.sha256).digest()
    return base64.b32encode(digest).decode("ascii").lower()[:NAME_CHARACTERS]


def _measured(part: str) -> bytes:
    """Write a part with its length before it, so that no two tuples give the same bytes."""
    raw = part.encode("utf-8", "surrogatepass")
    return len(raw).to_bytes(8, "big") + raw


def _make_key(target: Path) -> None:
    """Put a whole key in place under its name, or keep the one that another process put there first."""
    fresh = target.with_name(f".{KEY}-{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        target.hardlink_to(fresh)
    fresh.unlink()
