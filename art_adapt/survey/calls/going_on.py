"""Tells whether a loop lets an agent go on that keeps the conversation in itself."""

from __future__ import annotations

import ast

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.definitions import COMPREHENSIONS
from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import dotted, given_to, grown_list
from art_adapt.code.project import Project
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.survey.calls.growth import Growing, only_tries_again
from art_adapt.survey.calls.tool_loops import counts_or_waits
from art_adapt.survey.side_effects.effects import asks_a_person


def lets_go_on(
    syntax: Syntax,
    loop: ast.For | ast.AsyncFor | ast.While,
    keeping: frozenset[ast.AST],
) -> bool:
    """True if a loop lets an agent go on, and tells it nothing new.

    That is ``while not agent.done: agent.step()``, or ``chat.ask("Continue.")``. An agent
    that each turn makes anew begins another conversation, and one that is given the same
    task again tries again. ``keeping``: see ``keeping_sites``.
    """
    return (
        counts_or_waits(loop)
        and not asks_a_person(syntax, loop)
        and any(
            isinstance(site, ast.Attribute)
            and site in keeping
            and next(syntax.enclosing_loops(site), None) is loop
            and not is_made_anew(syntax, site)
            and isinstance(call := syntax.parents.get(site), ast.Call)
            and all(isinstance(each, ast.Constant) for each in given_to(call))
            for site in ast.walk(loop)
        )
    )


def keeping_sites(
    project: Project,
    graph: CallGraph,
    asking: frozenset[ast.AST],
    growing: Growing,
) -> frozenset[ast.AST]:
    """Return where methods are used that ask once, of an object that keeps the conversation.

    The object adds to a list of its own that it sends, or hands on to what sends it. What
    asks in a loop of its own is a whole episode. ``asking``: where the model is asked.
    """
    used = {callee for _, callee in graph.sites}
    return frozenset(
        site
        for path, name in used
        if (sites := asking.intersection(graph.sites_of((path, name))))
        and (function := project.files[path].functions.get(name)) is not None
        and function.class_name is not None
        and asks_one_turn(project.files[path], name, asking, growing)
        for site in sites
    )


def asks_one_turn(
    syntax: Syntax, method: str, asking: frozenset[ast.AST], growing: Growing
) -> bool:
    """True if a method asks once, of an object that keeps the conversation and sends all of it."""
    return bool(kept_lists(syntax, method.rpartition(".")[0], asking)) and not any(
        isinstance(loop, LOOPS)
        and not only_tries_again(loop, growing)
        and not asking.isdisjoint(ast.walk(loop))
        for loop in syntax.owned_by(method)
    )


def kept_lists(syntax: Syntax, class_name: str, asking: frozenset[ast.AST]) -> set[str]:
    """Return the lists of its own that a class adds to and also sends: ``self.history``."""
    methods = [each for each in syntax.functions if each.startswith(f"{class_name}.")]
    nodes = [node for each in methods for node in syntax.owned_by(each)]
    grown = {
        name for node in nodes if (name := grown_list(node)) and name[:5] == "self."
    }
    sent = {
        name
        for node in nodes
        if isinstance(node, ast.Call) and node.func in asking
        for inner in made_from(syntax, syntax.owner(node), given_to(node))
        if isinstance(inner, ast.Name | ast.Attribute)
        and (name := dotted(inner)) is not None
    }
    return grown & sent


def is_made_anew(syntax: Syntax, site: ast.AST) -> bool:
    """True if the object whose method is called is made anew in each turn of a loop."""
    loop = _around(syntax, site)
    if loop is None or not isinstance(site, ast.Attribute):
        return False
    holder = site.value
    made = [holder] if isinstance(holder, ast.Call) else syntax.values_of(holder)
    return bool(made) and all(
        isinstance(each, ast.Call) and _around(syntax, each) is loop for each in made
    )


def _around(syntax: Syntax, node: ast.AST) -> ast.AST | None:
    """Return the loop or comprehension around a node."""
    around = syntax.ancestors(node)
    return next((e for e in around if isinstance(e, (*LOOPS, *COMPREHENSIONS))), None)
