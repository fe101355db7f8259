"""Finds side effects that make an episode hard to replay."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Collection, Iterator

from art_adapt.code.nodes import dotted, entries, keyword, last_name, text_of
from art_adapt.code.packages import is_own_module
from art_adapt.code.syntax import LAMBDA, MODULE_LEVEL, Import, Syntax
from art_adapt.survey.side_effects.files import is_of_files, opens_for_writing
from art_adapt.survey.side_effects.harm import Effect, Harm
from art_adapt.survey.side_effects.library_calls import (
    ASKING_METHODS,
    ASKS_IN_A_WINDOW,
    BY_MODULE,
    BY_NAME,
    CONNECTS,
    DESCRIBES,
    DJANGO,
    DJANGO_OBJECT,
    HARMLESS,
    HARMLESS_LIBRARIES,
    HOSTED,
    HTTP,
    HTTP_CLIENTS,
    MCP_CALLS,
    MCP_CLASSES,
    MCP_NETWORK,
    OTHER_RESOURCES,
    RECEIVES,
    SEEDED,
    SENDS,
    TELLS_SERVICE,
    WRITING_METHODS,
)
from art_adapt.survey.side_effects.once import is_made_once
from art_adapt.survey.side_effects.shared_state import (
    commits_at_end,
    find_shared_state,
    writes_database,
)
from art_adapt.survey.side_effects.written_code import runs_written_code

LOADED = "a module that is loaded by its name"
LOADS = ("importlib.import_module", "__import__")
GIVING_DATA = ("subprocess", "random")  # texts and numbers: nothing that reaches out
# Methods of texts and tables, which no client has.
OF_DATA = (
    frozenset(dir(str)) - {"count", "find", "index", "replace", "encode", "join"}
) | {"items", "keys", "values"}
DEEPEST_HANDLE = 4  # names that an object is known by
EXITS = ("sys.exit", "exit", "quit", "os._exit")


def find_effects(syntax: Syntax, functions: Collection[str]) -> Iterator[Effect]:
    """Find calls that reach outside the episode, and changes of module-level state.

    ``functions``: the qualified names of those that an episode may run. Any of them may
    look up a lambda of the module, as in a table of tools.
    """
    for name, effects in _by_function(syntax).items():  # in source order, unlike a set
        if name in functions or (name == LAMBDA and functions):
            yield from effects


@functools.lru_cache(maxsize=512)
def _by_function(syntax: Syntax) -> dict[str, list[Effect]]:
    """Return all effects of a file, by the function that has them."""
    found: dict[str, list[Effect]] = {}
    for node in syntax.nodes:
        effects = list(effects_at(syntax, node))
        if effects:
            found.setdefault(syntax.runs_in(node), []).extend(effects)
    for owner, effect in (*find_shared_state(syntax), *_unknown(syntax)):
        found.setdefault(owner, []).append(effect)
    return found


def effects_at(syntax: Syntax, node: ast.AST) -> Iterator[Effect]:
    """Yield what a call, a block or a loop does by itself."""
    if isinstance(node, ast.Call):
        if (harm := harm_of(node, syntax)) is not None:
            what = f"{syntax.text(node.func)}()"
            if syntax.qualified(node.func) in LOADS:
                what = LOADED
            elif harm is Harm.COMMITS and last_name(node.func) == "connect":
                what = f"a connection of {what}"
            in_files = is_of_files(syntax, node, harm)
            tells = harm is Harm.NETWORK and last_name(node.func) in TELLS_SERVICE
            yield Effect(
                syntax.place(node),
                harm,
                what,
                in_files=in_files,
                changes_service=tells,
            )
        for given in node.args:  # run_in_executor(None, input)
            if isinstance(given, ast.Name) and _is_input(syntax, given):
                yield Effect(syntax.place(given), Harm.ASKS, "input()")
    elif isinstance(node, ast.With):
        for opened in (item.context_expr for item in node.items):
            if commits_at_end(syntax, node, opened):
                what = f"with {syntax.text(opened)}"
                is_known = isinstance(opened, ast.Name)
                own = is_known or is_of_files(syntax, opened, Harm.COMMITS)
                yield Effect(syntax.place(opened), Harm.COMMITS, what, in_files=own)
    elif isinstance(node, ast.For) and syntax.qualified(node.iter) == "sys.stdin":
        yield Effect(syntax.place(node.iter), Harm.ASKS, "sys.stdin")


def find_refusals(syntax: Syntax) -> Iterator[Effect]:
    """Find where importing the file may raise: a key that is missing, a wrong Python."""
    for node in syntax.owned_by(MODULE_LEVEL):
        if (
            isinstance(node, ast.Raise)
            or (isinstance(node, ast.Call) and syntax.qualified(node.func) in EXITS)
        ) and not syntax.is_guarded(node):
            around = list(syntax.ancestors(node))
            if not any(
                isinstance(outer, ast.Try) and outer.handlers for outer in around
            ):
                yield Effect(syntax.place(node), Harm.IMPORT, syntax.text(node, 50))
                return


def find_hosted_tools(syntax: Syntax) -> Iterator[Effect]:
    """Find tools that the API's provider runs: ``{"type": "web_search"}``."""
    for node in syntax.nodes:
        value = entries(node).get("type") if isinstance(node, ast.Dict) else None
        kind = text_of(value)
        if value is not None and kind and kind.removesuffix("_preview") in HOSTED:
            what = f"the hosted tool {kind}"
            yield Effect(syntax.place(value), Harm.NETWORK, what)


def asks_a_person(syntax: Syntax, body: ast.AST) -> bool:
    """True if code waits for somebody at a terminal."""
    return any(
        effect.harm is Harm.ASKS
        for node in ast.walk(body)
        for effect in effects_at(syntax, node)
    )


def waits_for_a_person(syntax: Syntax, functions: Collection[str]) -> bool:
    """True if one of some functions waits for somebody at a terminal."""
    effects = find_effects(syntax, functions)
    return any(effect.harm is Harm.ASKS for effect in effects)


def _is_input(syntax: Syntax, name: ast.Name) -> bool:
    """True if a name is the builtin ``input``, and nothing of the file's own."""
    function = syntax.functions.get(syntax.owner(name))
    own = function is not None and "input" in function.parameters
    return name.id == "input" and not own and not syntax.values_of(name)


def _unknown(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find each function's first call of a library that is not known here.

    Of an object that outlives the function, each method: one may read and the next write.
    """
    said: set[tuple[str, str, str]] = set()
    for node in syntax.nodes:
        if not isinstance(node, ast.Call):
            continue
        handle = _import_of_handle(syntax, node)
        imported = handle or _imported_for(syntax, node)
        if imported is None or imported.level or syntax.owner(node) == MODULE_LEVEL:
            continue
        library = imported.module.partition(".")[0]
        called = syntax.text(node.func)
        key = (library, syntax.owner(node), called if handle is not None else "")
        if (
            key not in said
            and library not in sys.stdlib_module_names
            and library not in HARMLESS_LIBRARIES
            and library not in BY_MODULE
            and library not in HTTP
            and harm_of(node, syntax) is None
            and not is_own_module(syntax.source.path, library)
        ):
            said.add(key)
            what = f"{called}() of {library}"
            yield syntax.owner(node), Effect(syntax.place(node), Harm.UNKNOWN, what)


def _imported_for(syntax: Syntax, call: ast.Call) -> Import | None:
    """Return the import of what is called, or of what made the object whose method it is."""
    head = (dotted(call.func) or "").partition(".")[0]
    if head in syntax.imports or not isinstance(call.func, ast.Attribute):
        return syntax.imports.get(head)
    makers = (
        (dotted(value.func) or "").partition(".")[0]
        for value in syntax.values_of(call.func.value)
        if isinstance(value, ast.Call)
    )
    return next(
        (syntax.imports[each] for each in makers if each in syntax.imports), None
    )


def _import_of_handle(syntax: Syntax, call: ast.Call) -> Import | None:
    """Return the import that an object which outlives a function comes from.

    ``orders`` after ``orders = MongoClient()["shop"]["orders"]`` at module level is pymongo's,
    as ``self.memory`` after ``self.memory = Memory()``. What a function itself was answered is
    data, and no such object.
    """
    holder, here = call.func, syntax.owner(call)
    if isinstance(holder, ast.Attribute) and holder.attr in OF_DATA:
        return None
    while isinstance(holder, ast.Attribute | ast.Subscript):
        holder = holder.value
        for value in syntax.values_of(holder):
            owner = syntax.owner(value)
            around = owner != MODULE_LEVEL and f"{here}.".startswith(f"{owner}.")
            if owner != here and not around:
                found = _import_at_root(syntax, value, DEEPEST_HANDLE)
                if found is not None:
                    return found
    return None


def _import_at_root(syntax: Syntax, value: ast.expr, depth: int) -> Import | None:
    """Return the import of the name that an expression begins with, or of what that is."""
    while isinstance(value, ast.Attribute | ast.Subscript | ast.Await | ast.Call):
        named = syntax.values_of(value) if isinstance(value, ast.Attribute) else []
        if named and depth:
            return _import_at_root(syntax, named[0], depth - 1)
        value = value.func if isinstance(value, ast.Call) else value.value
    if not isinstance(value, ast.Name):
        return None
    values = syntax.values_of(value)
    if values and depth:
        return _import_at_root(syntax, values[0], depth - 1)
    return None if values else syntax.imports.get(value.id)


def _is_kept_to_main_thread(call: ast.Call, syntax: Syntax) -> bool:
    """True below ``if threading.current_thread() is threading.main_thread():``."""
    tests = (e.test for e in syntax.ancestors(call) if isinstance(e, ast.If))
    nodes = (node for test in tests for node in ast.walk(test))
    return any(getattr(node, "attr", "") == "main_thread" for node in nodes)


def harm_of(call: ast.Call, syntax: Syntax) -> Harm | None:
    name = syntax.qualified(call.func) or ""
    if name == "input":
        is_builtin = isinstance(call.func, ast.Name) and _is_input(syntax, call.func)
        return Harm.ASKS if is_builtin else None
    if runs_written_code(syntax, call, name):
        return Harm.UNKNOWN if name == "eval" else Harm.CODE  # eval may be a calculator
    if name in LOADS:
        is_named = not call.args or isinstance(call.args[0], ast.Constant)
        return None if is_named else Harm.UNKNOWN
    if name == "sqlite3.connect":
        in_memory = bool(call.args) and text_of(call.args[0]) == ":memory:"
        commits = not in_memory and writes_database(syntax, syntax.owner(call))
        return Harm.COMMITS if commits else None
    if _makes_folder(call, name) and _is_there(call, syntax):
        return None  # the next episode finds what it would have made
    if name in BY_NAME:
        harm = BY_NAME[name]
        is_free = harm is Harm.MAIN and _is_kept_to_main_thread(call, syntax)
        return None if is_free else harm
    if name.startswith("numpy.random."):
        fixed = last_name(call.func) in SEEDED and call.args
        return None if fixed else Harm.CLOCK
    if _asks_a_terminal(call, syntax) or ASKS_IN_A_WINDOW.match(name):
        return Harm.ASKS
    if name in ("open", "zipfile.ZipFile", "tarfile.open") and opens_for_writing(
        call, syntax, 1
    ):
        return Harm.WRITES
    if isinstance(call.func, ast.Attribute) and call.func.attr == "open":
        # io.open(path, "w"), but path.open("w")
        of_module = (dotted(call.func.value) or "") in syntax.imports
        return Harm.WRITES if opens_for_writing(call, syntax, of_module) else None
    top, _, rest = name.partition(".")
    if (of_mcp := _of_mcp(call, syntax)) is not None:
        return of_mcp
    if _changes_django(call, syntax, name):
        return Harm.COMMITS
    if top == "mcp" and name.endswith(MCP_NETWORK):
        return Harm.NETWORK
    if top in HTTP and rest in SENDS and syntax.imports_module(top) is not None:
        return Harm.NETWORK
    if (
        top in BY_MODULE
        and rest
        and not rest.endswith(HARMLESS)
        and DESCRIBES.isdisjoint(rest.split(".")[:-1])
        and last_name(call.func) in CONNECTS.get(top, [last_name(call.func)])
        and top in {i.module.split(".")[0] for i in syntax.imports.values()}
    ):
        return BY_MODULE[top]
    if OTHER_RESOURCES.search(name) and syntax.imports_module("openai") is not None:
        return Harm.NETWORK
    if isinstance(call.func, ast.Attribute) and call.func.attr in WRITING_METHODS:
        return WRITING_METHODS[call.func.attr]
    return _of_object(call, syntax)


def _makes_folder(call: ast.Call, name: str) -> bool:
    method = isinstance(call.func, ast.Attribute) and call.func.attr == "mkdir"
    return name in ("os.makedirs", "os.mkdir") or method


def _is_there(call: ast.Call, syntax: Syntax) -> bool:
    """True if a folder is made only where there is none."""
    assert isinstance(call.func, ast.Attribute) or call.args
    if keyword(call, "exist_ok") is not None:
        return True
    places = [*call.args[:1]]
    if isinstance(call.func, ast.Attribute):
        places.append(call.func.value)
    return is_made_once(syntax, call, *places)


def _of_mcp(call: ast.Call, syntax: Syntax) -> Harm | None:
    """Return what a call does with an MCP server: it asks one, starts one, or connects."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in MCP_CALLS:
        uses_mcp = syntax.imports_module("mcp", "fastmcp") is not None
        is_local = (
            "stdio" in syntax.source.text
        )  # a process, which is named where it starts
        if uses_mcp and not is_local and dotted(call.func.value) not in ("self", "mcp"):
            return Harm.NETWORK
    head = (dotted(call.func) or "").partition(".")[0]
    if head not in syntax.imports or syntax.imports[head].level:
        return None
    for pattern, harm in MCP_CLASSES:
        if pattern.search(last_name(call.func)):
            return harm
    return None


def _changes_django(call: ast.Call, syntax: Syntax, name: str) -> bool:
    """True if a call changes a database through Django's models."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if DJANGO.search(name or ast.unparse(call.func)):
        return True
    return (
        call.func.attr in DJANGO_OBJECT
        and syntax.imports_module("django") is not None
        and dotted(call.func.value) is not None
    )


def _asks_a_terminal(call: ast.Call, syntax: Syntax) -> bool:
    """True if a call waits for a person: ``console.input()``, ``socket.receive_text()``."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in RECEIVES:
        return True
    made_by = ASKING_METHODS.get(call.func.attr)
    holder = call.func.value
    if call.func.attr == "input" and last_name(holder).lower().endswith("console"):
        return True
    if made_by == "PromptSession" and last_name(holder).endswith("session"):
        return syntax.imports_module("prompt_toolkit") is not None
    return made_by is not None and any(
        isinstance(each, ast.Call) and last_name(each.func) == made_by
        for each in (holder, *syntax.values_of(holder))
    )


def _of_object(call: ast.Call, syntax: Syntax) -> Harm | None:
    """Return what calling a method does, where its object is made by a library that is known.

    That is ``client.search(...)`` after ``client = TavilyClient()`` at module level, which
    no episode runs.
    """
    if not isinstance(call.func, ast.Attribute):
        return None
    for value in syntax.values_of(call.func.value):
        if isinstance(value, ast.Call) and isinstance(
            value.func, ast.Name | ast.Attribute
        ):
            name = syntax.qualified(value.func) or ""
            top, _, rest = name.partition(".")
            imported = syntax.imports.get((dotted(value.func) or "").partition(".")[0])
            if imported is None or imported.level or rest.endswith(HARMLESS):
                continue
            if top in BY_MODULE and top != "random":
                return BY_MODULE[top]
            if top in HTTP and rest in HTTP_CLIENTS:
                return Harm.NETWORK
    handle = _import_of_handle(syntax, call)
    if handle is None or handle.level or call.func.attr.endswith(HARMLESS):
        return None
    library = handle.module.partition(".")[0]
    return BY_MODULE.get(library) if library not in GIVING_DATA else None
