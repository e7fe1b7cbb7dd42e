"""How often the guided step decides right, and how long it takes.

    python -m bench.guided --model FILE.gguf [--half development|held-out|both] [--json FILE] [--threads N]
    python -m bench.guided --base-url URL --key KEY --name MODEL ...

The figures in docs/models.md come from this program. The held-out half is for reporting, not for fitting.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.guided_cases import DEVELOPMENT, HELD_OUT, Case
from short_memory_host import guided
from short_memory_host.builtin_model.running import default_threads
from short_memory_host.upstream import BUILT_IN, Upstream, Upstreams

if TYPE_CHECKING:
    from collections.abc import Iterator

HALVES = {"development": DEVELOPMENT, "held-out": HELD_OUT}
KINDS = {"context_read": "read", "propose_change": "propose"}


@dataclass(frozen=True, slots=True)
class Result:
    """What happened on one case."""

    half: str
    language: str
    right: str
    text: str
    did: str
    arguments: str
    is_right: bool
    seconds: float


def situation(case: Case) -> guided.Situation:
    """Return the case as the chat's loop would ask it."""
    offer = case.offer or ()
    return guided.Situation(
        topics=tuple(guided.Topic("user", name, gist) for name, gist in case.notes.items()),
        may_read=bool(case.notes),
        may_propose=("user",),
        previous=tuple(zip(("user", "assistant"), offer, strict=False)),
        text=case.text,
    )


def is_right(case: Case, did: str, arguments: str) -> bool:
    """Say whether the decision is one of those that are right, on the right topic or with the right fact."""
    if did not in case.right.split("|"):
        return False
    given = json.loads(arguments)
    if did == "read":
        return not case.topics or bool(set(given["topic"]) & set(case.topics))
    if did == "propose":
        return any(word.lower() in given["edits"][0]["new"].lower() for word in case.words)
    return True


async def measure(upstream: Upstream, halves: list[str]) -> list[Result]:
    """Run every case of the halves, one after the other."""
    upstreams, results = Upstreams(), []
    began = time.perf_counter()
    await guided.warm_up(upstreams, upstream)
    print(f"prompt read in {time.perf_counter() - began:.1f} s")
    for half in halves:
        for case in HALVES[half]:
            began = time.perf_counter()
            call = await guided.next_call(upstreams, upstream, situation(case))
            seconds = time.perf_counter() - began
            did, arguments = (KINDS[call.name], call.arguments) if call else ("reply", "{}")
            right = is_right(case, did, arguments)
            results.append(Result(half, case.language, case.right, case.text, did, arguments, right, round(seconds, 2)))
            mark = "ok   " if right else "WRONG"
            print(
                f"{mark} {seconds:5.1f} s {case.language} {case.right:13} {case.text[:48]:48} {arguments}", flush=True
            )
    await upstreams.close()
    return results


def table(results: list[Result]) -> str:
    """Return the figures as a Markdown table: right of all, by half, kind and language."""
    lines = ["| half | which | right | of | median s |", "|---|---|---|---|---|"]
    for half in HALVES:
        ours = [one for one in results if one.half == half]
        groups = Counter(["all"] * len(ours) + [one.right for one in ours] + [one.language for one in ours])
        for group, count in groups.items():
            some = [one for one in ours if group in ("all", one.right, one.language)]
            took = median(one.seconds for one in some)
            lines.append(f"| {half} | {group} | {sum(one.is_right for one in some)} | {count} | {took:.1f} |")
    return "\n".join(lines)


@contextmanager
def served(model: Path, threads: int) -> Iterator[Upstream]:
    """Serve a model file as the host does, for the time of the measurement."""
    key = secrets.token_urlsafe(16)
    command = [sys.executable, "-m", "short_memory_host.builtin_model.child", str(model), str(threads)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(f"{key}\n")
        child.stdin.flush()
        told = json.loads(child.stdout.readline())
        yield Upstream(
            id=BUILT_IN,
            name=model.name,
            base_url=f"http://127.0.0.1:{told['port']}/v1",
            api_key=key,
            model="built-in",
            local=True,
            may_see_notes=False,
            tools="guided",
        )
        child.stdin.close()


def main() -> None:
    """Measure, print the table, and write every case where `--json` says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--threads", type=int, default=default_threads())
    parser.add_argument("--base-url")
    parser.add_argument("--key", default="")
    parser.add_argument("--name", default="model")
    parser.add_argument("--half", choices=[*HALVES, "both"], default="both")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    halves = list(HALVES) if given.half == "both" else [given.half]
    if given.base_url:
        upstream = Upstream("bench", given.name, given.base_url, given.key, given.name, True, False, "guided")
        results = asyncio.run(measure(upstream, halves))
    elif given.model:
        with served(given.model, given.threads) as upstream:
            results = asyncio.run(measure(upstream, halves))
    else:
        parser.error("give --model or --base-url")
    print(table(results))
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in results], ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
