"""Renders the train module for one agent: says what the template asks for, from what
was found and decided.
"""

from __future__ import annotations

import json
import keyword
import re

from art_adapt import __version__
from art_adapt.decisions import Training
from art_adapt.survey.model import EntryPoint, Harm, Parameter, Survey
from art_adapt.train_module.seal import sealed
from art_adapt.train_module.template import fill, names_of_template
from art_adapt.train_module.types import element_type, plain_type

LINE_LENGTH = 88
# Arguments that say where the model is: no scenario's business. Recorded calls go to the
# model in training whatever they are.
ENDPOINT = {
    "api_key": "inference_api_key",
    "openai_api_key": "inference_api_key",
    "base_url": "inference_base_url",
}
CONVERSATIONS = ("messages", "history", "conversation", "chat_history")
PYDANTIC_NAMES = (
    "schema",
    "json",
    "copy",
    "dict",
    "model_config",
    "construct",
    "validate",
)


def render(entry: EntryPoint, training: Training, survey: Survey) -> bytes:
    """The bytes of the train module that trains ``entry`` as ``training`` says."""
    fields = scenario_fields(entry)
    answer = _answer_type(entry)
    field_lines = [_field(field) for field in fields]
    warnings = _warnings(survey)
    client = "AsyncOpenAI" if _async_client(entry) else "OpenAI"
    start = _start(entry, {field.name for field in fields})
    if entry.module.startswith("."):
        command = f"python -m {_package(survey, entry)}.{entry.place.path.stem}_train"
    else:
        command = f"python {entry.place.path.stem}_train.py"
    scored = (
        f"rewarded by {training.reward}"
        if training.reward
        else "rewarded by the agent itself"
        if training.agent_rewards
        else "scored by RULER"
    )
    kind = scenario_kind(training.scenarios)
    values = {
        "verdict": _verdict(survey, training),
        "ruler_weight": repr(training.ruler_weight),
        "scenarios_name": json.dumps(training.scenarios),
        "entry": entry.name,
        "file": entry.place.path.name,
        "scored": scored,
        "warnings": "\n".join(warnings),
        "command": command,
        "client": client,
        "make_client": _call(
            "    client = ",
            client,
            [f"{name}=model.{ENDPOINT[name]}" for name in ("base_url", "api_key")],
        ),
        "local_imports": "\n".join(_local_imports(entry, training)),
        "project": json.dumps(training.project),
        "run_name": json.dumps(training.run_name),
        "base_model": json.dumps(training.base_model),
        "backend": json.dumps(training.backend),
        "judge_model": json.dumps(training.judge_model),
        "learning_rate": repr(training.learning_rate),
        "rollouts_per_group": str(training.rollouts_per_group),
        "groups_per_step": str(training.groups_per_step),
        "epochs": str(training.epochs),
        "scenarios": training.scenarios,
        "fields": "\n".join(field_lines),
        "answer": answer
        if answer == "Any" or answer.endswith("None")
        else f"{answer} | None",
        "fresh": ", on an instance of its own" if entry.class_name else "",
        "start": start,
        "reward": training.reward or "",
    }
    ruler = training.ruler_weight is not None or (
        training.reward is None and not training.agent_rewards
    )
    conditions = {
        "warnings": bool(warnings),
        "sync": not entry.is_async,
        "pipeline": training.pipeline,
        "stepwise": not training.pipeline,
        "environment": not training.pipeline or ruler,
        "threads": not entry.is_async and training.isolate is None,
        "ruler": ruler,
        "combined": training.ruler_weight is not None,
        "weave": training.trace == "weave",
        "langfuse": training.trace == "langfuse",
        "processes": training.isolate == "process",
        "files": kind != "rows",
        **{each: each == kind for each in ("jsonl", "csv", "rows", "dataset")},
        "reward_function": training.reward is not None,
        "agent_rewards": training.agent_rewards,
        "client": "=client" in start,
        "fields": bool(fields),
    }
    return sealed(fill(values, conditions), __version__)


def scenario_fields(entry: EntryPoint) -> list[Parameter]:
    """What differs from one episode to the next: what the entry point and its class
    require.

    Where they require nothing, whatever the entry point can be given.
    """
    every = [
        parameter
        for parameter in (*entry.constructor, *entry.parameters)
        if not parameter.is_client and parameter.name not in ENDPOINT
    ]
    required = [parameter for parameter in every if parameter.default is None]
    chosen = required or [
        parameter for parameter in entry.parameters if not parameter.is_client
    ]
    return list({parameter.name: parameter for parameter in chosen}.values())


def scenario_kind(scenarios: str) -> str:
    """How scenarios are read: ``jsonl``, ``csv``, ``rows`` (of a Python object) or
    ``dataset`` (a folder).
    """
    if re.fullmatch(r"[\w.]+:\w+", scenarios):
        return "rows"
    _, dot, suffix = scenarios.rpartition("/")[2].rpartition(".")
    if not dot:
        return "dataset"
    return "csv" if suffix.lower() in ("csv", "tsv") else "jsonl"


def _verdict(survey: Survey, training: Training) -> str:
    """Whether episodes can be run anew, and what follows."""
    harms = {effect.harm for file in survey.files for effect in file.effects}
    if Harm.ASKS in harms:
        return (
            "An episode asks a person, so it cannot be run many times over as it is:\n"
            "give it its answers from the scenario, or train on a part that asks nobody."
        )
    if Harm.SHARED in harms and training.isolate is None:
        return (
            "Episodes share state in modules, and would see each other's. If that state\n"
            "belongs to an episode, adapt the agent again with --isolate process."
        )
    if {Harm.WRITES, Harm.NETWORK, Harm.PROCESS} & harms:
        return (
            "Episodes are run many times over. What they write and whom they call must\n"
            "bear that; look at the effects below."
        )
    return "Episodes can be run many times over: nothing they do outlives them."


def _warnings(survey: Survey) -> list[str]:
    found = {
        f"* {effect.place.path.name}: {effect.what} {effect.harm}"[:LINE_LENGTH]
        for file in survey.files
        for effect in file.effects
        if effect.harm is not Harm.CLOCK
    }
    return sorted(found)[:8]


def _package(survey: Survey, entry: EntryPoint) -> str:
    return next(
        file.package for file in survey.files if file.source.path == entry.place.path
    )


def _local_imports(entry: EntryPoint, training: Training) -> list[str]:
    name, local = _imported_name(entry)
    renamed = "" if name == local else f" as {local}"
    recording = (
        "from . import art_recording"
        if entry.module.startswith(".")
        else "import art_recording"
    )
    lines = [recording, f"from {entry.module} import {name}{renamed}"]
    if scenario_kind(training.scenarios) == "rows":
        module, _, rows = training.scenarios.partition(":")
        renamed = "" if rows == "ROWS" else " as ROWS"
        lines.append(f"from {module} import {rows}{renamed}")
    if training.reward:
        module, _, function = training.reward.partition(":")
        alias = "" if function == "score" else " as score"
        lines.append(f"from {module} import {function}{alias}")
    return sorted(
        lines,
        key=lambda line: (line.startswith("from"), line.startswith("from ."), line),
    )


def _imported_name(entry: EntryPoint) -> tuple[str, str]:
    """The name that the agent's file gives its entry point, and one that is free here."""
    name = (entry.class_name or entry.name).split(".")[0]
    return name, f"agent_{name}" if name in names_of_template() else name


def _start(entry: EntryPoint, fields: set[str]) -> str:
    """The statements that run the agent: on a fresh instance of its class, to the end
    of a generator.
    """
    lines: list[str] = []
    imported, local = _imported_name(entry)
    name = local + entry.name.removeprefix(imported)
    if entry.class_name is not None:
        class_name = local + entry.class_name.removeprefix(imported)
        constructed = _arguments(entry.constructor, fields)
        lines.append(_call("    agent = ", class_name, constructed))
        method = entry.name.rpartition(".")[2]
        name = "agent" if method == "__call__" else f"agent.{method}"
    arguments = _arguments(entry.parameters, fields)
    if entry.is_generator:
        start = "    async for _ in " if entry.is_async else "    for _ in "
        lines.append(_call(start, name, arguments) + ":\n        pass")
    else:
        lines.append(_call("    await " if entry.is_async else "    ", name, arguments))
    return "\n".join(lines)


def _arguments(parameters: tuple[Parameter, ...], fields: set[str]) -> list[str]:
    found = []
    for parameter in parameters:
        if parameter.is_client and parameter.default in (None, "None"):
            found.append(f"{parameter.name}=client")
        elif parameter.default is None and (value := ENDPOINT.get(parameter.name)):
            found.append(f"{parameter.name}=model.{value}")
        elif parameter.name in fields:
            found.append(f"{parameter.name}=scenario.{_field_name(parameter)}")
    return found


def _call(start: str, function: str, arguments: list[str]) -> str:
    """A call on one line, or broken as formatters do."""
    line = f"{start}{function}({', '.join(arguments)})"
    if len(line) <= LINE_LENGTH or not arguments:
        return line
    inner = "        " + ", ".join(arguments)
    body = (
        [inner]
        if len(inner) <= LINE_LENGTH
        else [f"        {argument}," for argument in arguments]
    )
    return "\n".join([f"{start}{function}(", *body, "    )"])


def _async_client(entry: EntryPoint) -> bool:
    annotations = " ".join(
        p.annotation or ""
        for p in (*entry.parameters, *entry.constructor)
        if p.is_client
    )
    return "Async" in annotations or (entry.is_async and "OpenAI" not in annotations)


def _answer_type(entry: EntryPoint) -> str:
    if any(exit_.how != "returned" for exit_ in entry.exits):
        return "str"
    elements = {exit_.element for exit_ in entry.exits}
    if elements == {None} or not elements:
        return plain_type(entry.returns) if entry.returns != "None" else "Any"
    element = elements.pop()
    return (
        "Any" if elements or element is None else element_type(entry.returns, element)
    )


def _field(parameter: Parameter) -> str:
    line = f"    {_field_name(parameter)}: {_field_type(parameter)}"
    simple = parameter.default is not None and re.fullmatch(
        r"-?\d+(\.\d+)?|True|False|None", parameter.default
    )
    if simple:
        return f"{line} = {parameter.default}"
    if parameter.default is not None and re.fullmatch(
        r"'[^'\"\\]*'", parameter.default
    ):
        return f"{line} = {json.dumps(parameter.default[1:-1])}"
    return line


def _field_type(parameter: Parameter) -> str:
    if parameter.annotation is None and parameter.name in CONVERSATIONS:
        return "list[dict[str, Any]]"
    if (
        parameter.annotation is None
        and parameter.default is not None
        and re.fullmatch(r"-?\d+", parameter.default)
    ):
        return "int"
    return plain_type(parameter.annotation)


def _field_name(parameter: Parameter) -> str:
    """pydantic takes no field that begins with an underscore, or hides one of its own
    methods.
    """
    name = parameter.name.lstrip("_")
    return f"{name}_" if keyword.iskeyword(name) or name in PYDANTIC_NAMES else name
