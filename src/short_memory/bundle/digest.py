"""The name of a grant: the digest of what an add-on declares it can do (contract 8.1).

The add-on's program computes the same digest on its own side of the pipe; a test compares the two.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def capabilities_digest(capabilities: Mapping[str, Any]) -> str:
    """Return `sha256:` and the hex digest of the canonical JSON.

    Canonical is UTF-8 with the keys sorted, no spaces, and nothing escaped but what must be.
    """
    text = json.dumps(capabilities, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()
