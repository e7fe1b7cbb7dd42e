"""A skill: a text for the model, in the form of Agent Skills, checked more strictly than that form asks.

The description stands in the prompt and so names no tool (contract 8.4): a turn must not hear of a tool that it does
not offer. The front matter is what every reader of the form understands alike: the reference one takes the first `---`
for its end, even inside a value, reads no brackets, and takes every value for text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from short_memory.bundle.hidden import hidden_characters
from short_memory.bundle.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from short_memory.bundle.yaml_subset import Document

BYTES = 65536
BODY_LINES = 500
DESCRIPTION_CHARACTERS = 1024
COMPATIBILITY_CHARACTERS = 500
FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")

_FENCE = "---"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# Tools have such names everywhere; an ordinary word of a description has not.
_TOOL = re.compile(r"\w+_\w+")
_NAME_CHARACTERS = 64
_CODES = {
    "name": "SKL-006",
    "description": "SKL-007",
    "license": "SKL-008",
    "compatibility": "SKL-008",
    "allowed-tools": "SKL-008",
    "metadata": "SKL-008",
}


@dataclass(frozen=True, slots=True)
class Skill:
    """What the model may read: the description in the prompt, the body when it asks for it."""

    name: str
    description: str
    body: str
    file: str


@dataclass(frozen=True, slots=True)
class CheckedSkill:
    """A skill if it has no problem."""

    skill: Skill | None
    problems: tuple[Problem, ...]


def check_skill(raw: bytes, *, file: str, tools: Collection[str] = ()) -> CheckedSkill:
    """Check a `SKILL.md`.

    Args:
        raw: The bytes of the file.
        file: Its path in the add-on's folder; the folder it lies in is the name the skill must have.
        tools: Names of tools besides those that look like one, which its description may not hold.

    """
    text = _text(raw, file)
    parts = text if isinstance(text, Problem) else _parts(text, file)
    if isinstance(parts, Problem):
        return CheckedSkill(None, (parts,))
    document, body = parts
    hidden = hidden_characters(raw.decode(), file=file, code="SKL-004")
    problems = sorted({*_problems(document, file, tools), *_body_problems(body, file), *hidden})
    if problems:
        return CheckedSkill(None, tuple(problems))
    description = " ".join(document.value["description"].split())
    return CheckedSkill(Skill(document.value["name"], description, body, file), ())


def _text(raw: bytes, file: str) -> str | Problem:
    if len(raw) > BYTES:
        return Problem(file, 1, "SKL-001", f"This has {len(raw)} bytes; at most {BYTES} are read. Shorten it.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return Problem(file, line, "SKL-002", f"Byte {error.start} is not UTF-8. Save the file as UTF-8.")


def _parts(text: str, file: str) -> tuple[Document, str] | Problem:
    """Part the front matter from the body."""
    from short_memory.bundle.yaml_subset import read_yaml  # noqa: PLC0415 - only whoever reads an add-on pays for it

    lines = text.split("\n")
    if lines[0] != _FENCE or _FENCE not in lines[1:]:
        return Problem(file, 1, "SKL-003", "There is no front matter. Begin with a line --- and end it with another.")
    end = lines.index(_FENCE, 1)
    for number, line in enumerate(lines[1:end], 2):
        if _FENCE in line:
            return Problem(file, number, "SKL-003", "Some readers take --- for the end. Take it out of the value.")
    document = read_yaml("\n".join(lines[1:end]).encode(), file=file, first_line=2, flow=False)
    return document if isinstance(document, Problem) else (document, "\n".join(lines[end + 1 :]).strip() + "\n")


def _problems(document: Document, file: str, tools: Collection[str]) -> Iterator[Problem]:
    for key in document.value:
        if key not in FIELDS:
            words = f"{key} is not a field of a skill. Known here: {', '.join(FIELDS)}."
            yield Problem(file, document.line((key,)), "SKL-005", words)
    for key, words in (*_name(document, file), *_description(document, tools), *_rest(document)):
        yield Problem(file, document.line((key,)), _CODES[key], words)


def _name(document: Document, file: str) -> Iterator[tuple[str, str]]:
    folder, name = PurePosixPath(file).parent.name, document.value.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > _NAME_CHARACTERS:
        words = f"The name is not 1 to {_NAME_CHARACTERS} of a-z, 0-9 and single hyphens."
        yield "name", f"{words} Write the folder's name: {folder}."
    elif name != folder:
        yield "name", f"The name is {name} and the folder is {folder}. Give both the same name."


def _description(document: Document, tools: Collection[str]) -> Iterator[tuple[str, str]]:
    text = document.value.get("description")
    if not isinstance(text, str) or not text.strip() or len(text) > DESCRIPTION_CHARACTERS:
        length = f"{len(text)} characters" if isinstance(text, str) else "no text"
        yield "description", f"The description has {length}. Write 1 to {DESCRIPTION_CHARACTERS} characters."
        return
    if "\n" in text.strip():
        yield "description", "The description has several paragraphs. Write one, for example after >-."
    if "<" in text or ">" in text:
        yield "description", "The description holds < or >, which could pass for a tag in a prompt. Write words."
    named = sorted({*_TOOL.findall(text), *(tool for tool in tools if re.search(rf"\b{re.escape(tool)}\b", text))})
    if named:
        yield "description", f"The description names {', '.join(named)}. Tools belong into the body (contract 8.4)."


def _rest(document: Document) -> Iterator[tuple[str, str]]:
    for key in ("license", "compatibility", "allowed-tools"):
        value = document.value.get(key, "-")
        if not isinstance(value, str) or not value.strip() or len(value) > COMPATIBILITY_CHARACTERS:
            yield key, f"{key} is not a text of 1 to {COMPATIBILITY_CHARACTERS} characters. Write one, or leave it out."
    metadata: Any = document.value.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        yield "metadata", 'metadata is not a list of names with a text each. Write key: "value" lines.'


def _body_problems(body: str, file: str) -> Iterator[Problem]:
    if not body.strip():
        yield Problem(file, 1, "SKL-009", "The skill has no body. Write below the front matter what to do.")
    if (lines := body.count("\n")) > BODY_LINES:
        yield Problem(file, 1, "SKL-009", f"The body has {lines} lines; at most {BODY_LINES}. Shorten it.")
