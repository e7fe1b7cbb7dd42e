"""The add-on that comes with the host, as far as one person agreed to it."""

from short_memory.bundle import Skill
from short_memory_host.addons import granted
from short_memory_host.web.held import Held


def enable_for_new(host: Held, person: str) -> None:
    """Enable the add-on for a person who never decided about one; the page that follows says so and how to stop it."""
    if host.granting.of(person).addons:
        return
    host.granting.enable(person, granted(host.addon.addon.manifest, on=True))


def agreed_skills(host: Held, person: str) -> tuple[Skill, ...]:
    """Return the skills of the add-on; none while it asks for more than the person agreed to (contract 8.1)."""
    addon = host.addon.addon
    agreed = host.granting.of(person).addon(addon.manifest.id)
    return addon.skills if agreed is not None and agreed.digest == addon.manifest.capabilities_digest else ()
