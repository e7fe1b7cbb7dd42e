"""What an admin may enter as an upstream, and the test of one.

An address is http or https, carries no name and password, and leads neither to a link-local address nor to a cloud's
metadata service. Loopback and private addresses are allowed and prove nothing: whether a machine is one's own is what
the admin ticks.
"""

import ipaddress
import socket
from contextlib import suppress
from typing import Literal
from urllib.parse import urlsplit

from short_memory_host.web.errors import InvalidInputError
from short_memory_host.web.upstreams import Fields

NAME_CHARACTERS = 64
MODEL_CHARACTERS = 200
KEY_CHARACTERS = 4096
URL_CHARACTERS = 500
METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data"})
METADATA_ADDRESSES = frozenset(
    map(ipaddress.ip_address, ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"))
)

IP = ipaddress.IPv4Address | ipaddress.IPv6Address


def fields(
    *, name: str, base_url: str, model: str, api_key: str, local: bool, tools: str, before: str | None
) -> Fields:
    """Return what was entered, checked. `before` is the present address of an upstream that is changed.

    Raises:
        InvalidInputError: A field can't be taken.
    """
    url = checked_url(base_url)
    # A key is for the address it was entered for: it does not follow to another one.
    keeps_key = before is not None and _origin(before) == _origin(url)
    key = _line(api_key, KEY_CHARACTERS, "api-key", may_be_empty=True)
    return Fields(
        name=_line(name, NAME_CHARACTERS, "upstream-name"),
        base_url=url,
        model=_line(model, MODEL_CHARACTERS, "upstream-model"),
        api_key=None if not key and keeps_key else key,
        local=local,
        tools=_tools(tools),
    )


def checked_url(text: str) -> str:
    """Return the address of an upstream without its last slash.

    Raises:
        InvalidInputError: It is no such address, or one that is refused.
    """
    url = text.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInputError("url") from None
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or len(url) > URL_CHARACTERS
        or not url.isprintable()
    ):
        raise InvalidInputError("url")
    if parts.username is not None or parts.password is not None:
        raise InvalidInputError("url-credentials")
    if parts.query or parts.fragment or " " in url:
        raise InvalidInputError("url")
    if parts.hostname.rstrip(".") in METADATA_NAMES or any(map(_is_refused, _addresses(parts.hostname, port))):
        raise InvalidInputError("url-refused")
    return url


def _addresses(name: str, port: int | None) -> list[IP]:
    # A name that can't be resolved now is taken: the test button tells, and the connection will be refused then.
    with suppress(OSError, UnicodeError):
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    return []


def _is_refused(address: IP) -> bool:
    plain = getattr(address, "ipv4_mapped", None) or address
    return plain.is_link_local or plain.is_multicast or plain.is_unspecified or plain in METADATA_ADDRESSES


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _line(text: str, most: int, reason: str, *, may_be_empty: bool = False) -> str:
    line = text.strip()
    if len(line) > most or not line.isprintable() or not (line or may_be_empty):
        raise InvalidInputError(reason, most=most)
    return line


def _tools(text: str) -> Literal["native", "guided"]:
    if text == "native":
        return "native"
    if text == "guided":
        return "guided"
    raise InvalidInputError("tools")
