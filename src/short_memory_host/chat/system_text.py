"""What stands before a conversation: the host's words, the same for everybody, then the skills, then the block.

The order keeps prompt caches: the more often a part changes, the later it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from short_memory.bundle import Skill

SKILL_READ = "skill_read"
IDENTITY = (
    "You are the assistant of a private chat that runs on the person's own host. Answer in the person's language, "
    "briefly and honestly. If you do not know something, say so."
)
SKILLS = "Skills that fit this chat. Read a skill's text with skill_read before you use it for the first time:"
SAVING = (
    "You never save anything by yourself. After propose_change the person sees a card: say that you proposed a note, "
    "and that it is kept only when they confirm it there."
)


def system_text(block: str, skills: Sequence[Skill], *, proposes: bool) -> str:
    """Return the system message of a turn.

    Args:
        block: The notes' block, or an empty text.
        skills: The skills whose descriptions the turn may show (contract 8.4).
        proposes: Whether the turn offers propose_change: it names no tool that it does not offer.
    """
    parts = [IDENTITY]
    if skills:
        parts.append("\n".join([SKILLS, *(f"- {one.name}: {one.description}" for one in skills)]))
    if proposes:
        parts.append(SAVING)
    return "\n\n".join([*parts, block] if block else parts)


def skill_tool(skills: Sequence[Skill]) -> dict[str, Any]:
    """Return the tool that reads the body of a skill, in the wire format of function calling."""
    names = [one.name for one in skills]
    parameters = {
        "type": "object",
        "properties": {"name": {"type": "string", "enum": names}},
        "required": ["name"],
        "additionalProperties": False,
    }
    described = {"name": SKILL_READ, "description": "Read the text of a skill.", "parameters": parameters}
    return {"type": "function", "function": described}
