"""The settings of the host: the only reader of the environment.

Each field is `SHORT_MEMORY_` and its name in capitals; what the command line names wins over it. Nothing here touches
the disk.
"""

import ipaddress
from pathlib import Path
from typing import Literal, NamedTuple, Self
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
HIGHEST_PORT = 65535


class Address(NamedTuple):
    """Where the host listens; port 0 lets the system choose one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `HOST:PORT` or `[IPV6]:PORT`; a ValueError says what is wrong."""
        host, colon, port = text.strip().rpartition(":")
        if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > HIGHEST_PORT:
            raise ValueError("is not HOST:PORT. Write for example 127.0.0.1:8087 or [::1]:8087.")
        if ":" in host and not (host.startswith("[") and host.endswith("]")):
            raise ValueError("is an IPv6 address without brackets. Write for example [::1]:8087.")
        return cls(host.strip("[]"), int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of this machine reach it."""
        return self.host in LOOPBACK_NAMES or (is_ip(self.host) and ipaddress.ip_address(self.host).is_loopback)

    @property
    def is_wildcard(self) -> bool:
        """Whether it stands for every address of this machine."""
        return is_ip(self.host) and ipaddress.ip_address(self.host).is_unspecified

    @property
    def url(self) -> str:
        """The address as a person opens it in a browser on this machine."""
        host = "127.0.0.1" if self.is_wildcard else self.host
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


class Settings(BaseSettings):
    """What the host is told before it starts."""

    model_config = SettingsConfigDict(env_prefix="SHORT_MEMORY_", frozen=True)

    data: Path = Field(default_factory=lambda: user_data_path("short-memory", appauthor=False))
    """The folder that holds everything: notes, journal, database, models."""
    listen: str = "127.0.0.1:8087"
    """HOST:PORT of the listener."""
    public_url: str | None = None
    """Where people reach the host when that is not `listen`: behind a proxy, or from a phone by name."""
    model: str = "built-in"
    """`built-in`, `none`, or the path of a GGUF file."""
    command: str = "short-memory"
    """What a person types to run this program, for the lines that tell them to."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important line that is still written."""

    @field_validator("data")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("listen")
    @classmethod
    def _listen(cls, value: str) -> str:
        Address.parse(value)
        return value

    @field_validator("public_url")
    @classmethod
    def _public_url(cls, value: str | None) -> str | None:
        if not value:
            return None
        parts = urlsplit(value)
        if (
            parts.scheme not in {"http", "https"}
            or not parts.hostname
            or parts.username
            or parts.query
            or parts.fragment
        ):
            raise ValueError(
                "is not an address like https://notes.example. Write scheme and name, and nothing after them."
            )
        if parts.path not in {"", "/"}:
            raise ValueError("has a path. The host needs a name of its own, without a path.")
        return f"{parts.scheme}://{parts.netloc.lower()}"

    @property
    def address(self) -> Address:
        """`listen`, read."""
        return Address.parse(self.listen)

    @property
    def url(self) -> str:
        """The address that is printed and stands in links."""
        return self.public_url or self.address.url


def is_ip(text: str) -> bool:
    """Say whether a text is an IP address, and no name."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
