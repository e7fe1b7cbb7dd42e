"""The reference host on standard input and output: `python -m release.reference_host [--bug NAME]`."""

from __future__ import annotations

import argparse
import json
import sys

from release.reference_host.faults import FAULTS
from release.reference_host.verbs import ReferenceHost


def main() -> None:
    """Answer one line with one line until the input ends."""
    parser = argparse.ArgumentParser(prog="python -m release.reference_host")
    parser.add_argument("--bug", choices=sorted(FAULTS), help="break one clause")
    host = ReferenceHost(parser.parse_args().bug)
    for line in sys.stdin:
        print(json.dumps(host(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
