"""Decides what to do with what the survey found: what to record, what runs an episode,
how to train.
"""

from __future__ import annotations

import keyword
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from art_adapt.errors import Refusal
from art_adapt.survey.model import (
    CompletionCall,
    EntryPoint,
    Exit,
    Harm,
    Obstacle,
    RewardSite,
    Survey,
)
from art_adapt.survey.roles import Role


class Origin(StrEnum):
    """Where a decision came from."""

    FOUND = "found"
    DEFAULT = "default"
    FLAG = "flag"
    CONFIG = "config"
    ANSWER = "answer"


@dataclass(frozen=True)
class Options:
    """What the user said, on the command line or in ``[tool.art-adapt]``; None where
    nothing was said.
    """

    entry: str | None = None
    policy: tuple[str, ...] = ()
    auxiliary: tuple[str, ...] = ()
    reward: str | None = None
    ruler_weight: float | None = None
    trace: str | None = None
    isolate: str | None = None
    pipeline: bool | None = None
    scenarios: str | None = None
    backend: str | None = None
    base_model: str | None = None
    project: str | None = None
    run_name: str | None = None
    judge_model: str | None = None
    learning_rate: float | None = None
    rollouts_per_group: int | None = None
    groups_per_step: int | None = None
    epochs: int | None = None
    line_length: int | None = None
    train_module: bool | None = None
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def origin(self, name: str) -> Origin:
        return self.origins.get(name, Origin.DEFAULT)


@dataclass(frozen=True)
class Training:
    """How to train, as the train module will say it."""

    reward: str | None  # "module:function"; None: RULER
    agent_rewards: bool
    ruler_weight: float | None  # of RULER beside ``reward``; None: one of the two
    trace: str | None
    isolate: str | None
    pipeline: bool
    scenarios: str
    backend: str
    base_model: str
    project: str
    run_name: str
    judge_model: str
    learning_rate: float
    rollouts_per_group: int
    groups_per_step: int
    epochs: int


@dataclass(frozen=True)
class Decisions:
    """What will be done. ``origins`` says for each decision where it came from."""

    policy: tuple[CompletionCall, ...]
    auxiliary: tuple[CompletionCall, ...]
    entry: EntryPoint | None
    other_entries: tuple[EntryPoint, ...]
    exits: tuple[Exit, ...]
    rewards: tuple[RewardSite, ...]
    training: Training | None
    origins: Mapping[str, Origin]


BACKENDS = ("local", "serverless")
TRACERS = ("weave", "langfuse")
BASE_MODELS = (
    "OpenPipe/Qwen3-14B-Instruct",
    "Qwen/Qwen3-30B-A3B-Instruct-2507",
    "meta-llama/Llama-3.1-8B-Instruct",
)
Chooser = Callable[[Sequence[EntryPoint]], EntryPoint]


def decide(
    survey: Survey, options: Options, choose: Chooser | None = None
) -> Decisions:
    """Decide, asking ``choose`` (where there is somebody to ask) which of several
    functions runs an episode.

    Raises:
        Refusal: there is nothing to adapt, or a decision is needed that only the user can take.
    """
    _refuse_art_code(survey)
    policy, auxiliary = _divide(survey, options)
    if not policy:
        raise _nothing_to_record(survey, auxiliary)
    if not any(call.supported for call in policy):
        raise _unsupported(policy[0])
    origins = dict(options.origins)
    wants_train_module = options.train_module is not False
    entry, others, origins["entry"] = _entry(
        survey, options, choose, needed=wants_train_module
    )
    if entry is not None and wants_train_module:
        _refuse_untrainable(entry, origins["entry"])
    likely = [entry] if entry is not None else list(others)
    exits = tuple(
        dict.fromkeys(exit_ for candidate in likely for exit_ in candidate.exits)
    )
    rewards = tuple(
        dict.fromkeys(site for candidate in likely for site in candidate.rewards)
    )
    training = (
        _training(entry, rewards, options)
        if wants_train_module and entry is not None
        else None
    )
    for name in fields(Training) if training is not None else ():
        origins.setdefault(name.name, Origin.DEFAULT)
    return Decisions(
        policy, auxiliary, entry, others, exits, rewards, training, origins
    )


def _refuse_art_code(survey: Survey) -> None:
    given = [file for file in survey.files if file.given]
    if given and all(file.uses_art is not None for file in given):
        place = given[0].uses_art
        assert place is not None
        raise Refusal(
            "this file uses ART itself",
            why="it records its own trajectories: hooks on top would record every completion twice",
            next_step="adapt the agent as it runs in production, not its training script",
            path=place.path,
            line=place.line,
        )


def _divide(
    survey: Survey, options: Options
) -> tuple[tuple[CompletionCall, ...], tuple[CompletionCall, ...]]:
    policy: list[CompletionCall] = []
    auxiliary: list[CompletionCall] = []
    calls = [
        call for file in survey.files if file.uses_art is None for call in file.calls
    ]
    for name in (*options.policy, *options.auxiliary):
        if not any(_is_named(call, name) for call in calls):
            known = ", ".join(sorted({call.function for call in calls})) or "none"
            raise Refusal(
                f"no completion call is named {name!r}",
                next_step=f"name one of these functions: {known}; or FILE:LINE",
            )
    for call in calls:
        role = call.role
        if any(_is_named(call, name) for name in options.auxiliary):
            role = Role.AUXILIARY
        elif any(_is_named(call, name) for name in options.policy):
            role = Role.POLICY
        (policy if role is Role.POLICY else auxiliary).append(call)
    return tuple(policy), tuple(auxiliary)


def _is_named(call: CompletionCall, name: str) -> bool:
    path, _, line = name.rpartition(":")
    if line.isdigit():
        return call.place.line == int(line) and call.place.path.as_posix().endswith(
            path
        )
    return (
        call.function == name
        or call.function.endswith("." + name)
        or call.function.startswith(name + ".")
    )


def _nothing_to_record(survey: Survey, auxiliary: Sequence[CompletionCall]) -> Refusal:
    paths = [file.source.path for file in survey.files if file.given]
    if auxiliary:
        first = auxiliary[0]
        return Refusal(
            "only auxiliary calls: there is no policy to train",
            why=f"{first.callee}: {first.reason}",
            next_step=f"say which call is the agent's with --policy {first.function}",
            path=first.place.path,
            line=first.place.line,
        )
    obstacles = [o for file in survey.files for o in file.obstacles if o.calls_model]
    obstacle = next(iter(obstacles), None)
    if obstacle is not None:
        return _obstructed(obstacle)
    process = next(
        (e for f in survey.files for e in f.effects if e.harm is Harm.PROCESS), None
    )
    if process is not None:
        return Refusal(
            "no completion call found in it, but it starts a process",
            why=f"if the model is called in {process.what}, a rollout does not reach it",
            next_step="adapt the file that the process runs, and call it as a function",
            path=process.place.path,
            line=process.place.line,
        )
    return Refusal(
        "no completion call found in it, nor in what it imports from beside it",
        why="art-adapt looks for chat completions and responses of the OpenAI client, litellm.completion and instructor's create",
        next_step="name the file in which the agent calls the model",
        path=paths[0] if paths else None,
    )


def _obstructed(obstacle: Obstacle) -> Refusal:
    return Refusal(
        f"the model is called through {obstacle.what}, which art-adapt does not handle",
        next_step=obstacle.instead,
        path=obstacle.place.path,
        line=obstacle.place.line,
    )


def _unsupported(call: CompletionCall) -> Refusal:
    return Refusal(
        f"{call.callee} cannot be recorded",
        why="a text completion has no messages, and ART trains on conversations",
        next_step="use client.chat.completions for the model that you want to train",
        path=call.place.path,
        line=call.place.line,
    )


def _entry(
    survey: Survey, options: Options, choose: Chooser | None, *, needed: bool
) -> tuple[EntryPoint | None, tuple[EntryPoint, ...], Origin]:
    """The entry point, the other candidates (those that are as likely, if none was
    chosen), and who chose.
    """
    found = survey.entry_points
    if options.entry is not None:
        name = options.entry.rpartition(":")[2]
        named = [
            entry
            for entry in found
            if entry.name == name or entry.name.endswith("." + name)
        ]
        if not named:
            known = ", ".join(entry.name for entry in found[:8]) or "none"
            raise Refusal(
                f"no function {name!r} that reaches a policy call",
                next_step=f"these do: {known}",
            )
        return (
            named[0],
            tuple(entry for entry in found if entry is not named[0]),
            options.origin("entry"),
        )
    if not found:
        if not needed:
            return None, (), Origin.FOUND
        call = survey.calls[0]
        raise Refusal(
            "the agent runs at module level: there is no function that runs one episode",
            why="a rollout has to start an episode anew, with a scenario",
            next_step="put it into a function such as run_agent(task), or record only, with --no-train-module",
            path=call.place.path,
            line=call.place.line,
        )
    likeliest = tuple(entry for entry in found if entry.score == found[0].score)
    if len(likeliest) == 1:
        return found[0], found[1:], Origin.FOUND
    if not needed:
        return None, likeliest, Origin.FOUND
    if choose is not None:
        chosen = choose(likeliest)
        return (
            chosen,
            tuple(entry for entry in found if entry is not chosen),
            Origin.ANSWER,
        )
    listed = "".join(
        f"\n    {entry.place.path.name}:{entry.place.line}  {entry.name}"
        for entry in likeliest
    )
    raise Refusal(
        f"several entry points: {len(likeliest)} functions could run an episode{listed}",
        next_step=f"say which, for example --entry {likeliest[0].name}; or record only, with --no-train-module",
        path=likeliest[0].place.path,
    )


def _refuse_untrainable(entry: EntryPoint, origin: Origin) -> None:
    """An entry point that no train module could import, or that every episode would be the same of."""
    path = entry.place.path
    if not path.stem.isidentifier() or keyword.iskeyword(path.stem):
        raise Refusal(
            f"a train module cannot import {path.name}: {path.stem} is no name in Python",
            next_step="rename the file, or record only, with --no-train-module",
            path=path,
        )
    takes = [p for p in (*entry.constructor, *entry.parameters) if not p.is_client]
    if not takes and origin is Origin.FOUND:
        raise Refusal(
            f"{entry.name}() takes nothing that could differ from one episode to the next",
            why="a scenario is what an episode starts from: a task, a question",
            next_step=f"give it a parameter; or take it as it is, with --entry {entry.name}; or record only, with --no-train-module",
            path=path,
            line=entry.place.line,
        )


def _training(
    entry: EntryPoint, rewards: Sequence[RewardSite], options: Options
) -> Training:
    if options.backend is not None and options.backend not in BACKENDS:
        raise Refusal(
            f"no such backend: {options.backend!r}", next_step="local or serverless"
        )
    if options.reward is not None and not re.fullmatch(
        r"[\w.]+:[\w.]+", options.reward
    ):
        raise Refusal(
            f"--reward {options.reward!r} names no function",
            next_step="write it as module:function",
        )
    if options.trace is not None and options.trace not in TRACERS:
        raise Refusal(
            f"no such tracer: {options.trace!r}", next_step="weave or langfuse"
        )
    if options.isolate not in (None, "process"):
        raise Refusal(
            f"episodes cannot be isolated by {options.isolate!r}", next_step="process"
        )
    if options.pipeline and options.backend == "serverless":
        raise Refusal(
            "--pipeline with the serverless backend",
            why="PipelineTrainer samples and trains on GPUs of its own",
            next_step="leave out one of the two",
        )
    if options.ruler_weight is not None:
        if options.reward is None:
            raise Refusal(
                "--ruler-weight without --reward",
                why="it says how much of the reward is RULER's beside your own function",
                next_step="add --reward module:function, or leave it out: RULER alone",
            )
        if not 0 < options.ruler_weight < 1:
            raise Refusal("--ruler-weight is a share between 0 and 1")
    for name, least in (
        ("learning_rate", 0.0),
        ("rollouts_per_group", 1),
        ("groups_per_step", 0),
        ("epochs", -1),
    ):
        value = getattr(options, name)
        if value is not None and value <= least:
            why = (
                "a group of one has no advantage: nothing would be learned"
                if name == "rollouts_per_group"
                else ""
            )
            raise Refusal(f"--{name.replace('_', '-')} {value} is too small", why=why)
    stem = (
        entry.place.path.stem
        if entry.place.path.stem != "__init__"
        else entry.place.path.parent.name
    )
    slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-") or "agent"
    return Training(
        reward=options.reward,
        agent_rewards=bool(rewards) and options.reward is None,
        ruler_weight=options.ruler_weight,
        trace=options.trace,
        isolate=options.isolate,
        pipeline=bool(options.pipeline),
        scenarios=_from_train_module(options.scenarios, entry.place.path.parent)
        or "scenarios.jsonl",
        backend=options.backend or "local",
        base_model=options.base_model or BASE_MODELS[0],
        project=options.project or slug,
        run_name=options.run_name or f"{slug}-001",
        judge_model=options.judge_model or "openai/gpt-5.4",
        learning_rate=options.learning_rate or 1e-5,
        rollouts_per_group=options.rollouts_per_group or 4,
        groups_per_step=options.groups_per_step or 2,
        epochs=3 if options.epochs is None else options.epochs,
    )


def _from_train_module(scenarios: str | None, folder: Path) -> str | None:
    """A path that holds from here, as it reads from the train module's ``folder``."""
    if not scenarios or (folder / scenarios).exists() or not Path(scenarios).exists():
        return scenarios
    return Path(os.path.relpath(scenarios, folder)).as_posix()


def train_module_path(agent: Path) -> Path:
    """``agent_train.py`` for ``agent.py``."""
    return agent.with_name(f"{agent.stem}_train.py")


def as_data(decisions: Decisions) -> dict[str, Any]:
    """The decisions for ``--json``."""
    training = decisions.training
    values: dict[str, Any] = (
        {}
        if training is None
        else {f.name: getattr(training, f.name) for f in fields(training)}
    )
    values["entry"] = None if decisions.entry is None else decisions.entry.name
    return {
        name: {
            "value": value,
            "origin": str(decisions.origins.get(name, Origin.DEFAULT)),
        }
        for name, value in values.items()
    }
