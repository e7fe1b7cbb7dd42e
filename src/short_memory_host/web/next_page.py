"""Where a person goes after signing in: a place of this host, whatever an address says."""

from urllib.parse import urlencode

from fastapi import Request


def sign_in_url(request: Request) -> str:
    """Return the address of the sign-in page that leads back to the page asked for."""
    if request.method != "GET" or request.url.path == "/":
        return "/sign-in"
    return "/sign-in?" + urlencode({"next": request.url.path})


def safe(path: str) -> str:
    """Return the path when it stays on this host, else the start page."""
    # `//x`, `/\x` and control characters lead to other hosts in browsers that repair addresses.
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else "/"
