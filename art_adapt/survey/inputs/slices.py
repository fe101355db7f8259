"""Takes over from a project how it makes a value: an expression, and the statements before it."""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeGuard

from art_adapt.calls import CLIENT_CLASSES
from art_adapt.code.classes import FunctionKey
from art_adapt.code.command_line import (
    default_of_option,
    left_to_options,
    reads_arguments,
    usual_branch,
    usual_value,
    usually_reaching,
)
from art_adapt.code.importable import (
    ImportedName,
    imported_name,
    is_foreign,
    is_importable,
    is_of_loop,
    module_at,
    names_folder,
    runs_when_imported,
)
from art_adapt.code.nodes import (
    FunctionNode,
    awaited,
    dotted,
    given_to,
    last_name,
    names_set_in,
    paired,
)
from art_adapt.code.project import Project
from art_adapt.code.reaching import Definition
from art_adapt.code.resolution import resolve, resolve_name
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.code.trials import is_test
from art_adapt.code.variables_read import reads_default_key
from art_adapt.survey.inputs.fillings import (
    added_before,
    added_to,
    changes,
    fillings,
)
from art_adapt.survey.inputs.run_state import is_of_a_run, is_run_state
from art_adapt.survey.inputs.slice_text import Slice, read_from_file, text_of_slice
from art_adapt.survey.inputs.supplied import BY_NAME, GIVEN, MODEL, OF_ENDPOINT
from art_adapt.survey.model import Construction, Statement
from art_adapt.survey.side_effects.effects import asks_a_person
from art_adapt.words import FAKES, TYPED

MOST_STATEMENTS = 12


def construction(
    project: Project,
    agent: Syntax,
    place: Syntax,
    value: ast.expr,
    *,
    running: bool = False,
) -> Construction | None:
    """Take over ``value`` and what it depends on; None where that is not possible.

    ``place`` is the file that the value stands in. ``running``: also where that has to be
    imported, and runs something when it is: a train module leaves the run out.
    """
    taken = Slice(project, agent)
    module = module_at(project, agent, place.source.path)
    runs = place is not agent and runs_when_imported(place)
    importable = not runs or (running and is_importable(place))
    if not take(place, module if importable else None, value, taken):
        return None
    return constructed_by(place, [*taken.statements, value], taken, value)


def constructed_by(
    place: Syntax,
    whole: Sequence[ast.stmt | ast.expr],
    taken: Slice,
    value: ast.expr | None,
) -> Construction | None:
    """Describe what has been taken over; None for what a test defines.

    ``whole``: the statements, and the ``value`` that they lead to, if they do.
    """
    if any(map(_is_of_tests, taken.imports)):
        return None  # episodes would train on what a test has scripted
    taken.statements.sort(key=lambda statement: statement.lineno)
    first = taken.statements[0] if taken.statements else whole[0]
    functions = (key for node in whole for key in _named(taken.project, place, node))
    return Construction(
        place.place(first),
        "" if value is None else text_of_slice(place, value, taken),
        tuple(taken.imports),
        tuple(
            Statement(
                text_of_slice(place, statement, taken),
                _bound_by(statement, taken),
                isinstance(statement, FunctionNode),
                statement in taken.once,
            )
            for statement in taken.statements
        ),
        tuple(dict.fromkeys(functions)),
        taken.foreign,
        taken.uses_endpoint,
        any(
            reads_default_key(node) and node not in taken.clients
            for part in whole
            for node in ast.walk(part)
        ),
        tuple(sorted(map(place.place, taken.left_out))),
    )


def _is_of_tests(imported: ImportedName) -> bool:
    """True if a name stands for something else in tests, or is defined by them."""
    fake = any(map(FAKES.search, (imported.name, imported.bound)))
    return fake or is_test(Path(*imported.module.split(".")))


def _bound_by(statement: ast.stmt, taken: Slice) -> frozenset[str]:
    """Return the variables that a statement sets where it stands: none of a comprehension's."""
    if statement in taken.kept:
        return frozenset({taken.kept[statement]})
    if isinstance(statement, FunctionNode):
        return frozenset()
    nodes = list(ast.walk(statement))
    inner = (node.target for node in nodes if isinstance(node, ast.comprehension))
    own = {node for target in inner for node in ast.walk(target)}
    return frozenset(
        node.id
        for node in nodes
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node not in own
    )


def _named(project: Project, place: Syntax, node: ast.AST) -> Iterator[FunctionKey]:
    """Yield the functions that code names; all methods of a class, and those in a table."""
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Name | ast.Attribute):
            continue
        if isinstance(inner, ast.Attribute):
            yield from resolve(project, place, inner)
            continue
        yield from resolve_name(project, place, inner)
        where, values = project.variable(place, inner.id)
        at_top = place.assignments.get(inner.id, ())
        values = values or [value for at, value in at_top if at == MODULE_LEVEL]
        for entry in (e for value in values for e in ast.walk(value)):
            if isinstance(entry, ast.Name):
                yield from resolve_name(project, where, entry)


def take(place: Syntax, module: str | None, value: ast.AST, taken: Slice) -> bool:
    """Take what ``value`` depends on into ``taken``; tell whether all of it could be."""
    bound = names_set_in(value) | {
        a.arg for a in ast.walk(value) if isinstance(a, ast.arg)
    }
    done: set[ast.AST] = set()
    for node in ast.walk(value):
        if node in done:
            continue
        for name, argument in _named_arguments(node):
            if (role := BY_NAME.get(name)) is not None:
                if not _takes(place, module, [argument], taken):
                    seen = taken.project.session.shown.model if role == MODEL else ""
                    # Agents look the name up: the one that they ran with is known to them.
                    taken.supplied[argument] = repr(seen) if seen else GIVEN[role]
                    taken.of_endpoint |= {argument} if role in OF_ENDPOINT else set()
                done.update(ast.walk(argument))
        if isinstance(node, ast.Call) and last_name(node.func) in CLIENT_CLASSES:
            if not _takes(place, module, given_to(node), taken):
                taken.clients.add(node)
                taken.of_endpoint.add(node)
            done.update(*map(ast.walk, (*node.args, *node.keywords)))
        if (kept := _kept(place, node)) is not None:
            if not _take_kept(place, module, node, kept, taken):
                return False
            done.update(ast.walk(node))
            continue
        if isinstance(node, ast.IfExp):
            branch = usual_branch(place, node)
            if branch is not node:  # tell if args.verbose else None
                if not take(place, module, branch, taken):
                    return False
                taken.supplied[node] = text_of_slice(place, branch, taken)
                done.update(ast.walk(node))
                continue
        if (default := usual_value(place, node)) is not None:
            taken.supplied[node] = default
            done.update(ast.walk(node))
            continue
        computed = default_of_option(place, node)
        if computed is not None and _takes(place, module, [computed], taken):
            taken.supplied[node] = ast.unparse(computed)
            done.update(ast.walk(node))
            continue
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom):
            if not isinstance(value, FunctionNode):
                return False
            continue
        if isinstance(node, ast.NamedExpr) or _reads_command_line(place, node, taken):
            return False
        if is_run_state(place, node):
            return False
        if isinstance(node, ast.Call) and asks_a_person(place, node):
            return False
        if not isinstance(node, ast.Name) or node.id in bound:
            continue
        if not _take_name(place, module, node, taken):
            return False
    return True


def _reads_command_line(place: Syntax, node: ast.AST, taken: Slice) -> bool:
    """True if a node reads the command line, or calls a function of the project that does."""
    if reads_arguments(place, node):
        return True
    called = (
        resolve(taken.project, place, node.func) if isinstance(node, ast.Call) else ()
    )
    return any(
        reads_arguments(taken.project.files[path], inner)
        for path, name in called
        for inner in taken.project.files[path].owned_by(name)
    )


def _kept(place: Syntax, node: ast.AST) -> ast.expr | None:
    """Return what ``self.llm`` is where a method makes it, in the class that makes the agent of it.

    None where something is added to it there.
    """
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return None
    name = dotted(node) or ""
    if not name.startswith("self.") or name.count(".") > 1:
        return None
    around = place.owner(node).rpartition(".")[0]
    values = [
        (owner, value)
        for owner, value in place.assignments.get(name, ())
        if owner.rpartition(".")[0] == around
    ]
    if len(values) != 1 or not isinstance(values[0][1], ast.Call):
        return None
    owner, value = values[0]
    filled = any(changes(each, name) for each in place.owned_by(owner))
    return None if filled else value


def _take_kept(
    place: Syntax, module: str | None, node: ast.AST, kept: ast.expr, taken: Slice
) -> bool:
    """Take over ``self.llm = Provider()`` as ``llm = Provider()``, once for all who get it."""
    name = last_name(node).lstrip("_")
    if place.is_local(name, place.owner(node)) or not take(place, module, kept, taken):
        return False
    statement = place.parents[kept]
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return False
    taken.supplied[node] = taken.kept[statement] = name
    if statement not in taken.statements:
        taken.statements.append(statement)
    return True


def _named_arguments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a call is given, with its name: a keyword's, or a variable's."""
    if isinstance(node, ast.keyword) and node.arg is not None:
        yield node.arg, node.value
    elif isinstance(node, ast.Call):
        named = (ast.Name, ast.Attribute)  # model, args.model
        yield from ((last_name(e), e) for e in node.args if isinstance(e, named))


def _takes(
    place: Syntax, module: str | None, values: Sequence[ast.AST], taken: Slice
) -> bool:
    """Take what all of ``values`` depend on, or nothing."""
    imports, statements = dict(taken.imports), list(taken.statements)
    if all(take(place, module, value, taken) for value in values):
        return True
    taken.imports, taken.statements = imports, statements
    return False


def _take_name(place: Syntax, module: str | None, node: ast.Name, taken: Slice) -> bool:
    name, found = node.id, _that_ran(taken, place, place.definitions.reaching(node))
    if len(found) > 1:
        taken.left_out |= left_to_options(place, found)
        found = usually_reaching(place, found)
    while len(found) == 1 and (filled := added_to(found[0].node)) is not None:
        found = place.definitions.reaching(filled)
    if name in TYPED or name in ("self", "cls"):
        return False
    if name == "__file__":
        here = place.source.path.parent == taken.agent.source.path.parent
        return here and names_folder(place, node)
    made = found[0].node if found else None
    if isinstance(made, ast.arg | ast.Name):
        return False  # a parameter, or what any function may set
    local = made is not None and place.owner(made) != MODULE_LEVEL
    if found and not local and all(is_of_loop(place, each.node) for each in found):
        return False  # nothing but a module's own loop sets it, which an import may leave out
    if isinstance(made, FunctionNode) and (local or place.is_guarded(made)):
        if made in taken.statements:
            return True
        taken.statements.append(made)
        return take(place, module, made, taken)
    if not local and not _take_fillings(place, module, node, taken):
        return False
    if name in place.imports:
        taken.foreign |= is_foreign(taken.project, place, name)
        if (own := imported_name(taken.project, taken.agent, place, name)) is not None:
            taken.imports[own] = None
            return True
    is_value = not isinstance(made, FunctionNode | ast.ClassDef | ast.ImportFrom | None)
    if is_value and (
        local
        or module is None
        or any(place.is_guarded(each.node) for each in found)
        or _is_made_for_a_run(place, made)
    ):
        if len(found) > 1 or not _is_plain(made):
            return False
        return _take_statement(place, module, node, made, taken)
    if any(is_of_a_run(place, each) for each in place.values_of(node)):
        return False  # importing its module would draw the page
    if made is not None and module is not None:
        taken.imports[ImportedName(module, name)] = None
    return module is not None if made is not None else hasattr(builtins, name)


def _that_ran(taken: Slice, place: Syntax, found: list[Definition]) -> list[Definition]:
    """Return the definition by which a run made its object, if it shows one; else all."""
    file = os.path.realpath(place.source.path)
    parts = taken.project.session.shown.parts if len(found) > 1 else ()
    ran = [
        each
        for each in found
        if isinstance(each.node, ast.Assign | ast.AnnAssign)
        and (value := each.node.value) is not None
        and isinstance(call := awaited(value), ast.Call)
        and (file, place.owner(call), last_name(call.func)) in parts
    ]
    return ran if len(ran) == 1 else found


def _take_fillings(
    place: Syntax, module: str | None, node: ast.Name, taken: Slice
) -> bool:
    """Take what a function adds to a module's object before it uses it: ``register(registry)``."""
    if place.owner(node) == MODULE_LEVEL:
        return True
    at_top = (at for at, _ in place.assignments.get(node.id, ()))
    if not taken.project.variable(place, node.id)[1] and MODULE_LEVEL not in at_top:
        return True  # no object of the project
    filled = added_before(place, node)
    if filled is None:
        return False
    for each in filled:
        if each in taken.statements:
            continue
        before, supplied = len(taken.statements), len(taken.supplied)
        taken.statements.append(each)
        if not take(place, module, each, taken):
            return False
        if len(taken.supplied) == supplied:  # it needs nothing of an episode
            taken.once.update(taken.statements[before:])
    return True


def _is_made_for_a_run(place: Syntax, made: ast.AST | None) -> bool:
    """True if a file makes an object for what it runs itself: an import may leave both out.

    It is made by a call, and a later statement of the module does something with it.
    """
    if not _is_plain(made) or not isinstance(made.value, ast.Call):
        return False
    name = dotted(made.targets[0] if isinstance(made, ast.Assign) else made.target)
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and node.lineno > made.lineno
        and not place.is_guarded(node)
        and any(
            isinstance(outer, ast.Expr) and isinstance(outer.value, ast.Call)
            for outer in place.ancestors(node)
        )
        for node in place.owned_by(MODULE_LEVEL)
    )


def _is_plain(made: ast.AST | None) -> TypeGuard[ast.Assign | ast.AnnAssign]:
    """True if a statement does no more than give names their values, or what one call returns."""
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    named: list[ast.expr | None] = [target]
    if isinstance(made, ast.Assign) and isinstance(target, ast.Tuple):
        pairs = [each for each, _ in paired(target, made.value)]
        of_call = isinstance(made.value, ast.Call)
        named = [*(target.elts if of_call else pairs or [target])]
    return isinstance(made, ast.AnnAssign) or (
        isinstance(made, ast.Assign)
        and len(made.targets) == 1
        and all(isinstance(each, ast.Name) for each in named)
    )


def _take_statement(
    place: Syntax,
    module: str | None,
    node: ast.Name,
    made: ast.Assign | ast.AnnAssign,
    taken: Slice,
) -> bool:
    block = read_from_file(place, made)
    whole = block or made
    if whole in taken.statements:
        return True
    filled = fillings(place, node.id, node, whole, taken.left_out)
    if filled is None or made.value is None:
        return False  # what is added to it would be lost
    taken.statements += [whole, *(f for f in filled if f not in taken.statements)]
    return (
        len(taken.statements) <= MOST_STATEMENTS
        and take(place, module, block or made.value, taken)
        and all(take(place, module, each, taken) for each in filled)
    )
