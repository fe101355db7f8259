"""Finds side effects that make an episode hard to replay."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from art_adapt.survey.harms import (
    BY_MODULE,
    BY_NAME,
    HARMLESS,
    HARMLESS_LIBRARIES,
    HOSTED,
    HTTP,
    MCP_NETWORK,
    SENDS,
    WRITING_METHODS,
)
from art_adapt.survey.model import Effect, Harm
from art_adapt.survey.nodes import dotted, last_name
from art_adapt.survey.packages import import_roots, is_module
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax

CHANGES = {
    "append",
    "extend",
    "insert",
    "clear",
    "pop",
    "update",
    "add",
    "remove",
    "setdefault",
}


def find_effects(syntax: Syntax, functions: Collection[str]) -> Iterator[Effect]:
    """Find calls that reach outside the episode, and changes of module-level state.

    ``functions``: the qualified names of those that an episode may run.
    """
    found = _by_function(syntax)
    for name, effects in found.items():  # in source order, which a set has not
        if name in functions:
            yield from effects


@functools.lru_cache(maxsize=512)
def _by_function(syntax: Syntax) -> dict[str, list[Effect]]:
    """All effects of a file, by the function that has them."""
    found: dict[str, list[Effect]] = {}
    for node in syntax.nodes:
        effects = list(_effects_at(syntax, node))
        if effects:
            found.setdefault(syntax.owner(node), []).extend(effects)
    for owner, effect in (*_changed_globals(syntax), *_unknown(syntax)):
        found.setdefault(owner, []).append(effect)
    return found


def _effects_at(syntax: Syntax, node: ast.AST) -> Iterator[Effect]:
    if isinstance(node, ast.Global):
        names = [name for name in node.names if not _is_set_once(syntax, node, name)]
        if names:
            what = "global " + ", ".join(names)
            yield Effect(syntax.place(node), Harm.SHARED, what)
    elif isinstance(node, ast.Call):
        if (harm := _harm(node, syntax)) is not None:
            yield Effect(syntax.place(node), harm, syntax.text(node.func) + "()")
        for given in node.args:  # run_in_executor(None, input)
            if isinstance(given, ast.Name) and _is_input(syntax, given):
                yield Effect(syntax.place(given), Harm.ASKS, "input()")


def find_refusals(syntax: Syntax) -> Iterator[Effect]:
    """Find where importing the file may raise: a key that is missing, a wrong Python."""
    for node in syntax.owned_by(MODULE_LEVEL):
        if isinstance(node, ast.Raise) and not syntax.is_guarded(node):
            around = list(syntax.ancestors(node))
            if not any(
                isinstance(outer, ast.Try) and outer.handlers for outer in around
            ):
                yield Effect(syntax.place(node), Harm.IMPORT, syntax.text(node, 50))
                return


def find_hosted_tools(syntax: Syntax) -> Iterator[Effect]:
    """Find tools that the API's provider runs: ``{"type": "web_search"}``."""
    for node in syntax.nodes:
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if (
                isinstance(key, ast.Constant)
                and key.value == "type"
                and isinstance(value, ast.Constant)
                and isinstance(value.value, str)
                and value.value.removesuffix("_preview") in HOSTED
            ):
                what = f"the hosted tool {value.value}"
                yield Effect(syntax.place(value), Harm.NETWORK, what)


def find_work_at_import(
    syntax: Syntax, asks: Callable[[ast.AST], bool]
) -> Iterator[Effect]:
    """Find what importing the file does: it asks a model or a person, or reads argv."""
    for node in syntax.owned_by(MODULE_LEVEL):
        if not isinstance(node, ast.Call) or syntax.is_guarded(node):
            continue
        name = syntax.qualified(node.func) or ""
        reads = name.endswith(".parse_args") or _harm(node, syntax) is Harm.ASKS
        if reads or asks(node):
            what = f"{syntax.text(node.func)}()"
            yield Effect(syntax.place(node), Harm.IMPORT, what)
            return


def asks_a_person(syntax: Syntax, body: ast.AST) -> bool:
    """Whether code waits for somebody at a terminal."""
    calls = (node for node in ast.walk(body) if isinstance(node, ast.Call))
    return any(_harm(call, syntax) is Harm.ASKS for call in calls)


def reads_arguments(syntax: Syntax, node: ast.AST) -> bool:
    """Whether a node reads the command line."""
    if isinstance(node, ast.Attribute):
        return syntax.qualified(node) == "sys.argv"
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("parse_args", "parse_known_args")
        and not node.args
    )


def _is_input(syntax: Syntax, name: ast.Name) -> bool:
    """Whether a name is the builtin ``input``, and nothing of the file's own."""
    function = syntax.functions.get(syntax.owner(name))
    own = function is not None and "input" in function.parameters
    return name.id == "input" and not own and not syntax.values_of(name)


def _is_set_once(syntax: Syntax, node: ast.Global, name: str) -> bool:
    """Whether a function sets a global only where it is not set: what it makes is kept."""
    stores = [
        each
        for each in syntax.owned_by(syntax.owner(node))
        if isinstance(each, ast.Name)
        and each.id == name
        and isinstance(each.ctx, ast.Store)
    ]
    return bool(stores) and all(
        any(
            isinstance(outer, ast.If) and _asks_whether_unset(outer.test, name)
            for outer in syntax.ancestors(store)
        )
        for store in stores
    )


def _asks_whether_unset(test: ast.expr, name: str) -> bool:
    """Whether a condition is ``x is None`` or ``not x``, alone or beside others."""
    for node in ast.walk(test):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            if dotted(node.operand) == name:
                return True
        elif (
            isinstance(node, ast.Compare)
            and isinstance(node.ops[0], ast.Is)
            and dotted(node.left) == name
        ):
            return True
    return False


def _unknown(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find each function's first call of a library that is not known here."""
    said: set[tuple[str, str]] = set()
    for node in syntax.nodes:
        if not isinstance(node, ast.Call):
            continue
        head = (dotted(node.func) or "").partition(".")[0]
        imported = syntax.imports.get(head)
        if imported is None or imported.level or syntax.owner(node) == MODULE_LEVEL:
            continue
        library = imported.module.partition(".")[0]
        if (
            (library, syntax.owner(node)) not in said
            and library not in sys.stdlib_module_names
            and library not in HARMLESS_LIBRARIES
            and library not in BY_MODULE
            and not _is_own(syntax.source.path, library)
        ):
            said.add((library, syntax.owner(node)))
            what = f"{syntax.text(node.func)}() of {library}"
            yield syntax.owner(node), Effect(syntax.place(node), Harm.UNKNOWN, what)


@functools.lru_cache(maxsize=4096)
def _is_own(path: Path, module: str) -> bool:
    """Whether a top-level module belongs to the project of a file."""
    return any(is_module(root / module) for root in import_roots(path))


def _harm(call: ast.Call, syntax: Syntax) -> Harm | None:
    name = syntax.qualified(call.func) or ""
    if name == "input":
        is_builtin = isinstance(call.func, ast.Name) and _is_input(syntax, call.func)
        return Harm.ASKS if is_builtin else None
    if name in BY_NAME:
        return BY_NAME[name]
    if _asks_a_session(call, syntax):
        return Harm.ASKS
    if name == "open" and _opens_for_writing(call, 1):
        return Harm.WRITES
    if isinstance(call.func, ast.Attribute) and call.func.attr == "open":
        # io.open(path, "w"), but path.open("w")
        of_module = (dotted(call.func.value) or "") in syntax.imports
        return Harm.WRITES if _opens_for_writing(call, of_module) else None
    top, _, rest = name.partition(".")
    if top == "mcp" and name.endswith(MCP_NETWORK):
        return Harm.NETWORK
    if top in HTTP and rest in SENDS and syntax.imports_module(top) is not None:
        return Harm.NETWORK
    if (
        top in BY_MODULE
        and rest
        and not rest.endswith(HARMLESS)
        and top in {i.module.split(".")[0] for i in syntax.imports.values()}
    ):
        return BY_MODULE[top]
    if isinstance(call.func, ast.Attribute) and call.func.attr in WRITING_METHODS:
        return WRITING_METHODS[call.func.attr]
    return None


def _asks_a_session(call: ast.Call, syntax: Syntax) -> bool:
    """Whether a call is ``session.prompt(...)`` of prompt_toolkit's ``PromptSession``."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr not in ("prompt", "prompt_async"):
        return False
    holder = call.func.value
    return any(
        isinstance(each, ast.Call) and last_name(each.func) == "PromptSession"
        for each in (holder, *syntax.values_of(holder))
    )


def _opens_for_writing(call: ast.Call, position: int) -> bool:
    mode = (
        call.args[position]
        if len(call.args) > position
        else next((k.value for k in call.keywords if k.arg == "mode"), None)
    )
    return (
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and set(mode.value) <= set("rwaxbt+")
        and not set(mode.value).isdisjoint("wax+")
    )


def _changed_globals(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find module-level lists, dicts and sets that a function changes in place.

    Every rollout in the process would see the others' changes.
    """
    shared = {
        name
        for name, values in syntax.assignments.items()
        if any(where == MODULE_LEVEL and _is_mutable(value) for where, value in values)
        and "." not in name
    }
    said: set[tuple[str, str]] = set()
    for node in syntax.nodes:
        owner = syntax.owner(node)
        if owner == MODULE_LEVEL:
            continue
        name = None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in CHANGES
        ):
            name = dotted(node.func.value)
        elif isinstance(node, ast.Subscript) and isinstance(
            node.ctx, ast.Store | ast.Del
        ):
            name = dotted(node.value)
        if (
            isinstance(node, ast.expr)
            and name in shared
            and (name, owner) not in said
            and not any(where == owner for where, _ in syntax.assignments[name])
        ):
            said.add((name, owner))
            what = f"the module-level {name}, which {owner} changes"
            yield owner, Effect(syntax.place(node), Harm.SHARED, what)


def _is_mutable(value: ast.expr) -> bool:
    return isinstance(value, ast.List | ast.Dict | ast.Set) or (
        isinstance(value, ast.Call)
        and dotted(value.func)
        in ("list", "dict", "set", "defaultdict", "deque", "collections.defaultdict")
    )
