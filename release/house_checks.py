"""The house's own checks, beside those of the tools: modules and tests, error codes and tables, names and documents.

Each check gives its problems as lines. What a check looks at stands in a table here, and a new surface or a new kind of
name is one row.
"""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Where the tests of a folder lie.
MIRRORS = (
    ("src/short_memory", "tests/engine"),
    ("src/short_memory_host", "tests/host"),
    ("addon/short_memory_addon", "tests/addon"),
)
# Modules and folders without test files of their own, and why.
EXEMPT = {
    "src/short_memory_host/conformance": "tests/release/test_host_conformance.py runs every case through it",
    "src/short_memory_host/__main__.py": "one line that calls cli.main; every journey starts it",
}
# The table of each surface that translates the codes of `short_memory.errors`: module, name.
ERROR_TABLES = (("short_memory_host.web.errors", "ENGINE_STATUS"),)
DOCUMENTS = ("README.md", "docs/*.md")


@dataclass(frozen=True, slots=True)
class Named:
    """A kind of name that people type or see, and where the names are collected from."""

    kind: str
    collect: Callable[[Path], list[str]]


def untested_modules(root: Path) -> Iterator[str]:
    """Find modules that have no test file, and exemptions of modules that are not there."""
    for module in sorted({path for folder, _ in MIRRORS for path in (root / folder).rglob("*.py")}):
        name = module.relative_to(root).as_posix()
        if not _says_something(module) or any(name == each or name.startswith(f"{each}/") for each in EXEMPT):
            continue
        wanted = _test_files(name)
        if not any((root / each).exists() for each in wanted):
            yield f"{name}: no test file. Write {wanted[0]}, or name the module in EXEMPT of release/house_checks.py."
    for name in EXEMPT:
        if not (root / name).exists():
            yield f"release/house_checks.py: EXEMPT names {name}, which is not there. Take it out."


def untranslated_codes(tables: tuple[tuple[str, str], ...] = ERROR_TABLES) -> Iterator[str]:
    """Find codes of the engine that a surface's table lacks, and codes of the table that the engine does not have."""
    errors = importlib.import_module("short_memory.errors")
    codes = {kind.code for kind in errors.every()}
    for module, name in tables:
        table = getattr(importlib.import_module(module), name)
        listed = {getattr(key, "code", key) for key in table}
        for code in sorted(codes - listed):
            yield f"{module}.{name}: {code} is missing. Say what this surface makes of it."
        for code in sorted(listed - codes):
            yield f"{module}.{name}: {code} is no code of short_memory.errors. Take it out."


def undocumented_names(root: Path) -> Iterator[str]:
    """Find settings, commands, options and tools that no document names."""
    text = "\n".join(path.read_text(encoding="utf-8") for pattern in DOCUMENTS for path in sorted(root.glob(pattern)))
    for named in NAMES:
        for name in named.collect(root):
            if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
                yield f"docs: the {named.kind} {name} stands in no document. Name it in docs/ or in the README."


def settings(root: Path) -> list[str]:
    """Return the variables of the environment that the host reads: the annotated fields of its settings."""
    tree = ast.parse((root / "src/short_memory_host/settings.py").read_text(encoding="utf-8"))
    fields = [
        statement.target.id
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "Settings"
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]
    return [f"SHORT_MEMORY_{field.upper()}" for field in fields]


def commands(root: Path) -> list[str]:
    """Return the commands and the options of the command line."""
    found = []
    for node in ast.walk(ast.parse((root / "src/short_memory_host/cli.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            found += _parsed(node.func.attr, node.args)
    return sorted(set(found))


def tools(_root: Path) -> list[str]:
    """Return the names of the tools that a turn may offer."""
    schemas = importlib.import_module("short_memory.tools").SCHEMAS
    return sorted(schemas)


NAMES = (Named("setting", settings), Named("command or option", commands), Named("tool", tools))


def _says_something(module: Path) -> bool:
    """Say whether a module has code to test: an `__init__.py` may hold words and imports alone."""
    body = ast.parse(module.read_text(encoding="utf-8")).body
    return module.name != "__init__.py" or any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in body)


def _test_files(module: str) -> list[str]:
    """Return where the tests of a module may lie: in its own file, or in one file of its package."""
    for source, tests in MIRRORS:
        inside = module.removeprefix(f"{source}/")
        if inside == module:
            continue
        folder, _, name = inside.rpartition("/")
        stem = folder.rpartition("/")[2] if name == "__init__.py" else name.removesuffix(".py")
        own = "/".join(part for part in (tests, folder, f"test_{stem}.py") if part)
        return [own, f"{tests}/test_{folder.replace('/', '_')}.py"] if folder else [own]
    raise KeyError(module)


def _parsed(method: str, arguments: list[ast.expr]) -> list[str]:
    names = [each.value for each in arguments if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if method == "add_parser":
        return names[:1]
    return [name for name in names if name.startswith("--")] if method == "add_argument" else []
