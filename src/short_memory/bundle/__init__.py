"""An add-on as its author ships it: manifest, skills and page, checked before anything of it is used.

Problems are collected as values, so that an author sees all of them in one run. Importing this reads no YAML and no
schema yet; the first check does.
"""

from short_memory.bundle.digest import capabilities_digest
from short_memory.bundle.folder import CheckedFolder, check_folder, page_file, read_file
from short_memory.bundle.manifest import CheckedManifest, Executable, Manifest, Page, check_manifest
from short_memory.bundle.page import RenderedPage, render_page
from short_memory.bundle.places import shared_places
from short_memory.bundle.problems import Problem
from short_memory.bundle.python_versions import runs_on
from short_memory.bundle.skills import CheckedSkill, Skill, check_skill

__all__ = [
    "CheckedFolder",
    "CheckedManifest",
    "CheckedSkill",
    "Executable",
    "Manifest",
    "Page",
    "Problem",
    "RenderedPage",
    "Skill",
    "capabilities_digest",
    "check_folder",
    "check_manifest",
    "check_skill",
    "page_file",
    "read_file",
    "render_page",
    "runs_on",
    "shared_places",
]
