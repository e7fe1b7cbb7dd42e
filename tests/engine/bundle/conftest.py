"""The add-on of this repository, to be changed by a test in one place and checked again."""

from pathlib import Path

import pytest

from short_memory.bundle import check_manifest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def manifest_text():
    return (ROOT / "manifest.yaml").read_text(encoding="utf-8")


@pytest.fixture
def check(manifest_text):
    """Check the manifest with texts replaced; a text that is not there is a fault of the test."""

    def checked(*changes, **options):
        text = manifest_text
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        return check_manifest(text.encode(), **options)

    return checked


@pytest.fixture
def codes(check):
    def found(*changes, **options):
        return [problem.code for problem in check(*changes, **options).problems]

    return found
