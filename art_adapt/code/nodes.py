"""Reads single nodes of a tree: names, arguments, decorators."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from art_adapt.words import GROWS_LIST

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Function:
    qualname: str
    node: FunctionNode
    class_name: str | None  # of a method
    nested: bool  # inside another function

    @property
    def parameters(self) -> list[str]:
        """Return the names of its parameters, without those of ``*args`` and ``**kwargs``."""
        return [argument.arg for argument in arguments_of(self.node)]

    @property
    def given(self) -> list[str]:
        """Return the parameters that a call gives: without ``self`` or ``cls``."""
        is_static = "staticmethod" in decorator_names(self.node)
        bound = self.class_name is not None and not is_static
        return self.parameters[1 if bound else 0 :]

    @property
    def positional(self) -> list[str]:
        """Return the parameters that a call may give by their position."""
        only_named = {argument.arg for argument in self.node.args.kwonlyargs}
        return [name for name in self.given if name not in only_named]


NEVER_RETURN = ("sys.exit", "exit", "assert_never")


def awaited(expression: ast.expr) -> ast.expr:
    """Return the ``x`` of ``await x``, and anything else as it is."""
    return expression.value if isinstance(expression, ast.Await) else expression


def dotted(expression: ast.AST | None) -> str | None:
    """Spell a chain of attributes, as ``self.client.chat``; None for anything else."""
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return None
    return ".".join([expression.id, *reversed(parts)])


def attribute_of(expression: ast.AST) -> tuple[ast.expr, str] | None:
    """Return the object and the name of an attribute, also of ``getattr(x, "name")``."""
    match expression:
        case ast.Attribute(value=value, attr=name):
            return value, name
        case ast.Call(
            func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]
        ):
            return value, name
    return None


def set_by_name(node: ast.AST) -> tuple[ast.Attribute, ast.expr] | None:
    """Return the attribute and the value of ``setattr(x, "name", value)``."""
    match node:
        case ast.Call(ast.Name("setattr"), [held, ast.Constant(str(name)), value]):
            return ast.Attribute(held, name), value
    return None


def receiver(node: ast.AST | None, *methods: str) -> ast.expr | None:
    """Return the object on which a call calls one of these methods; None for anything else."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in methods:
            return value
    return None


def given_to(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call, by position and by name."""
    return [*call.args, *(each.value for each in call.keywords)]


def names_in(node: ast.AST) -> set[str]:
    """Return the names in a piece of code."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def names_set_in(node: ast.AST) -> set[str]:
    """Return the names that a piece of code gives something."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Store)}


def last_name(expression: ast.AST) -> str:
    """Return the last name of a chain of attributes; nothing for anything else."""
    return (dotted(expression) or "").rpartition(".")[2]


def called_name(call: ast.Call) -> str:
    """Return the name of what is called, whatever it is an attribute of; "" for no name."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return dotted(call.func) or ""


def unquoted(annotation: ast.expr) -> ast.expr:
    """Return the annotation that a text spells: ``Tool`` for ``"Tool"``."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return unquoted(ast.parse(annotation.value, mode="eval").body)
        except SyntaxError:
            return annotation  # it names nothing
    return annotation


def root_object(expression: ast.expr) -> ast.expr:
    """Return the object that a chain of attributes starts at, or ``self.x`` of it."""
    while isinstance(expression, ast.Attribute) and dotted(expression.value) != "self":
        expression = expression.value
    return expression


def takes_the_rest(case: ast.match_case) -> bool:
    """Return whether a case takes whatever those before it have not."""
    return (
        case.guard is None
        and isinstance(case.pattern, ast.MatchAs)
        and case.pattern.pattern is None
    )


def assignment(node: ast.AST | None) -> tuple[list[ast.expr], ast.expr | None]:
    """Return the targets that an assignment, or an item of a ``with``, gives its value to."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return targets, value
        case (
            ast.AnnAssign(target=target, value=value)
            | ast.NamedExpr(target=target, value=value)
        ):
            return [target], value
        case ast.withitem(optional_vars=ast.expr() as target, context_expr=value):
            return [target], value
    return [], None


def made_of(node: ast.AST) -> tuple[list[ast.expr], ast.expr | None]:
    """Return the targets that a node binds, and what they are made of: a loop's, too."""
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return [node.target], node.iter
    if isinstance(node, ast.AugAssign):
        return [node.target], node.value
    return assignment(node)


def bound_names(targets: Iterable[ast.expr]) -> Iterator[str]:
    """Yield the names that targets of an assignment or a loop bind, in tuples too."""
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Tuple | ast.List):
            yield from bound_names(target.elts)


def targets_of(statement: ast.AST | None) -> list[ast.expr]:
    """Return what a statement assigns, sets or deletes."""
    if isinstance(statement, ast.Assign | ast.Delete):
        return statement.targets
    if isinstance(statement, ast.AugAssign | ast.AnnAssign):
        return [statement.target]
    return []


def paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets of an assignment with what each gets: two for ``a, b = 1, 2``."""
    several = ast.Tuple | ast.List
    if not isinstance(target, several) or not isinstance(value, several):
        yield target, value
        return
    parts = [*target.elts, *value.elts]
    starred = any(isinstance(each, ast.Starred) for each in parts)
    if len(target.elts) == len(value.elts) and not starred:
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from paired(one, other)


def arguments_of(function: FunctionNode | ast.Lambda) -> list[ast.arg]:
    """Return the parameters of a function, without ``*args`` and ``**kwargs``."""
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def defaults_of(function: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of a function that have a default, with that."""
    for argument, default in with_defaults(function.args):
        if default is not None:
            yield argument.arg, default


def with_defaults(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return the parameters of a function, each with its default if it has one."""
    positional = [*arguments.posonlyargs, *arguments.args]
    without = [None] * (len(positional) - len(arguments.defaults))
    return [
        *zip(positional, (*without, *arguments.defaults), strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]


def decorator_names(definition: FunctionNode | ast.ClassDef) -> list[str]:
    """Return the last names of the decorators: ``command`` for ``@app.command("chat")``."""
    spelled = (
        dotted(each.func if isinstance(each, ast.Call) else each) or ""
        for each in definition.decorator_list
    )
    return [name.split(".")[-1] for name in spelled]


def grown_list(node: ast.AST) -> str | None:
    """Return the list that a statement or call adds to: ``log.append(x)``, ``log += [x]``."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        by = node.value.value if isinstance(node.value, ast.Constant) else None
        return None if isinstance(by, int | float) else dotted(node.target)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in GROWS_LIST
    ):
        return dotted(node.func.value)
    return None


def raises(statement: ast.stmt) -> bool:
    """True for a statement that nothing gets past: ``raise ...``, ``sys.exit(...)``."""
    called = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(statement, ast.Raise) or (
        isinstance(called, ast.Call) and dotted(called.func) in NEVER_RETURN
    )


def block_of(statement: ast.AST, parent: ast.AST | None) -> list[ast.stmt]:
    """Return the block of statements that one stands in; ``parent`` has the block."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def statements_after(statement: ast.AST, parent: ast.AST | None) -> list[ast.stmt]:
    """Return the statements that follow one in its block; ``parent`` has the block."""
    block = block_of(statement, parent)
    if isinstance(statement, ast.stmt) and statement in block:
        return block[block.index(statement) + 1 :]
    return []


def choices(value: ast.expr) -> list[ast.expr]:
    """Return the values that one is either of, in ``a if x else b``, ``a or b`` and ``a and b``."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            return [one, other]
        case ast.BoolOp(values=values):
            return values
    return []


def entries(node: ast.AST) -> dict[str, ast.expr]:
    """Return what a dict display has under texts, or a call is given by name."""
    if isinstance(node, ast.Call):
        return {k.arg: k.value for k in node.keywords if k.arg is not None}
    if not isinstance(node, ast.Dict):
        return {}
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def text_of(node: ast.AST | None) -> str | None:
    """Return the text that a constant is."""
    match node:
        case ast.Constant(value=str(text)):
            return text
    return None


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next(
        (argument.value for argument in call.keywords if argument.arg == name), None
    )


def first_argument(call: ast.Call, name: str) -> ast.expr | None:
    """Return what a call gives to its first parameter, by position or by the name."""
    return call.args[0] if call.args else keyword(call, name)


def argument_of(
    call: ast.Call, name: str, positional: Sequence[str]
) -> ast.expr | None:
    """Return what a call gives for a parameter, if it can be seen.

    ``positional`` are the parameters that may be given by their position.
    """
    if (value := keyword(call, name)) is not None:
        return value
    at = positional.index(name) if name in positional else len(call.args)
    before = call.args[: at + 1]
    if len(before) <= at or any(isinstance(each, ast.Starred) for each in before):
        return None
    return before[at]


def taken_as(function: Function, call: ast.Call, value: ast.expr) -> list[str]:
    """Return the parameters of a function for which a call gives a value."""
    return [
        each
        for each in function.given
        if argument_of(call, each, function.positional) is value
    ]
