"""Rollouts a second in a rehearsal, as a share of what bare asyncio clients reach against the same
scripted model in the same run: ``python tests/benchmarks/rehearsing.py``.

The bare clients send the requests that the rehearsal sent, as many at once and as many after
each other, and do nothing else: no agent, no ART, no recording.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent_files import art_adapt, copy_of
from openai import AsyncOpenAI

from art_adapt.code.syntax import Syntax
from art_adapt.rehearsal import run
from art_adapt.rehearsal.scripted_model import POLICY_KEY, ScriptedModel
from art_adapt.rehearsal.seen import Seen
from art_adapt.source import read_source

STEPS, AT_ONCE = 6, 32
OPTIONS = ("--rollouts-per-group", "8", "--groups-per-step", "4", "--epochs", "9")


def rehearsed(name: str, folder: Path) -> tuple[Seen, float]:
    """What was seen, and episodes a second from a step's first to its last."""
    agent = copy_of(name, folder)
    rows = (agent / "scenarios.jsonl").read_text()
    (agent / "scenarios.jsonl").write_text(rows * 4)
    done = art_adapt("--isolated", *OPTIONS, "agent.py", cwd=agent)
    assert done.returncode == 0, done.stderr
    module = agent / "agent_train.py"
    with ScriptedModel(0, ()) as model:
        child = run.run_child(module, model.url, STEPS, folder)
        seen = Seen(
            module, Syntax.of(read_source(module)), child.notes, tuple(model.log)
        )
    spans = [
        (each.began, each.began + each.seconds)
        for each in child.notes.rollouts
        if each.seconds
    ]
    busy, begun, ended = 0.0, *spans[0]
    for start, end in sorted(spans):  # the union: steps do not overlap
        if start > ended:
            busy, begun = busy + ended - begun, start
        ended = max(ended, end)
    return seen, len(spans) / (busy + ended - begun)


def bare(seen: Seen, turns: int) -> float:
    """Chains of requests a second."""
    requests = [exchange.request for exchange in seen.policy]

    async def chains(url: str) -> float:
        limit = asyncio.Semaphore(AT_ONCE)

        async def chain(at: int) -> None:
            async with limit:
                for request in requests[at : at + turns]:
                    await client.chat.completions.create(**_arguments(request))

        begun = time.perf_counter()
        starts = range(0, len(requests) - turns, turns)
        async with AsyncOpenAI(base_url=url, api_key=POLICY_KEY) as client:
            await asyncio.gather(*map(chain, starts))
        return len(starts) / (time.perf_counter() - begun)

    with ScriptedModel(0, ()) as model:
        model.served = (requests[0]["model"],)
        requests = [{**request, "model": model.served[0]} for request in requests]
        return asyncio.run(chains(model.url))


def _arguments(request: dict[str, object]) -> dict[str, object]:
    known = ("model", "messages", "tools", "logprobs")
    return {name: request[name] for name in known if name in request}


def main() -> None:
    for name in ("support_loop", "async_research"):
        with tempfile.TemporaryDirectory() as folder:
            seen, rate = rehearsed(name, Path(folder))
        turns = max(1, round(len(seen.policy) / len(seen.notes.rollouts)))
        floor = bare(seen, turns)
        print(
            f"{name:<16} {rate:6.1f} rollouts a second of {turns} calls; bare clients "
            f"{floor:6.1f}: {rate / floor:.0%}"
        )


if __name__ == "__main__":
    main()
