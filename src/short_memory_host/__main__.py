"""`python -m short_memory_host` is `short-memory`."""

import sys

from short_memory_host.cli import main

if __name__ == "__main__":
    sys.exit(main())
