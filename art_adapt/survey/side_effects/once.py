"""Tells what is only made once: the next episode finds what it would have made itself."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from art_adapt.code.nodes import assignment
from art_adapt.code.syntax import Syntax


def is_made_once(syntax: Syntax, node: ast.AST, *places: ast.expr) -> bool:
    """True if a statement runs only where nothing is at one of ``places`` yet.

    Args:
        syntax: the file that the statement is in.
        node: the statement, or what it stores.
        places: what it fills: a name, an attribute, an entry, a folder. A local copy of
            one, and a flag that is set with it, say as well whether it is there.
    """
    names = set(_names(syntax, node, places))
    inner = node
    for outer in syntax.ancestors(node):
        if (
            isinstance(outer, ast.If)
            and inner in outer.body
            and _finds_nothing(outer.test, names | set(_flags(outer.body)))
        ):
            return True
        if _is_left_before(outer, inner, names):
            return True
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            return False
        inner = outer
    return False


def _names(
    syntax: Syntax, node: ast.AST, places: tuple[ast.expr, ...]
) -> Iterator[str]:
    """Yield how places are spelled, as what they are read from, and as local copies of them."""
    spelled = {ast.unparse(place) for place in places}
    yield from spelled
    for read, name in _copies(syntax, syntax.owner(node)):
        if read in spelled:
            yield name


@functools.lru_cache(maxsize=4096)
def _copies(syntax: Syntax, owner: str) -> tuple[tuple[str, str], ...]:
    """Return what a function reads into names: the place, with ``get(key)`` as its entry."""
    found = []
    for node in syntax.owned_by(owner):
        targets, read = assignment(node)
        match read:
            case ast.Call(func=ast.Attribute(value=holder, attr="get"), args=[key]):
                read = ast.Subscript(holder, key)
        if isinstance(read, ast.Name | ast.Attribute | ast.Subscript):
            found += [(ast.unparse(read), ast.unparse(each)) for each in targets]
    return tuple(found)


def _flags(block: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that a block sets to True."""
    for each in block:
        if isinstance(each, ast.Assign) and ast.unparse(each.value) == "True":
            yield from map(ast.unparse, each.targets)


def _finds_nothing(test: ast.expr, names: set[str]) -> bool:
    """True if a condition holds only where a place is empty."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_finds_nothing(each, names) for each in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _finds(test.operand, names)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = _spelled(test.left), test.comparators[0]
        if isinstance(test.ops[0], ast.Is | ast.Eq):
            return left in names and isinstance(right, ast.Constant)
        if isinstance(test.ops[0], ast.NotIn):
            return f"{ast.unparse(right)}[{left}]" in names
    return False


def _finds(test: ast.expr, names: set[str]) -> bool:
    """True if a condition holds where a place is filled."""
    if _spelled(test) in names:
        return True
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute):
        if test.func.attr in ("exists", "is_dir", "isdir", "isfile", "is_file"):
            asked = [test.func.value, *test.args]
            return any(ast.unparse(each) in names for each in asked)
        if test.func.attr in ("get", "getenv") and test.args:
            held = f"{ast.unparse(test.func.value)}[{ast.unparse(test.args[0])}]"
            return held in names
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = _spelled(test.left), test.comparators[0]
        if isinstance(test.ops[0], ast.IsNot):
            return left in names
        if isinstance(test.ops[0], ast.In):
            return f"{ast.unparse(right)}[{left}]" in names
    return False


def _spelled(tested: ast.expr) -> str:
    """Spell what is tested; of ``(value := CACHE.get(key))``, the name."""
    named = tested.target if isinstance(tested, ast.NamedExpr) else tested
    return ast.unparse(named)


def _is_left_before(outer: ast.AST, inner: ast.AST, names: set[str]) -> bool:
    """True if a block is left, before a statement of it, where a place is filled."""
    for block in (getattr(outer, name, ()) for name in ("body", "orelse")):
        if not isinstance(block, list) or inner not in block:
            continue
        return any(
            isinstance(each, ast.If)
            and isinstance(each.body[-1], ast.Return | ast.Continue)
            and _finds(each.test, names)
            and not _says_otherwise(each.body[-1])
            for each in block[: block.index(inner)]
        )
    return False


def _says_otherwise(end: ast.stmt) -> bool:
    """True if a caller is told in words of its own that something is there: ``"taken"``.

    What was kept is given back as it is; this tells episodes apart.
    """
    told = end.value if isinstance(end, ast.Return) else None
    return isinstance(told, ast.JoinedStr | ast.Dict) or (
        isinstance(told, ast.Constant) and isinstance(told.value, str)
    )
