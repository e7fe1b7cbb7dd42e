"""Identifiers and secrets: 128 random bits name a thing, 256 open a door. Of a secret only its SHA-256 is stored."""

import base64
import hashlib
import secrets


def new_id(prefix: str) -> str:
    """Return a name that tells nothing and can't be guessed, such as `p_` and 26 characters of base32."""
    return prefix + base64.b32encode(secrets.token_bytes(16)).decode("ascii").rstrip("=").lower()


def new_secret() -> str:
    """Return a secret for a cookie or a link, safe in an address."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Return what is stored instead of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
