"""The add-on that comes with the host, as far as one person agreed to it."""

from short_memory.access import AddonGrant
from short_memory.bundle import Skill
from short_memory_host.web.held import Held


def enable_for_new(host: Held, person: str) -> None:
    """Enable the add-on for a person who never decided about one; the page that follows says so and how to stop it."""
    if host.granting.of(person).addons:
        return
    manifest = host.addon.addon.manifest
    host.granting.enable(
        person, AddonGrant(manifest.id, on=True, digest=manifest.capabilities_digest, files=manifest.context_files)
    )


def agreed_skills(host: Held, person: str) -> tuple[Skill, ...]:
    """Return the skills of the add-on; none while it asks for more than the person agreed to (contract 8.1)."""
    addon = host.addon.addon
    agreed = {one.id: one.digest for one in host.granting.of(person).addons}
    return addon.skills if agreed.get(addon.manifest.id) == addon.manifest.capabilities_digest else ()
