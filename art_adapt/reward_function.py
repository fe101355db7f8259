"""Look whether the function of ``--reward`` is there, and how a train module imports it."""

from __future__ import annotations

import ast
import keyword
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

from art_adapt.code.nodes import FunctionNode
from art_adapt.code.packages import import_roots, module_file
from art_adapt.code.syntax import Syntax
from art_adapt.code.used_names import used_names
from art_adapt.errors import Refusal
from art_adapt.source import read_source

_LITERALS = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict)


def check_reward(reward: str, home: Path) -> None:
    """Refuse a reward that the train module beside ``home`` cannot import or call.

    ``reward``: ``module:function``. What an installed package defines is not looked at.

    Raises:
        Refusal: no such module or function, or it does not take a trajectory and a scenario.
    """
    module, _, name = reward.partition(":")
    parts = module.split(".")
    for part in (*parts, name):
        if not part.isidentifier() or keyword.iskeyword(part):
            raise Refusal(
                f"--reward {reward}: {part!r} is not a valid Python name",
                next_step="write it as module:function",
            )
    if (found := _located(module, home)) is not None:
        _check_function(reward, name, found[1])
    elif not _is_installed(parts[0]) or any(
        (root / parts[0]).is_dir() for root in import_roots(home)
    ):  # a package of the project without that module, or nothing at all
        raise Refusal(
            f"--reward {reward}: no module {module} beside {home.name} or above it",
            why="the train module imports your reward",
            next_step="write the function first: it takes (trajectory, scenario) and returns a number",
        )


def imported_reward(reward: str, home: Path, package: str) -> tuple[str, str]:
    """Return the module and the function of a reward, as the train module beside ``home`` names them.

    What lies in a package with the agent is imported from it: ``rewards`` and ``mail.rewards`` of
    the package ``mail`` as ``.rewards``.
    ``package``: of which the agent is imported; "" for files that import each other by their own
    names, whatever ``__init__.py`` stands beside them.
    """
    module, _, name = reward.partition(":")
    parts, of_package = module.split("."), package.split(".")
    if package and parts[0] == of_package[0]:
        same = takewhile(
            lambda pair: pair[0] == pair[1], zip(parts, of_package, strict=False)
        )
        shared = len(list(same))
        up = "." * (len(of_package) - shared)
        return f".{up}{'.'.join(parts[shared:])}", name
    root, _ = _located(module, home) or (None, None)
    if not package or root is None or not (root / "__init__.py").exists():
        return module, name
    above = len(home.parent.relative_to(root).parts)
    return f".{'.' * above}{module}", name


def _located(module: str, home: Path) -> tuple[Path, Path] | None:
    """Return the folder that a module's name starts from, and its file; None if it has none."""
    for root in import_roots(home):
        path = module_file(root.joinpath(*module.split(".")))
        if path is not None:
            return root, path
    return None


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # __main__
        return False


def _check_function(reward: str, name: str, path: Path) -> None:
    syntax = Syntax.of(read_source(path))
    function = syntax.functions.get(name)
    if name not in used_names(syntax):
        if "*" in syntax.imports:
            return  # it may come from there
        near = get_close_matches(name, list(syntax.functions), 3)
        raise Refusal(
            f"--reward {reward}: {name} is not in this file",
            next_step=f"did you mean {' or '.join(near)}?"
            if near
            else "write it first",
            path=path,
        )
    if function is None and (line := _not_callable(syntax, name)) is not None:
        raise Refusal(
            f"--reward {reward}: {name} is not a function",
            why="the train module calls it with (trajectory, scenario), and takes a number",
            next_step=f"write def {name}(trajectory: art.Trajectory, scenario: Scenario) -> float",
            path=path,
            line=line,
        )
    decorated = function is not None and function.node.decorator_list
    if (
        function is not None
        and not decorated
        and not takes_a_trajectory_and_a_scenario(function.node)
    ):
        raise Refusal(
            f"--reward {reward}: this function cannot be called with a trajectory and a scenario",
            next_step=f"write def {name}(trajectory: art.Trajectory, scenario: Scenario) -> float",
            path=path,
            line=function.node.lineno,
        )


def _not_callable(syntax: Syntax, name: str) -> int | None:
    """Return the line that makes a name a literal or a class, which cannot score; None if none.

    What a call, an import, a base or a decorator makes may be callable, as a ``partial`` is.
    """
    values = syntax.values_at_top(name)
    made = syntax.classes.get(name)
    if made is not None and not values and not (made.bases or made.decorator_list):
        return made.lineno
    if values and all(isinstance(each, _LITERALS) for each in values):
        return values[0].lineno
    return None


def takes_a_trajectory_and_a_scenario(function: FunctionNode) -> bool:
    """Tell whether a function can be called with two arguments, by their places."""
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    needed = positional - len(arguments.defaults)
    required = any(default is None for default in arguments.kw_defaults)
    enough = positional >= 2 or arguments.vararg is not None
    return needed <= 2 and enough and not required
