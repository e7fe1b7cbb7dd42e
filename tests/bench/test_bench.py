"""The bench: what it writes is one object an item, with ours, the floor and how many times longer ours takes."""

import json

import pytest

from bench.__main__ import main
from bench.rounds import Item, by_turns

ITEMS = {"block", "context_read", "propose", "confirm", "revert"}


@pytest.mark.case("bench-json")
def test_the_bench_writes_one_object_an_item(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["--json", "found.json", "--rounds", "2"]) == 0
    rows = json.loads((tmp_path / "found.json").read_text())
    assert {row["item"] for row in rows} >= ITEMS
    for row in rows:
        assert list(row) == ["item", "ours", "floor", "ratio", "unit", "n"]
        assert row["ours"] > 0
        assert row["floor"] > 0
    assert len(capsys.readouterr().out.splitlines()) == len(rows) + 1
    assert [one.name for one in tmp_path.iterdir()] == ["found.json"]


def test_a_ratio_says_how_many_times_longer_ours_takes():
    row = Item("block", 30.004, 10.0, 5).row()
    assert row == {"item": "block", "ours": 30.0, "floor": 10.0, "ratio": 3.0, "unit": "us", "n": 5}


def test_both_sides_run_by_turns_and_once_before_it_counts():
    order = []
    found = by_turns("x", lambda: order.append("ours"), lambda: order.append("floor"), rounds=2, calls=2)
    assert order == ["ours", "ours", "floor", "floor"] * 3
    assert found.n == 2
