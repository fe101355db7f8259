"""Finds state that all rollouts in a process share: what one changes, the others see."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator, Mapping

from art_adapt.survey.entries import CHANGES, changed_container, containers_of_entry
from art_adapt.survey.model import Effect, Harm
from art_adapt.survey.nodes import (
    FunctionNode,
    argument_of,
    decorator_names,
    defaults_of,
    dotted,
    keyword,
    last_name,
)
from art_adapt.survey.once import is_made_once
from art_adapt.survey.packages import is_own_module, module_file
from art_adapt.survey.shared_connections import used_connections
from art_adapt.survey.shared_instances import changed_instances
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax

MUTABLE = frozenset(
    {"list", "dict", "set", "defaultdict", "deque", "OrderedDict", "Counter"}
)
READ_OR_COPIED = frozenset(
    {"load", "loads", "safe_load", "read_json"}
    | {"copy", "deepcopy", "fromkeys", "sorted"}
)
ONCE = frozenset({"once", "run_once", "cache", "lru_cache", "cached"})
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
                effect = Effect(syntax.place(node), Harm.SHARED, what, of_module=own)
                yield owner, effect
    yield from _changed_containers(syntax)
    yield from changed_instances(syntax)
    yield from used_connections(syntax)
    yield from _kept_files(syntax)


def _changed(syntax: Syntax, owner: str, node: ast.AST) -> str | None:
    """What a statement or call changes for the whole process, but for containers."""
    if isinstance(node, ast.Global):
        names = [name for name in node.names if _is_changed(syntax, node, name)]
        return "global " + ", ".join(names) if names else None
    if isinstance(node, ast.Call) and syntax.qualified(node.func) == "os.chdir":
        return "the working directory"
    if isinstance(node, ast.Call) and syntax.qualified(node.func) == "sqlite3.connect":
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
    is_shared = _is_class(syntax, owner, node.value) or _is_of_project(
        syntax, dotted(node.value) or ""
    )
    return syntax.text(node) if is_shared else None


def _is_of_process(syntax: Syntax, call: ast.Call) -> bool:
    """Whether a call changes what belongs to the process: its environment, its imports."""
    name = syntax.qualified(call.func) or ""
    holder, _, method = name.rpartition(".")
    if holder in ("os.environ", "sys.path", "sys.modules"):
        return method in CHANGES and not is_made_once(syntax, call, call)
    return name in ("os.putenv", "os.unsetenv", "locale.setlocale")


def _is_class(syntax: Syntax, owner: str, value: ast.expr) -> bool:
    """Whether an expression is the class of a method's object: ``cls``, ``type(self)``."""
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


def _is_of_project(syntax: Syntax, name: str) -> bool:
    """Whether a name is a class or function of the file, or imported from the project."""
    imported = syntax.imports.get(name.partition(".")[0])
    if imported is None:
        return name in syntax.classes or name in syntax.functions
    top = imported.module.partition(".")[0]
    return imported.level > 0 or is_own_module(syntax.source.path, top)


def _is_changed(syntax: Syntax, node: ast.Global, name: str) -> bool:
    """Whether a function sets a global, and not only where it is not set."""
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
    """The file of a database that every episode opens and some code here writes to."""
    if not call.args or not writes_database(syntax, owner):
        return None
    path = call.args[0]
    for value in _fixed_values(syntax, owner, path):
        if isinstance(value, ast.Constant) and value.value in (":memory:", "", None):
            return None
        return f"the database {syntax.text(value, 40)}"
    return None


def _fixed_values(
    syntax: Syntax, owner: str, path: ast.expr, through: frozenset[str] = frozenset()
) -> Iterator[ast.expr]:
    """What a path is in each episode alike: a text, a constant, a parameter's default.

    ``through``: the names that led here, for ``path = Path(path)``.
    """
    if isinstance(path, ast.Constant):
        yield path
    if isinstance(path, ast.Call) and last_name(path.func) in ("str", "Path"):
        if len(path.args) != 1:
            return
        yield from _fixed_values(syntax, owner, path.args[0], through)
    name = dotted(path)
    if name is None:
        return
    for where, value in () if name in through else syntax.assignments.get(name, ()):
        if where == owner and isinstance(value, ast.Call | ast.Constant):
            yield from _fixed_values(syntax, owner, value, through | {name})
    function = syntax.functions.get(owner)
    if function is not None and name in function.parameters:
        yield from _defaults(syntax, owner, name)  # not a field of its class
    elif name in syntax.assignments and "." not in name:
        yield from (v for at, v in syntax.assignments[name] if at == MODULE_LEVEL)
    elif name.startswith("self."):
        for where, value in syntax.assignments.get(name, ()):
            if isinstance(value, ast.Name):
                yield from _defaults(syntax, where, value.id)
    else:
        yield from _defaults(syntax, owner, name)


def _defaults(syntax: Syntax, function: str, parameter: str) -> Iterator[ast.expr]:
    """The default of a function's parameter, if that is a text."""
    found = syntax.functions.get(function)
    if found is None:
        return
    for name, default in defaults_of(found.node):
        if name == parameter and isinstance(default, ast.Constant):
            yield default


def writes_database(syntax: Syntax, owner: str) -> bool:
    """Whether the function that opens a database writes to it, or its class does.

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


def _connects(value: ast.expr) -> bool:
    """Whether a value is a connection, or a cursor of one that is made there."""
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
        fixed = () if path is None else _fixed_values(syntax, owner, path)
        for value in fixed:
            name = syntax.text(value, 40)
            if mode[:1] == "r" or "+" in mode:
                read.add(name)
            if mode[:1] != "r" or "+" in mode:
                written.setdefault(name, (owner, node))
    for name, (owner, call) in written.items():
        if name in read:
            what = f"the file {name}, which is read as well"
            yield owner, Effect(syntax.place(call), Harm.SHARED, what)


def _opened(call: ast.Call) -> tuple[ast.expr | None, str]:
    """The path of the file that a call reads or writes, and the mode."""
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


def _changed_containers(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find lists, dicts and sets of a module or a class that a function changes in place."""
    shared = {
        name: f"the module-level {name}"
        for name, values in syntax.assignments.items()
        if any(where == MODULE_LEVEL and _holds(value) for where, value in values)
        and "." not in name
    } | dict(_of_classes(syntax))
    said: set[tuple[str, str]] = set()
    for node in syntax.nodes:
        owner = syntax.owner(node)
        if owner == MODULE_LEVEL or not isinstance(node, ast.expr):
            continue
        for changed, key in _changed_by(syntax, node):
            name, spelled = _shared_name(syntax, owner, changed, shared)
            what = shared.get(spelled) or _imported(syntax, owner, spelled)
            if (
                what is not None
                and (spelled, owner) not in said
                and not any(
                    where == owner for where, _ in syntax.assignments.get(name, ())
                )
                and not (key is not None and _is_kept(syntax, owner, node, name, key))
                and not is_made_once(syntax, node, node)
            ):
                said.add((spelled, owner))
                told = f"{what}, which {owner} changes"
                own = spelled in shared
                yield (
                    owner,
                    Effect(syntax.place(node), Harm.SHARED, told, of_module=own),
                )
    yield from _changed_defaults(syntax)


def _changed_by(
    syntax: Syntax, node: ast.expr
) -> Iterator[tuple[str, ast.expr | None]]:
    """What an expression changes, with the single entry; what a function adds to for it."""
    name, key = changed_container(node)
    if name is not None:
        yield name, key
    function = (
        syntax.functions.get(dotted(node.func) or "")
        if isinstance(node, ast.Call)
        else None
    )
    if function is not None and isinstance(node, ast.Call):
        for parameter in _changed_parameters(syntax, function.qualname):
            given = argument_of(node, parameter, function.positional)
            if given is not None and (handed := dotted(given)) is not None:
                yield handed, None


@functools.lru_cache(maxsize=4096)
def _changed_parameters(syntax: Syntax, function: str) -> tuple[str, ...]:
    """The parameters of a function that it changes in place, as they were given."""
    given = [
        name
        for name in syntax.functions[function].parameters
        if not any(at == function for at, _ in syntax.assignments.get(name, ()))
    ]
    changed = (
        changed_container(node)[0]
        for node in syntax.owned_by(function)
        if isinstance(node, ast.expr)
    )
    return tuple(dict.fromkeys(name for name in changed if name in given))


def _shared_name(
    syntax: Syntax, owner: str, name: str, shared: Mapping[str, str]
) -> tuple[str, str]:
    """The container that a name stands for in a function, there and as its owner says it."""
    if name not in shared:
        entries = containers_of_entry(syntax, owner, name)
        name = next((each for each in entries if each in shared), name)
    if name.startswith(("self.", "cls.")):
        around = owner.rpartition(".")[0]
        return name, f"{around}.{name.partition('.')[2]}"
    return name, name


def _imported(syntax: Syntax, owner: str, name: str) -> str | None:
    """What another module of the project has that a function changes in place.

    A class is none: its methods may be called ``add``, as an ORM's are.
    """
    head, _, rest = name.partition(".")
    imported = syntax.imports.get(head)
    is_class = head[:1].isupper() and not head.isupper()
    if imported is None or is_class or syntax.is_local(head, owner):
        return None
    if imported.module.partition(".")[0] in sys.stdlib_module_names:
        return None
    beside = syntax.source.path.with_name(head)
    if not rest and (imported.attribute is None or module_file(beside) is not None):
        return None  # a module, whose function may be called add()
    return f"the imported {name}" if _is_of_project(syntax, head) else None


def _changed_defaults(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find parameters whose default is one list or dict for all calls, and is changed."""
    for owner, function in syntax.functions.items():
        changed = _changed_parameters(syntax, owner)
        for name, default in defaults_of(function.node):
            if name in changed and _holds(default):
                what = f"the default of {name}, which {owner} changes"
                place = syntax.place(default)
                yield owner, Effect(place, Harm.SHARED, what, of_module=True)


def _is_kept(
    syntax: Syntax, owner: str, node: ast.expr, name: str, key: ast.expr
) -> bool:
    """Whether an entry is made where there is none, and for its key always the same.

    ``if path not in CACHE: CACHE[path] = read(path)`` keeps what it reads, and ``if text
    not in SAID: SAID.add(text)`` says it once. A list that is put in will be added to.
    """
    parent = syntax.parents.get(node)
    if isinstance(parent, ast.Assign) and _is_mutable(parent.value):
        return False
    entry = ast.dump(key)
    for each in syntax.owned_by(owner):
        if isinstance(each, ast.Compare) and isinstance(
            each.ops[0], ast.In | ast.NotIn
        ):
            holder = each.comparators[0]
            if dotted(holder) == name and ast.dump(each.left) == entry:
                return True
        elif (
            isinstance(each, ast.Call)
            and dotted(each.func) == f"{name}.get"
            and len(each.args) == 1  # a count begins with a default
            and ast.dump(each.args[0]) == entry
            and isinstance(syntax.parents.get(each), ast.Assign | ast.NamedExpr)
        ):
            return True
    return False


def _of_classes(syntax: Syntax) -> Iterator[tuple[str, str]]:
    """The lists, dicts and sets that all instances of a class have in common.

    A class with a base or a decorator may make one for each instance: pydantic does.
    """
    for class_name, definition in syntax.classes.items():
        if definition.bases or definition.decorator_list:
            continue
        for statement in definition.body:
            if isinstance(statement, FunctionNode):
                continue
            targets: list[ast.expr] = []
            if isinstance(statement, ast.Assign):
                targets, value = statement.targets, statement.value
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                targets, value = [statement.target], statement.value
            for target in targets:
                own = f"self.{dotted(target)}"
                if _is_mutable(value) and own not in syntax.assignments:
                    name = f"{class_name}.{dotted(target)}"
                    yield name, f"{name}, which all its instances share"


def _holds(value: ast.expr) -> bool:
    """Whether a value can be changed in place: a display, or what is read or copied.

    The default of a context variable is one for all contexts.
    """
    if isinstance(value, ast.Call) and last_name(value.func) == "ContextVar":
        default = keyword(value, "default")
        return default is not None and _holds(default)
    return (
        _is_mutable(value)
        or isinstance(value, ast.ListComp | ast.DictComp | ast.SetComp)
        or (isinstance(value, ast.BinOp) and _holds(value.left))
        or (isinstance(value, ast.Call) and last_name(value.func) in READ_OR_COPIED)
    )


def _is_mutable(value: ast.expr) -> bool:
    return isinstance(value, ast.List | ast.Dict | ast.Set) or (
        isinstance(value, ast.Call) and last_name(value.func) in MUTABLE
    )
