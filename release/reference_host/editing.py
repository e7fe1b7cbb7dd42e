"""From what a model asked for to the whole text of each file, in the reference host (contract 6.2, 6.4, 6.10).

The same steps run when a proposal is made and when its card is drawn again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from release.reference_host import text_rules
from release.reference_host.reading import ENTRY
from release.reference_host.world import Edit, RefusalError, lines

if TYPE_CHECKING:
    from release.reference_host.gates import Scope
    from release.reference_host.world import Chat, World

INDEX = "index.md"
TOPIC_LINES = 64
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\.md")
_UNDATED = re.compile(r"- (?!\d{4}-\d{2}-\d{2}: )")
_SHAPES = ({"file", "text"}, {"file", "old", "new"})
_ENDED = 1


def checked(world: World, edits: object) -> list[dict[str, Any]]:
    """Return the edits with the day put in, or refuse what is no edit."""
    if not isinstance(edits, list) or not edits:
        raise RefusalError("bad-arguments", "`edits` is a list of at least one edit.")
    for edit in edits:
        if not _is_edit(world, edit):
            raise RefusalError("bad-arguments", "An edit is `file` and `text`, or `file`, `old` and `new`.")
        if not _FILE.fullmatch(edit["file"]) and not world.broken("any-file"):
            raise RefusalError("bad-file", "A file is index.md or the file of a topic, such as food.md.")
    return [_dated(world, edit) for edit in edits]


def drawn(world: World, chat: Chat, scope: Scope, asked: list[dict[str, Any]]) -> list[Edit]:
    """Work out the whole text of each file, checked, with the index completed."""
    texts: dict[str, str | None] = {}
    for edit in asked:
        present = texts.get(edit["file"], world.text(chat.owner, f"{scope.folder}/{edit['file']}"))
        texts[edit["file"]] = _applied(world, edit, present)
    _complete(world, chat, scope, texts)
    for file, text in texts.items():
        if text is not None:
            present = world.text(chat.owner, f"{scope.folder}/{file}") or ""
            text_rules.check(world, file, text)
            texts[file] = _within_cap(world, scope, file, text, present)
    return [
        Edit(f"{scope.folder}/{file}", text, world.text(chat.owner, f"{scope.folder}/{file}"))
        for file, text in texts.items()
    ]


def completed(world: World, chat: Chat, scope: Scope, texts: dict[str, str | None]) -> None:
    """Add the index entry of each new topic, and take out the entry of each deleted one."""
    index = texts.get(INDEX, world.text(chat.owner, scope.index)) or ""
    wanted = index
    for file, text in texts.items():
        if file == INDEX:
            continue
        served = [line for line in lines(wanted) if (entry := ENTRY.fullmatch(line)) and entry[2] == file]
        new = world.text(chat.owner, f"{scope.folder}/{file}") is None
        if text is None and not world.broken("entry-left"):
            wanted = "".join(f"{line}\n" for line in lines(wanted) if line not in served)
        elif text is not None and new and not served and not world.broken("entry-missing"):
            wanted = _with_line(wanted, f"- {file.removesuffix('.md')}: {_gist(text)} -> {file}")
    if wanted != index:
        texts[INDEX] = wanted


def _complete(world: World, chat: Chat, scope: Scope, texts: dict[str, str | None]) -> None:
    if not world.broken("entry-unseen"):
        completed(world, chat, scope, texts)


def _is_edit(world: World, edit: object) -> bool:
    if not isinstance(edit, dict):
        return False
    shape = set(edit)
    if world.broken("any-arguments") and {"file", "text"} <= shape:
        return edit["text"] is None or isinstance(edit["text"], str)
    if shape not in _SHAPES or not isinstance(edit["file"], str):
        return False
    values = [edit[key] for key in shape - {"file"}]
    return all(isinstance(value, str) for value in values) or (shape == _SHAPES[0] and values == [None])


def _dated(world: World, edit: dict[str, Any]) -> dict[str, Any]:
    appended = edit.get("old") == "" and edit["file"] != INDEX
    if not appended or not _UNDATED.match(edit["new"]) or world.broken("undated"):
        return edit
    return {**edit, "new": f"- {world.now.date().isoformat()}: {edit['new'][2:]}", "undated": edit["new"]}


def _applied(world: World, edit: dict[str, Any], present: str | None) -> str | None:
    if "text" in edit:
        return "" if edit["text"] is None and world.broken("null-empties") else edit["text"]
    text = present or ""
    if edit["old"] == "":
        glued = text + edit["new"] if world.broken("append-glued") else _with_line(text, edit["new"])
        return glued.removesuffix("\n") + "\n"
    places = text.count(edit["old"])
    if places != _ENDED and not (places and world.broken("replace-all")):
        shown = "" if world.broken("match-untold") else f" {edit['file']} now:\n{text}"
        raise RefusalError("no-match", f"`old` stands {places} times; it must stand once.{shown}")
    return text.replace(edit["old"], edit["new"])


def _with_line(text: str, line: str) -> str:
    ended = text if not text or text.endswith("\n") else text + "\n"
    return ended + line.removesuffix("\n") + "\n"


def _gist(text: str) -> str:
    first = next((line for line in lines(text) if line.startswith("- ")), "- notes")
    return re.sub(r"^- (\d{4}-\d{2}-\d{2}: )?", "", first)[:80].strip()


def _within_cap(world: World, scope: Scope, file: str, text: str, present: str) -> str:
    most_lines, most_bytes = scope.file.cap.lines, scope.file.cap.bytes
    if file != INDEX:
        most_lines, most_bytes = TOPIC_LINES, scope.file.topic_bytes
    counted = text.removeprefix(present) if world.broken("cap-of-the-new") else text
    size = len(counted) if world.broken("cap-chars") else len(counted.encode())
    if (len(lines(counted)) <= most_lines and size <= most_bytes) or world.broken("no-cap"):
        return text
    if world.broken("cap-clips"):
        return "".join(f"{line}\n" for line in lines(text)[:most_lines])[:most_bytes]
    now = [] if world.broken("entries-unsaid") else lines(present)
    words = f"{file} would have {len(lines(text))} lines and {size} bytes; at most {most_lines} and {most_bytes}."
    raise RefusalError("over-cap", words + " It now has:\n" + "\n".join(now), entries=now)
