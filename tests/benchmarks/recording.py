"""What recording costs, against the bare client and ART's own capture in the same run.

    python tests/benchmarks/recording.py [--quick] [--only PART ...]

hook         a hook with no rollout active                goal: under 5 us a call
calls        one call at 10, 100 and 1,000 turns      goals: CPU in a rollout at most 1.0
             of the bare client's at 10 turns, 0.25 at 100, 0.1 at 1,000; growth per turn
             the same from 10 to 100 turns as from 100 to 1,000
memory       what a trajectory keeps of 10, 100 and 1,000 turns; with --many, 256
             trajectories of 100 turns together
throughput   64 and 256 rollouts in threads, 40 turns old, 50 ms a call      goals: at least
             the bare client's; in processes at least 1.8 times that on two cores

The bare client is called as agents call it, with the SDK's pass over all messages; it asks
for the same ids. Not a test: machines differ. All ways are taken in turn against one
scripted server, in a process of its own, that gives all of them the same answer.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import art
from conversations import (
    BARE,
    CAPTURED,
    NO_ROLLOUT,
    RECORDED,
    WAYS,
    Way,
    check,
    completions_of,
    conversation,
    go_on,
    hooked,
)
from openai import OpenAI
from rich import box
from rich.console import Console
from rich.table import Table

from art_adapt import training
from art_adapt.hooks import recorded
from art_adapt.training import runs
from art_adapt.training.threads import in_thread

SERVER = Path(__file__).with_name("completion_server.py")
PARTS = ("hook", "calls", "memory", "throughput")
TURNS = (10, 100, 1000)
GOALS = {10: 1.0, 100: 0.25, 1000: 0.1}  # of the bare client's CPU
CALLS_PER_ROUND = 3
ROLLOUTS = (64, 256)
MANY = 256  # trajectories of 100 turns
OLD = 40  # turns of a conversation whose throughput is measured
DELAY = 0.05
console = Console(width=110)


@contextmanager
def server(delay: float = 0.0) -> Iterator[OpenAI]:
    """The scripted server, and a client for it."""
    command = [sys.executable, str(SERVER), str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            yield OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="sk")
        finally:
            process.kill()


def verdict(reached: bool) -> str:
    return "[green]reached[/]" if reached else "[red]missed[/]"


# --------------------------------------------------------------------------------- hook


def measure_hook() -> None:
    """A hook around a function that does nothing, and one around the SDK's that is
    only made.
    """

    def nothing(**_: Any) -> None: ...

    def microseconds(statement: Callable[[], Any], number: int = 20_000) -> float:
        # The least of many: what else the machine does can only add to it.
        return min(timeit.repeat(statement, number=number, repeat=9)) / number * 1e6

    create = OpenAI(base_url="http://unset", api_key="sk").chat.completions.create
    hooked = recorded(nothing)
    plain = microseconds(lambda: nothing(model="m"))
    each = microseconds(lambda: recorded(nothing)(model="m")) - plain
    once = microseconds(lambda: hooked(model="m")) - plain
    sdk = microseconds(lambda: recorded(create))
    console.print("[bold]A hook with no rollout active[/]")
    console.print(
        f"  recorded(f)(...)   {each:5.2f} us over f(...)  {verdict(each < 5)}"
    )
    console.print(
        f"  hooked(...)        {once:5.2f} us over f(...), wrapped beforehand"
    )
    console.print(
        f"  recorded(create)   {sdk:5.2f} us for the wrapping of the SDK's own"
    )


# -------------------------------------------------------------------------------- calls

Seconds = tuple[float, float]  # on the wall, of the thread's CPU


def time_calls(way: Way, client: OpenAI, turns: int, calls: int) -> list[Seconds]:
    """Calls after so many turns, the first one (which opens connections) left out."""
    messages = conversation(turns)
    times: list[Seconds] = []
    gc.collect()  # so that no way pays for what another one left
    with way.open(client, messages) as (call, trajectory):
        before = completions_of(trajectory)
        for _ in range(calls + 1):
            wall, cpu = time.perf_counter(), time.thread_time()
            completion = call(messages=messages, **way.arguments)
            cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
            times.append((wall, cpu))
            go_on(messages, completion)
    check(trajectory, before + calls + 1)
    return times[1:]


def time_ways(
    client: OpenAI, ways: Sequence[Way], turns: int, rounds: int
) -> dict[str, list[Seconds]]:
    """The medians of each round for each way. All ways are in each round, in an order
    that changes.
    """
    medians: dict[str, list[Seconds]] = {way.name: [] for way in ways}
    for _ in range(rounds):
        for way in random.sample(ways, len(ways)):
            times = time_calls(way, client, turns, CALLS_PER_ROUND)
            wall, cpu = (statistics.median(part) for part in zip(*times, strict=True))
            medians[way.name].append((wall, cpu))
    return medians


def share_of_bare(medians: dict[str, list[Seconds]], way: Way) -> tuple[float, float]:
    """Return a way's CPU time as a share of the bare call's, and half the spread.

    Compared within each round: the machine's clock rate changes from one to the next.
    """
    shares = [
        ours[1] / bare[1]
        for ours, bare in zip(medians[way.name], medians[BARE.name], strict=True)
    ]
    low, middle, high = statistics.quantiles(shares, n=4)
    return middle, (high - low) / 2


def measure_calls(turns: Sequence[int], rounds: int) -> None:
    medians: dict[int, dict[str, list[Seconds]]] = {}
    with server() as client:
        for way in WAYS:  # what is imported and compiled at first use
            time_calls(way, client, 1, 1)
        gc.collect()
        gc.freeze()  # ART's own objects have no part in this
        for number in turns:
            share = 1 if number <= 100 else 2
            medians[number] = time_ways(client, WAYS, number, max(3, rounds // share))

    table = Table(title="One call, ms", box=box.SIMPLE, title_justify="left")
    for column in ("turns", "way", "wall", "CPU", "CPU of bare", "±"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for number in turns:
        for way in WAYS:
            wall, cpu = (
                statistics.median(part) * 1e3
                for part in zip(*medians[number][way.name], strict=True)
            )
            row = [f"{number:,}" if way is BARE else "", way.name]
            row += [f"{wall:.2f}", f"{cpu:.2f}"]
            if way is not BARE:
                row += [f"{part:.3f}" for part in share_of_bare(medians[number], way)]
            table.add_row(*row, end_section=way is WAYS[-1])
    console.print(table)
    for number in turns:
        share, spread = share_of_bare(medians[number], RECORDED)
        console.print(
            f"  {number:5,} turns: recorded = {share:.3f} ± {spread:.3f} of bare, goal "
            f"{GOALS[number]}  {verdict(share <= GOALS[number])}"
        )
    if 1000 in turns:
        ours = {
            n: statistics.median(c for _, c in medians[n][RECORDED.name]) for n in turns
        }
        early, late = (
            (ours[b] - ours[a]) / (b - a) * 1e6 for a, b in ((10, 100), (100, 1000))
        )
        console.print(
            f"  a turn more costs a recorded call {early:.0f} us from 10 to 100 turns, "
            f"{late:.0f} us from 100 to 1,000"
        )


# ------------------------------------------------------------------------------- memory


def resident() -> int:
    """The bytes that this process really holds (Linux)."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def keep_trajectories(name: str, base_url: str, turns: int, count: int) -> None:
    """In a process of its own: hold conversations, keep their trajectories, print what
    one takes.
    """
    way = next(way for way in WAYS if way.name == name)
    client = OpenAI(base_url=base_url, api_key="sk")

    def converse() -> Any:
        messages = conversation(0)
        with way.open(client, messages) as (call, trajectory):
            for _ in range(turns):
                go_on(messages, call(messages=messages, **way.arguments))
        check(trajectory, turns)
        return trajectory

    time_calls(way, client, min(turns, 100), 2)  # what first use allocates
    before = resident()
    begun = time.process_time()
    kept = [converse() for _ in range(count)]
    seconds = (time.process_time() - begun) / count
    print(json.dumps([(resident() - before) / len(kept), seconds]))


def measure_memory(turns: Sequence[int], many: int | None) -> None:
    table = Table(
        title="Whole conversations, their trajectories kept",
        box=box.SIMPLE,
        title_justify="left",
    )
    columns = ("turns", "way", "MiB a trajectory", "KiB a turn", "CPU s", "MiB in all")
    for column in columns:
        table.add_column(column, justify="left" if column == "way" else "right")
    with server() as client:
        for number in turns:
            count = many or max(1, 200 // number)
            arguments = [str(client.base_url), str(number), str(count)]
            # Side by side: of a process only its own memory and CPU time are read.
            processes = {
                way: subprocess.Popen(
                    [sys.executable, __file__, "--keep", way.name, *arguments],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for way in (BARE, RECORDED, CAPTURED)
            }
            for way, process in processes.items():
                output, _ = process.communicate()
                size, seconds = json.loads(output.splitlines()[-1])
                sizes = [f"{size / 2**20:.2f}", f"{size / 2**10 / number:.0f}"]
                whole = f"{size * count / 2**20:,.0f}"
                if way is BARE:  # it keeps nothing
                    sizes, whole = ["", ""], ""
                table.add_row(
                    f"{number:,}",
                    way.name,
                    *sizes,
                    f"{seconds:.2f}",
                    whole,
                    end_section=way is CAPTURED,
                )
    console.print(table)


# --------------------------------------------------------------------------- throughput


def _episode(way: Way, client: OpenAI, turns: int) -> Callable[[], Any]:
    def episode() -> None:
        messages = conversation(OLD)
        with way.open(client, messages) as (call, trajectory):
            before = completions_of(trajectory)
            for _ in range(turns):
                go_on(messages, call(messages=messages, **way.arguments))
        check(trajectory, before + turns)

    return episode


async def run_episodes(way: Way, client: OpenAI, turns: int, rollouts: int) -> Seconds:
    """The seconds that episodes take at once, each in a thread, as a train module runs a
    sync agent.
    """
    episode = _episode(way, client, turns)
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(in_thread(episode) for _ in range(rollouts)))
    return time.perf_counter() - wall, time.process_time() - cpu


@training.isolated(at_once=64)
async def in_process(model: Any, turns: int) -> training.Trajectory:
    """One recorded episode, in a process that is forked for it."""
    client = OpenAI(base_url=model.inference_base_url, api_key="sk")

    def episode(_: int) -> None:
        messages = conversation(OLD)
        with hooked(client, messages) as (call, _trajectory):
            for _ in range(turns):
                go_on(messages, call(messages=messages, **RECORDED.arguments))

    return await training.record(model, turns, episode)


async def run_processes(
    client: OpenAI, turns: int, rounds: int
) -> dict[int, list[float]]:
    """The seconds that episodes take at once, each in a process, by their number."""
    model = art.Model(
        name="m",
        project="p",
        inference_base_url=str(client.base_url),
        inference_api_key="sk",
        inference_model_name="policy",
    )
    await in_process(model, 1)  # what is imported once in a run
    taken: dict[int, list[float]] = {rollouts: [] for rollouts in ROLLOUTS}
    for rollouts in [each for _ in range(rounds) for each in ROLLOUTS]:
        began = time.perf_counter()
        episodes = (in_process(model, turns) for _ in range(rollouts))
        kept = await asyncio.gather(*episodes)
        taken[rollouts].append(time.perf_counter() - began)
        assert all(trajectory.metrics["turns"] == turns for trajectory in kept)
    return taken


def measure_throughput(turns: int, rounds: int) -> None:
    ways = (BARE, NO_ROLLOUT, RECORDED, CAPTURED)
    with server(DELAY) as client:
        processes = asyncio.run(run_processes(client, turns, rounds))
    for rollouts in ROLLOUTS:
        table = Table(
            title=f"{rollouts} rollouts, {turns} turns each behind {OLD} earlier ones, "
            f"{DELAY * 1e3:.0f} ms a call on the server, {os.cpu_count()} cores",
            box=box.SIMPLE,
            title_justify="left",
        )
        for column in (
            "way",
            "calls a second",
            "of the ideal",
            "of bare",
            "CPU ms a call",
        ):
            table.add_column(column, justify="left" if column == "way" else "right")
        taken: dict[str, list[Seconds]] = {way.name: [] for way in ways}
        with server(DELAY) as client:
            for way in ways:
                asyncio.run(run_episodes(way, client, 1, 4))
            for _ in range(rounds):
                for way in random.sample(ways, len(ways)):
                    seconds = asyncio.run(run_episodes(way, client, turns, rollouts))
                    taken[way.name].append(seconds)
        calls, ideal = rollouts * turns, rollouts / DELAY
        rates = {
            name: calls / statistics.median(wall for wall, _ in times)
            for name, times in taken.items()
        }
        forked = "recorded, a process each"
        rates[forked] = calls / statistics.median(processes[rollouts])
        for name, rate in rates.items():
            cpu = (
                [f"{statistics.median(c for _, c in taken[name]) / calls * 1e3:.2f}"]
                if name in taken
                else []
            )
            table.add_row(
                name,
                f"{rate:.0f}",
                f"{rate / ideal:.2f}",
                f"{rate / rates[BARE.name]:.2f}",
                *cpu,
            )
        console.print(table)
        ours = rates[RECORDED.name] / rates[BARE.name]
        apart = rates[forked] / rates[BARE.name]
        console.print(f"  recorded / bare = {ours:.2f}, goal 1  {verdict(ours >= 1)}")
        console.print(
            f"  in processes / bare = {apart:.2f}, goal 1.8  {verdict(apart >= 1.8)}"
        )


# --------------------------------------------------------------------------------- main


def main() -> None:
    if sys.argv[1:2] == ["--keep"]:
        name, base_url, turns, count = sys.argv[2:]
        keep_trajectories(name, base_url, int(turns), int(count))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--turns", type=int, default=1000, help="at most")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument(
        "--many", action="store_true", help=f"keep {MANY} trajectories of 100 turns"
    )
    parser.add_argument("--quick", action="store_true", help="100 turns, 5 rounds")
    options = parser.parse_args()
    if options.quick:
        options.turns, options.rounds = min(options.turns, 100), min(options.rounds, 5)
    versions = " ".join(
        f"{name} {version(name)}" for name in ("openai", "openpipe-art")
    )
    console.print(f"Python {sys.version.split()[0]}, {versions}\n")
    if "hook" in options.only:
        measure_hook()
    runs._collect_seldom()  # as in a run, for all ways
    if "calls" in options.only:
        turns = [number for number in TURNS if number <= options.turns]
        measure_calls(turns, options.rounds)
    if "memory" in options.only:
        turns = [number for number in TURNS if number <= options.turns]
        measure_memory([100] if options.many else turns, MANY if options.many else None)
    if "throughput" in options.only:
        measure_throughput(6, max(1, options.rounds // 5))


if __name__ == "__main__":
    main()
