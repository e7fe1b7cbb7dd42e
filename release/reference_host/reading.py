"""context_read and the bodies of skills in the reference host (contract 5, 8.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from release.reference_host.addons import skills
from release.reference_host.block import escape, sections
from release.reference_host.gates import has_any
from release.reference_host.world import RefusalError

if TYPE_CHECKING:
    from release.reference_host.block import Section
    from release.reference_host.world import Chat, World

MOST = 8
ENTRY = re.compile(r"- ([a-z0-9-]{1,32}): .* -> ([A-Za-z0-9_][A-Za-z0-9._-]*\.md)")
_LOOSE = re.compile(r".*?([A-Za-z0-9-]+): .* -> (.*)")


@dataclass(frozen=True, slots=True)
class Topic:
    """A line of the turn that serves a topic."""

    kind: str
    name: str
    path: str


def read(world: World, chat: Chat, *, topic: object) -> dict[str, Any]:
    """Give the topics asked for, or one and the same refusal."""
    known = _topics(world, chat)
    found: list[Topic] = []
    for name in _names(world, topic):
        served = [each for each in known if name in (each.name, f"{each.kind}/{each.name}")]
        if not served:
            return _unlisted(world, chat, name, known)
        found += served[:1] if world.broken("read-first") else served
    labelled = len(found) > 1 and not world.broken("read-unlabelled")
    parts = [(f"[{each.kind}] {each.name}\n" if labelled else "") + _body(world, chat, each) for each in found]
    return {"text": "\n".join(parts)}


def described_skills(world: World, chat: Chat) -> list[dict[str, str]]:
    """Return the skills whose descriptions stand in the prompt of a turn."""
    if not has_any(world, chat) and not world.broken("skills-everywhere"):
        return []
    return [
        {"name": skill["name"], "description": skill["description"]}
        for (owner, _), addon in world.addons.items()
        if owner == chat.owner
        for skill in skills(addon.manifest)
    ]


def skill_body(world: World, chat: Chat, name: str) -> dict[str, Any]:
    """Give the body of a skill in a turn where its add-on may read or propose."""
    if has_any(world, chat) or world.broken("skill-bodies-everywhere"):
        for (owner, _), addon in world.addons.items():
            for skill in skills(addon.manifest):
                if owner == chat.owner and skill["name"] == name:
                    return {"text": skill["body"]}
    raise RefusalError("no-skill", "No such skill here.")


def _names(world: World, topic: object) -> list[str]:
    names = [topic] if isinstance(topic, str) else topic
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise RefusalError("bad-arguments", "`topic` is a name, or a list of at most 8 names.")
    most = 1 if world.broken("read-one-only") else MOST
    if len(names) > most and not world.broken("read-nine"):
        raise RefusalError("bad-arguments", f"{len(names)} topics were asked for; at most {most} at once.")
    return names


def _topics(world: World, chat: Chat) -> list[Topic]:
    grammar = _LOOSE if world.broken("loose-entries") else ENTRY
    return [
        Topic(section.scope.kind, entry[1], f"{_folder(world, section)}/{entry[2]}")
        for section in sections(world, chat)
        for line in section.kept
        if (entry := grammar.fullmatch(line))
    ]


def _folder(world: World, section: Section) -> str:
    return "Memory" if world.broken("other-folder") else section.scope.folder


def _body(world: World, chat: Chat, topic: Topic) -> str:
    text = world.text(chat.owner, topic.path)
    if text is None:
        return "(this topic has no file yet)\n"
    return text if world.broken("template-read") else escape(world, text)


def _unlisted(world: World, chat: Chat, name: str, known: list[Topic]) -> dict[str, Any]:
    text = world.text(chat.owner, f"Memory/{name}.md")
    if text is not None and world.broken("read-any-file"):
        return {"text": text}
    if text is not None and world.broken("oracle"):
        raise RefusalError("no-topic", "You may not read that topic.")
    names = "" if world.broken("topics-unsaid") else ", ".join(dict.fromkeys(each.name for each in known))
    raise RefusalError("no-topic", f"No such topic here. Topics: {names or 'none'}.")
