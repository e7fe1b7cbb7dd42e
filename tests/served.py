"""The host as its command serves it, on a port of this machine, for tests with a real browser."""

import threading

from short_memory_host import cli


class Served(cli.Server):
    """Says when it is there."""

    def __init__(self, app, settings):
        super().__init__(app, settings)
        self.there = threading.Event()

    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.there.set()
