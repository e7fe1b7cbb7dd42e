"""The add-on that comes with the host, for somebody who comes in for the first time."""

from short_memory.access import AddonGrant
from short_memory_host.web.held import Held


def enable_for_new(host: Held, person: str) -> None:
    """Enable the add-on for a person who never decided about one; the page that follows says so and how to stop it."""
    if host.granting.of(person).addons:
        return
    manifest = host.addon.addon.manifest
    host.granting.enable(
        person, AddonGrant(manifest.id, on=True, digest=manifest.capabilities_digest, files=manifest.context_files)
    )
