"""The program of an add-on, for the one verb that needs it: started as the host starts it, and killed once it runs.

The kit asks for hundreds of installs and for one death, so a program is started when it is to die. What a turn reads
never asks for the program (contract 8.3), whenever it was started.
"""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from short_memory_host.addon_program import FaultError, end, launch, shake_hands
from short_memory_host.conformance.request import RequestError

if TYPE_CHECKING:
    from short_memory_host.addons import Addon


def kill(addon: Addon) -> int:
    """Start the program of an add-on, wait until it runs, kill it, and return the exit status it died with.

    Raises:
        RequestError: It does not come to run; the code is that of the fault.
        OSError: The system starts no further process.
    """
    return asyncio.run(_kill(addon))


async def _kill(addon: Addon) -> int:
    executable = addon.manifest.executable
    process = await launch(addon.folder, addon.manifest)
    try:
        async with asyncio.timeout(executable.start_s):
            await shake_hands(process, addon.manifest)
        process.send_signal(signal.SIGKILL)
        return await process.wait()
    except FaultError as error:
        raise RequestError(error.fault.code, error.fault.text) from error
    except TimeoutError as error:
        raise RequestError("RUN-004", f"The program gave no answer in {executable.start_s} s.") from error
    finally:
        await end(process, patience_s=executable.stop_s)
