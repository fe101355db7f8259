"""Renders the function that runs one episode of the agent."""

from __future__ import annotations

from collections.abc import Sequence

from art_adapt.recipe.model import (
    Answer,
    Argument,
    Call,
    Code,
    Completion,
    FromScenario,
    Missing,
    New,
    Recipe,
    Request,
    Run,
    Script,
    StandIn,
    Started,
    Value,
)
from art_adapt.survey.model import REST, Program, Statement
from art_adapt.train_module.layout import (
    double_quoted,
    folder_above,
    literal,
    render_call,
    render_statement,
)

SINGLE_TURN = '''\
def episode(scenario: Scenario) -> Any:
    """Let the model answer the request; its message is the answer."""
    return training.complete(scenario)'''


SHARED = "# for side jobs: recorded calls go to the model in training"


def render_episode(recipe: Recipe) -> str:
    """Render the function that runs the agent, on a fresh instance of its class."""
    match recipe.episode:
        case Completion():
            return SINGLE_TURN
        case Script() as script:
            return _script(script)
        case Request() as request:
            return _request(request)
        case Started() as started:
            return _started(started)
        case Run() as run:
            return _run(run)


def _run(run: Run) -> str:
    returns = run.answer in (Answer.RETURNED, Answer.PRINTED)
    start, body = "    ", _statements(run.statements)
    if run.context:
        assert isinstance(run.agent, New)
        opened = f"{start}{run.context} "
        given = _arguments(run.agent.arguments)
        body.append(render_call(opened, run.agent.maker, given, f" as {run.named}:"))
        start += "    "
    elif isinstance(run.agent, New):
        given = _arguments(run.agent.arguments)
        body.append(render_call(f"{start}{run.named} = ", run.agent.maker, given))
    elif run.agent is not None:
        body.append(f"{start}{run.named} = {_value(run.agent)}")
    inner = start + "    " * bool(run.cleanup)
    body += [f"{start}try:"] * bool(run.cleanup)
    body += [_call(inner + "await " * each.is_async, each) for each in run.setup]
    body += _asking(inner, run, returns)
    if run.answer in (Answer.SAID, Answer.SAID_UNMARKED):
        body.append(f"{inner}return training.last_said()")
    if run.cleanup:
        body.append(f"{start}finally:")
        body += [_call(inner + "await " * each.is_async, each) for each in run.cleanup]
    known = []
    if run.client and run.shares_client:
        known.append(f"    client = {run.client}()  {SHARED}")
    elif run.client:
        known.append(f"    client = {run.client}(**training.policy_endpoint())")
    if run.uses_endpoint and run.shares_client:
        known.append(f"    endpoint = training.own_endpoint()  {SHARED}")
    elif run.uses_endpoint:
        known.append("    endpoint = training.policy_endpoint()")
    annotation = "None" if run.answer is Answer.MARKED else "Any"
    is_async = "async " * run.call.is_async
    header = f"{is_async}def episode(scenario: Scenario) -> {annotation}:"
    documentation = f'    """Run {run.subject} once; {run.answer.value}."""'
    return "\n".join([header, documentation, *known, *body])


def _asking(indent: str, run: Run, returns: bool) -> list[str]:
    """Render the call that runs the agent."""
    call = run.call
    if run.answer is Answer.PRINTED:  # what it returns, or else prints
        arguments = _arguments(call.arguments)
        text = f"{call.function}({', '.join(arguments)})"
        given = [f"lambda: {text}" if arguments else call.function, *_typed(run.typed)]
        return [render_call(f"{indent}return training.", "run_command", given)]
    if run.is_generator:  # to its end
        start = f"{indent}{'async ' * call.is_async}for _ in "
        return [_call(start, call, ":"), f"{indent}    pass"]
    return [_call(indent + "return " * returns + "await " * call.is_async, call)]


def _call(start: str, call: Call, end: str = "") -> str:
    return render_call(start, call.function, _arguments(call.arguments), end)


def _script(script: Script) -> str:
    """Render an episode that is a whole file, which reads from a terminal."""
    path = f"Path(__file__).with_name({literal(script.file)})"
    return "\n".join(
        [
            "def episode(scenario: Scenario) -> Any:",
            f'    """Run the file once; {Answer.PRINTED.value}."""',
            render_call(
                "    return training.", "run_script", [path, *_typed(script.typed)]
            ),
        ]
    )


def _started(started: Started) -> str:
    """Render an episode that is a call of the user's program."""
    program, answer = started.program, started.answer
    folder = folder_above(started.above)
    folder += f" / {literal(started.below)}" if started.below else ""
    before = dict.fromkeys(each.call for each in program.given if each.call)
    command = [literal(each) for each in program.command]
    command += ["*scenario.arguments"] * bool(program.arguments)
    given = [
        folder,
        f"[{', '.join(command)}]",
        f"until={literal(program.until)}",
    ]
    if any(not each.call for each in program.given):
        given.append(f"given={_overlaid(program, '')}")
    if before:
        calls = [f"{literal(call)}: {_overlaid(program, call)}" for call in before]
        given.append(f"before={{{', '.join(calls)}}}")
    if program.typed:
        given.append(f"inputs=[{', '.join(map(literal, program.typed))}]")
    returns = answer is Answer.RETURNED
    function = program.until.rpartition(":")[2]
    lines = [
        f"def episode(scenario: Scenario) -> {'None' if answer is Answer.MARKED else 'Any'}:",
        f'    """Start the program, up to the call of {function}; {answer.value}."""',
        render_call("    " + "return " * returns + "training.", "run_program", given),
    ]
    if answer in (Answer.SAID, Answer.SAID_UNMARKED):
        lines.append("    return training.last_said()")
    return "\n".join(lines)


def _overlaid(program: Program, call: str) -> str:
    """Render what the scenario says of a call: ``{"question": scenario.question}``."""
    pairs = (
        f"{literal(each.path)}: scenario.{each.field}"
        for each in program.given
        if each.call == call
    )
    return f"{{{', '.join(pairs)}}}"


def _typed(names: Sequence[str]) -> list[str]:
    """Return what a terminal gives an episode: its input and arguments are the scenario's."""
    return [f"{name}=scenario.{name}" for name in names]


def _request(request: Request) -> str:
    """Render an episode that is a request to a web application."""
    path = literal(
        "".join(
            part if isinstance(part, str) else f"{{{_value(part)}}}"
            for part in request.path
        )
    )
    is_filled = any(isinstance(part, FromScenario) for part in request.path)
    sent = [f"{literal(key)}: scenario.{field}" for key, field in request.sent]
    given = [request.application, literal(request.method), "f" * is_filled + path]
    given += [f"{request.encoding}={{{', '.join(sent)}}}"] * bool(sent)
    header = "def episode(scenario: Scenario) -> Any:"
    if request.streams:  # which an ASGI application does
        header = f"async {header}"
        what = f"Send the agent one request; {Answer.SAID.value}."
        sends = [
            render_call("    await training.", "ask_app", given),
            "    return training.last_said()",
        ]
    else:
        what = "Send the agent one request, and return what it answers."
        sends = [render_call("    return training.", "ask_app", given)]
    return "\n".join([header, f'    """{what}"""', *sends])


def _arguments(arguments: Sequence[Argument]) -> list[str]:
    def before(name: str) -> str:
        return name if name in ("", REST) else f"{name}="

    return [f"{before(a.name)}{_value(a.value)}" for a in arguments]


def _value(value: Value) -> str:
    match value:
        case FromScenario(field):
            return f"scenario.{field}"
        case Code(text):
            return double_quoted(text)
        case New(maker, arguments):
            return f"{maker}({', '.join(_arguments(arguments))})"
        case Call(function, arguments, is_async):
            called = f"{function}({', '.join(_arguments(arguments))})"
            return "await " * is_async + called
        case StandIn(attributes):
            return _stand_in(attributes)
        case Missing(what):
            return f"training.fill_in({literal(what)})"


def _stand_in(attributes: Sequence[tuple[str, str]]) -> str:
    """Render an object in the place of a platform's, with what somebody wrote."""
    if all(path.isidentifier() for path, _ in attributes):
        given = ", ".join(f"{path}=scenario.{field}" for path, field in attributes)
    else:
        pairs = (f"{literal(path)}: scenario.{field}" for path, field in attributes)
        given = f"{{{', '.join(pairs)}}}"
    return f"training.stand_in({given})"


def _statements(statements: Sequence[Statement]) -> list[str]:
    """Return what makes the agent's objects, with blank lines around functions."""
    lines: list[str] = []
    for each in statements:
        if each.is_definition and lines and lines[-1]:
            lines.append("")
        lines.append(render_statement("    ", double_quoted(each.text)))
        lines += [""] * each.is_definition
    return lines
