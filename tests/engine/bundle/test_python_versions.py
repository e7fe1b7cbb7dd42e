import pytest

from short_memory.bundle.python_versions import runs_on


@pytest.mark.parametrize(
    ("requires", "fits"),
    [
        ("", True),
        (">=3.10", True),
        (">=3.12", True),
        (">=3.12.4", True),
        (">=3.12.5", False),
        (">=3.13", False),
        ("<4", True),
        ("<3.12", False),
        ("<3.12.5", True),
        ("<=3.12", True),
        ("<=3.11", False),
        ("==3.12", True),
        ("==3.12.4", True),
        ("==3.12.3", False),
        ("!=3.12", False),
        ("!=3.9", True),
        (">=3.10,<4", True),
        (">=3.10,<3.12", False),
        (">=3.10,!=3.12.4", False),
    ],
)
def test_3_12_4_runs_what_its_numbers_allow(requires, fits):
    assert runs_on(requires, (3, 12, 4)) is fits
