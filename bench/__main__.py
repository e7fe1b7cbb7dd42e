"""`python -m bench [--json FILE] [--rounds N]`: measure, print a table, and write one object an item."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from bench import engine, first_byte

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.rounds import Item

ROUNDS = 200


def main(arguments: Sequence[str]) -> int:
    """Run every measurement on the disk of the present folder."""
    parser = argparse.ArgumentParser(prog="bench", description="What we do beside its floor, as medians of one run.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the items to this file")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"rounds of each item ({ROUNDS})")
    chosen = parser.parse_args(arguments)
    print(f"{'item':<18}{'ours':>12}{'floor':>12}{'ratio':>8}")
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        measured = chain(
            engine.measure(Path(folder), rounds=chosen.rounds), first_byte.measure(Path(folder), rounds=chosen.rounds)
        )
        items = list(_printed(measured))
    if chosen.json is not None:
        rows = ",\n".join(json.dumps(one.row()) for one in items)
        chosen.json.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    return 0


def _printed(items: Iterable[Item]) -> Iterable[Item]:
    for one in items:
        print(f"{one.item:<18}{one.ours_us:>9.1f} us{one.floor_us:>9.1f} us{one.ratio:>8.2f}", flush=True)
        yield one


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
