"""Reads what code takes from the command line, and what it is where nothing is said."""

from __future__ import annotations

import ast
import contextlib
import functools
import re
from collections.abc import Sequence

from art_adapt.code.classes import stored_by
from art_adapt.code.click_commands import defaults_of_click
from art_adapt.code.nodes import (
    Function,
    argument_of,
    decorator_names,
    defaults_of,
    dotted,
    given_to,
    keyword,
    last_name,
    names_in,
    text_of,
)
from art_adapt.code.reaching import Definition
from art_adapt.code.syntax import Syntax, is_guard

PARSES = ("parse_args", "parse_known_args")
OF_TYPER = ("Option", "Argument")
CONVERTS = frozenset(
    {
        "type",
        "callback",
        "count",
        "parser",
        "click_type",
        "default_factory",
        "path_type",
    }
)
DEEPEST = 5  # values that a value is assigned from


def reads_arguments(syntax: Syntax, node: ast.AST, *, given: bool = False) -> bool:
    """True if a node reads the command line.

    ``given``: what parses arguments that it is given does so, too: ``parse_args(argv)``.
    """
    if isinstance(node, ast.Attribute):
        return syntax.qualified(node) == "sys.argv"
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in PARSES
        and (given or not node.args)
    )


def takes_arguments(syntax: Syntax, function: Function, parameter: str) -> bool:
    """True if a function reads the command line where it is not given one: ``main(argv=None)``."""
    for node in syntax.owned_by(function.qualname):
        if isinstance(node, ast.Call) and last_name(node.func) in PARSES:
            if parameter in map(dotted, given_to(node)):
                return True
        elif isinstance(node, ast.BoolOp | ast.IfExp):  # argv or sys.argv[1:]
            reads = (reads_arguments(syntax, part) for part in ast.walk(node))
            if parameter in names_in(node) and any(reads):
                return True
    return False


def needs_arguments(syntax: Syntax) -> bool:
    """True if argparse refuses a command line of this file that gives nothing."""
    for call in syntax.nodes:
        if not isinstance(call, ast.Call) or last_name(call.func) != "add_argument":
            continue
        name = text_of(call.args[0]) if call.args else None
        many = keyword(call, "nargs")
        optional = many is not None and text_of(many) in ("?", "*")
        if name is not None and not name.startswith("-") and not optional:
            return True
    return False


@functools.lru_cache(maxsize=512)
def argument_readers(syntax: Syntax) -> frozenset[str]:
    """Return the functions of a file that read the command line, or its module."""
    return frozenset(
        syntax.owner(node) for node in syntax.nodes if reads_arguments(syntax, node)
    )


def usual_value(place: Syntax, node: ast.AST) -> str | None:
    """Return what a value of the command line is where nothing is said: ``not args.quiet``."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        said = usual_value(place, node.operand)
        return None if said is None else repr(not ast.literal_eval(said))
    call = _argument_read(place, node)
    if call is None:
        return None
    default, action = keyword(call, "default"), keyword(call, "action")
    if isinstance(default, ast.Constant) and default.value is not None:
        return _converted(default, keyword(call, "type"))
    stored = text_of(action)
    return {"store_true": "False", "store_false": "True"}.get(stored or "")


def _converted(default: ast.Constant, kind: ast.expr | None) -> str:
    """Return a default as argparse gives it: it reads a text by the option's type."""
    to = {"int": int, "float": float}.get(dotted(kind) or "")
    if to is not None and isinstance(default.value, str):
        with contextlib.suppress(ValueError):
            return repr(to(default.value))
    return ast.unparse(default)


def default_of_option(place: Syntax, node: ast.AST) -> ast.expr | None:
    """Return the default of an option: of click or typer any, of argparse one that is computed."""
    if isinstance(node, ast.Name):
        return _default_of_parameter(place, node)
    call = _argument_read(place, node)
    default = None if call is None else keyword(call, "default")
    return None if isinstance(default, ast.Constant) else default


def is_choice_of_option(place: Syntax, node: ast.AST) -> bool:
    """True if a node is an option of argparse for which a person picks one of several values."""
    adding = _argument_read(place, node)
    choices = None if adding is None else keyword(adding, "choices")
    return choices is not None and not (
        isinstance(choices, ast.List | ast.Tuple) and len(choices.elts) < 2
    )


def usual_branch(place: Syntax, value: ast.expr) -> ast.expr:
    """Return the branch of ``tell if verbose else None`` that is taken if nobody types an option.

    A value that is no such condition comes back as it is.
    """
    if not isinstance(value, ast.IfExp):
        return value
    holds = usually_holds(place, value.test)
    return value if holds is None else value.body if holds else value.orelse


def usually_holds(place: Syntax, test: ast.expr, depth: int = 4) -> bool | None:
    """Tell whether a condition holds if nobody types an option; None where that is not known."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=other):
            holds = usually_holds(place, other, depth)
            return None if holds is None else not holds
        case ast.BoolOp(op=operator, values=parts):
            every = [usually_holds(place, each, depth) for each in parts]
            # A single True settles an "or", a single False an "and".
            settles = isinstance(operator, ast.Or)
            if settles in every:
                return settles
            return None if None in every else not settles
        case ast.Constant(value=value):
            return bool(value)
        case ast.Compare(
            left=left,
            ops=[ast.Is() | ast.IsNot() as compared],
            comparators=[ast.Constant(value=None)],
        ) if _is_unset(place, left):
            return isinstance(compared, ast.Is)
    if _is_unset(place, test):
        return False
    said = usual_value(place, test)
    found = ast.parse(said, mode="eval").body if said else None
    found = found or default_of_option(place, test)
    if isinstance(found, ast.Constant):
        return bool(found.value)
    values = place.values_of(test) if isinstance(test, ast.Name) else []
    return (
        usually_holds(place, values[0], depth - 1)
        if depth and len(values) == 1
        else None
    )


def _is_unset(place: Syntax, node: ast.expr) -> bool:
    """True for an option of argparse that is None if nobody types it."""
    call = _argument_read(place, node)
    if call is None or keyword(call, "action") is not None:
        return False
    default, required = keyword(call, "default"), keyword(call, "required")
    flag = text_of(next(iter(call.args), None)) or ""
    is_none = default is None or (
        isinstance(default, ast.Constant) and default.value is None
    )
    return flag.startswith("-") and is_none and required is None


def usually_reaching(place: Syntax, found: Sequence[Definition]) -> list[Definition]:
    """Return the definitions of a name that count if nobody types an option.

    ``index = build()`` below ``if not args.plain:`` replaces an ``index = None`` before it.
    """
    kept: list[Definition] = []
    for each in sorted(found, key=lambda each: getattr(each.node, "lineno", 0)):
        is_run = _is_run(place, each.node)
        if is_run is not False:
            kept = [each] if is_run else [*kept, each]
    return kept


def left_to_options(place: Syntax, found: Sequence[Definition]) -> set[ast.stmt]:
    """Return the definitions of a name that only count if somebody types an option."""
    return {
        each.node
        for each in found
        if isinstance(each.node, ast.stmt) and _is_run(place, each.node) is False
    }


def _is_run(place: Syntax, node: ast.AST) -> bool | None:
    """Tell whether the conditions around a node hold if nobody types an option; None if unknown."""
    inner, decided = node, None
    for outer in place.ancestors(node):
        if isinstance(outer, ast.If) and not is_guard(outer):
            holds = usually_holds(place, outer.test)
            if holds is None:
                return None
            if holds is not (inner in outer.body):
                return False
            decided = True
        inner = outer
    return decided


def _default_of_parameter(place: Syntax, name: ast.Name) -> ast.expr | None:
    """Return what a command of click or typer gets for an option that nobody types."""
    function = place.functions.get(place.owner(name))
    if function is None or "command" not in decorator_names(function.node):
        return None
    reaching = place.definitions.reaching(name)
    if [type(each.node) for each in reaching] != [ast.arg]:
        return None  # the command gives it another value
    if _is_converted(function, name.id):
        return None
    of_click = dict(defaults_of_click(function))
    default = of_click.get(name.id) or dict(defaults_of(function.node)).get(name.id)
    if isinstance(default, ast.Call) and last_name(default.func) in OF_TYPER:
        default = keyword(default, "default") or next(iter(default.args), None)
    required = isinstance(default, ast.Constant) and default.value is ...
    return None if required or isinstance(default, ast.Lambda) else default


def _is_converted(function: Function, name: str) -> bool:
    """True if click or typer makes something else of what an option is given, or of its default."""
    default = dict(defaults_of(function.node)).get(name)
    declared = [default] if isinstance(default, ast.Call) else []
    declared += [e for e in function.node.decorator_list if isinstance(e, ast.Call)]
    return any(
        option is default or f"--{name.replace('_', '-')}" in map(text_of, option.args)
        for option in declared
        if isinstance(option, ast.Call)
        and not CONVERTS.isdisjoint(each.arg for each in option.keywords)
    )


def _argument_read(place: Syntax, node: ast.AST) -> ast.Call | None:
    """Return the ``add_argument`` whose value ``args.image`` is."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    if not _is_namespace(place, node.value) or any(
        isinstance(each, ast.Attribute)
        and each.attr == node.attr
        and isinstance(each.ctx, ast.Store)
        and isinstance(each.value, ast.Name)
        and _is_namespace(place, each.value)
        for each in place.nodes
    ):
        return None  # or it is changed after it was read
    adding = (
        call
        for call in place.nodes
        if isinstance(call, ast.Call)
        and last_name(call.func) == "add_argument"
        and _destination(call) == node.attr
    )
    return next(adding, None)


def _is_namespace(place: Syntax, name: ast.Name) -> bool:
    """True if a name stands for what a command line was parsed to."""
    given = _given_in_file(place, place.owner(name), name.id)
    holders = (*place.values_of(name), *given)
    return any(reads_arguments(place, each, given=True) for each in holders)


@functools.lru_cache(maxsize=512)
def _given_in_file(place: Syntax, owner: str, name: str) -> tuple[ast.expr, ...]:
    """Return what calls in the file give for a parameter: ``configure(parser.parse_args())``."""
    function = place.functions.get(owner)
    if function is None or name not in function.positional:
        return ()
    calls = (
        call
        for call in place.nodes
        if isinstance(call, ast.Call) and dotted(call.func) == owner
    )
    given = [argument_of(call, name, function.positional) for call in calls]
    named = (
        value
        for each in given
        if isinstance(each, ast.Name)
        for value in place.values_of(each)
    )
    return (*(each for each in given if each is not None), *named)


def environment_default(read: ast.expr) -> ast.expr | None:
    """Return the default of ``os.environ.get(name, default)`` or ``os.getenv(name, default)``."""
    match read:
        case ast.Call(func=function, args=[_, default]):
            is_read = (dotted(function) or "").endswith(("environ.get", "getenv"))
            return default if is_read else None
    return None


def usual_text(place: Syntax, value: ast.expr | None) -> str | None:
    """Return the text that a value is where nobody says otherwise; see ``usual_constant``."""
    found = usual_constant(place, value)
    return found if isinstance(found, str) else None


def usual_constant(place: Syntax, value: ast.expr | None, depth: int = 0) -> object:
    """Return the constant that a value is where nobody says otherwise; ``...``: none.

    Defaults are those of argparse, click, typer, functions, classes and
    ``os.getenv("MODEL", "m")``.
    """
    if value is None or depth > DEEPEST:
        return ...
    match value:
        case ast.Constant(value=constant):
            return constant
        case ast.BoolOp(op=ast.Or(), values=[*_, last]):
            return usual_constant(place, last, depth + 1)
        case ast.Call(args=[inner]) if last_name(value.func) in ("str", "Path"):
            return usual_constant(place, inner, depth + 1)
        case ast.Call(args=[_, default]) if last_name(value.func) in ("getenv", "get"):
            return usual_constant(place, default, depth + 1)
        case ast.Call(args=args) if last_name(value.func) in OF_TYPER:
            said_by = keyword(value, "default") or next(iter(args), None)
            return usual_constant(place, said_by, depth + 1)
    said = usual_value(place, value)
    sources = [ast.Constant(ast.literal_eval(said))] if said else place.values_of(value)
    sources = sources or _of_class(place, value)
    function = place.functions.get(place.owner(value))
    if not sources and function is not None and isinstance(value, ast.Name):
        defaults = dict(defaults_of_click(function)) | dict(defaults_of(function.node))
        sources = [defaults[value.id]] if value.id in defaults else []
    return usual_constant(place, sources[0], depth + 1) if len(sources) == 1 else ...


def _of_class(place: Syntax, value: ast.expr) -> list[ast.expr]:
    """Return what a class gives its instances where nobody says otherwise: a dataclass's default."""
    match value:
        case ast.Attribute(value=ast.Name("self" | "cls"), attr=name):
            owner = place.class_around(place.owner(value))
            return list(stored_by(place, owner, name)) if owner else []
    return []


def _destination(call: ast.Call) -> str | None:
    """Return the attribute that argparse gives a value: num_steps for ``--num-steps``."""
    named = keyword(call, "dest")
    flags = [
        each.value
        for each in (*([named] if named else []), *call.args)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    long = next((each for each in flags if not re.match("-[^-]", each)), None)
    return long and long.lstrip("-").replace("-", "_")
