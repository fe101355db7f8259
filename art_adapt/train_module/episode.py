"""Renders the function that runs one episode of the agent."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

from art_adapt.survey.inputs.supplied import MODEL
from art_adapt.survey.model import (
    EntryPoint,
    Parameter,
    Route,
    SetupCall,
    Terminal,
)
from art_adapt.train_module.fields import (
    ENDPOINT,
    field_name,
    fields_of,
    scenario_fields,
    terminal_fields,
)
from art_adapt.train_module.layout import double_quoted, literal, render_call
from art_adapt.train_module.local_names import (
    imported_name,
    local_name,
    record_class,
)
from art_adapt.train_module.taken_over import taken_over

SINGLE_TURN = '''\
def episode(scenario: Scenario) -> Any:
    """Let the model answer the request; its message is the answer."""
    return training.complete(scenario)'''


# The fields of a scenario, with what they are where a row says nothing; None: required.
Defaults = Mapping[str, str | None]


def render_episode(entry: EntryPoint, fields: Defaults) -> str:
    """Render the function that runs the agent, on a fresh instance of its class."""
    if entry.is_request:
        return SINGLE_TURN
    if entry.is_script:
        return _script_episode(entry)
    if entry.route is not None:
        return _request_episode(entry.route, scenario_fields(entry))
    lines = _preparations(entry)
    imported, local = imported_name(entry)
    name = local + entry.called.removeprefix(imported) + entry.attribute
    indent, agent = "    ", "agent"
    if entry.class_name is not None:
        class_name = local + entry.class_name.removeprefix(imported)
        names = [parameter.name for parameter in entry.parameters]
        constructed = _arguments(
            # What the function is given, too, need not be given to its class.
            tuple(
                p for p in entry.constructor if p.default is None or p.name not in names
            ),
            fields,
        )
        if (made := _named_whole(entry)) is not None:
            agent = made
        elif entry.is_abstract or entry.instance is not None:
            lines.append(f"    agent = {_value(entry.needs[0], fields)}")
        elif entry.context:
            start = f"    {entry.context} "
            lines.append(render_call(start, class_name, constructed, " as agent:"))
            indent = "        "
        else:
            lines.append(render_call("    agent = ", class_name, constructed))
        method = entry.called.rpartition(".")[2]
        name = agent if method == "__call__" else f"{agent}.{method}"
    inner = indent
    if entry.cleanup:
        lines.append(f"{indent}try:")
        inner += "    "
    around = f"{agent}." if entry.class_name is not None else ""
    lines += [_setup(inner, call, around, fields) for call in entry.setup]
    arguments = _arguments(entry.parameters, fields)
    returns = not (entry.is_generator or entry.returns == "None" or entry.keeps_answer)
    is_async = entry.is_async
    if entry.terminal is not None:  # what it returns, or else prints
        what = f"lambda: {name}({', '.join(arguments)})" if arguments else name
        name, arguments = "training.run_command", [what, *_typed(entry.terminal)]
        returns, is_async = True, False
    # A decorator may have made it synchronous; what can be awaited is, by record().
    forwarded = entry.decorated and returns and inner == "    " and not entry.setup
    is_async = is_async and not forwarded
    if entry.is_generator:  # to its end
        start = f"{inner}{'async ' * is_async}for _ in "
        lines.append(render_call(start, name, arguments) + f":\n{inner}    pass")
    else:
        start = inner + "return " * returns + "await " * is_async
        lines.append(render_call(start, name, arguments))
    if entry.keeps_answer:
        lines.append(f"{inner}return training.last_said()")
    if entry.cleanup:
        lines.append(f"{indent}finally:")
        lines += [_setup(inner, call, around, fields) for call in entry.cleanup]
    body = "\n".join(lines)
    if re.search(r"\bendpoint\b", body):
        lines.insert(0, "    endpoint = training.policy_endpoint()")
    if clients_of(entry):
        made = f"{client_class(entry)}(**training.policy_endpoint())"
        lines.insert(0, f"    client = {made}")
    annotation = "Any" if returns or entry.keeps_answer else "None"
    header = f"{'async ' * is_async}def episode(scenario: Scenario) -> {annotation}:"
    return "\n".join([header, f'    """{_documentation(entry, returns)}"""', *lines])


def _documentation(entry: EntryPoint, returns: bool) -> str:
    is_new = entry.class_name is not None and not entry.runs_shared_object
    what = "a new agent" if is_new else "the agent"
    if entry.terminal is not None:
        what = what if entry.class_name else "the command"
        answer = "without final_answer(...), what it prints is the answer"
    elif entry.keeps_answer and entry.exits:
        answer = "without final_answer(...), the last reply is the answer"
    elif entry.keeps_answer:
        answer = "what the model says last is the answer"
    elif returns:
        answer = "without final_answer(...), it returns the answer"
    else:
        answer = "final_answer(...) marks its answer"
    return f"Run {what} once; {answer}."


def _named_whole(entry: EntryPoint) -> str | None:
    """Return the name of an agent that is taken over whole, by its statements or imported."""
    whole = entry.instance
    if whole is None or whole.made is None or not whole.is_object:
        return None
    return taken_over(whole.made, whole=True).value


def _setup(indent: str, call: SetupCall, around: str, fields: Defaults) -> str:
    """Render a call before or after the agent runs, of its class or of its file."""
    name = f"{around}{call.name}" if around else local_name(call.name)
    start = indent + "await " * call.is_async
    return render_call(start, name, _arguments(call.parameters, fields))


def _script_episode(entry: EntryPoint) -> str:
    """Render an episode that is a whole file, which reads from a terminal."""
    assert entry.terminal is not None
    path = f"Path(__file__).with_name({literal(entry.home.name)})"
    given = [path, *_typed(entry.terminal)]
    return "\n".join(
        [
            "def episode(scenario: Scenario) -> Any:",
            '    """Run the file once; without final_answer(...), what it prints is the answer."""',
            render_call("    return training.", "run_script", given),
        ]
    )


def _typed(terminal: Terminal) -> list[str]:
    """Return what a terminal gives an episode: its input and arguments are the scenario's."""
    return [f"{f.name}=scenario.{f.name}" for f in terminal_fields(terminal)]


def _request_episode(route: Route, fields: list[Parameter]) -> str:
    """Render an episode that is a request to a web application."""
    in_path = re.compile(r"<(?:\w+:)?(\w+)>|\{(\w+)(?::\w+)?\}")
    names = {name for pair in in_path.findall(route.path) for name in pair if name}
    path = in_path.sub(lambda m: f"{{scenario.{m[1] or m[2]}}}", route.path)
    sent = [
        f"{literal(field.name)}: scenario.{field_name(field)}"
        for field in fields
        if field.name not in names
    ]
    text = f"{'f' * bool(names)}{literal(path)}"
    given = [local_name(route.application), literal(route.method), text]
    if sent:
        given.append(f"{route.encoding}={{{', '.join(sent)}}}")
    header = "def episode(scenario: Scenario) -> Any:"
    if route.streams:  # which an ASGI application does
        header = f"async {header}"
        what = "Send the agent one request; what the model says last is the answer."
        sends = [
            render_call("    await training.", "ask_app", given),
            "    return training.last_said()",
        ]
    else:
        what = "Send the agent one request, and return what it answers."
        sends = [render_call("    return training.", "ask_app", given)]
    return "\n".join([header, f'    """{what}"""', *sends])


EMPTY = ('""', "''")
UNSET = (None, "None", *EMPTY)  # no default, or one that says nothing


def _arguments(parameters: tuple[Parameter, ...], fields: Defaults) -> list[str]:
    found = []
    for parameter in parameters:
        value = _value(parameter, fields)
        if value is not None:
            named = "" if parameter.positional_only else f"{parameter.name}="
            found.append(f"{named}{value}")
    return found


def _value(parameter: Parameter, fields: Defaults) -> str | None:
    """Render what episode() passes for a parameter; None: its own default."""
    name, is_required = parameter.name, parameter.default is None
    if parameter.is_client and parameter.default in (None, "None"):
        return "client"
    # Without a key a client cannot be made, whatever default its maker has.
    if parameter.default in UNSET and (where := ENDPOINT.get(parameter.supplied)):
        return where
    if parameter.stand_in is not None:
        return _stand_in(parameter.stand_in)
    if is_required and parameter.is_object:
        if parameter.made is not None:
            return taken_over(parameter.made).value
        what = f"{name}: {parameter.annotation or 'an object'}"[:40]
        if parameter.passed is not None:
            what += f", as in {parameter.passed.path.name}:{parameter.passed.line}"
        return f"training.fill_in({literal(what)})"
    is_unnamed = is_required or parameter.default in EMPTY
    if parameter.supplied == MODEL and is_unnamed and not parameter.is_client:
        return "BASE_MODEL"
    if parameter.is_record:
        given = _arguments(parameter.fields or (), fields)
        head, dot, rest = record_class(parameter).partition(".")
        return f"{local_name(head)}{dot}{rest}({', '.join(given)})"
    # One that is left out must not overrule the default of another of its name.
    if name in fields and (is_required or fields[name] in (None, parameter.default)):
        return f"scenario.{field_name(parameter)}"
    if parameter.declared and parameter.default is not None:
        return double_quoted(parameter.default)
    return None


def _stand_in(texts: Sequence[str]) -> str:
    """Render an object in the place of a platform's, with what somebody wrote."""
    values = {path: f"scenario.{path.rpartition('.')[2]}" for path in texts}
    if all(map(str.isidentifier, values)):
        given = ", ".join(f"{path}={value}" for path, value in values.items())
    else:
        pairs = ", ".join(f"{literal(p)}: {value}" for p, value in values.items())
        given = f"{{{pairs}}}"
    return f"training.stand_in({given})"


def _preparations(entry: EntryPoint) -> list[str]:
    """Return the statements that make what the entry point needs, as the project makes it."""
    statements = (
        statement
        for parameter in entry.parts
        if parameter.made is not None
        for statement in taken_over(
            parameter.made, whole=parameter is entry.instance
        ).statements
    )
    lines: list[str] = []
    for each in dict.fromkeys(statements):
        is_definition = each.startswith(("def ", "async def ", "@"))
        if is_definition and lines and lines[-1]:
            lines.append("")
        lines.append(textwrap.indent(each, "    "))
        lines += [""] * is_definition
    return lines


def clients_of(entry: EntryPoint) -> list[Parameter]:
    """Return the clients that episode() passes, as parameters or in dataclasses."""
    if entry.is_script or entry.route is not None:
        return []
    every = (field for parameter in entry.needs for field in fields_of(parameter))
    return [p for p in every if p.is_client and p.default in (None, "None")]


def client_class(entry: EntryPoint) -> str:
    annotations = " ".join(p.annotation or "" for p in clients_of(entry))
    kinds = {
        name.startswith("Async") for name in re.findall(r"\w*OpenAI\b", annotations)
    }
    is_async = entry.is_async if len(kinds) != 1 else kinds.pop()
    return "AsyncOpenAI" if is_async else "OpenAI"
