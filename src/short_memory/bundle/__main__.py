"""`python -m short_memory.bundle PATH`: check the add-on in a folder, or one manifest, as its author.

Every problem is a line. The exit code is 1 with a problem, else 0.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from short_memory.bundle.folder import check_folder, read_file
from short_memory.bundle.manifest import check_manifest
from short_memory.bundle.problems import Problem


def main(arguments: list[str] | None = None) -> int:
    """Check what the command line names and print what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m short_memory.bundle", description="Check an add-on.")
    parser.add_argument("path", type=Path, help="the add-on's folder, or a manifest")
    problems = _problems(parser.parse_args(arguments).path)
    for problem in problems:
        print(problem)  # noqa: T201 - a command's answer
    return 1 if problems else 0


def _problems(path: Path) -> tuple[Problem, ...]:
    if path.is_dir():
        return check_folder(path).problems
    raw = read_file(path.parent, path.name)
    return (raw,) if isinstance(raw, Problem) else check_manifest(raw, file=path.name).problems


if __name__ == "__main__":
    sys.exit(main())
