"""A reference host of add-on API 2: in memory, behind the adapter protocol, with faults that can be put in.

It stands for any host, not for ours: it shares no rule with the engine but the manifest's checker. That the kit finds
every fault in `faults.py` shows that the cases see the clause that the fault breaks.
"""

from release.reference_host.verbs import ReferenceHost

__all__ = ["ReferenceHost"]
