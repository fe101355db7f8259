"""Tells what a name in code is there for: it is called, handed on, kept, or only describes."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import FunctionNode, dotted, last_name
from art_adapt.code.project import Project
from art_adapt.code.resolution import is_namespace
from art_adapt.code.syntax import Syntax
from art_adapt.words import HOLDS_TOOLS, REGISTERS


def is_called_on_each(syntax: Syntax, node: ast.expr) -> bool:
    """True if a loop calls this on each element, as on the members of a team.

    Of a table of tools one is chosen: by its key, or by what it is compared with.
    """
    holder = node.value if isinstance(node, ast.Attribute) else node
    if not isinstance(holder, ast.Name):
        return False
    for outer in syntax.ancestors(node):
        loops = [outer, *getattr(outer, "generators", ())]
        if any(
            isinstance(inner, ast.Name) and inner.id == holder.id
            for loop in loops
            if isinstance(loop, ast.For | ast.AsyncFor | ast.comprehension)
            for inner in ast.walk(loop.target)
        ):
            compared = (
                each for each in ast.walk(outer) if isinstance(each, ast.Compare)
            )
            return not any(
                isinstance(inner, ast.Name) and inner.id == holder.id
                for each in compared
                for inner in ast.walk(each)
            )
        if isinstance(outer, FunctionNode):
            return False
    return False


def is_used(syntax: Syntax, node: ast.expr) -> bool:
    """True if the named object is called here, or passed to something that may call it."""
    parent = syntax.parents.get(node)
    if isinstance(parent, ast.keyword):
        holder = syntax.parents.get(parent)
        if is_namespace(holder) or _is_dict(holder):
            return False  # kept: what reads it from there calls it
    return isinstance(parent, ast.Call | ast.keyword | ast.Starred)


def is_base(syntax: Syntax, node: ast.expr) -> bool:
    parent = syntax.parents.get(node)
    return isinstance(parent, ast.ClassDef) and node in parent.bases


def only_describes(syntax: Syntax, node: ast.expr) -> bool:
    """True if a class is named for a type, or for an attribute of its own: ``Store.limit``."""
    parent = syntax.parents.get(node)
    if isinstance(parent, ast.Attribute) and parent.value is node:
        return True
    inner: ast.AST = node
    for outer in syntax.ancestors(node):
        if isinstance(outer, ast.arg):
            return True
        if isinstance(outer, ast.AnnAssign):
            return inner is outer.annotation
        if isinstance(outer, FunctionNode):
            return inner is outer.returns
        if isinstance(outer, ast.stmt):
            return False
        inner = outer
    return False


def is_put_aside(syntax: Syntax, node: ast.expr) -> bool:
    """True if a call stands in a lambda, or a partial, that is kept under a name.

    That is a table of tools, ``{"look": lambda **given: look(**given)}``, or what registers
    one.
    """
    for outer in syntax.ancestors(node):
        if isinstance(outer, ast.stmt):
            return False
        kept = isinstance(outer, ast.Lambda) or (
            isinstance(outer, ast.Call)
            and last_name(outer.func) == "partial"
            and node in outer.args[:1]
        )
        if kept:
            holder = syntax.parents[outer]
            if isinstance(holder, ast.keyword):
                holder = syntax.parents[holder]
            return (
                isinstance(holder, ast.Dict | ast.List | ast.Tuple | ast.Assign)
                or _is_dict(holder)
                or (
                    isinstance(holder, ast.Call)
                    and REGISTERS.match(last_name(holder.func)) is not None
                )
            )
    return False


def is_kept(syntax: Syntax, node: ast.expr) -> bool:
    """True if a function is given to what a variable holds: ``TOOLS = [Tool(look)]``."""
    given = syntax.parents.get(node)
    if isinstance(given, ast.Call) and given.func is node:
        return False  # it is called here
    statement = next(n for n in syntax.ancestors(node) if isinstance(n, ast.stmt))
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    holder = call.func if isinstance(call, ast.Call) else None
    return isinstance(holder, ast.Attribute) and bool(
        HOLDS_TOOLS.search(dotted(holder.value) or "")
    )


def variable_read(
    project: Project, syntax: Syntax, node: ast.expr
) -> tuple[Syntax, str] | None:
    """Return the variable of another file that a name is: ``TOOLS``, ``tools.TOOLS``."""
    found = project.variable_at(syntax, node)
    return found if found is not None and found[0].values_at_top(found[1]) else None


def _is_dict(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) == "dict"


def is_decorator(syntax: Syntax, node: ast.expr) -> bool:
    parent = syntax.parents.get(node)
    return (
        isinstance(parent, FunctionNode | ast.ClassDef)
        and node in parent.decorator_list
    )
