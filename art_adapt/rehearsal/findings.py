"""What a rehearsal shows: the figures, and what would go wrong in training, each with its
place and what to change.
"""

from __future__ import annotations

import itertools
import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.scripted_model import Exchange, mark

Json = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """Something that would cost a training run. ``fix`` is what to change; ``fatal``:
    there is no training without it.
    """

    name: str
    what: str
    fix: str
    path: Path
    line: int

    @property
    def fatal(self) -> bool:
        return self.name in ("raised", "stopped", "no step", "inference name", "no ids")


@dataclass(frozen=True)
class Figures:
    """What was seen, in numbers."""

    steps: int
    episodes: int
    lost: int
    calls: int  # choices that the model in training gave
    recorded: int  # of them, on trajectories
    auxiliary: int
    histories: float  # per episode
    answered: int
    turns: float  # per episode
    prompt_tokens: float  # per episode
    sampled_tokens: float  # per episode
    seconds: float  # per episode
    reward_mean: float | None
    reward_spread: float | None
    groups: int
    flat_groups: int


@dataclass(frozen=True)
class Seen:
    """The child's notes, the server's log, and the train module's source."""

    path: Path
    source: str
    notes: Json
    log: Sequence[Exchange]

    @property
    def policy(self) -> list[Exchange]:
        return [e for e in self.log if e.is_policy and e.response is not None]

    @property
    def episodes(self) -> list[Json]:
        return [r["trajectory"] for r in self.notes["rollouts"]] or self.trained

    @property
    def groups(self) -> list[Json]:
        return [group for step in self.notes["steps"] for group in step]

    @property
    def trained(self) -> list[Json]:
        return [t for group in self.groups for t in group["trajectories"]]

    def line(self, *patterns: str) -> int:
        """The first line that one of ``patterns`` is found in, the earlier ones first."""
        lines = self.source.splitlines()
        for pattern in patterns:
            for number, line in enumerate(lines, 1):
                if re.search(pattern, line):
                    return number
        return 1

    def finding(self, name: str, what: str, fix: str, *patterns: str) -> Finding:
        return Finding(name, what, fix, self.path, self.line(*patterns))


def figures(seen: Seen) -> Figures:
    """The numbers of a rehearsal."""
    episodes = seen.episodes
    count = max(1, len(episodes))
    rewards = [t["reward"] for t in seen.trained]
    seconds = [r["seconds"] for r in seen.notes["rollouts"] if r["seconds"]]
    usage = [e.response["usage"] for e in seen.policy if e.response]
    return Figures(
        steps=len(seen.notes["steps"]),
        episodes=len(episodes),
        lost=len(seen.notes["exceptions"]),
        calls=len(given_choices(seen)),
        recorded=sum(_recorded(seen).values()),
        auxiliary=sum(not e.is_policy for e in seen.log),
        histories=sum(len(_histories(t)) for t in episodes) / count,
        answered=sum(t["answer"] is not None for t in episodes),
        turns=sum(len(_choices(t)) for t in episodes) / count,
        prompt_tokens=sum(u["prompt_tokens"] for u in usage) / count,
        sampled_tokens=sum(u["completion_tokens"] for u in usage) / count,
        seconds=statistics.fmean(seconds) if seconds else 0.0,
        reward_mean=statistics.fmean(rewards) if rewards else None,
        reward_spread=statistics.pstdev(rewards) if rewards else None,
        groups=len(seen.groups),
        flat_groups=sum(map(_is_flat, seen.groups)),
    )


def findings(seen: Seen) -> list[Finding]:
    """Everything that would go wrong, worst first."""
    return [found for check in CHECKS for found in check(seen)]


def _is_flat(group: Json) -> bool:
    """Whether all episodes of a group have one reward: it teaches nothing."""
    return len({trajectory["reward"] for trajectory in group["trajectories"]}) == 1


def _histories(trajectory: Json) -> list[Json]:
    return [h for h in trajectory["histories"] if h["items"]]


def _choices(trajectory: Json) -> list[Json]:
    return [i for h in _histories(trajectory) for i in h["items"] if "choice" in i]


def _key(message: Json) -> str:
    """What an agent can hand back of a completion: its calls' ids, or its text."""
    calls = [call["id"] for call in message.get("tool_calls") or []]
    return json.dumps(calls or message.get("content") or "")


def given_choices(seen: Seen) -> dict[int, Exchange]:
    """The choices that the model in training gave, by their marks."""
    return {
        mark(exchange.serial, choice["index"]): exchange
        for exchange in seen.policy
        if not is_judgement(exchange.request)
        for choice in (exchange.response or {})["choices"]
    }


def conversations(
    given: Mapping[int, Exchange], trajectory: Json
) -> list[list[tuple[int, int]]]:
    """For each history of an episode its completions, each with the tokens of its prompt
    and those sampled; as the server counted. ``given``: see ``given_choices``.
    """
    return [
        [
            (_prompt_tokens(given[item["mark"]]), len(item["ids"]))
            for item in history["items"]
            if item.get("mark") in given
        ]
        for history in _histories(trajectory)
    ]


def _prompt_tokens(exchange: Exchange) -> int:
    count: int = (exchange.response or {})["usage"]["prompt_tokens"]
    return count


def _recorded(seen: Seen) -> Counter[int]:
    """The choices that are on trajectories; one whose logprobs are gone is known by
    what it said.
    """
    by_key = {
        _key(choice["message"]): mark(exchange.serial, choice["index"])
        for exchange in seen.policy
        for choice in (exchange.response or {})["choices"]
    }
    given = given_choices(seen)
    marks = (
        item["mark"] or by_key.get(_key(item["message"]))
        for trajectory in seen.episodes
        for item in _choices(trajectory)
    )
    return Counter(each for each in marks if each in given)


# ------------------------------------------------------------------------------- checks


def _ended(seen: Seen) -> Iterator[Finding]:
    raised, stopped = seen.notes.get("raised"), seen.notes.get("stopped")
    if raised:
        yield Finding(
            "raised",
            f"the train module raised {raised['error']}",
            "mend it there: on a GPU it would end the run in the same place",
            Path(raised["path"]),
            raised["line"],
        )
    if stopped and stopped != "0":
        lost = seen.notes["exceptions"]
        fix = "do what it asks for, then rehearse again"
        if lost:
            stopped += f"; the first episode was lost to {lost[0]}"
        yield seen.finding("stopped", f"it stopped: {stopped}", fix, r"def main\b")
    if not (raised or stopped or seen.notes["steps"]):
        yield seen.finding(
            "no step",
            "it ended without a single training step",
            "check that it has scenarios and calls backend.train",
            r"backend\.train",
            r"def train\b",
        )


def _inference_name(seen: Seen) -> Iterator[Finding]:
    wrong = Counter(
        str(e.request.get("model")) for e in seen.log if e.is_policy and e.status == 404
    )
    if wrong:
        name, count = wrong.most_common(1)[0]
        yield seen.finding(
            "inference name",
            f"{count} requests asked for the model {name!r}, which is not served "
            f"(now: {seen.notes['names'][-1]!r})",
            "take model.get_inference_name() once in each rollout: the name changes "
            "with every step",
            r"model=(?!model\.get_inference_name).*",
            r"get_inference_name",
        )


def _judge(seen: Seen) -> Iterator[Finding]:
    asked = [e for e in seen.log if e.is_policy and is_judgement(e.request)]
    if asked:
        yield seen.finding(
            "judge",
            f"RULER's judge was the model in training ({len(asked)} times)",
            "name another model: a policy that judges itself learns to praise itself",
            r"JUDGE_MODEL",
            r"judge_model",
        )


def _complete(seen: Seen) -> Iterator[Finding]:
    given, recorded = given_choices(seen), _recorded(seen)
    missing = [each for each in given if each not in recorded]
    if missing:
        last = given[missing[0]].request["messages"][-1]
        yield seen.finding(
            "lost",
            f"{len(missing)} of {len(given)} completions are on no trajectory, one of "
            f"them the answer to {str(last.get('content'))[:60]!r}",
            "record the call: recorded(client.chat.completions.create)(...), inside the "
            "rollout",
            r"art_recording\.rollout",
            r"def rollout",
        )
    twice = [each for each, count in recorded.items() if count > 1]
    if twice:
        yield seen.finding(
            "twice",
            f"{len(twice)} completions are on trajectories more than once",
            "make a new art.Trajectory in each rollout",
            r"Trajectory\(\)",
        )


def _same(ours: Json, theirs: Json) -> bool:
    if ours.get("role") != theirs.get("role"):
        return False
    if ours["role"] == "assistant":
        return _key(ours) == _key(theirs)
    return ours.get("content") == theirs.get("content")


def _faithful(seen: Seen) -> Iterator[Finding]:
    given = given_choices(seen)
    wrong, toolless = 0, 0
    for trajectory in seen.episodes:  # what is trained may be a view of it
        for history in _histories(trajectory):
            before: list[Json] = []
            for item in history["items"]:
                message = item["message"]
                exchange = given.get(item.get("mark"))
                if exchange is not None:
                    sent = exchange.request["messages"]
                    wrong += len(sent) != len(before) or not all(
                        map(_same, before, sent)
                    )
                    toolless += (
                        bool(exchange.request.get("tools")) and not (history["tools"])
                    )
                before.append(message)
    if toolless:
        yield seen.finding(
            "tools",
            f"{toolless} completions were sampled with tools, and their trajectory has "
            "none: training would show the model another prompt",
            "leave trajectory.tools as it was recorded",
            r"\.tools\b.*=",
            r"def rollout",
        )
    if wrong:
        yield seen.finding(
            "messages",
            f"before {wrong} completions the trajectory has other messages than were sent",
            "leave messages_and_choices as they were recorded",
            r"messages_and_choices",
            r"def rollout",
        )


def _isolated(seen: Seen) -> Iterator[Finding]:
    said = Counter(_key(i["message"]) for t in seen.episodes for i in _choices(t))
    owners = {
        key: number
        for number, trajectory in enumerate(seen.episodes)
        for item in _choices(trajectory)
        if said[key := _key(item["message"])] == 1
    }
    mixed = 0
    for number, trajectory in enumerate(seen.episodes):
        others = {
            owners.get(_key(item["message"]), number)
            for history in _histories(trajectory)
            for item in history["items"]
            if item["message"].get("role") == "assistant" and "choice" not in item
        } - {number}
        mixed += bool(others)
    for group in seen.groups:
        begins = {len(_start(trajectory)) for trajectory in group["trajectories"]}
        mixed += len(begins) > 1
    starts = [
        {json.dumps(_start(t)) for t in group["trajectories"] if _several(_start(t))}
        for step in seen.notes["steps"][:1]
        for group in step
    ]
    mixed += len(starts) > 1 and bool(set.intersection(*starts))
    if mixed:
        yield seen.finding(
            "cross-talk",
            "episodes have others' turns in their messages, or begin with as many as "
            "ran before, or alike for different scenarios: state is shared between "
            "rollouts",
            "make the message list anew in each episode, or adapt the agent again with "
            "--isolate process",
            r"run_episode|def rollout",
        )


def _start(trajectory: Json) -> list[Json]:
    """The messages that an episode began with."""
    histories = _histories(trajectory)
    items = histories[0]["items"] if histories else []
    return list(itertools.takewhile(lambda item: "choice" not in item, items))


def _several(start: list[Json]) -> bool:
    """Whether more than one user spoke before the model did."""
    users = [item for item in start if item["message"].get("role") == "user"]
    return len(users) > 1


def _awaited(seen: Seen) -> Iterator[Finding]:
    if seen.notes["awaited_early"]:
        yield seen.finding(
            "awaited early",
            "groups were awaited before gather_trajectory_groups: it neither runs them "
            "side by side nor counts their failures",
            "hand art.TrajectoryGroup(...) over without await",
            r"await art\.TrajectoryGroup|await .*TrajectoryGroup",
            r"gather_trajectory_groups",
        )


def _rewards(seen: Seen) -> Iterator[Finding]:
    rewards = [t["reward"] for t in seen.trained]
    if not rewards:
        return
    if len(set(rewards)) == 1 and len(rewards) > 1:
        yield seen.finding(
            "reward",
            f"every episode got the reward {rewards[0]}: a group without variance "
            "teaches nothing",
            "make the reward depend on what the episode did; if only a right answer is "
            "rewarded, let the scripted model give some, with --replies",
            r"trajectory\.reward\s*=|def reward|reward\(",
            r"recording\.rewarded",
        )
    elif all(map(_is_flat, seen.groups)):
        yield seen.finding(
            "reward",
            "rewards differ between scenarios but in no group: GRPO compares the "
            "episodes of one scenario",
            "make the reward depend on what the episode did",
            r"trajectory\.reward\s*=|def reward|reward\(",
        )


def _answers(seen: Seen) -> Iterator[Finding]:
    if seen.trained and all(t["answer"] is None for t in seen.trained):
        yield seen.finding(
            "answer",
            "no episode set trajectory.final_answer: a reward that reads it sees None",
            "put final_answer(...) around what the agent answers with (art-adapt does) "
            "and record into an AgentTrajectory, which has the field; if an answer takes "
            "a certain call, let the scripted model make it, with --replies",
            r"=\s*(AgentTrajectory|art\.Trajectory)\(",
            r"def rollout",
        )


def _metrics(seen: Seen) -> Iterator[Finding]:
    bad = Counter(name for t in seen.episodes for name in t["bad_metrics"])
    for name in bad:
        yield seen.finding(
            "metrics",
            f"metrics[{name!r}] is no number: ART counts the episode as failed, and "
            "model.log breaks",
            "put text into metadata or logs",
            rf"metrics\[.{re.escape(name)}.\]",
            r"metrics",
        )


def _exact(seen: Seen) -> Iterator[Finding]:
    choices = [item for t in seen.trained for item in _choices(t)]
    without = [item for item in choices if not (item["ids"] and item["mark"])]
    if without:
        yield seen.finding(
            "no ids",
            f"{len(without)} of {len(choices)} completions came without token ids or "
            "logprobs: ART cannot train on them",
            "ask for logprobs and return_token_ids, as art_recording does for a call "
            "inside its rollout",
            r"return_token_ids|logprobs",
            r"def rollout",
        )
    anew = sum(item["anew"] for item in choices)
    if anew:
        yield seen.finding(
            "rendered anew",
            f"{anew} of {len(choices)} prompts do not go on from what was sampled: the "
            "agent edits its messages, and each such turn is trained by itself",
            "append the assistant's message as the SDK gave it",
            r"def run_episode|def rollout",
        )


def _sampling(seen: Seen) -> Iterator[Finding]:
    odd = Counter(
        e.request.get("temperature")
        for e in seen.policy
        if e.request.get("temperature") not in (None, 1, 1.0)
    )
    if odd:
        value, count = odd.most_common(1)[0]
        yield seen.finding(
            "temperature",
            f"{count} completions were sampled with temperature {value}: "
            + (
                "equal episodes have equal rewards, and nothing is learned"
                if value == 0
                else "ART trains on logprobs at temperature 1"
            ),
            "sample with temperature 1 while training: rollout(..., temperature=1.0)",
            r"TEMPERATURE\s*=",
            r"temperature",
        )


def _closed(seen: Seen) -> Iterator[Finding]:
    if seen.notes["steps"] and not seen.notes["closed"]:
        yield seen.finding(
            "not closed",
            "the backend was not closed: its GPU processes would live on",
            "await backend.close() in a finally clause",
            r"make_backend\(|LocalBackend\(",
        )


def _stops(seen: Seen) -> Iterator[Finding]:
    reasons = Counter(r["stopped"] for r in seen.notes["rollouts"] if r["stopped"])
    for reason, count in reasons.items():
        yield seen.finding(
            "stopped rollouts",
            f"{count} rollouts were stopped: {reason}",
            "see the message",
            r"art_recording\.rollout",
        )


CHECKS: tuple[Callable[[Seen], Iterator[Finding]], ...] = (
    _ended,
    _inference_name,
    _judge,
    _stops,
    _complete,
    _faithful,
    _isolated,
    _exact,
    _awaited,
    _rewards,
    _answers,
    _metrics,
    _sampling,
    _closed,
)
