"""The settings: what the environment and the command line say."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from short_memory_host.settings import Address, Settings


@pytest.mark.case("host-loopback-default")
def test_the_host_listens_on_loopback_unless_told_otherwise():
    settings = Settings()
    assert (settings.listen, settings.address.is_loopback, settings.url) == (
        "127.0.0.1:8087",
        True,
        "http://127.0.0.1:8087",
    )


def test_a_flag_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("SHORT_MEMORY_LISTEN", "0.0.0.0:1")
    monkeypatch.setenv("SHORT_MEMORY_MODEL", "none")
    settings = Settings(listen="127.0.0.1:2")
    assert (settings.listen, settings.model) == ("127.0.0.1:2", "none")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("127.0.0.1:80", ("127.0.0.1", 80)), ("[::1]:8087", ("::1", 8087)), ("nas.local:0", ("nas.local", 0))],
)
def test_an_address_is_read_as_host_and_port(text, expected):
    assert tuple(Address.parse(text)) == expected


@pytest.mark.parametrize("text", ["", "8087", "127.0.0.1", "127.0.0.1:", ":80", "a:65536", "a:-1", "::1:8087", "a:٣"])
def test_an_address_without_host_and_port_is_refused(text):
    with pytest.raises(ValidationError, match=r"HOST:PORT|brackets"):
        Settings(listen=text)


@pytest.mark.parametrize(("host", "wildcard"), [("0.0.0.0", True), ("::", True), ("127.0.0.1", False), ("nas", False)])
def test_only_the_unspecified_addresses_stand_for_every_address(host, wildcard):
    assert Address(host, 1).is_wildcard is wildcard


def test_an_ipv6_address_stands_in_brackets_in_its_url():
    assert Settings(listen="[::1]:8087").url == "http://[::1]:8087"


def test_a_public_url_stands_in_links_in_one_spelling():
    assert Settings(public_url="https://Notes.Example/").url == "https://notes.example"


@pytest.mark.parametrize(
    "url",
    [
        "notes.example",
        "ftp://notes.example",
        "https://",
        "https://a@notes.example",
        "https://n.example/x",
        "https://n.example?x",
    ],
)
def test_a_public_url_that_is_more_or_less_than_a_name_is_refused(url):
    with pytest.raises(ValidationError):
        Settings(public_url=url)


def test_an_empty_public_url_is_none():
    assert Settings(public_url="").public_url is None


def test_the_data_folder_is_absolute():
    assert Settings(data=Path("notes")).data == Path.cwd() / "notes"
