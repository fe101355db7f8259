"""Tells what only starts an agent: a command, a request handler, an example, a chat."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

from art_adapt.code.classes import FunctionKey
from art_adapt.code.nodes import (
    Function,
    decorator_names,
    dotted,
    last_name,
    root_object,
)
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import LOOPS, MODULE_LEVEL, Syntax
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.calls.going_on import is_made_anew
from art_adapt.survey.candidates.leads import Leads
from art_adapt.survey.model import EntryPoint
from art_adapt.survey.side_effects.effects import asks_a_person, waits_for_a_person
from art_adapt.words import (
    MAIN,
    OF_COMMAND,
    REGISTERS_HANDLER,
    STARTING_DECORATORS,
    STARTS,
)

DISCORD = ("discord", "disnake", "nextcord")
COMMANDS = frozenset({"command", "hybrid_command", "slash_command"})
LEAVING = ast.Break | ast.Return | ast.Raise | ast.Yield | ast.YieldFrom
POLLING = 2  # calls from a function to the loop that it ends with
ENDS_PROGRAM = ("KeyboardInterrupt", "SystemExit", "CancelledError")
STARTS_TASKS = frozenset({"create_task", "ensure_future"})


def is_launch(project: Project, key: FunctionKey) -> bool:
    """True if a function only starts the agent: a command, a handler, an example."""
    path, qualname = key
    if qualname == MODULE_LEVEL:
        return True
    syntax = project.files[path]
    function = syntax.functions[qualname]
    name = function.node.name
    named = STARTS.match(name) is not None and not _has_a_task(function)
    return named or is_handler(project, key) or runs_for_ever(project, key)


def runs_for_ever(project: Project, key: FunctionKey, depth: int = POLLING) -> bool:
    """True if a function ends with a loop that nothing leaves, or with a call of such a function.

    That is a poller, which sleeps until there may be something to do. A chat is none: it waits
    for a person; and what works on may be ended by an exception.
    """
    syntax = project.files[key[0]]
    function = syntax.functions.get(key[1])
    if function is None:
        return False
    last = function.node.body[-1]
    if isinstance(last, ast.While):
        return (
            isinstance(last.test, ast.Constant)
            and bool(last.test.value)
            and any(_sleeps(each) for each in ast.walk(last))
            and not any(isinstance(each, LEAVING) for each in _but_for_ends(last))
            and not asks_a_person(syntax, last)
        )
    return depth > 0 and any(
        runs_for_ever(project, callee, depth - 1)
        for node in ast.walk(last)
        if isinstance(last, ast.Expr) and isinstance(node, ast.Call)
        for callee in resolve(project, syntax, node.func)
    )


def is_handler(project: Project, key: FunctionKey) -> bool:
    """True if a decorator, or a call of the file, makes the function a handler."""
    syntax = project.files[key[0]]
    function = syntax.functions[key[1]]
    return _is_launcher(function) or function.node.name in _registered(syntax)


def _sleeps(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "sleep"


def _but_for_ends(loop: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a loop, but not what it does when somebody ends the program."""
    for child in ast.iter_child_nodes(loop):
        caught = child.type if isinstance(child, ast.ExceptHandler) else None
        if caught is None or last_name(caught) not in ENDS_PROGRAM:
            yield child
            yield from _but_for_ends(child)


def is_discord_command(syntax: Syntax, function: Function) -> bool:
    """True if a decorator of a Discord library makes the function a Command object.

    Its ``callback`` is the function (discord.py 2.7.1, ext/commands/core.py and
    app_commands/commands.py): a slash command cannot be called, and a cog's only once the
    bot has it.
    """
    return any(
        name in COMMANDS and _is_of_discord(syntax, decorator)
        for name, decorator in zip(
            decorator_names(function.node), function.node.decorator_list, strict=True
        )
    )


def _is_of_discord(syntax: Syntax, decorator: ast.expr) -> bool:
    """True if a decorator is a library's, or a method of a bot: ``@bot.tree.command()``."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    bot = root_object(called)
    made = [each.func for each in syntax.values_of(bot) if isinstance(each, ast.Call)]
    classes = [syntax.classes.get(dotted(each) or "") for each in made]
    bases = [base for each in classes if each is not None for base in each.bases]
    return any(
        (syntax.qualified(each) or "").partition(".")[0] in DISCORD
        for each in (called, *made, *bases)
    )


def leaves_it_running(syntax: Syntax, function: Function, asking: Asking) -> bool:
    """True if a function starts tasks that ask the model, and ends before they do.

    ``self.task = asyncio.create_task(self.play(...))`` without an ``await`` of it; so does one
    that registers handlers, which a platform calls.
    """
    owned = list(syntax.owned_by(function.qualname))
    tasks = [
        node
        for node in owned
        if isinstance(node, ast.Call)
        and last_name(node.func) in STARTS_TASKS
        and asking.asks(node)
    ]
    within = {id(node) for task in tasks for node in ast.walk(task)}
    sites = [each for each in owned if asking.is_site(each)]
    if only_registers(syntax, sites):
        return True
    if not tasks or any(id(each) not in within for each in sites):
        return False
    statements = [syntax.parents.get(task) for task in tasks]
    kept = {
        dotted(target)
        for statement in statements
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    }
    awaited = [
        n for each in owned if isinstance(each, ast.Await) for n in ast.walk(each)
    ]
    names = {dotted(node) for node in awaited} - {None}
    return names.isdisjoint(kept) and not any(id(node) in within for node in awaited)


def _has_a_task(function: Function) -> bool:
    """True if ``main(goal)`` has to be given something that no command line holds."""
    arguments = function.node.args
    required = len(arguments.posonlyargs + arguments.args) - len(arguments.defaults)
    is_main = MAIN.match(function.node.name) is not None
    return is_main and not OF_COMMAND.issuperset(function.given[:required])


@functools.lru_cache(maxsize=512)
def _registered(syntax: Syntax) -> frozenset[str]:
    """Return the functions that a file registers as handlers: ``add_handler(MessageHandler(f))``."""
    return frozenset(
        last_name(argument)
        for node in syntax.nodes
        if isinstance(node, ast.Call) and _registers(node)
        for argument in node.args
        if dotted(argument) in (last_name(argument), f"self.{last_name(argument)}")
    )


def only_registers(syntax: Syntax, sites: Iterable[ast.AST]) -> bool:
    """True if all that a function does where it names others is to register them as handlers."""
    around = [syntax.parents.get(site) for site in sites]
    return bool(around) and all(
        isinstance(each, ast.Call) and _registers(each) for each in around
    )


def _registers(call: ast.Call) -> bool:
    return REGISTERS_HANDLER.search(last_name(call.func)) is not None


def is_example(leads: Leads, key: FunctionKey) -> bool:
    """True if a function takes nothing, and runs another that may be the episode."""
    function = leads.syntax(key).functions[key[1]]
    takes = function.class_name or function.parameters
    return not (takes or leads.reaching.isdisjoint(leads.called_by(key)))


def is_batch(leads: Leads, key: FunctionKey, depth: int = 2) -> bool:
    """True if a function only runs an agent, which drives a loop, for each of some rows.

    That is ``for path in files: Agent(llm).run(path)``, itself or in a function like it,
    ``for _ in range(10): Game().play()``, and ``pool.map(run_one, tasks)``.
    """
    graph, asking = leads.graph, leads.asking
    syntax, function = leads.syntax(key), leads.function(key)
    if (
        function is None
        or asking.drives(syntax, function)
        or asking.composes(syntax, function)
        or any(node in asking.completions for node in syntax.owned_by(key[1]))
    ):
        return False
    for_each: list[FunctionKey] = []
    once: list[FunctionKey] = []
    for callee in leads.called_by(key):
        for site in graph.sites.get((key, callee), ()):
            if site in asking.sites:
                is_row = (
                    asking.asks_about_a_row(syntax, function, site)
                    or is_made_anew(syntax, site)
                    or _is_mapped(syntax, site)
                )
                (for_each if is_row else once).append(callee)
    if once and not depth:
        return False
    runs_an_agent = any(
        leads.drives(each)
        for callee in for_each
        for each in (callee, *graph.certain.get(callee, ()))
    )
    rest = [is_batch(leads, each, depth - 1) for each in once]
    return all(rest) and (runs_an_agent or bool(rest and not for_each))


def goes_through_rows(leads: Leads, key: FunctionKey) -> bool:
    """True if a function asks the model only through calls that it makes for each of some rows."""
    graph, asking = leads.graph, leads.asking
    syntax, function = leads.syntax(key), leads.function(key)
    if function is None or any(
        n in asking.completions for n in syntax.owned_by(key[1])
    ):
        return False
    sites = [
        site
        for callee in leads.called_by(key)
        for site in graph.sites.get((key, callee), ())
        if site in asking.sites
    ]
    return bool(sites) and all(
        asking.asks_about_a_row(syntax, function, each) or _is_mapped(syntax, each)
        for each in sites
    )


def _is_mapped(syntax: Syntax, site: ast.AST) -> bool:
    """True if a function is handed on to be called with each of some values."""
    call = syntax.parents.get(site)
    return (
        isinstance(call, ast.Call)
        and site in call.args[:1]
        and last_name(call.func) in ("map", "imap", "imap_unordered", "starmap")
    )


def asks_by_turns(syntax: Syntax, function: Function, asking: Asking) -> bool:
    """True if a person is asked for more than a task, before a loop that asks the model.

    A loop that asks only the person goes on until the answer is valid: that is one question. An
    answer that is only compared allows a step, and tells the model nothing.
    """
    nodes = list(syntax.owned_by(function.qualname))
    asked = [
        node
        for node in nodes
        if isinstance(node, ast.Call)
        and asks_a_person(syntax, node)
        and not _is_only_tested(syntax, node)
    ]
    if not (asked and waits_for_a_person(syntax, {function.qualname})):
        return False
    loops = [n for n in nodes if isinstance(n, LOOPS) and asking.asks(n)]
    return not loops or any(
        outer in loops for node in asked for outer in syntax.ancestors(node)
    )


def _is_only_tested(syntax: Syntax, value: ast.expr) -> bool:
    """True if a value, or what a method makes of it, is compared and used for nothing else."""
    used, outer = value, syntax.parents.get(value)
    while isinstance(outer, ast.Attribute | ast.IfExp) or (
        isinstance(outer, ast.Call) and outer.func is used
    ):
        used, outer = outer, syntax.parents.get(outer)
    if isinstance(outer, ast.Assign) and isinstance(name := outer.targets[0], ast.Name):
        uses = [
            node
            for node in syntax.owned_by(syntax.owner(outer))
            if isinstance(node, ast.Name)
            and node.id == name.id
            and isinstance(node.ctx, ast.Load)
        ]
        return bool(uses) and all(_is_only_tested(syntax, each) for each in uses)
    tests = isinstance(outer, ast.If | ast.While) and outer.test is used
    return tests or isinstance(outer, ast.Compare | ast.UnaryOp)


def is_told_once(leads: Leads, key: FunctionKey) -> bool:
    """True if a function asks a person for the task alone, and a model in a loop."""
    syntax, function = leads.syntax(key), leads.function(key)
    return (
        function is not None
        and waits_for_a_person(syntax, {function.qualname})
        and not asks_by_turns(syntax, function, leads.asking)
    )


def asks_for_turns(leads: Leads, key: FunctionKey) -> bool:
    """True if a function asks a person, and runs a turn that is given nothing.

    What was typed is in a list of the module or of an object then: the chat is the episode.
    """
    return _has_lines_typed(leads, key) and any(
        not leads.syntax(each).functions[each[1]].given
        for each in leads.called_by(key) & leads.reaching
    )


def _has_lines_typed(leads: Leads, key: FunctionKey) -> bool:
    """True if a function asks a person, itself or by a function that asks no model."""
    return any(
        waits_for_a_person(leads.syntax(each), {each[1]})
        for each in {key, *leads.called_by(key) - leads.reaching}
    )


def is_asked_by_a_person(leads: Leads, entry: EntryPoint) -> bool:
    """True if a function takes nothing, and all that calls it asks a person for the task.

    It is one turn of that chat: by itself it would ask the model nothing.
    """
    callers = leads.graph.callers(entry.key)
    takes = any(not parameter.is_client for parameter in entry.parameters)
    return (bool(callers) and not takes) and all(
        each[1] != MODULE_LEVEL and _has_lines_typed(leads, each) for each in callers
    )


def _is_launcher(function: Function) -> bool:
    """True if a decorator makes the function a command or a request handler."""
    return not STARTING_DECORATORS.isdisjoint(decorator_names(function.node))
