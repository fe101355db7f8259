"""Takes over an agent that its project fills after making it, where no plain call does.

That is ``@agent.tool`` above a function, ``agent.tools["search"] = search``, a loop, or
``add_tools(agent)``. An agent that is only made again would have none of it. Calls of its
methods are set up instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from art_adapt.code.classes import FunctionKey, lineage
from art_adapt.code.importable import ImportedName, module_at, runs_when_imported
from art_adapt.code.index import constructed
from art_adapt.code.nodes import assignment, dotted
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import LOOPS, MODULE_LEVEL, Syntax, return_values
from art_adapt.survey.inputs.fillings import changes, decorated_with, fills, holding
from art_adapt.survey.inputs.slices import construction
from art_adapt.survey.making.call_ranks import DEMOS, ordered
from art_adapt.survey.making.registrations import find_registering
from art_adapt.survey.model import Construction, EntryPoint, Parameter
from art_adapt.words import FILLS_AGENT, FILLS_ITSELF, ONLY_TELLS


def with_filled(
    project: Project, entry: EntryPoint, reaching: set[FunctionKey]
) -> EntryPoint:
    """Take the agent over whole where the project fills it by more than plain calls.

    ``reaching``: the functions from which a policy call can be reached. What a module has
    at top level is imported; what a function makes is made again by its statements. Where
    neither can be, the agent has to be filled in.
    """
    if entry.class_name is None or entry.context or entry.instance is not None:
        return entry
    agent = project.files[entry.home]
    sites = constructed(project, agent, entry.class_name)
    for place, call in ordered(project, agent, sites, DEMOS - 1):
        made = place.parents[call]
        if not isinstance(made, ast.Assign | ast.AnnAssign):
            continue
        name = dotted(assignment(made)[0][0])
        if name is None or not (
            _is_filled(place, made, name, entry)
            or _is_given_itself(project, place, made, name, entry)
            or _is_set_up_by_its_maker(project, place, made, name, entry, reaching)
            or _is_filled_elsewhere(project, entry, place, made, name)
        ):
            continue
        return _taken_whole(project, entry, place, made, name, reaching)
    return entry


def may_be_filled(project: Project, entry: EntryPoint) -> bool:
    """True if the class of an agent has methods by which tools are added to its objects."""
    if entry.class_name is None:
        return False
    family = lineage(project, project.files[entry.home], entry.class_name)
    return any(
        _fills(name) for place, owner in family for name, _ in place.methods_of(owner)
    )


def _fills(method: str) -> bool:
    return FILLS_ITSELF.match(method) is not None or method in FILLS_AGENT


def _is_filled(
    place: Syntax, made: ast.Assign | ast.AnnAssign, name: str, entry: EntryPoint
) -> bool:
    """True if more than the calls that are set up adds to an agent after it is made."""
    owner = place.owner(made)
    if any(decorated_with(place, owner, name)):
        return True
    set_up = {call.place for call in entry.setup}
    holders = list(holding(place, owner, name))
    for node in place.owned_by(owner):
        if any(fills(node, each) for each in holders):
            return True
        if not changes(node, name) or getattr(node, "lineno", 0) < made.lineno:
            continue
        if isinstance(node, ast.Subscript) or fills(node, name):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            in_loop = any(isinstance(outer, LOOPS) for outer in place.ancestors(node))
            function = node.value.func
            assert isinstance(function, ast.Attribute)
            adds = _fills(function.attr)
            if adds and (in_loop or place.place(node.value) not in set_up):
                return True
    return False


def _is_given_itself(
    project: Project,
    place: Syntax,
    made: ast.Assign | ast.AnnAssign,
    name: str,
    entry: EntryPoint,
) -> bool:
    """True if what the project gives the agent holds the agent: ``world.run(Mover(world))``."""
    text = place.text(made)
    module = module_at(project, project.files[entry.home], place.source.path)
    given = [each.made for each in entry.parameters if each.made is not None]
    return any(
        name in statement.binds and statement.text == text
        for construction in given
        for statement in construction.statements
    ) or any(
        (imported.bound, imported.module) == (name, module)
        for construction in given
        for imported in construction.imports
    )


def _is_set_up_by_its_maker(
    project: Project,
    place: Syntax,
    made: ast.Assign | ast.AnnAssign,
    name: str,
    entry: EntryPoint,
    reaching: set[FunctionKey],
) -> bool:
    """True if a function that returns the agent calls methods of it that are not set up.

    Whatever becomes of what they return: ``count = agent.add_tool(clock)``. Running the
    agent sets nothing up.
    """
    owner = place.owner(made)
    returned = return_values(place, owner) if owner in place.functions else []
    if name not in map(dotted, returned):
        return False
    set_up = {call.place for call in entry.setup}
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and dotted(node.func.value) == name
        and not ONLY_TELLS.match(node.func.attr)
        and place.place(node) not in set_up
        and reaching.isdisjoint(resolve(project, place, node.func))
        for node in place.owned_by(owner)
    )


def _is_filled_elsewhere(
    project: Project,
    entry: EntryPoint,
    place: Syntax,
    made: ast.Assign | ast.AnnAssign,
    name: str,
) -> bool:
    """True if other modules add to the object that a module makes: ``@app.agent.tool``."""
    if place.owner(made) != MODULE_LEVEL or not may_be_filled(project, entry):
        return False
    target = (place.source.path, name)
    return bool(find_registering(project, set(), {target}, {place.source.path}))


def _taken_whole(
    project: Project,
    entry: EntryPoint,
    place: Syntax,
    made: ast.Assign | ast.AnnAssign,
    name: str,
    reaching: set[FunctionKey],
) -> EntryPoint:
    agent = project.files[entry.home]
    owner, setup = place.owner(made), entry.setup
    whole: Construction | None = None
    if owner == MODULE_LEVEL and not place.is_guarded(made):
        module = module_at(project, agent, place.source.path)
        if module is not None and (place is agent or not _runs(place, name)):
            functions = _decorated(place, owner, name)
            whole = Construction(
                place.place(made),
                name,
                (ImportedName(module, name),),
                functions=tuple(functions),
            )
            setup = tuple(
                each for each in setup if each.place.path != place.source.path
            )
    elif (used := _use(project, place, made, name, reaching)) is not None:
        whole = construction(project, agent, place, used)
        setup = tuple(each for each in setup if each.is_async)
    instance = Parameter(
        "agent",
        entry.class_name,
        None,
        is_object=True,
        made=whole,
        passed=place.place(made),
    )
    return replace(entry, instance=instance, setup=setup)


def _decorated(place: Syntax, owner: str, name: str) -> Iterator[FunctionKey]:
    for function in decorated_with(place, owner, name):
        yield place.source.path, function.qualname


def _runs(place: Syntax, name: str) -> bool:
    """True if importing a file does more than define things and fill the agent."""
    return runs_when_imported(place) and not all(
        changes(node, name)
        for node in place.source.tree.body
        if isinstance(node, ast.While | ast.For)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await))
    )


def _use(
    project: Project,
    place: Syntax,
    made: ast.Assign | ast.AnnAssign,
    name: str,
    reaching: set[FunctionKey],
) -> ast.Name | None:
    """Return the name of the agent where it is run first, or handed to what runs it."""
    uses = (
        node
        for node in place.owned_by(place.owner(made))
        if isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and node.lineno > made.lineno
    )
    for used in sorted(uses, key=lambda node: (node.lineno, node.col_offset)):
        around = place.parents[used]
        function: ast.expr | None = None
        if isinstance(around, ast.Attribute):
            function = around
        elif isinstance(around, ast.Call):
            function = around.func
        if function is not None and not reaching.isdisjoint(
            resolve(project, place, function)
        ):
            return used
    return None
