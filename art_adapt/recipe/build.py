"""Builds the recipe of an entry point's episodes."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from art_adapt.code.annotations import bare
from art_adapt.code.importable import ImportedName
from art_adapt.code.nodes import last_name
from art_adapt.recipe.fields import (
    Field,
    parts_of,
    scenario_fields,
    terminal_fields,
)
from art_adapt.recipe.made_again import (
    is_member,
    is_rebuilt,
    is_validated,
    made_again,
)
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
from art_adapt.recipe.taken_over import taken_over
from art_adapt.recipe.types import parsed
from art_adapt.survey.inputs.rebuilt import NAMESPACE, classes_in
from art_adapt.survey.inputs.supplied import GIVEN, MODEL, OF_ENDPOINT
from art_adapt.survey.model import (
    Construction,
    EntryPoint,
    Parameter,
    Program,
    Route,
    SetupCall,
    Statement,
    Terminal,
)
from art_adapt.words import EMPTY_TEXTS

UNSET = (None, "None", *EMPTY_TEXTS)  # no default, or one that says nothing
# Flask's <int:user_id>; Starlette's {user_id} and {rest:path}.
IN_PATH = re.compile(r"<(?:\w+:)?(\w+)>|\{(\w+)(?::\w+)?\}")
LONGEST_NOTE = 40  # characters of what has to be filled in


def recipe_of(entry: EntryPoint, taken: Mapping[str, ImportedName | None]) -> Recipe:
    """Return what an episode is made of, in a module that binds the names ``taken``.

    With each of them is what the module imports under that name, if it does.
    """
    if entry.program is not None:  # which imports and makes what it needs
        started = _started(entry, entry.program)
        return Recipe(scenario_fields(entry), started, (), (), ())
    building = _Building(entry, taken, scenario_fields(entry))
    return Recipe(
        building.fields,
        building.episode(),
        tuple(dict.fromkeys(building.imports())),
        entry.registering,
        tuple(each for each in building.statements() if each.once),
    )


@dataclass(frozen=True)
class _Building:
    """An entry point, with the names that its module binds and what a scenario says."""

    entry: EntryPoint
    taken: Mapping[str, ImportedName | None]
    fields: tuple[Field, ...]

    def episode(self) -> Completion | Script | Request | Run:
        entry = self.entry
        if entry.is_request:
            return Completion()
        if entry.is_script:
            return Script(entry.home.name, _typed(entry.terminal))
        if entry.route is not None:
            return self._request(entry.route)
        return self._run(_answer(entry))

    def imports(self) -> Iterator[ImportedName]:
        """Yield what the module imports to make an agent and to call it."""
        entry = self.entry
        if not (entry.is_script or entry.is_request):
            yield from (self._import(name) for name in self._own_names())
            yield from (self._import(c.name, c.module) for c in _opening(entry))
            yield from (each for made in entry.before for each in made.imports)
        for part in entry.parts:
            if (made := self._made(part)) is not None:
                yield from made.imports
            elif entry.route is not None:
                continue
            elif is_rebuilt(part) and self._is_of_row(part):
                yield from self._makers(part)
            elif (
                part.is_record
                or part.element
                or (is_validated(part) and self._is_of_row(part))
            ):
                record = part.element or part.validated or _record_class(part)
                yield self._import(record.partition(".")[0])

    def _is_of_row(self, part: Parameter) -> bool:
        return any(each.of == part.name for each in self.fields)

    def _makers(self, part: Parameter) -> Iterator[ImportedName]:
        if part.rebuilt == NAMESPACE:
            yield ImportedName("argparse", NAMESPACE)
            return
        if not is_member(part):
            yield ImportedName("pydantic", "TypeAdapter")
        for name in classes_in(part.rebuilt):
            yield self._import(name.partition(".")[0])

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements of the project that the objects of an episode need."""
        made = [m for part in self.entry.parts if (m := self._made(part)) is not None]
        made = [*self.entry.before, *made]
        return tuple(dict.fromkeys(s for each in made for s in each.statements))

    def _own_names(self) -> Iterator[str]:
        """Yield the names of the agent's file that episode() uses."""
        entry = self.entry
        if entry.route is not None:
            yield entry.route.application
            return
        if not entry.is_abstract and entry.instance is None:
            yield _head(entry)
        if entry.class_name is None:
            yield from (call.name for call in (*entry.setup, *entry.cleanup))

    def _import(self, name: str, module: str = "") -> ImportedName:
        local = self._local(name)
        alias = "" if local == name else local
        for each in self.entry.classes if not module else ():
            if each.bound == name:
                return replace(each, alias=alias) if alias else each
        return ImportedName(module or self.entry.module, name, alias)

    def _local(self, name: str) -> str:
        """Return a dotted name of the agent's, as its module can use it beside its own."""
        head, dot, rest = name.partition(".")
        return f"agent_{head}{dot}{rest}" if head in self.taken else name

    def _made(self, parameter: Parameter) -> Construction | None:
        """Return how the project makes an object, in names that are free here.

        An agent that is made whole keeps its name.
        """
        if parameter.made is None:
            return None
        free = {"agent"} if parameter is self.entry.instance else ()
        taken = {name: i for name, i in self.taken.items() if name not in free}
        return taken_over(parameter.made, taken)

    def _request(self, route: Route) -> Request:
        path: list[str | FromScenario] = []
        named, end = set(), 0
        for match in IN_PATH.finditer(route.path):
            name = match[1] or match[2]
            named.add(name)
            path += [route.path[end : match.start()], FromScenario(name)]
            end = match.end()
        path.append(route.path[end:])
        return Request(
            self._local(route.application),
            route.method,
            tuple(path),
            tuple((f.of, f.name) for f in self.fields if f.of not in named),
            route.encoding,
            route.streams,
        )

    def _run(self, answer: Answer) -> Run:
        entry = self.entry
        named, agent = self._agent()
        if entry.class_name is None:
            function = self._local(entry.called) + entry.attribute
        else:
            method = entry.called.rpartition(".")[2]
            function = named if method == "__call__" else f"{named}.{method}"
            function += entry.attribute
        clients = list(_clients_of(entry))
        is_async = entry.is_async and not _is_wrapped(entry, answer)
        arguments = self._arguments(entry.parameters, named)
        if entry.class_name is not None and entry.attribute:  # it is no bound method
            arguments = (Argument("", Code(named)), *arguments)
        call = Call(function, arguments, is_async)
        setup = tuple(self._set_up(each, named) for each in entry.setup)
        cleanup = tuple(self._set_up(each, named) for each in entry.cleanup)
        made = [m for part in entry.parts if (m := self._made(part)) is not None]
        calls = (*setup, call, *cleanup)
        given = [agent, *(a.value for each in calls for a in each.arguments)]
        return Run(
            tuple(each for each in self.statements() if not each.once),
            _client_class(clients, is_async=entry.is_async),
            entry.shares_client,
            entry.shares_client or any(each.needs_key for each in made),
            any(each.uses_endpoint for each in made) or any(map(_asks, given)),
            named,
            agent,
            entry.context,
            setup,
            call,
            cleanup,
            entry.is_generator,
            _typed(entry.terminal),
            answer,
            _subject(entry),
        )

    def _agent(self) -> tuple[str, Value | None]:
        """Return the name of the agent, and how episode() makes it; None: it is there."""
        entry = self.entry
        whole = entry.instance
        if entry.class_name is None:
            return "", None
        made = None if whole is None else self._made(whole)
        if made is not None and whole is not None and whole.is_object:
            return made.value, None
        if entry.is_abstract or whole is not None:
            return "agent", self._value(entry.needs[0])
        names = [parameter.name for parameter in entry.parameters]
        given = self._arguments(
            # What the function is given, too, need not be given to its class.
            p
            for p in entry.constructor
            if p.default is None or p.name not in names
        )
        return "agent", New(self._local(entry.class_name), given)

    def _set_up(self, call: SetupCall, agent: str) -> Call:
        """Return a call before or after the agent runs, of its class or of its file."""
        of_agent = agent and not call.module
        name = f"{agent}.{call.name}" if of_agent else self._local(call.name)
        return Call(name, self._arguments(call.parameters), call.is_async)

    def _arguments(
        self, parameters: Iterable[Parameter], agent: str = ""
    ) -> tuple[Argument, ...]:
        given = (
            (
                each,
                self._set_up(each.opened, agent) if each.opened else self._value(each),
            )
            for each in parameters
        )
        return tuple(
            Argument("" if each.positional_only else each.name, value)
            for each, value in given
            if value is not None
        )

    def _value(self, parameter: Parameter) -> Value | None:
        """Return what episode() passes for a parameter; None: its own default."""
        name, default = parameter.name, parameter.default
        is_required = default is None
        if parameter.is_client and default in (None, "None"):
            made = self._made(parameter)
            return Code(made.value if made else "client")
        # Without a key a client cannot be made, whatever default its maker has.
        if default in UNSET and parameter.supplied not in ("", MODEL):
            supplied = parameter.supplied
            return Code(GIVEN[supplied], supplied in OF_ENDPOINT)
        if parameter.stand_in is not None:
            pairs = ((path, path.rpartition(".")[2]) for path in parameter.stand_in)
            return StandIn(tuple(pairs))
        if is_required and parameter.is_object:
            made = self._made(parameter)
            return Code(made.value) if made else _missing(parameter)
        is_unnamed = is_required or default in EMPTY_TEXTS
        if parameter.supplied == MODEL and is_unnamed and not parameter.is_client:
            return Code(GIVEN[MODEL])
        if parameter.is_record:
            made = self._made(parameter)
            maker = made.value if made else _record_class(parameter)
            return New(self._local(maker), self._arguments(parameter.fields or ()))
        # A field that is left out must not overrule the default of another of its name.
        said = next((each for each in self.fields if each.of == name), None)
        if said is not None and (is_required or said.default in (None, default)):
            made_of_row = made_again(parameter, f"scenario.{said.name}", self._local)
            return Code(made_of_row) if made_of_row else FromScenario(said.name)
        return Code(default) if parameter.declared and default is not None else None


def _opening(entry: EntryPoint) -> Iterator[SetupCall]:
    """Yield the functions, not the agent's methods, that return what it is given."""
    for parameter in entry.parameters:
        call = parameter.opened
        if call is not None and (call.module or entry.class_name is None):
            yield call


def _head(entry: EntryPoint) -> str:
    """Return the name that leads to an entry point in its file."""
    return (entry.class_name or entry.called).partition(".")[0]


def _typed(terminal: Terminal | None) -> tuple[str, ...]:
    """Return what a terminal gives an episode, by the names of the scenario's fields."""
    fields = () if terminal is None else terminal_fields(terminal)
    return tuple(field.name for field in fields)


def _started(entry: EntryPoint, program: Program) -> Started:
    """Return an episode that is a call of a program, with where that lies from the train module."""
    here = os.path.realpath(entry.home.parent)
    parts = Path(os.path.relpath(program.folder, here)).parts
    above = parts.count(os.pardir)
    return Started(program, above, "/".join(parts[above:]), _answer(entry))


def _answer(entry: EntryPoint) -> Answer:
    """Return where the answer comes from if nothing in the agent marks it."""
    if entry.terminal is not None and entry.program is None:
        return Answer.PRINTED
    if entry.keeps_answer:
        return Answer.SAID_UNMARKED if entry.exits else Answer.SAID
    if entry.is_generator or entry.returns == "None":
        return Answer.MARKED
    return Answer.RETURNED


def _is_wrapped(entry: EntryPoint, answer: Answer) -> bool:
    """True if record() awaits what the call returns, rather than episode().

    A decorator may have made the function synchronous.
    """
    alone = not (entry.setup or entry.cleanup or entry.context)
    return answer is Answer.PRINTED or (
        answer is Answer.RETURNED and entry.decorated and alone
    )


def _subject(entry: EntryPoint) -> str:
    """Return what an episode runs, for its docstring."""
    if entry.class_name is not None and not entry.runs_shared_object:
        return "a new agent"
    is_command = entry.terminal is not None and entry.class_name is None
    return "the command" if is_command else "the agent"


def _missing(parameter: Parameter) -> Missing:
    """Say what the user has to fill in, and where the project passes such an object."""
    what = f"{parameter.name}: {parameter.annotation or 'an object'}"[:LONGEST_NOTE]
    if parameter.passed is not None:
        what += f", as in {parameter.passed.path.name}:{parameter.passed.line}"
    return Missing(what)


def _record_class(parameter: Parameter) -> str:
    """Return the class of a record as the agent's file names it, from its annotation."""
    annotation = parsed(parameter.annotation)
    return "" if annotation is None else ast.unparse(bare(annotation))


def _clients_of(entry: EntryPoint) -> Iterator[Parameter]:
    """Yield the clients that episode() passes, as parameters or in records."""
    if entry.is_script or entry.route is not None:
        return
    for parameter in entry.needs:
        for part in parts_of(parameter):
            if part.is_client and part.default in (None, "None") and not part.made:
                yield part


def _client_class(clients: Sequence[Parameter], *, is_async: bool) -> str:
    """Return the class of the client that all get; "" if none does.

    Where neither their use nor their annotations decide, ``is_async`` does.
    """
    kinds = {
        last_name(node).startswith("Async")
        for client in clients
        if (annotation := parsed(client.asks_as or client.annotation or None))
        is not None
        for node in ast.walk(annotation)
        if last_name(node).endswith("OpenAI")
    }
    is_async = kinds.pop() if len(kinds) == 1 else is_async
    return ("AsyncOpenAI" if is_async else "OpenAI") if clients else ""


def _asks(value: Value | None) -> bool:
    """True if a value names the endpoint of the model, or holds one that does."""
    if isinstance(value, New):
        return any(_asks(each.value) for each in value.arguments)
    return isinstance(value, Code) and value.uses_endpoint
