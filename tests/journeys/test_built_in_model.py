"""The main story with the model that comes with the set-up: nothing is scripted, and nothing but this machine is asked."""

import importlib.util
import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from short_memory_host.app import MODELS
from short_memory_host.builtin_model.weights import QWEN_1_5B, fetch, found
from short_memory_host.settings import Settings
from tests.journeys.conftest import running

# Fetched once for this checkout, as the first start of a host does for its data folder.
KEPT = Path(__file__).parents[2] / ".venv" / "models"
# It answers in seconds on a quiet machine, and in minutes on one that has much else to do.
LONG_MS = 600_000

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        importlib.util.find_spec("xllamacpp") is None,
        reason="There is no wheel of xllamacpp for this platform, so there is no built-in model to try.",
    ),
]


@pytest.fixture(scope="module")
def weights() -> Path:
    there = found(QWEN_1_5B, KEPT)
    if there is None:
        for _ in fetch(QWEN_1_5B, KEPT):
            pass
    return KEPT / QWEN_1_5B.file


@pytest.fixture
def host(tmp_path, clock, weights):
    settings = Settings(data=tmp_path / "host", listen="127.0.0.1:0", model="built-in")
    (settings.data / MODELS).mkdir(parents=True)
    os.link(weights, settings.data / MODELS / weights.name)
    with running(settings, clock) as host:
        yield host


@pytest.mark.case("journey-built-in-model")
@pytest.mark.case("journey-hero")
def test_the_built_in_model_proposes_a_note_reads_it_in_a_new_chat_and_it_is_undone(open_window):
    window = open_window()
    window.come_in()
    window.new_chat()
    expect(window.button("Send")).to_be_enabled(timeout=LONG_MS)
    says_something_to_keep(window)
    asks_in_a_new_chat(window)
    undoes_it(window)


def says_something_to_keep(window):
    window.composer.fill("remember that I'm allergic to nuts")
    window.button("Send").click()
    expect(window.card.get_by_role("button", name="Confirm")).to_be_visible(timeout=LONG_MS)
    expect(window.thread).to_have_attribute("aria-busy", "false", timeout=LONG_MS)
    window.confirm()
    texts = window.host.texts()
    assert [name for name, text in texts.items() if "nuts" in text] == sorted(texts)
    assert len(texts) == 2


def asks_in_a_new_chat(window):
    window.new_chat()
    window.composer.fill("what can I cook tonight?")
    window.button("Send").click()
    expect(window.chips).to_contain_text("opened", timeout=LONG_MS)
    expect(window.thread).to_have_attribute("aria-busy", "false", timeout=LONG_MS)
    assert window.answers.last.inner_text().strip() != ""


def undoes_it(window):
    window.open_chat("remember that I'm allergic to nuts")
    window.card.get_by_role("button", name="Undo").click()
    expect(window.card.get_by_role("status")).to_contain_text("Undone.")
    assert window.host.texts() == {}
