"""The built-in model's own program: llama.cpp's server in a process that the host starts and watches.

    python -m short_memory_host.builtin_model.child MODEL THREADS FOLDER

The key is the first line of stdin, so that neither the list of processes nor the environment shows it. The answer is
one line of JSON on stdout, `{"port": 1234}` or `{"problem": "why it could not start"}`. When stdin ends, so does the
program: a host that dies takes its model with it. It is a process and not a thread because the server holds Python's
lock for seconds while it loads, and because a running answer can be given up only by closing its connection.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Final

CONTEXT_TOKENS: Final = 12288  # both slots together
SLOTS: Final = 2  # the guided step's decision and the answer, so that each keeps its prefix


def parameters(
    xllamacpp: Any,  # noqa: ANN401 - it has no types
    model: str,
    *,
    threads: int,
    folder: str,
    api_key: str,
) -> Any:  # noqa: ANN401 - it has no types
    """Return the server's settings: loopback, a free port, no network, no page of its own.

    What a slot has read is saved into `folder` and restored from there when the host asks.
    """
    chosen = xllamacpp.CommonParams()
    chosen.model.path, chosen.api_keys = model, [api_key]
    chosen.hostnames, chosen.port = ["127.0.0.1"], 0
    chosen.ui, chosen.offline, chosen.endpoint_slots, chosen.verbosity = False, True, False, 0
    chosen.n_ctx, chosen.n_parallel, chosen.n_gpu_layers = CONTEXT_TOKENS, SLOTS, 0
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = threads
    chosen.slot_save_path = f"{folder}/"
    # Together they save 0.6 GB: no store of old prompts, and the weights stay as they lie in the file.
    chosen.cache_ram_mib, chosen.no_extra_bufts = 0, True
    return chosen


def serve(model: str, *, threads: int, folder: str, api_key: str) -> tuple[Any, dict[str, object]]:
    """Start the server and return it (it lives as long as it is held) with what the host is told."""
    try:
        import xllamacpp  # noqa: PLC0415 - its absence is an answer, not a crash

        server = xllamacpp.Server(parameters(xllamacpp, model, threads=threads, folder=folder, api_key=api_key))
        return server, {"port": int(server.listening_address.rsplit(":", 1)[1])}
    except ImportError:
        return None, {"problem": "no-runtime"}
    except Exception as error:  # noqa: BLE001 - the binding raises RuntimeError and others; the host shows the sentence
        return None, {"problem": str(error) or type(error).__name__}


def main() -> None:
    """Serve until stdin ends."""
    # What the server itself prints must not stand between the host and its one line.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    model, threads, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    api_key = sys.stdin.readline().strip()
    server, told = serve(model, threads=threads, folder=folder, api_key=api_key)
    print(json.dumps(told), file=answers, flush=True)
    if server is not None:
        sys.stdin.read()
    # The server's threads have nothing to put in order; waiting for them would only delay the host's end.
    os._exit(0 if server is not None else 1)


if __name__ == "__main__":
    main()
