#!/usr/bin/env python3
"""The one door for people who have the repository: brings hatch and hands over to hatch's environments.

Standard library only, so that a fresh machine with Python 3.11 and git is enough.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
SUFFIX = ".exe" if os.name == "nt" else ""
PYTHON, UV, HATCH = (BIN / (name + SUFFIX) for name in ("python", "uv", "hatch"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

HELP = (
    "up: run the host (up --help has its options); test: run every test, or those named after it; check: format, lint, "
    "types, imports, cases; bench: measure beside floors; adapter: the host's conformance adapter"
)

# command -> (hatch environment, what its Python is given)
COMMANDS = {
    "up": ("up", ["-m", "short_memory_host"]),
    "adapter": ("default", ["-m", "short_memory_host.conformance"]),
    "bench": ("default", ["-m", "bench"]),
    "test": ("default", ["-m", "pytest"]),
}


def say(text: str) -> None:
    """Tell the person on stderr: stdout belongs to what runs (the adapter speaks JSON there)."""
    print(text, file=sys.stderr, flush=True)


def environment() -> dict[str, str]:
    """Return the environment for hatch: its own folders in `.venv`, and nothing of an activated environment."""
    foreign = {"HATCH_ENV", "HATCH_ENV_ACTIVE", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME"}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return kept | {
        "SHORT_MEMORY_COMMAND": "python3 dev.py up",
        "HATCH_DATA_DIR": str(VENV / "hatch"),
        "HATCH_CACHE_DIR": str(VENV / "hatch-cache"),
        "HATCH_ENV_TYPE_VIRTUAL_UV_PATH": str(UV),
    }


def bring_hatch() -> None:
    """Make `.venv` with uv and hatch, unless a whole one is there."""
    if HATCH.exists() and UV.exists():
        return
    say("First run: bringing the build tools (half a minute) …")
    shutil.rmtree(VENV, ignore_errors=True)
    venv.create(VENV, with_pip=True, symlinks=os.name != "nt")
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([PYTHON, "-m", "pip", "install", *quiet, "uv>=0.9"], check=True, stdout=sys.stderr)
    subprocess.run([UV, "pip", "install", "--quiet", "--python", PYTHON, "hatch>=1.16"], check=True, stdout=sys.stderr)


def interpreter(name: str, env: dict[str, str]) -> Path:
    """Bring a hatch environment up to date and return its Python."""
    subprocess.run([HATCH, "-q", "run", f"{name}:python", "-V"], env=env, check=True, stdout=subprocess.DEVNULL)
    found = subprocess.run([HATCH, "env", "find", name], env=env, check=True, stdout=subprocess.PIPE, text=True)
    return Path(found.stdout.strip()) / BIN.name / ("python" + SUFFIX)


def bring_debian(packages: dict[str, tuple[str, ...]]) -> None:
    """Install the Debian packages whose programs are missing, where this process may.

    Args:
        packages: package -> the programs of which one is enough.
    """
    missing = [package for package, programs in packages.items() if not any(map(shutil.which, programs))]
    if not missing:
        return
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        say(f"Installing {', '.join(missing)} for the tests …")
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=True, stdout=sys.stderr, env=quiet)  # noqa: S607 - PATH decides
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]
        subprocess.run(install, check=True, stdout=sys.stderr, env=quiet)
        return
    sys.exit(f"The tests need {', '.join(missing)}. Install them and run this again.")


def main() -> None:
    """Run one command; what stands after it is handed on."""
    parser = argparse.ArgumentParser(description=__doc__, epilog="Arguments after the command are handed on.")
    parser.add_argument("command", choices=[*COMMANDS, "check"], help=HELP)
    asked, rest = parser.parse_args(sys.argv[1:2]), sys.argv[2:]
    bring_hatch()
    env = environment()
    os.chdir(ROOT)
    if asked.command == "check":
        sys.exit(subprocess.run([HATCH, "run", "check", *rest], env=env, check=False).returncode)
    if asked.command == "test":
        bring_debian({"chromium": BROWSERS, "git": ("git",), "strace": ("strace",)})
    name, arguments = COMMANDS[asked.command]
    python = interpreter(name, env)
    command = [str(python), *arguments, *rest]
    if os.name == "nt":
        sys.exit(subprocess.call(command, env=env))
    os.execve(python, command, env)  # noqa: S606 - signals reach the server itself


if __name__ == "__main__":
    main()
