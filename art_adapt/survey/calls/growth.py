"""Tells which lists code adds to, itself or through a function that it calls."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.nodes import (
    Function,
    argument_of,
    dotted,
    given_to,
    grown_list,
    made_of,
)
from art_adapt.code.project import Project
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.words import CONVERSATIONS, GROWS_LIST

# The names of functions where they are used, with the parameters that these add to.
Growing = Mapping[ast.AST, tuple[Function, frozenset[str]]]
STATE = ".*"  # after the name of an object: all that it holds


def growing_sites(project: Project, graph: CallGraph) -> Growing:
    """Find where functions are used that add to a list they are given."""
    return {
        site: (project.files[path].functions[name], grown)
        for (_, (path, name)), nodes in graph.sites.items()
        if (grown := _grown_by(project.files[path], name))
        for site in nodes
    }


def changing_sites(project: Project, graph: CallGraph) -> frozenset[ast.AST]:
    """Return where methods are used that change their object: ``board.play(move)``."""
    return frozenset(
        site
        for (_, (path, name)), nodes in graph.sites.items()
        if _changes_itself(project.files[path], name)
        for site in nodes
    )


@functools.lru_cache(maxsize=4096)
def _changes_itself(syntax: Syntax, name: str) -> bool:
    """True if a method, or one of its own that it calls, sets or adds to an attribute of its object."""
    function = syntax.functions.get(name)
    owner = function.class_name if function is not None else None
    if owner is None:
        return False
    done, left = set[str](), [name]
    while left:
        method = left.pop()
        done.add(method)
        for node in syntax.owned_by(method):
            targets, _ = made_of(node)
            stored = [_held_in(each) for each in targets] + [grown_list(node)]
            if any(each is not None and each[:5] == "self." for each in stored):
                return True
            called = dotted(node.func) if isinstance(node, ast.Call) else None
            own = f"{owner}.{called[5:]}" if called and called[:5] == "self." else ""
            if own in syntax.functions and own not in done:
                left.append(own)
    return False


def _held_in(target: ast.expr) -> str | None:
    """Return the name of what holds the target of an assignment: of ``self.cells`` in ``self.cells[0]``."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return dotted(target)


@functools.lru_cache(maxsize=4096)
def _grown_by(syntax: Syntax, name: str) -> frozenset[str]:
    """Return the parameters of a function that its body adds to."""
    grown = {_grown(node) for node in syntax.owned_by(name)}
    return frozenset(syntax.functions[name].given) & grown


def _grown(node: ast.AST) -> str | None:
    """Return what code adds messages to: a list, or a request by its ``request["messages"]``."""
    if (name := grown_list(node)) is not None:
        return name
    target: ast.AST | None = None
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        target = node.target
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        target = node.func.value if node.func.attr in GROWS_LIST else None
    if (
        isinstance(target, ast.Subscript)
        and isinstance(target.slice, ast.Constant)
        and target.slice.value in CONVERSATIONS
    ):
        return dotted(target.value)
    return None


def extends(
    syntax: Syntax, loop: ast.AST, sent: set[str], growing: Growing
) -> set[str]:
    """Return the names of what a loop adds to, of all that it sends, turn after turn.

    ``sent``: the names in what it sends. A list that each turn makes anew does not grow
    from turn to turn; what it is made from may. So does a list in a request that was made
    before: ``request = {"messages": messages}``.
    """
    grown = grown_in(loop, growing)
    grown -= _made_anew(loop, grown)
    bound = [each for node in ast.walk(loop) for each in _bindings(node)]
    bound += [
        (name, value)
        for node in syntax.owned_by(syntax.owner(loop))
        for name, value in _bindings(node)
        if isinstance(value, ast.Dict)
        or (isinstance(value, ast.Call) and dotted(value.func) == "dict")
    ]
    known = -1
    while known < len(sent):
        known = len(sent)
        sent = sent | {
            part
            for name, value in bound
            if name in sent
            for node in ast.walk(value)
            if (part := dotted(node)) is not None
        }
    return grown & sent


def _made_anew(loop: ast.AST, names: set[str]) -> set[str]:
    """Return those of ``names`` that each turn gives a new value, not made from the last one.

    In a branch, that is a list that is only added to there.
    """
    found: set[str] = set()
    for block in _blocks(loop):
        whole = block is getattr(loop, "body", None)
        for at, statement in enumerate(block):
            if not isinstance(statement, ast.Assign | ast.AnnAssign):
                continue
            after = {node for each in block[at:] for node in ast.walk(each)}
            found |= {
                name
                for name, value in _bindings(statement)
                if name in names
                and name not in map(dotted, ast.walk(value))
                and (whole or all(n in after for n in _growths_of(loop, name)))
            }
    return found


def _blocks(body: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of statements in a piece of code, the inner ones as well."""
    for node in ast.walk(body):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def _growths_of(body: ast.AST, name: str) -> Iterator[ast.AST]:
    return (node for node in ast.walk(body) if _grown(node) == name)


def _going_on(body: ast.AST, *, inside: bool = False) -> Iterator[ast.AST]:
    """Yield the nodes of a loop, without branches that leave it; of other code, all nodes.

    ``inside``: in a loop in it, which a ``break`` leaves instead.
    """
    leaves = (ast.Return, ast.Raise) if inside else (ast.Return, ast.Raise, ast.Break)
    yield body
    for child in ast.iter_child_nodes(body):
        if isinstance(body, ast.If) and isinstance(child, ast.stmt):
            block = body.body if child in body.body else body.orelse
            if isinstance(block[-1], leaves):
                continue
        yield from _going_on(child, inside=inside or isinstance(child, LOOPS))


def grown_in(body: ast.AST, growing: Growing) -> set[str]:
    """Return the names of the lists that code adds to; a loop, before a further turn."""
    found: set[str] = set()
    for node in _going_on(body) if isinstance(body, LOOPS) else ast.walk(body):
        if (name := _grown(node)) is not None:
            found.add(name)
        elif isinstance(node, ast.Call) and node.func in growing:
            function, parameters = growing[node.func]
            for parameter in parameters:
                given = argument_of(node, parameter, function.positional)
                if given is not None and (name := dotted(given)) is not None:
                    found.add(name)
    return found


def only_tries_again(
    loop: ast.For | ast.AsyncFor | ast.While, growing: Growing
) -> bool:
    """True if a loop goes on only after a failure, of which it tells the model nothing.

    Its attempt ends in ``return`` or ``break``, whatever that adds to a conversation
    before.
    """
    attempts = [each for each in loop.body if isinstance(each, ast.Try)]
    if len(attempts) != 1 or not attempts[0].handlers:
        return False
    attempt = attempts[0]
    tried = [*attempt.body, *attempt.orelse]
    inside = [node for each in tried for node in ast.walk(each)]
    if not isinstance(tried[-1], ast.Return | ast.Break) or any(
        isinstance(node, ast.Continue) for node in inside
    ):
        return False
    others = [each for each in loop.body if each is not attempt]
    others += [each for handler in attempt.handlers for each in handler.body]
    bound = {
        name
        for each in others
        for node in ast.walk(each)
        for name, _ in _bindings(node)
    }
    given = {n for node in inside if isinstance(node, ast.Call) for n in names_in(node)}
    told = any(grown_in(each, growing) for each in others)
    return not told and bound.isdisjoint(given)


def sends_answers(
    loop: ast.AST, asks: Callable[[ast.AST], bool], changing: Container[ast.AST]
) -> bool:
    """True if a loop sends what it was answered before: ``draft = ask(f"Mend {draft}")``.

    An object may hold it: ``move = ask(board.render())``, then ``board.play(move)``. What only
    another question is asked, as ``grade(task, ask(task))``, ends with its turn. ``asks``:
    whether a node contains the call that asks. ``changing``: see ``changing_sites``.
    """
    nodes = list(ast.walk(loop))
    bindings = [
        binding
        for node in nodes
        for binding in (*_bindings(node), *_changes(node, changing))
    ]
    parts_of = [(name, _read(value)) for name, value in bindings]
    return any(
        _comes_back(call, bindings, parts_of)
        for call in nodes
        if isinstance(call, ast.Call) and asks(call)
    )


def _comes_back(
    question: ast.Call,
    bindings: Sequence[tuple[str, ast.expr]],
    parts_of: Sequence[tuple[str, set[str]]],
) -> bool:
    """True if a question is made of its own answer."""
    sent = {part for each in given_to(question) for part in _read(each)}
    answers = {name for name, value in bindings if question in ast.walk(value)}
    known = -1
    while known < len(answers):  # what is made from an answer is one, too
        known = len(answers)
        answers |= {name for name, parts in parts_of if not answers.isdisjoint(parts)}
    return not sent.isdisjoint(answers)


def _changes(
    node: ast.AST, changing: Container[ast.AST]
) -> Iterator[tuple[str, ast.expr]]:
    """Yield the objects that a node changes, each with what it is given."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        holder = dotted(node.func.value) if node.func in changing else None
        given = given_to(node)
    else:
        targets, value = made_of(node)
        held = [
            t.value for t in targets if isinstance(t, ast.Attribute | ast.Subscript)
        ]
        holder = next(filter(None, map(_held_in, held)), None)
        given = [value] if value is not None else []
    if holder not in (None, "self", "cls"):  # of these it is known which attribute
        yield from ((f"{holder}{STATE}", each) for each in given)


def _read(value: ast.AST) -> set[str]:
    """Return the names and attributes in an expression, and the objects that it reads."""
    names = {name for node in ast.walk(value) if (name := dotted(node)) is not None}
    return names | {f"{name}{STATE}" for name in names}


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names and attributes that a statement binds, each with what it comes from."""
    targets, value = made_of(node)
    for target in () if isinstance(node, ast.withitem | ast.comprehension) else targets:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for part in parts:
            if value is not None and (name := dotted(part)) is not None:
                yield name, value


def names_in(call: ast.Call) -> set[str]:
    """Return the names and attributes in the arguments of a call."""
    inner = (node for value in given_to(call) for node in ast.walk(value))
    return {name for node in inner if (name := dotted(node)) is not None}
