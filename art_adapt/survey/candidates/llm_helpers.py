"""Tells what drives a conversation from LLM helpers, which ask what their callers want."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from art_adapt.code.classes import FunctionKey, is_super, lineage, method_above
from art_adapt.code.dependence import made_from
from art_adapt.code.index import derived_from
from art_adapt.code.nodes import Function, dotted, given_to
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.survey.calls.tool_execution import answers_a_call, find_tool_execution
from art_adapt.survey.candidates.handed import (
    is_handed_a_prompt,
    is_handed_an_agent,
    is_handed_objects,
    is_only_given,
    takes_anything,
)
from art_adapt.survey.candidates.launches import is_launch
from art_adapt.survey.candidates.starts import (
    begins,
    starts_conversation,
    writes_prompt,
)
from art_adapt.survey.inputs.instances import implemented_by
from art_adapt.survey.model import EntryPoint

if TYPE_CHECKING:
    from art_adapt.survey.candidates.found import Found


def drivers(found: Found) -> list[EntryPoint]:
    """Return the candidates that drive a conversation, and not for a caller of their own."""
    return [
        entry
        for entry in found.entry_points
        if found.asking.drives(*found.function_of(entry))
        and not _hands_on(found, entry.key)
        and not _belongs_to_a_provider(found, entry)
    ]


def helpers_of(found: Found) -> list[FunctionKey]:
    """Return the LLM helpers, if the likeliest of all candidates is one.

    A method whose object is told the task before is one as well, wherever its loop is; so
    is a loop that is handed the prompt and the tools of an agent, or objects alone; and so
    may be a function that asks once, in a project whose loop is in another file.
    """
    if not found.entry_points:
        return []
    first = found.entry_points[0]
    if is_told_before(first):
        return [first.key]
    leading = found.graph.reaching([first.key])
    if is_handed_objects(found.project, first) or (
        is_handed_all(found, first)
        and not any(begins(found.leads, key) for key in leading)
    ):
        return sorted(leading)
    if drivers(found) or _answers_tools(found, first):
        return []
    helpers = [each.key for each in found.entry_points if is_helper(found, each)]
    if first.key in helpers:
        return helpers
    likeliest = [each for each in found.entry_points if each.score == first.score]
    asking = [
        each.key
        for each in likeliest
        if asks_once(found, each) or found.asking.only_relays(*found.function_of(each))
    ]
    # Nobody may use quick_chat(), and everybody what stands beside it.
    files = {path for path, _ in asking}
    beside = sorted(key for key in found.reaching if key[0] in files)
    around = sorted({c for key in beside for c in found.graph.callers(key)})
    # A tool that asks may seem an agent beside the provider of another one.
    return list(dict.fromkeys([*asking, *helpers, *beside, *around]))


def asks_once(found: Found, entry: EntryPoint) -> bool:
    """True if a function, or method, asks at one place outside any loop, and is no command.

    A request before its tools are run and another one after it are an agent's two turns.
    """
    syntax, function = found.function_of(entry)
    nodes = list(syntax.owned_by(function.qualname))
    at = [node for node in nodes if found.asking.is_site(node)]
    in_loop = any(isinstance(n, LOOPS) and found.asking.asks(n) for n in nodes)
    return len(at) == 1 and not in_loop and not is_launch(found.project, entry.key)


def is_handed_all(found: Found, entry: EntryPoint) -> bool:
    """True if an entry point asks with what its callers hand it: a conversation, a prompt."""
    return (
        is_handed_an_agent(entry)
        or is_handed_a_prompt(entry)
        or is_only_given(found.project, entry, found.asking)
    )


def is_told_before(entry: EntryPoint) -> bool:
    """True if a method takes no task: ``chat.add(question)`` comes before ``chat.run()``."""
    given = any(p.default is None and not p.is_client for p in entry.parameters)
    return entry.class_name is not None and not given and not takes_anything(entry)


def only_helps(found: Found, entry: EntryPoint) -> bool:
    """True if an entry point is an LLM helper, in a project where nothing drives."""
    return not drivers(found) and is_helper(found, entry)


def is_helper(found: Found, entry: EntryPoint) -> bool:
    """True if an entry point only asks what its callers want to have asked.

    It is given the conversation; it is one of the implementations of an interface, as
    a provider's adapter, without a prompt of its own, or belongs to that interface; or it
    hands on to a method of its own name, as a middleware.
    """
    if _hands_on(found, entry.key):
        return True
    if _answers_tools(found, entry):
        return False
    if _belongs_to_a_provider(found, entry):
        return True
    syntax, function = found.function_of(entry)
    asking = found.asking
    if asking.drives(syntax, function) or asking.composes(syntax, function):
        return False
    return asking.only_sends(syntax, function) or (
        implemented_by(found.project, syntax, function) is not None
        and not starts_conversation(found.leads, entry.key)
    )


def _answers_tools(found: Found, entry: EntryPoint) -> bool:
    """True if a method, or one of its own, runs what the model asks for: an agent's turns.

    An adapter may write such replies too, of those that it is given.
    """
    syntax, _ = found.function_of(entry)
    own = {name for _, name in found.own(entry.key)}
    if not any(answers_a_call(n) for name in own for n in syntax.owned_by(name)):
        return False
    project, graph, asking = found.project, found.graph, found.asking
    return find_tool_execution(project, graph, syntax, asking, own) is not None


def _belongs_to_a_provider(found: Found, entry: EntryPoint) -> bool:
    """True if a method asks by the one that providers implement, once for each prompt.

    That is ``quick_chat(prompt)`` beside an abstract ``_chat(messages)``. A base class
    whose method drives an open loop is an agent instead, and so is what extends it.
    """
    syntax, function = found.function_of(entry)
    owner, _, name = function.qualname.rpartition(".")
    above = method_above(found.project, syntax, owner, name)
    if (
        not owner
        or found.asking.composes(syntax, function)
        or writes_prompt(found.leads, entry.key)
    ):
        return False
    if any(
        found.asking.asks(node) and not _is_closed(node, at.functions[own])
        for path, own in (entry.key, *above)
        for at in (found.project.files[path],)
        for node in at.owned_by(own)
        if isinstance(node, LOOPS)
    ):
        return False
    family = [
        *lineage(found.project, syntax, owner),
        *derived_from(found.project, syntax, owner),
    ]
    return any(
        _provides(found, place, place.functions[name])
        for place, class_name in family
        for path, name in found.reaching
        if path == place.source.path and name.rpartition(".")[0] == class_name
    )


def _provides(found: Found, syntax: Syntax, function: Function) -> bool:
    """True if a method implements one of an interface, and drives nothing itself."""
    implements = implemented_by(found.project, syntax, function)
    return implements is not None and not found.asking.drives(syntax, function)


def _hands_on(found: Found, key: FunctionKey) -> bool:
    """True if a method gives what it got to one of its own name of another object.

    ``ask_safe`` that calls ``ask`` counts, and so does a method that calls such a
    method of its own class. An agent whose ``query()`` sends its own conversation by
    ``self.model.query(self.messages)`` hands nothing on, nor does one that runs agents
    one after the other, each with what the last one gave.
    """
    owner = key[1].rpartition(".")[0]
    syntax = found.project.files[key[0]]
    function = syntax.functions[key[1]]
    if found.asking.composes(syntax, function) or found.asking.drives(syntax, function):
        return False
    return bool(owner) and any(
        _is_namesake(method, callee) and _gives_on(found, method, callee)
        for method in found.own(key)
        for callee in found.graph.certain.get(method, set()) & found.reaching
    )


def _gives_on(found: Found, method: FunctionKey, callee: FunctionKey) -> bool:
    """True if a call of ``callee`` is given a parameter of ``method``, or made from one.

    What goes to ``super()`` stays with the object.
    """
    syntax = found.project.files[method[0]]
    function = syntax.functions[method[1]]
    rest = (function.node.args.vararg, function.node.args.kwarg)
    got = {*function.given, *(each.arg for each in rest if each is not None)}
    calls = map(syntax.parents.get, found.graph.sites.get((method, callee), ()))
    return any(
        isinstance(call, ast.Call)
        and not got.isdisjoint(_made_from(syntax, call))
        and not _stays(call)
        and not _runs_each(syntax, call)
        for call in calls
    )


def _runs_each(syntax: Syntax, call: ast.Call) -> bool:
    """True if a loop runs every object of several: ``for step in steps: step.run(state)``.

    One that ends with the first answer tries providers.
    """
    if not isinstance(call.func, ast.Attribute):
        return False
    receiver = dotted(call.func.value)
    return any(
        isinstance(loop, ast.For | ast.AsyncFor)
        and dotted(loop.target) == receiver
        and not _ends(loop)
        for loop in syntax.ancestors(call)
    )


def _stays(call: ast.Call) -> bool:
    """True if a call is of the object's own: ``super().run(x)``, ``Base.run(self, x)``."""
    above = isinstance(call.func, ast.Attribute) and is_super(call.func.value)
    return above or any(dotted(each) == "self" for each in call.args[:1])


def _made_from(syntax: Syntax, call: ast.Call) -> set[str | None]:
    """Return the names in the arguments of a call, and in what these are made from."""
    return set(map(dotted, made_from(syntax, syntax.owner(call), given_to(call))))


def _is_namesake(method: FunctionKey, callee: FunctionKey) -> bool:
    owner, _, name = method[1].rpartition(".")
    other, _, called = callee[1].rpartition(".")
    return other not in ("", owner) and f"{name}_".startswith(f"{called}_")


def _is_closed(loop: ast.AST, function: Function) -> bool:
    """True if a loop takes samples, or what a function is given: ``for prompt in prompts``.

    A number of turns may end before, a number of samples does not.
    """
    if not isinstance(loop, ast.For | ast.AsyncFor):
        return False
    counts = isinstance(loop.iter, ast.Call) and dotted(loop.iter.func) == "range"
    return dotted(loop.iter) in function.parameters or (counts and not _ends(loop))


def _ends(loop: ast.For | ast.AsyncFor) -> bool:
    return any(isinstance(node, ast.Return | ast.Break) for node in ast.walk(loop))
