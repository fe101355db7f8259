"""Renders the train module of one agent from what was found and decided."""

from __future__ import annotations

import ast
import json
import keyword
import re
import textwrap
from collections.abc import Iterator

from art_adapt import __version__
from art_adapt.decisions import Training
from art_adapt.survey.model import (
    EntryPoint,
    Harm,
    Parameter,
    Route,
    SetupCall,
    Survey,
)
from art_adapt.train_module.fields import (
    ENDPOINT,
    MODELS,
    clashes,
    field_name,
    field_type,
    fields_of,
    is_record,
    scenario_fields,
    terminal_fields,
)
from art_adapt.train_module.fill import fill, names_of_template
from art_adapt.train_module.seal import sealed

LINE_LENGTH = 88


def render(entry: EntryPoint, training: Training, survey: Survey) -> bytes:
    """Return the bytes of the train module that trains ``entry`` as ``training`` says."""
    fields = scenario_fields(entry)
    started = _episode(entry, {field.name for field in fields})
    values = {
        "PROJECT": _literal(training.project),
        "RUN_NAME": _literal(training.run_name),
        "BASE_MODEL": _literal(training.base_model),
        "BACKEND": _literal(training.backend),
        "JUDGE_MODEL": _literal(training.judge_model),
        "RULER_WEIGHT": repr(training.ruler_weight),
        "LEARNING_RATE": repr(training.learning_rate),
        "ROLLOUTS_PER_GROUP": str(training.rollouts_per_group),
        "GROUPS_PER_STEP": str(training.groups_per_step),
        "EPOCHS": str(training.epochs),
        "SCENARIOS": _literal(training.scenarios),
    }
    client = _client_class(entry) if _clients(entry) else None
    typed = "\n".join(_field(field) for field in fields)
    uses_path = entry.is_script or re.search(r"\bPath\b", typed) is not None
    local_imports = _local_imports(entry, training)
    by_name = any("importlib." in line for line in local_imports)
    texts = {
        "docstring": _docstring(entry, training, survey),
        "client_import": f"from openai import {client}" if client else "",
        "path_import": "from pathlib import Path" if uses_path else "",
        "importlib_import": "import importlib" if by_name else "",
        "local_imports": "\n".join(local_imports),
        "fields": typed,
        "episode": started,
    }
    return sealed(fill(values, texts, _conditions(training)), __version__)


def _literal(text: str) -> str:
    """Spell a string in Python, in double quotes as formatters do."""
    return json.dumps(text, ensure_ascii=False)


def _conditions(training: Training) -> dict[str, bool]:
    """Return which of the template's marked statements stay."""
    combined = training.ruler_weight is not None
    judged = combined or (training.reward is None and not training.agent_rewards)
    steps = not training.pipeline
    return {
        "only_here": False,
        "steps": steps,
        "pipeline": not steps,
        "judged_steps": judged and steps,
        "unjudged_steps": not judged and steps,
        "judged_pipeline": judged and not steps,
        "unjudged_pipeline": not judged and not steps,
        "ruler": judged,
        "only_ruler": judged and not combined,
        "combined": combined,
        "reward": training.reward is not None,
        "agent_rewards": training.agent_rewards,
        "plain": training.reward is None and not training.agent_rewards,
        "processes": training.isolate == "process",
        "weave": training.trace == "weave",
        "langfuse": training.trace == "langfuse",
    }


def _docstring(entry: EntryPoint, training: Training, survey: Survey) -> str:
    if entry.module.startswith("."):
        command = f"python -m {entry.package}.{entry.home.stem}_train"
    else:
        command = f"python {entry.home.stem}_train.py"
    scored = (
        f"rewarded by {training.reward}"
        if training.reward
        else "rewarded by the agent itself"
        if training.agent_rewards
        else "scored by RULER"
    )
    typed = entry.terminal is not None
    warnings = _warnings(survey, typed)
    parts = [
        f"Trains {_name(entry)} with ART: GRPO, {scored}.",
        _verdict(survey, training, typed),
        *(["\n".join(warnings)] if warnings else []),
        f"Run: {command} --help",
    ]
    return '"""' + "\n\n".join(parts) + '\n"""'


def _name(entry: EntryPoint) -> str:
    file = entry.home.name
    return file if entry.is_script else f"{entry.called} of {file}"


def _verdict(survey: Survey, training: Training, typed: bool) -> str:
    """Say whether episodes can be run many times over, and what follows."""
    harms = {effect.harm for file in survey.files for effect in file.effects}
    if Harm.ASKS in harms and not typed:
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
    if Harm.UNKNOWN in harms:
        return (
            "Whether episodes can be run many times over depends on what is listed below:\n"
            "art-adapt does not know these libraries, and found nothing else that lasts."
        )
    return "Episodes can be run many times over: nothing they do outlives them."


def _warnings(survey: Survey, typed: bool) -> list[str]:
    harmless = {Harm.CLOCK, Harm.ASKS, Harm.IMPORT} if typed else {Harm.CLOCK}
    found = {
        _in_docstring(f"* {effect.place.path.name}: {effect.what} {effect.harm}")
        for file in survey.files
        for effect in file.effects
        if effect.harm not in harmless
    }
    return sorted(found)[:8]


def _in_docstring(text: str) -> str:
    """One line of the docstring, with nothing in it that would end it or escape."""
    plain = text.replace("\\", "/").replace('"', "'")
    return plain[:LINE_LENGTH].rstrip()


def _local_imports(entry: EntryPoint, training: Training) -> list[str]:
    imported: dict[str, set[str]] = {}
    if not entry.is_script:
        names = [] if entry.is_abstract else [_imported_name(entry)[0]]
        if entry.route is not None:
            names = [entry.route.application]
        elif entry.class_name is None and entry.terminal is None:
            names += [call.name for call in (*entry.setup, *entry.cleanup)]
        imported[entry.module] = {
            name if name == _free(name) else f"{name} as {_free(name)}"
            for name in names
        }
    for parameter in entry.needs:
        if parameter.made is not None and not clashes(parameter.made):
            for module, used in parameter.made.names:
                imported.setdefault(module, set()).add(used)
        if is_record(parameter) and entry.route is None:
            name = _class_name(parameter).partition(".")[0]
            renamed = "" if name == _free(name) else f" as {_free(name)}"
            imported[entry.module].add(f"{name}{renamed}")
    lines = [
        line
        for module, names in imported.items()
        for line in _import(module, sorted(names, key=_by_kind))
    ]
    if training.reward:
        module, _, function = training.reward.partition(":")
        alias = "" if function == "score" else " as score"
        lines.append(f"from {module} import {function}{alias}")

    def order(line: str) -> tuple[bool, bool, str]:
        # Of other packages, of its own, and what no import statement can name.
        return "importlib." in line, line.startswith("from ."), line

    return sorted(lines, key=order)


def _by_kind(name: str) -> tuple[int, str]:
    """Order imported names as isort and ruff do: constants, classes, others."""
    plain = name.partition(" ")[0]
    return (0 if plain.isupper() else 1 if plain[:1].isupper() else 2), name


def _import(module: str, names: list[str]) -> Iterator[str]:
    """Render the import of ``names``, each given as ``name`` or ``name as other``.

    The name "" is the module itself.
    """
    if "" in names:
        yield f"import {module}"
        names = [name for name in names if name]
    if not names:
        return
    stem = module.removeprefix(".").rpartition(".")[2]
    line = f"from {module} import {', '.join(names)}"
    if not stem.isidentifier() or keyword.iskeyword(stem):  # 1-agent.py
        package = ", __package__" if module.startswith(".") else ""
        for each in names:
            name, _, local = each.partition(" as ")
            given = f"{_literal(module)}{package}"
            line = f"{local or name} = importlib.import_module({given}).{name}"
            if len(line) > LINE_LENGTH:
                line = line.replace(f"({given})", f"(\n    {given}\n)")
            yield line
    elif len(line) <= LINE_LENGTH:
        yield line
    else:
        several = [f"from {module} import (", *(f"    {n}," for n in names), ")"]
        yield "\n".join(several)


def _class_name(parameter: Parameter) -> str:
    """The class that a parameter is annotated with, as the agent's file names it."""
    text = (parameter.annotation or "").strip("\"'")
    text = re.sub(r"^(?:typing\.)?Optional\[(.*)\]$", r"\1", text)
    return re.sub(r"\s*\|\s*None$|^None\s*\|\s*", "", text).strip("\"'")


def _imported_name(entry: EntryPoint) -> tuple[str, str]:
    """Return the agent's name for its entry point, and one that is free here."""
    name = (entry.class_name or entry.called).split(".")[0]
    return name, _free(name)


def _free(name: str) -> str:
    """A name of the agent's, as the train module can use it beside its own."""
    return f"agent_{name}" if name in names_of_template() else name


def _episode(entry: EntryPoint, fields: set[str]) -> str:
    """Render the function that runs the agent, on a fresh instance of its class."""
    if entry.terminal is not None:
        return _terminal_episode(entry)
    if entry.route is not None:
        return _request_episode(entry.route, scenario_fields(entry))
    lines = _preparations(entry)
    imported, local = _imported_name(entry)
    name = local + entry.called.removeprefix(imported) + entry.attribute
    indent = "    "
    if entry.class_name is not None:
        class_name = local + entry.class_name.removeprefix(imported)
        constructed = _arguments(entry.constructor, fields)
        if entry.is_abstract:
            lines.append(f"    agent = {_value(entry.needs[0], fields)}")
        elif entry.context:
            start = f"    {entry.context} "
            lines.append(_call(start, class_name, constructed, " as agent:"))
            indent = "        "
        else:
            lines.append(_call("    agent = ", class_name, constructed))
        method = entry.called.rpartition(".")[2]
        name = "agent" if method == "__call__" else f"agent.{method}"
    inner = indent
    if entry.cleanup:
        lines.append(f"{indent}try:")
        inner += "    "
    lines += [_setup(inner, call, entry, fields) for call in entry.setup]
    arguments = _arguments(entry.parameters, fields)
    returns = not entry.is_generator and entry.returns != "None"
    # A decorator may have made it synchronous; what can be awaited is, by record().
    forwarded = entry.decorated and returns and inner == "    " and not entry.setup
    if entry.is_generator:  # to its end
        start = f"{inner}{'async ' * entry.is_async}for _ in "
        lines.append(_call(start, name, arguments) + f":\n{inner}    pass")
    else:
        awaited = entry.is_async and not forwarded
        start = inner + "return " * returns + "await " * awaited
        lines.append(_call(start, name, arguments))
    if entry.cleanup:
        lines.append(f"{indent}finally:")
        lines += [_setup(inner, call, entry, fields) for call in entry.cleanup]
    body = "\n".join(lines)
    if "endpoint[" in body:
        lines.insert(0, "    endpoint = training.policy_endpoint()")
    if _clients(entry):
        made = f"{_client_class(entry)}(**training.policy_endpoint())"
        lines.insert(0, f"    client = {made}")
    fresh = ", on an instance of its own" if entry.class_name else ""
    documentation = (
        f"Run the agent once{fresh}; without a final_answer(...), return the answer."
        if returns
        else f"Run the agent once{fresh}; final_answer(...) marks its answer."
    )
    keyword_ = "async def" if entry.is_async and not forwarded else "def"
    annotation = "Any" if returns else "None"
    header = f"{keyword_} episode(scenario: Scenario) -> {annotation}:"
    return "\n".join([header, f'    """{documentation}"""', *lines])


def _setup(indent: str, call: SetupCall, entry: EntryPoint, fields: set[str]) -> str:
    """Render a call before or after the agent runs."""
    name = f"agent.{call.name}" if entry.class_name else _free(call.name)
    start = indent + "await " * call.is_async
    return _call(start, name, _arguments(call.parameters, fields))


def _terminal_episode(entry: EntryPoint) -> str:
    """Render an episode that is typed: its input and arguments are the scenario's."""
    assert entry.terminal is not None
    given = [f"{f.name}=scenario.{f.name}" for f in terminal_fields(entry.terminal)]
    if entry.is_script:
        path = f"Path(__file__).with_name({_literal(entry.home.name)})"
        call = _call("    return training.", "run_script", [path, *given])
    else:
        name = _imported_name(entry)[1]
        call = _call("    return training.", "run_command", [name, *given])
    what = "Run the file" if entry.is_script else "Run the command"
    return "\n".join(
        [
            "def episode(scenario: Scenario) -> Any:",
            f'    """{what} once; without a final_answer(...), return what it printed last."""',
            call,
        ]
    )


def _request_episode(route: Route, fields: list[Parameter]) -> str:
    """Render an episode that is a request to a web application."""
    in_path = re.compile(r"<(?:\w+:)?(\w+)>|\{(\w+)(?::\w+)?\}")
    names = {name for pair in in_path.findall(route.path) for name in pair if name}
    path = in_path.sub(lambda m: f"{{scenario.{m[1] or m[2]}}}", route.path)
    sent = [
        f"{_literal(field.name)}: scenario.{field_name(field)}"
        for field in fields
        if field.name not in names
    ]
    text = f"{'f' * bool(names)}{_literal(path)}"
    given = [_free(route.application), _literal(route.method), text]
    if sent:
        given.append(f"{route.encoding}={{{', '.join(sent)}}}")
    return "\n".join(
        [
            "def episode(scenario: Scenario) -> Any:",
            '    """Send the agent one request, and return what it answers."""',
            _call("    return training.", "ask_app", given),
        ]
    )


def _arguments(parameters: tuple[Parameter, ...], fields: set[str]) -> list[str]:
    found = []
    for parameter in parameters:
        value = _value(parameter, fields)
        if value is not None:
            named = "" if parameter.positional_only else f"{parameter.name}="
            found.append(f"{named}{value}")
    return found


def _value(parameter: Parameter, fields: set[str]) -> str | None:
    """Render what episode() passes for a parameter; None: its own default."""
    name, is_required = parameter.name, parameter.default is None
    if parameter.is_client and parameter.default in (None, "None"):
        return "client"
    if is_required and (key := ENDPOINT.get(name)):
        return f'endpoint["{key}"]'
    if is_required and parameter.is_object:
        made = parameter.made
        if made is not None and not clashes(made):
            return made.value
        what = f"{name}: {parameter.annotation or 'an object'}"[:40]
        if parameter.passed is not None:
            what += f", as in {parameter.passed.path.name}:{parameter.passed.line}"
        return f"training.fill_in({_literal(what)})"
    if is_required and name in MODELS and not parameter.is_client:
        return "BASE_MODEL"
    if is_record(parameter):
        given = _arguments(parameter.fields or (), fields)
        head, dot, rest = _class_name(parameter).partition(".")
        return f"{_free(head)}{dot}{rest}({', '.join(given)})"
    if name in fields:
        return f"scenario.{field_name(parameter)}"
    return parameter.default if parameter.declared else None


def _preparations(entry: EntryPoint) -> list[str]:
    """The statements that make what the entry point needs, as the project makes it."""
    statements = (
        statement
        for parameter in entry.needs
        if parameter.made is not None and not clashes(parameter.made)
        for statement in parameter.made.statements
    )
    return [textwrap.indent(each, "    ") for each in dict.fromkeys(statements)]


def _call(start: str, function: str, arguments: list[str], end: str = "") -> str:
    """Render a call on one line, or broken as formatters do."""
    indent = " " * (len(start) - len(start.lstrip()))
    return "\n".join(_broken(indent, f"{start.lstrip()}{function}", arguments, end))


def _broken(indent: str, start: str, arguments: list[str], end: str) -> list[str]:
    line = f"{indent}{start}({', '.join(arguments)}){end}"
    if len(line) <= LINE_LENGTH or not arguments:
        return [line]
    inner = indent + "    "
    body = [inner + ", ".join(arguments)]
    if len(body[0]) > LINE_LENGTH:
        body = [line for each in arguments for line in _broken_argument(inner, each)]
    return [f"{indent}{start}(", *body, f"{indent}){end}"]


def _broken_argument(indent: str, argument: str) -> list[str]:
    """Render an argument on a line of its own, and its own arguments if that is long."""
    text = f"_({argument})"
    try:
        parsed = ast.parse(text, mode="eval").body
    except SyntaxError:  # an unparenthesised walrus
        return [f"{indent}{argument},"]
    given = parsed.keywords if isinstance(parsed, ast.Call) else []
    value = given[0].value if given else None
    if not isinstance(value, ast.Call) or not (value.args or value.keywords):
        return [f"{indent}{argument},"]
    inner = [
        *(ast.get_source_segment(text, each) or "" for each in value.args),
        *(
            (f"{each.arg}=" if each.arg else "**")
            + (ast.get_source_segment(text, each.value) or "")
            for each in value.keywords
        ),
    ]
    return _broken(indent, f"{given[0].arg}={ast.unparse(value.func)}", inner, ",")


def _clients(entry: EntryPoint) -> list[Parameter]:
    """The clients that episode() passes, as parameters or in dataclasses."""
    if entry.terminal is not None or entry.route is not None:
        return []
    every = (field for parameter in entry.needs for field in fields_of(parameter))
    return [p for p in every if p.is_client and p.default in (None, "None")]


def _client_class(entry: EntryPoint) -> str:
    annotations = " ".join(p.annotation or "" for p in _clients(entry))
    is_async = "Async" in annotations or (
        entry.is_async and "OpenAI" not in annotations
    )
    return "AsyncOpenAI" if is_async else "OpenAI"


def _field(parameter: Parameter) -> str:
    line = f"    {field_name(parameter)}: {field_type(parameter)}"
    simple = parameter.default is not None and re.fullmatch(
        r"-?\d+(\.\d+)?|True|False|None", parameter.default
    )
    if simple:
        return f"{line} = {parameter.default}"
    if parameter.default is not None and re.fullmatch(
        r"'[^'\"\\]*'", parameter.default
    ):
        return f"{line} = {_literal(parameter.default[1:-1])}"
    return line
