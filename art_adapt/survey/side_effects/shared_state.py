"""Finds state that all rollouts in a process share: what one changes, the others see."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.command_line import usual_text
from art_adapt.code.nodes import (
    argument_of,
    decorator_names,
    dotted,
    last_name,
    text_of,
)
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.survey.side_effects.files import lies_elsewhere
from art_adapt.survey.side_effects.harm import Effect, Harm
from art_adapt.survey.side_effects.once import is_made_once
from art_adapt.survey.side_effects.shared_connections import used_connections
from art_adapt.survey.side_effects.shared_containers import (
    changed_containers,
    is_of_project,
)
from art_adapt.survey.side_effects.shared_instances import changed_instances
from art_adapt.survey.side_effects.shared_limits import used_limits
from art_adapt.words import CHANGES_CONTAINER, ONCE

WRITING_SQL = re.compile(
    r"\s*(insert|update|delete|replace|create|drop|alter)\s", re.IGNORECASE
)


def find_shared_state(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find changes of state that outlives an episode, with the functions that make them.

    What is only made once, or kept so that it need not be made again, is no such state:
    the next episode finds what it would have made itself.
    """
    for node in syntax.nodes:
        owner = syntax.owner(node)
        if owner != MODULE_LEVEL and isinstance(node, ast.expr | ast.stmt):
            what = _changed(syntax, owner, node)
            if what is not None:
                own = isinstance(node, ast.Global | ast.Attribute)
                opens = (
                    isinstance(node, ast.Call)
                    and _opens_sqlite(syntax, node)
                    and not lies_elsewhere(syntax, node)
                )
                place = syntax.place(node)
                yield (
                    owner,
                    Effect(place, Harm.SHARED, what, of_module=own, in_files=opens),
                )
    yield from changed_containers(syntax)
    yield from changed_instances(syntax)
    yield from used_connections(syntax)
    yield from used_limits(syntax)
    yield from _kept_files(syntax)


def _changed(syntax: Syntax, owner: str, node: ast.AST) -> str | None:
    """Return what a statement or call changes for the whole process, but for containers."""
    if isinstance(node, ast.Global):
        names = [name for name in node.names if _is_changed(syntax, node, name)]
        return "global " + ", ".join(names) if names else None
    if isinstance(node, ast.Call) and syntax.qualified(node.func) == "os.chdir":
        return "the working directory"
    if isinstance(node, ast.Call) and _opens_sqlite(syntax, node):
        return _kept_database(syntax, owner, node)
    if isinstance(node, ast.Call) and _is_of_process(syntax, node):
        return f"{syntax.text(node.func)}()"
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        holder = node.value
        if isinstance(holder, ast.Call) and dotted(holder.func) == "globals":
            return "globals()"
        if syntax.qualified(holder) == "os.environ":
            once = is_made_once(syntax, node, node)
            return None if once else "an environment variable"
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
        return None
    if is_made_once(syntax, node, node):
        return None
    is_shared = _is_class(syntax, owner, node.value) or is_of_project(
        syntax, dotted(node.value) or ""
    )
    return syntax.text(node) if is_shared else None


def _opens_sqlite(syntax: Syntax, node: ast.AST) -> bool:
    called = isinstance(node, ast.Call) and syntax.qualified(node.func)
    return called == "sqlite3.connect"


def _is_of_process(syntax: Syntax, call: ast.Call) -> bool:
    """True if a call changes what belongs to the process: its environment, its imports."""
    name = syntax.qualified(call.func) or ""
    holder, _, method = name.rpartition(".")
    if holder in ("os.environ", "sys.path", "sys.modules"):
        return method in CHANGES_CONTAINER and not is_made_once(syntax, call, call)
    return name in ("os.putenv", "os.unsetenv", "locale.setlocale")


def _is_class(syntax: Syntax, owner: str, value: ast.expr) -> bool:
    """True if an expression is the class of a method's object: ``cls``, ``type(self)``."""
    function = syntax.functions.get(owner)
    if isinstance(value, ast.Call):
        given = [dotted(each) for each in value.args]
        return dotted(value.func) == "type" and given == ["self"]
    if dotted(value) == "self.__class__":
        return True
    return (
        dotted(value) == "cls"
        and function is not None
        and "classmethod" in decorator_names(function.node)
    )


def _is_changed(syntax: Syntax, node: ast.Global, name: str) -> bool:
    """True if a function sets a global, and not only where it is not set."""
    owner = syntax.owner(node)
    stores = [
        each
        for each in syntax.owned_by(owner)
        if isinstance(each, ast.Name)
        and each.id == name
        and isinstance(each.ctx, ast.Store | ast.Del)
    ]
    if not stores or not ONCE.isdisjoint(decorator_names(syntax.functions[owner].node)):
        return False
    others = [ast.Name(other) for other in node.names]  # made together
    return not all(is_made_once(syntax, store, *others) for store in stores)


def _kept_database(syntax: Syntax, owner: str, call: ast.Call) -> str | None:
    """Return the file of a database that every episode opens and some code here writes to."""
    if not call.args or not writes_database(syntax, owner):
        return None
    path = _fixed(syntax, owner, call.args[0])
    return f"the database {path}" if path not in (None, "':memory:'", "''") else None


def _fixed(syntax: Syntax, owner: str, path: ast.expr) -> str | None:
    """Return what a path is in each episode alike: a text, or what its module has."""
    if (text := usual_text(syntax, path)) is not None:
        return syntax.text(ast.Constant(text), 40)
    name = dotted(path) or ""
    at_top = [] if syntax.is_local(name, owner) else syntax.values_at_top(name)
    return syntax.text(at_top[0], 40) if at_top else None


def writes_database(syntax: Syntax, owner: str) -> bool:
    """True if the function that opens a database writes to it, or its class does.

    Where it only hands the connection out, any function of the file may.
    """
    hands_out = any(
        isinstance(node, ast.Return | ast.Yield)
        and node.value is not None
        and any(_connects(each) for each in (node.value, *syntax.values_of(node.value)))
        for node in syntax.owned_by(owner)
    )
    head = owner.rpartition(".")[0]
    for node in syntax.nodes:
        around = syntax.owner(node)
        near = around == owner or (head and around.startswith(f"{head}."))
        if not near and not hands_out:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if WRITING_SQL.match(node.value):
                return True
        elif isinstance(node, ast.Attribute) and node.attr == "commit":
            return True
    return False


def commits_at_end(syntax: Syntax, block: ast.With, context: ast.expr) -> bool:
    """True if a block writes to a database of sqlite3, whose connection commits at its end."""
    name = dotted(context) or ""
    values = [context, *syntax.values_of(context), *syntax.values_at_top(name)]
    return any(_opens_sqlite(syntax, value) for value in values) and any(
        WRITING_SQL.match(text) for node in ast.walk(block) if (text := text_of(node))
    )


def _connects(value: ast.expr) -> bool:
    """True if a value is a connection, or a cursor of one that is made there."""
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in ("connect", "cursor")
        for node in ast.walk(value)
    )


def _kept_files(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find files that functions of one module write as well as read: a memory, a state."""
    read: set[str] = set()
    written: dict[str, tuple[str, ast.Call]] = {}
    for node in syntax.nodes:
        owner = syntax.owner(node)
        if not isinstance(node, ast.Call) or owner == MODULE_LEVEL:
            continue
        path, mode = _opened(node)
        name = None if path is None else _fixed(syntax, owner, path)
        if name is not None:
            if mode[:1] == "r" or "+" in mode:
                read.add(name)
            if mode[:1] != "r" or "+" in mode:
                written.setdefault(name, (owner, node))
    for name, (owner, call) in written.items():
        if name in read:
            what = f"the file {name}, which is read as well"
            yield owner, Effect(syntax.place(call), Harm.SHARED, what, in_files=True)


def _opened(call: ast.Call) -> tuple[ast.expr | None, str]:
    """Return the path of the file that a call reads or writes, and the mode."""
    function = call.func
    if dotted(function) == "open" and call.args:
        return call.args[0], _mode(call, ["file", "mode"])
    if isinstance(function, ast.Attribute):
        if function.attr == "open":
            return function.value, _mode(call, ["mode"])
        if function.attr in ("read_text", "read_bytes"):
            return function.value, "r"
        if function.attr in ("write_text", "write_bytes"):
            return function.value, "w"
    return None, ""


def _mode(call: ast.Call, positional: list[str]) -> str:
    given = argument_of(call, "mode", positional)
    return str(given.value) if isinstance(given, ast.Constant) else "r"
