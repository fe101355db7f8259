"""What recording costs, against the bare client and ART's own capture in the same run.

    python tests/benchmarks/recording.py [--quick] [--only PART ...]

hook         a hook with no rollout active                goal: under 5 us a call
calls        one call at 10, 100 and 1,000 turns      goals: in a rollout at most the
             overhead of ART's capture at 10 turns, a tenth of it at 1,000; a total that
             is linear in the messages
memory       what a trajectory keeps of 10, 100 and 1,000 turns
throughput   64 threads with a rollout each, 50 ms a call     goal: 0.8 of the ideal,
             where the bare client reaches that (one process has one interpreter lock)

Not a test: machines differ. All ways are taken in turn against one scripted server, in
a process of its own, that gives all of them the same answer.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

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
    untransformed,
)
from openai import OpenAI
from rich import box
from rich.console import Console
from rich.table import Table

from art_adapt.hooks import recorded

SERVER = Path(__file__).with_name("completion_server.py")
PARTS = ("hook", "calls", "memory", "throughput")
TURNS = (10, 30, 100, 300, 1000)  # the overhead in between is for the totals
PRINTED = (10, 100, 1000)
CALLS_PER_ROUND = 3
ROLLOUTS = 64
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


def overheads(
    medians: dict[str, list[Seconds]], way: Way, kind: int
) -> tuple[float, float]:
    """What a way takes over the bare call, in ms, and half the spread of its quarters.
    Compared within each round: the machine's clock rate changes from one to the next.
    """
    differences = [
        (ours[kind] - bare[kind]) * 1e3
        for ours, bare in zip(medians[way.name], medians[BARE.name], strict=True)
    ]
    low, middle, high = statistics.quantiles(differences, n=4)
    return middle, (high - low) / 2


def measure_calls(turns: Sequence[int], rounds: int) -> None:
    medians: dict[int, dict[str, list[Seconds]]] = {}
    whole: dict[int, float] = {}
    with server() as client:
        for way in WAYS:  # what is imported and compiled at first use
            time_calls(way, client, 1, 1)
        gc.collect()
        gc.freeze()  # ART's own objects have no part in this
        for number in turns:
            times = time_calls(BARE, client, number, 5 if number < 1000 else 2)
            whole[number] = statistics.median(wall for wall, _ in times)
            with untransformed():
                # As many in all as make a median of noisy differences worth something.
                share = 2 if number <= 100 else 1
                medians[number] = time_ways(client, WAYS, number, rounds * share)

    table = Table(title="One call, ms", box=box.SIMPLE, title_justify="left")
    for column in ("turns", "way", "wall", "CPU", "over bare: wall", "CPU", "±"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for number in [number for number in turns if number in PRINTED]:
        table.add_row(
            f"{number:,}",
            "bare, with the SDK's pass over the messages",
            f"{whole[number] * 1e3:.2f}",
        )
        for way in WAYS:
            wall, cpu = (
                statistics.median(part) * 1e3
                for part in zip(*medians[number][way.name], strict=True)
            )
            over = [overheads(medians[number], way, kind) for kind in (0, 1)]
            row = ["", way.name, f"{wall:.2f}", f"{cpu:.2f}"]
            if way is not BARE:
                row += [f"{over[0][0]:+.3f}", f"{over[1][0]:+.3f}", f"{over[1][1]:.3f}"]
            table.add_row(*row, end_section=way is WAYS[-1])
    console.print(table)

    ours = {n: overheads(medians[n], RECORDED, 1)[0] for n in turns}
    arts = {n: overheads(medians[n], CAPTURED, 1)[0] for n in turns}
    least, most = min(turns), max(turns)
    ratio = arts[least] / ours[least]
    console.print(
        f"  {least} turns: ART's overhead / ours (CPU) = {ratio:.1f}, goal 1  "
        f"{verdict(ratio >= 1)}"
    )
    if most >= 1000:
        ratio = arts[most] / ours[most]
        console.print(
            f"  {most:,} turns: ART's overhead / ours (CPU) = {ratio:.1f}, goal 10  "
            f"{verdict(ratio >= 10)}"
        )
        for way, over in ((RECORDED, ours), (CAPTURED, arts)):
            short, long = total(over, 100), total(over, 1000)
            # The overhead at 100 turns carries the ratio: it must stand out.
            spread = overheads(medians[100], way, 1)[1] / rounds**0.5
            ratio_text = (
                f"ratio {long / short:.1f} (10 linear, 100 quadratic)"
                if over[100] > 3 * spread
                else "no ratio: this machine is too busy to tell"
            )
            console.print(
                f"  whole conversations, {way.name}: {short:.0f} ms over 100 turns, "
                f"{long:.0f} ms over 1,000, {ratio_text}"
            )


def total(overhead: dict[int, float], turns: int) -> float:
    """The overhead of a whole conversation: the area under those that were measured."""
    known = sorted(overhead)
    area = overhead[known[0]] * known[0]
    for left, right in itertools.pairwise(n for n in known if n <= turns):
        area += (overhead[left] + overhead[right]) / 2 * (right - left)
    return area


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

    with untransformed():
        time_calls(way, client, min(turns, 100), 2)  # what first use allocates
        before = resident()
        begun = time.process_time()
        kept = [converse() for _ in range(count)]
        seconds = (time.process_time() - begun) / count
        print(json.dumps([(resident() - before) / len(kept), seconds]))


def measure_memory(turns: Sequence[int]) -> None:
    table = Table(
        title="Whole conversations, their trajectories kept",
        box=box.SIMPLE,
        title_justify="left",
    )
    for column in ("turns", "way", "MiB a trajectory", "KiB a turn", "CPU s"):
        table.add_column(column, justify="left" if column == "way" else "right")
    with server() as client:
        for number in turns:
            count = max(1, 200 // number)
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
                if way is BARE:  # it keeps nothing
                    sizes = ["", ""]
                table.add_row(
                    f"{number:,}",
                    way.name,
                    *sizes,
                    f"{seconds:.2f}",
                    end_section=way is CAPTURED,
                )
    console.print(table)


# --------------------------------------------------------------------------- throughput


async def run_episodes(way: Way, client: OpenAI, turns: int) -> Seconds:
    """The seconds that 64 episodes take at once, each in a thread, as a train module
    runs a sync agent.
    """
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(max_workers=ROLLOUTS))

    async def one() -> None:
        messages = conversation(0)
        with way.open(client, messages) as (call, trajectory):

            def episode() -> None:
                for _ in range(turns):
                    go_on(messages, call(messages=messages, **way.arguments))

            await asyncio.to_thread(episode)
        check(trajectory, turns)

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one() for _ in range(ROLLOUTS)))
    return time.perf_counter() - wall, time.process_time() - cpu


def measure_throughput(turns: int, rounds: int) -> None:
    table = Table(
        title=f"{ROLLOUTS} rollouts in threads, {turns} turns each, "
        f"{DELAY * 1e3:.0f} ms a call on the server",
        box=box.SIMPLE,
        title_justify="left",
    )
    columns = ("way", "calls a second", "of the ideal", "of bare", "CPU ms a call")
    for column in columns:
        table.add_column(column, justify="left" if column == "way" else "right")
    ideal = ROLLOUTS / DELAY
    ways = (BARE, NO_ROLLOUT, RECORDED, CAPTURED)
    taken: dict[str, list[Seconds]] = {way.name: [] for way in ways}
    with server(DELAY) as client:
        for way in ways:
            asyncio.run(run_episodes(way, client, 1))
        for _ in range(rounds):
            for way in random.sample(ways, len(ways)):
                taken[way.name].append(asyncio.run(run_episodes(way, client, turns)))
    calls = ROLLOUTS * turns
    rates = {
        name: calls / statistics.median(wall for wall, _ in times)
        for name, times in taken.items()
    }
    for way in ways:
        rate = rates[way.name]
        cpu = statistics.median(cpu for _, cpu in taken[way.name]) / calls * 1e3
        share = f"{rate / rates[BARE.name]:.2f}"
        table.add_row(
            way.name, f"{rate:.0f}", f"{rate / ideal:.2f}", share, f"{cpu:.2f}"
        )
    console.print(table)
    of_ideal = rates[RECORDED.name] / ideal
    of_bare = rates[RECORDED.name] / rates[BARE.name]
    console.print(
        f"  recorded: {of_ideal:.2f} of the ideal, goal 0.8  {verdict(of_ideal >= 0.8)}"
        f"; {of_bare:.2f} of what the bare client reaches  {verdict(of_bare >= 0.8)}"
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
    if "calls" in options.only:
        turns = [number for number in TURNS if number <= options.turns]
        measure_calls(turns, options.rounds)
    if "memory" in options.only:
        measure_memory([number for number in PRINTED if number <= options.turns])
    if "throughput" in options.only:
        measure_throughput(6, max(1, options.rounds // 5))


if __name__ == "__main__":
    main()
