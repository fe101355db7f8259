"""Runs an episode inside the user's own program, started as it was when it was watched.

The program makes the agent itself: its clients, its database, what ``main()`` sets. The call
that runs an episode gets what the scenario says in the place of what the program gives it, and
the program ends with that call. So each episode needs a process of its own.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib.metadata
import os
import runpy
import sys
import types
from collections.abc import Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from art_adapt.recording.parsing import parsed
from art_adapt.train_file import ENDING
from art_adapt.training.importing import Finder
from art_adapt.training.program_calls import Function, Given, Over, ProgramEpisode
from art_adapt.training.terminal import ends_well, run_typed

TAKES_OVER = "__art_adapt_takes_over__"  # a builtin, in the process of one episode


def run_program(
    folder: Path,
    command: Sequence[str],
    *,
    until: str,
    given: Given | None = None,
    before: Mapping[str, Given] | None = None,
    inputs: Sequence[str] = (),
) -> Any:
    """Start a program, let its first call of ``until`` run one episode, and return its value.

    Other calls of the function that begin meanwhile never run. What the program does after
    the call does not happen.

    Args:
        folder: the working folder of the program. It becomes that of this process.
        command: what follows ``python``: a file with its arguments, ``-m`` and a module, or
            the name of a command that a package installs.
        until: the function that runs an episode, as ``"shop/desk.py:Desk.answer"``, from
            ``folder``.
        given: what the scenario says, by parameter. ``"ticket.text"`` is an attribute, or a
            key, of what the program gives as ``ticket``.
        before: the same for calls that the program makes before: ``{"desk.py:Desk.__init__":
            {"topic": "refunds"}}``. Of several calls of a function the first counts.
        inputs: what a person types before the call.

    Raises:
        RuntimeError: the program ended without the call.
        Exception: what the program raised before the call, or the call itself.
    """
    episode = ProgramEpisode(until, {until: given or {}, **(before or {})})
    os.chdir(folder)
    wanted = _by_file(folder, episode.given)
    _forget(folder, wanted)
    setattr(builtins, TAKES_OVER, episode.takes_over)
    sys.meta_path.insert(0, _Intercepting(wanted))
    ended: BaseException | None = None
    try:
        _start(command, wanted, inputs)
    except Over:
        pass
    except (Exception, SystemExit) as error:
        ended = error
    if episode.error is not None and not ends_well(episode.error):
        raise episode.error
    if not episode.over.is_set():
        raise ended or RuntimeError(f"the program ended without a call of {until}")
    return episode.returned


def _start(
    command: Sequence[str], wanted: Mapping[Path, Sequence[str]], inputs: Sequence[str]
) -> None:
    """Run a program as ``python COMMAND`` would."""
    main, *arguments = command
    run: Function
    if main == "-m":
        main, *arguments = arguments
        sys.path.insert(0, os.getcwd())
        run = functools.partial(
            runpy.run_module, main, run_name="__main__", alter_sys=True
        )
    elif os.path.isfile(main):
        sys.path.insert(0, os.path.dirname(os.path.abspath(main)))
        run = functools.partial(_run_file, os.path.abspath(main), wanted)
    else:
        run = _installed(main)
    run_typed(run, [main, *arguments], inputs)


def _run_file(file: str, wanted: Mapping[Path, Sequence[str]]) -> None:
    """Run a file as the main module, with the calls of it that are taken over."""
    module = types.ModuleType("__main__")
    module.__file__ = file
    tree = parsed(Path(file).read_bytes(), file)
    _mark(tree, file, wanted)
    before, sys.modules["__main__"] = sys.modules["__main__"], module
    try:
        exec(compile(tree, file, "exec", dont_inherit=True), vars(module))
    finally:
        sys.modules["__main__"] = before


def _installed(command: str) -> Function:
    """Return the function of a command that a package installs.

    Raises:
        RuntimeError: none does.
    """
    for point in importlib.metadata.entry_points(group="console_scripts", name=command):
        return point.load()  # type: ignore[no-any-return]
    raise RuntimeError(f"{command} is no file here, and no command that is installed")


def _by_file(folder: Path, calls: Mapping[str, Given]) -> dict[Path, list[str]]:
    """Return the functions that are taken over, by their files."""
    found: dict[Path, list[str]] = {}
    for call in calls:
        file = call.rpartition(":")[0]
        found.setdefault((folder / file).resolve(), []).append(call)
    return found


def _forget(folder: Path, wanted: Mapping[Path, Sequence[str]]) -> None:
    """Let the program import its own modules itself: a reward may have brought some along."""
    root = os.path.commonpath([folder.resolve(), *(file.parent for file in wanted)])
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        is_kept = name in ("__main__", "__mp_main__") or f"{file}".endswith(ENDING)
        if file and not is_kept and _is_below(file, root):
            del sys.modules[name]


def _is_below(file: str, root: str) -> bool:
    path = os.path.realpath(file)
    installed = f"{os.sep}site-packages{os.sep}"
    return path.startswith(f"{root}{os.sep}") and installed not in path


class _Intercepting(Finder):
    """Loads modules so that the wanted calls are taken over."""

    def __init__(self, wanted: Mapping[Path, Sequence[str]]) -> None:
        self._wanted = wanted

    def loader(self, usual: SourceFileLoader) -> SourceFileLoader:
        if Path(usual.path).resolve() not in self._wanted:
            return usual
        code_file = getattr(usual, "code_file", usual.path)  # of a copy: the project's
        return _Loader(usual.name, usual.path, self._wanted, code_file)


class _Loader(SourceFileLoader):
    def __init__(
        self,
        name: str,
        path: str,
        wanted: Mapping[Path, Sequence[str]],
        code_file: str,
    ) -> None:
        super().__init__(name, path)
        self._wanted = wanted
        self.code_file = code_file

    def get_code(self, fullname: str) -> types.CodeType:
        """Compile the module anew: bytecode that is cached takes nothing over."""
        file = self.get_filename(fullname)
        tree = parsed(self.get_data(file), file)
        _mark(tree, file, self._wanted)
        return compile(tree, self.code_file, "exec", dont_inherit=True)


def _mark(tree: ast.Module, file: str, wanted: Mapping[Path, Sequence[str]]) -> None:
    """Decorate the functions of a file that are taken over, and classes without an own __init__."""
    for call in wanted.get(Path(file).resolve(), ()):
        *around, name = call.rpartition(":")[2].split(".")
        scope: Any = tree
        for outer in around:
            scope = _defined(scope, outer) or scope
        node = _defined(scope, name) or (scope if name == "__init__" else None)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            taking = ast.Name(TAKES_OVER, ast.Load())
            marked = ast.Call(taking, [ast.Constant(call)], [])
            is_class = isinstance(
                node, ast.ClassDef
            )  # a dataclass has its __init__ then
            innermost = len(node.decorator_list)  # where a function is bare
            node.decorator_list.insert(0 if is_class else innermost, marked)
            ast.copy_location(marked, node)
    ast.fix_missing_locations(tree)


def _defined(scope: ast.AST, name: str) -> ast.AST | None:
    """Return the last function or class of a name that a scope defines, in its branches too."""
    found = None
    waiting = [*ast.iter_child_nodes(scope)]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found = node if node.name == name else found
        elif not isinstance(node, ast.expr):
            waiting += ast.iter_child_nodes(node)
    return found
