"""A whole add-on in its folder: the manifest and every file that it names.

Only what the manifest names is read, so the folder may hold other things, such as a repository around it. Nothing is
reached through a link. What only concerns the looks of an add-on is a problem for its author and a warning for a host.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from short_memory.bundle.manifest import check_manifest
from short_memory.bundle.page import render_page
from short_memory.bundle.problems import Problem
from short_memory.bundle.skills import check_skill

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from short_memory.bundle.manifest import Manifest
    from short_memory.bundle.skills import Skill

MANIFEST = "manifest.yaml"
READ_BYTES = 262144
ICON_PIXELS = (128, 512)
LOOKS = ("FLD-004", "FLD-005", "FLD-006", "PAG-")

_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


@dataclass(frozen=True, slots=True)
class CheckedFolder:
    """An add-on as it stands in its folder. With a problem it must not be run."""

    manifest: Manifest | None
    skills: tuple[Skill, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check_folder(folder: Path, *, host_api: int | None = None, features: Collection[str] = ()) -> CheckedFolder:
    """Check an add-on's folder; `host_api` and `features` are those of `check_manifest`."""
    raw = read_file(folder, MANIFEST)
    if isinstance(raw, Problem):
        return CheckedFolder(None, (), (raw,), ())
    checked = check_manifest(raw, host_api=host_api, features=features, file=MANIFEST)
    if checked.manifest is None:
        return CheckedFolder(None, (), checked.problems, checked.warnings)
    skills, found = _skills(folder, checked.manifest)
    found += [*_entry(folder, checked.manifest), *_icon(folder, checked.manifest), *_pages(folder, checked.manifest)]
    found += _undeclared(folder, checked.manifest)
    light = [each for each in found if host_api is not None and each.code.startswith(LOOKS)]
    heavy = [each for each in found if each not in light]
    return CheckedFolder(checked.manifest, tuple(skills), tuple(sorted(heavy)), (*checked.warnings, *sorted(light)))


def read_file(folder: Path, name: str) -> bytes | Problem:
    """Read a file of an add-on, or say why it is not read: it is missing, a link, not a file, or too big."""
    path = folder
    for part in PurePosixPath(name).parts:
        path /= part
        if path.is_symlink():
            return Problem(name, 1, "FLD-002", f"{part} is a link. Put the file itself there.")
    if not path.exists():
        return Problem(name, 1, "FLD-001", "This file is missing. Add it, or change what names it.")
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > READ_BYTES:
        return Problem(name, 1, "FLD-003", f"This is not a file of at most {READ_BYTES} bytes. Put one there.")
    return path.read_bytes()


def page_file(folder: Path, manifest: Manifest, language: str) -> str | None:
    """Choose the file of the page in a language, or in the manifest's own; None for an add-on without a page."""
    if manifest.page is None:
        return None
    for wanted in (language, language.partition("-")[0]):
        name = _translation(manifest.page.file, wanted)
        if wanted in manifest.languages[1:] and (folder / name).is_file():
            return name
    return manifest.page.file


def _translation(page: str, language: str) -> str:
    return f"{page.removesuffix('.md')}.{language}.md"


def _skills(folder: Path, manifest: Manifest) -> tuple[list[Skill], list[Problem]]:
    skills: list[Skill] = []
    problems: list[Problem] = []
    for name in manifest.skills:
        file = f"{name}/SKILL.md"
        raw = read_file(folder, file)
        if isinstance(raw, Problem):
            problems.append(raw)
            continue
        checked = check_skill(raw, file=file, tools=manifest.tools)
        problems += checked.problems
        skills += [checked.skill] if checked.skill else []
    return skills, problems


def _entry(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    # Its bytes are not looked at, so a program of any size will do.
    found = read_file(folder, manifest.executable.entry)
    if isinstance(found, Problem) and not (found.code == "FLD-003" and (folder / found.file).is_file()):
        yield found


def _icon(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    if manifest.icon is None:
        return
    raw = read_file(folder, manifest.icon)
    if isinstance(raw, Problem):
        yield raw
        return
    width, height = int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24])
    least, most = ICON_PIXELS
    if not raw.startswith(_PNG) or width != height or not least <= width <= most:
        yield Problem(manifest.icon, 1, "FLD-004", f"This is not a square PNG of {least} to {most} pixels. Draw one.")


def _pages(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    if manifest.page is None:
        return
    page = manifest.page
    translations = [_translation(page.file, language) for language in manifest.languages[1:]]
    for file in (page.file, *(name for name in translations if (folder / name).exists())):
        raw = read_file(folder, file)
        if isinstance(raw, Problem):
            yield raw
        else:
            yield from render_page(raw, file=file, places={place: f"#{place}" for place in page.opens}).problems


def _undeclared(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    """Find skills and translations that lie there and that no host would read."""
    for path in sorted(folder.glob("skills/*/SKILL.md")):
        if (name := f"skills/{path.parent.name}") not in manifest.skills:
            yield Problem(f"{name}/SKILL.md", 1, "FLD-005", f"No host reads this. Add {name} to capabilities.skills.")
    if manifest.page is None:
        return
    page = PurePosixPath(manifest.page.file)
    for path in sorted((folder / page.parent).glob(f"{page.stem}.*.md")):
        language = path.name.removeprefix(f"{page.stem}.").removesuffix(".md")
        if language not in manifest.languages[1:]:
            words = f"No host reads this. Add {language} to languages, after the language of {page.name}."
            yield Problem(f"{page.parent}/{path.name}", 1, "FLD-006", words)
