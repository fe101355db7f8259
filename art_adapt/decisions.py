"""Decide what to do with what the survey found: what to record, what runs an episode, how to train."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from shlex import quote
from typing import Any

from art_adapt.calls import Api, is_function
from art_adapt.code.project_folder import project_root
from art_adapt.entry_decision import MOST_LISTED, decide_entry, refuse_untrainable
from art_adapt.errors import Refusal
from art_adapt.paths import at, shown
from art_adapt.printable import quoted
from art_adapt.project_copy import can_be_copied
from art_adapt.reward_function import check_reward
from art_adapt.settings import Options, Origin, TrainingOptions, check
from art_adapt.source import Place
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.calls.said import Said, is_named
from art_adapt.survey.model import CompletionCall, EntryPoint, Exit, RewardSite, Survey
from art_adapt.survey.side_effects.harm import Harm, Obstacle
from art_adapt.train_file import agent_path, has_seal

OR_ENTRY = "or name the function that runs the framework's agent with --entry FUNCTION"


@dataclass(frozen=True)
class Training(TrainingOptions):
    """How to train: the values of the train module's settings."""

    agent_rewards: bool = False  # the agent itself computes its reward
    every_client: bool = False  # a framework asks, through clients of its own
    auxiliary: tuple[str, ...] = ()  # functions that ask for what is not trained


@dataclass(frozen=True)
class Decisions:
    """What will be done; ``origins`` tells where each decision came from."""

    policy: tuple[CompletionCall, ...]
    auxiliary: tuple[CompletionCall, ...]
    entry: EntryPoint | None
    other_entries: tuple[EntryPoint, ...]
    exits: tuple[Exit, ...]
    rewards: tuple[RewardSite, ...]
    training: Training | None
    origins: Mapping[str, Origin]


def decide(survey: Survey, options: Options) -> Decisions:
    """Decide on everything.

    Raises:
        Refusal: there is nothing to adapt, or a decision is needed that only the user can take.
    """
    _refuse_art_code(survey)
    hidden = next((each for each in survey.obstacles if each.hides_code), None)
    if hidden is not None:
        raise Refusal(
            "a notebook's cell is kept as text, and its code may be the agent's",
            next_step=hidden.instead,
            path=hidden.place.path,
            line=hidden.place.line,
        )
    policy, auxiliary = _divide(survey, options)
    every_client = all(call.api is Api.FRAMEWORK for call in policy)
    unseen = options.entry is not None and _uses_framework(survey)
    if not policy and not unseen:
        raise nothing_to_record(survey, auxiliary)
    if policy and not any(call.supported for call in policy):
        raise _unsupported(policy[0])
    if policy and every_client and not options.train_module:
        raise _nothing_to_hook(policy[0])
    decided = decide_entry(survey, options)
    exits = dict.fromkeys(e for entry in decided.likely for e in entry.exits)
    if every_client:  # the agent stays as it is: what an episode returns is its answer
        exits = {}
    rewards = dict.fromkeys(r for entry in decided.likely for r in entry.rewards)
    training, origins = None, {"entry": decided.origin}
    if options.train_module and decided.entry is not None:
        refuse_untrainable(decided)
        training = Training(
            **_chosen(decided.entry, options),
            agent_rewards=bool(rewards) and options.reward is None,
            every_client=every_client and not options.single_turn,
            auxiliary=(
                *_auxiliary_names(decided.entry, policy, auxiliary, every_client),
                *(n for n in options.auxiliary if any(n in c.several for c in policy)),
            ),
        )
        if not options.single_turn and "isolate" not in options.origins:
            apart = survey.isolation()
            if apart == "copy" and not can_be_copied(project_root(decided.entry.home)):
                apart = survey.isolation(can_copy=False)
            training = replace(training, isolate=apart)
            origins |= {"isolate": Origin.FOUND} if apart is not None else {}
        is_said = "isolate" in options.origins and training.isolate is not None
        if decided.entry.program is not None and not is_said:
            # It may write files before the episode, as others do meanwhile.
            whole = can_be_copied(project_root(decided.entry.home))
            training = replace(training, isolate="copy" if whole else "process")
            origins |= {"isolate": Origin.FOUND}
    return Decisions(
        policy,
        auxiliary,
        decided.entry,
        decided.others,
        tuple(exits),
        tuple(rewards),
        training,
        origins={**options.origins, **origins},
    )


def said_in(options: Options) -> Said:
    """Return what the options say of completion calls."""
    return Said(options.policy, options.auxiliary)


def _auxiliary_names(
    entry: EntryPoint,
    policy: Sequence[CompletionCall],
    auxiliary: Sequence[CompletionCall],
    every_client: bool,
) -> tuple[str, ...]:
    """Name the functions that ask for what is not trained.

    A name stands for all that the function calls. Where nothing has a hook, the function
    that runs the policy must not be named; nor, anywhere, one that makes a policy call as well,
    whose side job is known by its model if no turn asks that. ``summarize > complete`` is what
    ``complete``, whose request has a hook, asks for ``summarize``.
    """
    own = {call.function for call in policy}
    models = {call.asks for call in policy}
    names = dict.fromkeys(
        call.asks
        if call.function in own and call.asks and call.asks not in models
        else call.function
        for call in auxiliary
    )
    running = {entry.name, *own}
    asides = [f"{a.function} > {call.function}" for call in policy for a in call.asides]
    return (
        *(n for n in names if not (every_client and n in running)),
        *dict.fromkeys(asides),
    )


def _uses_framework(survey: Survey) -> bool:
    """True if the agent imports a framework whose requests the recorder can see."""
    return any(obstacle.every_client for obstacle in survey.obstacles)


def _refuse_art_code(survey: Survey) -> None:
    given = [file for file in survey.files if file.given]
    if given and all(file.uses_art is not None for file in given):
        place = given[0].uses_art
        assert place is not None
        agent = agent_path(place.path)
        if has_seal(given[0].source.data) and agent.is_file() and agent != place.path:
            raise Refusal(
                f"this is the train module of {quoted(agent.name)}",
                next_step=f"art-adapt {quote(shown(agent))} writes it; art-adapt rehearse "
                f"{quote(shown(place.path))} tries it",
                path=place.path,
            )
        raise Refusal(
            "this file already uses ART",
            why="it records its own trajectories, so hooks would record every completion twice",
            next_step="adapt the agent that runs in production, not its training script",
            path=place.path,
            line=place.line,
        )


def _divide(
    survey: Survey, options: Options
) -> tuple[tuple[CompletionCall, ...], tuple[CompletionCall, ...]]:
    """Divide the completion calls into policy calls and auxiliary calls."""
    policy: list[CompletionCall] = []
    auxiliary: list[CompletionCall] = []
    calls = [c for file in survey.files if file.uses_art is None for c in file.calls]
    models = survey.models
    for name in (*options.policy, *options.auxiliary):
        asked = {asker.function for call in calls for asker in call.askers}
        if not (
            any(is_named(call, name) for call in calls)
            or any(is_function(each, name) for each in asked)
            or name in models
        ):
            functions = sorted({call.function for call in calls} | asked)
            more = len(functions) - MOST_LISTED
            known = ", ".join(functions[:MOST_LISTED]) or "none"
            known += f" and {more} more" * (more > 0)
            raise Refusal(
                f"no completion call is named {name!r}",
                next_step=f"name one of these functions: {known}; or FILE:LINE; or the model that is asked",
            )
    for call in calls:
        (policy if call.role is Role.POLICY else auxiliary).append(call)
    return tuple(policy), tuple(auxiliary)


def nothing_to_record(
    survey: Survey, auxiliary: Sequence[CompletionCall] = ()
) -> Refusal:
    """Say why nothing in a survey can be trained."""
    paths = [file.source.path for file in survey.files if file.given]
    if auxiliary:
        first = auxiliary[0]
        return Refusal(
            "only auxiliary calls found: there is no policy call to train",
            why=f"{first.callee}: {first.reason}",
            next_step=f"name the agent's own call with --policy {first.function}"
            + (f"; {OR_ENTRY}" if _uses_framework(survey) else ""),
            path=first.place.path,
            line=first.place.line,
        )
    obstacles = [each for each in survey.obstacles if each.calls_model]
    # A graph whose steps call a client of the project is no framework that calls the model.
    graph_only = bool(survey.unreached) and all(o.every_client for o in obstacles)
    if obstacles and not graph_only:
        return _obstructed(obstacles[0])
    process = next(
        (e for f in survey.files for e in f.effects if e.harm is Harm.PROCESS), None
    )
    if process is not None:
        return Refusal(
            "no completion call found in this file, but it starts a process",
            why=f"if the model is called in {process.what}, a rollout cannot record it",
            next_step="adapt the file that the process runs, and call it as a function",
            path=process.place.path,
            line=process.place.line,
        )
    if survey.unreached:
        return _out_of_reach(survey.unreached[0], paths)
    if survey.broken:  # the agent's call may be in it
        unread = survey.broken[0]
        why = "the agent imports this file, and no completion call was found in its others"
        return replace(unread, why=f"{why}; {unread.why}" if unread.why else why)
    return Refusal(
        "no completion call found in this file or in the project files that it imports",
        why="art-adapt looks for chat completions and responses of the OpenAI client, litellm.completion and instructor's create",
        next_step="name the file in which the agent calls the model",
        path=paths[0] if paths else None,
    )


def _out_of_reach(call: Place, given: Sequence[Path]) -> Refusal:
    """Say that a file asks the model to which no call was followed: a library may run it."""
    agent = given[0]
    example = f"art-adapt --entry {agent.stem}:FUNCTION {quote(shown(call.path))}"
    return Refusal(
        f"no call path leads from {agent.name} to the model call at {at(call)}",
        why="a library or a registry may call it; art-adapt cannot follow such calls by reading the code",
        next_step=f"name the function that runs an episode, with {example}; or run the agent "
        "once with art-adapt capture -- COMMAND, which finds it",
        path=agent,
    )


def _obstructed(obstacle: Obstacle) -> Refusal:
    but = (
        "but no call that runs it was found"
        if obstacle.every_client
        else "which art-adapt does not support"
    )
    return Refusal(
        f"the model is called through {obstacle.what}, {but}",
        next_step=_indented(obstacle.instead, obstacle.edit),
        path=obstacle.place.path,
        line=obstacle.place.line,
    )


def _indented(advice: str, edit: str) -> str:
    """Put what to write below the advice, as it would stand in a file."""
    return f"{advice}\n\n{textwrap.indent(edit, ' ' * 8)}" if edit else advice


def _nothing_to_hook(call: CompletionCall) -> Refusal:
    return Refusal(
        f"nothing to hook: {call.callee} runs a framework that calls the model itself",
        why="a train module records such an agent unchanged, through the requests of any client",
        next_step="leave out --no-train-module, and name a file: standard input has no train module",
        path=call.place.path,
        line=call.place.line,
    )


def _unsupported(call: CompletionCall) -> Refusal:
    return Refusal(
        f"cannot record {call.callee}",
        why="text completions have no messages, and ART trains on conversations",
        next_step="use client.chat.completions for the model that you want to train",
        path=call.place.path,
        line=call.place.line,
    )


def _chosen(entry: EntryPoint, options: Options) -> dict[str, Any]:
    """Return the options with what follows from the entry point's file: names and paths."""
    check(options)
    path = entry.home
    if options.reward is not None:
        check_reward(options.reward, path)
    project, run_name = names_for(path)
    given = {each.name: getattr(options, each.name) for each in fields(TrainingOptions)}
    return given | {
        "scenarios": from_train_module(options.scenarios, path.parent),
        "project": options.project or project,
        "run_name": options.run_name or run_name,
    }


def names_for(agent: Path) -> tuple[str, str]:
    """Return what a project and its run are called that train ``agent``, unless told."""
    stem = agent.parent.name if agent.stem == "__init__" else agent.stem
    slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-") or "agent"
    return slug, f"{slug}-001"


def from_train_module(scenarios: str, folder: Path) -> str:
    """Return a path that is valid here, as it reads from the train module's ``folder``."""
    if os.path.exists(folder / scenarios) or not os.path.exists(scenarios):
        return scenarios
    return Path(os.path.relpath(scenarios, folder)).as_posix()


def as_data(decisions: Decisions) -> dict[str, Any]:
    """Return the decisions for ``--json``."""
    values: dict[str, Any] = {}
    if decisions.training is not None:
        values = asdict(decisions.training)
    values["entry"] = None if decisions.entry is None else decisions.entry.name
    return {
        name: {
            "value": value,
            "origin": str(decisions.origins.get(name, Origin.DEFAULT)),
        }
        for name, value in values.items()
    }
