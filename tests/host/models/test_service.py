"""What an admin may enter as an upstream."""

import pytest

from short_memory_host.models import service
from short_memory_host.web.errors import InvalidInputError

GOOD = {
    "name": "Big",
    "base_url": "http://127.0.0.1:11434/v1",
    "model": "m",
    "api_key": "",
    "local": False,
    "tools": "native",
}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:11434/v1",
        "https://192.168.1.5/v1",
        "http://[::1]:1/v1",
        "https://name-that-does-not-resolve.invalid/v1",
    ],
)
def test_an_address_of_a_model_is_taken(url):
    assert service.checked_url(f" {url}/ ") == url


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "url"),
        ("ftp://a/v1", "url"),
        ("file:///etc/passwd", "url"),
        ("javascript:alert(1)", "url"),
        ("http://", "url"),
        ("http://a b/v1", "url"),
        ("http://127.0.0.1:99999/v1", "url"),
        ("http://[::1/v1", "url"),
        ("http://127.0.0.1/v1?x=1", "url"),
        ("http://127.0.0.1/v1#x", "url"),
        ("http://127.0.0.1/\x00", "url"),
        ("http://127.0.0.1/" + "x" * 500, "url"),
        ("http://name:secret@127.0.0.1/v1", "url-credentials"),
        ("http://@127.0.0.1/v1", "url-credentials"),
        ("http://169.254.169.254/latest", "url-refused"),
        ("http://[fe80::1]/v1", "url-refused"),
        ("http://[::ffff:169.254.169.254]/v1", "url-refused"),
        ("http://0xa9fea9fe/v1", "url-refused"),
        ("http://2852039166/v1", "url-refused"),
        ("http://[fd00:ec2::254]/v1", "url-refused"),
        ("http://100.100.100.200/v1", "url-refused"),
        ("http://0.0.0.0/v1", "url-refused"),
        ("http://[::]/v1", "url-refused"),
        ("http://224.0.0.1/v1", "url-refused"),
        ("http://metadata.google.internal/v1", "url-refused"),
        ("http://METADATA.google.internal./v1", "url-refused"),
    ],
)
def test_an_address_that_no_model_has_is_refused(url, reason):
    with pytest.raises(InvalidInputError) as refused:
        service.checked_url(url)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("name", "", "upstream-name"),
        ("name", "x" * 65, "upstream-name"),
        ("model", " ", "upstream-model"),
        ("model", "a\nb", "upstream-model"),
        ("api_key", "a\r\nx: y", "api-key"),
        ("tools", "magic", "tools"),
    ],
)
def test_a_field_that_cannot_be_taken_is_named(field, value, reason):
    with pytest.raises(InvalidInputError) as refused:
        service.fields(**GOOD | {field: value}, before=None)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("before", "sent", "kept"),
    [
        (None, "", ""),
        (None, "k", "k"),
        ("http://127.0.0.1:11434/other", "", None),
        ("http://127.0.0.1:11434/v1", "new", "new"),
        ("http://127.0.0.1:9999/v1", "", ""),
        ("https://127.0.0.1:11434/v1", "", ""),
    ],
)
def test_a_kept_key_does_not_follow_to_another_address(before, sent, kept):
    assert service.fields(**GOOD | {"api_key": sent}, before=before).api_key == kept
