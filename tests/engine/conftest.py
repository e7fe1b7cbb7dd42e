"""What every test of the engine may ask for."""

import pytest

from tests.clock import Clock
from tests.engine.notes import ADDON, OWNER, Notes


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def bare(tmp_path, clock):
    """Notes of somebody who enabled nothing yet."""
    notes = Notes(tmp_path / "data", clock)
    yield notes
    notes.close()


@pytest.fixture
def notes(bare):
    """Notes of somebody who enabled the add-on."""
    bare.granting.enable(OWNER, ADDON)
    return bare
