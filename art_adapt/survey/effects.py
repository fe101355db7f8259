"""Finds side effects that make an episode hard to replay."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.survey.model import Effect, Harm
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax, dotted

BY_NAME = {
    "input": Harm.ASKS,
    "getpass.getpass": Harm.ASKS,
    "time.time": Harm.CLOCK,
    "datetime.now": Harm.CLOCK,
    "datetime.datetime.now": Harm.CLOCK,
    "datetime.utcnow": Harm.CLOCK,
    "datetime.date.today": Harm.CLOCK,
    "date.today": Harm.CLOCK,
    "os.remove": Harm.WRITES,
    "os.unlink": Harm.WRITES,
    "os.rename": Harm.WRITES,
    "shutil.rmtree": Harm.WRITES,
    "shutil.move": Harm.WRITES,
    "os.system": Harm.PROCESS,
    "sqlite3.connect": Harm.WRITES,
    "smtplib.SMTP": Harm.NETWORK,
    "urllib.request.urlopen": Harm.NETWORK,
}
BY_MODULE = {
    "requests": Harm.NETWORK,
    "httpx": Harm.NETWORK,
    "aiohttp": Harm.NETWORK,
    "subprocess": Harm.PROCESS,
    "random": Harm.CLOCK,
    "boto3": Harm.NETWORK,
}
HARMLESS = ("Exception", "Error", "Timeout", "Random", "PIPE")
WRITING_METHODS = {
    "write_text": Harm.WRITES,
    "write_bytes": Harm.WRITES,
    "unlink": Harm.WRITES,
    "rmtree": Harm.WRITES,
    "commit": Harm.WRITES,
}
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


def find_effects(syntax: Syntax) -> Iterator[Effect]:
    """Find calls that reach outside the episode, and changes of module-level state."""
    for node in syntax.nodes:
        if isinstance(node, ast.Call):
            if (harm := _harm(node, syntax)) is not None:
                yield Effect(syntax.place(node), harm, syntax.text(node.func) + "()")
        elif isinstance(node, ast.Global):
            yield Effect(
                syntax.place(node), Harm.SHARED, "global " + ", ".join(node.names)
            )
    yield from _changed_globals(syntax)


def _harm(call: ast.Call, syntax: Syntax) -> Harm | None:
    name = syntax.qualified(call.func) or ""
    if name in BY_NAME:
        return BY_NAME[name]
    if name == "open" and _opens_for_writing(call):
        return Harm.WRITES
    top, _, rest = name.partition(".")
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


def _opens_for_writing(call: ast.Call) -> bool:
    mode = (
        call.args[1]
        if len(call.args) > 1
        else next((k.value for k in call.keywords if k.arg == "mode"), None)
    )
    return (
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and any(letter in mode.value for letter in "wax+")
    )


def _changed_globals(syntax: Syntax) -> Iterator[Effect]:
    """Find module-level lists, dicts and sets that a function changes in place.

    Every rollout in the process would see the others' changes.
    """
    shared = {
        name
        for name, values in syntax.assignments.items()
        if any(where == MODULE_LEVEL and _is_mutable(value) for where, value in values)
        and "." not in name
    }
    said: set[str] = set()
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
            and name not in said
            and not any(where == owner for where, _ in syntax.assignments[name])
        ):
            said.add(name)
            yield Effect(
                syntax.place(node),
                Harm.SHARED,
                f"the module-level {name}, which {owner} changes",
            )


def _is_mutable(value: ast.expr) -> bool:
    return isinstance(value, ast.List | ast.Dict | ast.Set) or (
        isinstance(value, ast.Call)
        and dotted(value.func)
        in ("list", "dict", "set", "defaultdict", "deque", "collections.defaultdict")
    )
