"""Runs an agent that talks to a terminal, with input and arguments from a scenario.

``input()``, ``sys.argv``, ``sys.stdin`` and ``sys.stdout`` belong to the process, and episodes run side
by side in it. So each is replaced once by one that asks which episode it is used in.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextvars
import inspect
import itertools
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, SupportsIndex

from art_adapt.recording.parsing import parsed
from art_adapt.recording.state import active
from art_adapt.training.episodes import last_said
from art_adapt.training.prompts import answer_prompts
from art_adapt.training.threads import own_place

IMPORTS = "<frozen importlib._bootstrap>"  # the file of what runs a module's import
PATIENCE = 3  # how often an agent may ask again after the last input


class _EndOfInput(EOFError):
    """The scenario has no further input: a person would have closed the terminal."""


@dataclass(eq=False)  # of two episodes, however alike
class _Terminal:
    arguments: list[str]
    inputs: list[str]
    printed: list[str] = field(default_factory=list)
    read_at: int = 0  # how much was printed before the last input
    asked_in_vain: int = 0
    unread: str = ""  # of a line of standard input

    def read(self) -> str:
        if not self.inputs:
            self.asked_in_vain += 1
            if self.asked_in_vain > PATIENCE:
                raise SystemExit(0)
            raise _EndOfInput("the scenario has no further input")
        self.read_at = len(self.printed)
        return self.inputs.pop(0)

    def text(self, lines: int | None) -> str:
        """Return so many of the lines that are left, or all, as a file has them; "" at its end."""
        taken, self.unread = self.unread, ""
        while self.inputs and (lines is None or "\n" not in taken):
            taken += f"{self.read()}\n"
        if not taken:
            self.asked_in_vain += 1
            if self.asked_in_vain > PATIENCE:
                raise SystemExit(0)
        return taken

    def put_back(self, text: str, size: int) -> str:
        """Return the first ``size`` characters, and keep the others; all, if it is negative."""
        if size >= 0:
            text, self.unread = text[:size], text[size:]
        return text

    def answer(self) -> str:
        """Return what the model said last, if it was printed, or else what was printed last.

        After an answer to "exit" a terminal shows a goodbye, or what the run has cost.
        """
        said = last_said() if active.get() is not None else None
        if said and _words(said) in _words("".join(self.printed)):
            return said.strip()
        return "".join(self.printed[self.read_at :]).strip()


def _words(text: str) -> str:
    """Return a text without the spaces and line ends that a terminal lays it out with."""
    return "".join(text.split())


_terminal: contextvars.ContextVar[_Terminal | None] = contextvars.ContextVar(
    "art_adapt_terminal", default=None
)
_input = builtins.input
_numbers = itertools.count(1)
_open: list[_Terminal] = []  # of the episodes that run now


def run_script(
    path: str | Path, *, arguments: Sequence[str] = (), inputs: Sequence[str] = ()
) -> str:
    """Run a Python file as ``python FILE`` would, and return the answer that it printed.

    That is what the model said last, if it was printed, or else what was printed since
    the last input.

    Args:
        path: the file; each run gets a namespace of its own.
        arguments: what follows the file's name on the command line.
        inputs: what a person types, one for each ``input()``. After the last one the
            terminal is closed: ``input()`` raises EOFError.

    Raises:
        Exception: what the file raised. A ``SystemExit`` without an error, and the end of
            the input, just end it.
    """
    file = str(path)
    return str(run_typed(lambda: _run_file(file), [file, *arguments], inputs))


def _run_file(file: str) -> None:
    """Run a file in a module of its own.

    runpy would put each in the place of the process's ``__main__``, which episodes that
    run side by side share. Under a name of its own, classes of the file find their
    module; so that it runs as a script all the same, comparing the name with
    ``"__main__"`` is true.
    """
    tree = _AsScript().visit(parsed(Path(file).read_bytes(), file))
    name = f"{Path(file).stem} of episode {next(_numbers)}"
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = file
    try:
        code = compile(tree, file, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    finally:
        del sys.modules[name]


class _AsScript(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if ast.unparse(node) in ("__name__ == '__main__'", "'__main__' == __name__"):
            return ast.copy_location(ast.Constant(True), node)
        return node


def run_command(
    function: Callable[[], Any],
    *,
    arguments: Sequence[str] = (),
    inputs: Sequence[str] = (),
) -> Any:
    """Call a command such as ``main()``; return its value, or else the answer it printed.

    The answer, the arguments and errors are those of ``run_script``.
    """
    return run_typed(function, [sys.argv[0], *arguments], inputs)


def run_typed(
    function: Callable[[], Any], arguments: Sequence[str], inputs: Sequence[str]
) -> Any:
    """Call a function with a command line and input of its own; return its value, or what it printed."""
    terminal = _Terminal([*map(str, arguments)], [*map(str, inputs)])
    _install()
    token = _terminal.set(terminal)
    _open.append(terminal)
    try:
        returned = function()
        if inspect.iscoroutine(returned):
            returned = asyncio.run(returned)
    except SystemExit as stop:
        if not ends_well(stop):
            raise
        returned = None
    except Exception as error:
        if not _is_end_of_input(error):
            raise
        returned = None
    finally:
        _open.remove(terminal)
        _terminal.reset(token)
    return terminal.answer() if returned is None else returned


def ends_well(error: BaseException) -> bool:
    """True if a program ends so that its exit code says that all went well."""
    return isinstance(error, SystemExit) and error.code in (None, 0)


def _is_end_of_input(error: BaseException | None) -> bool:
    """Tell whether an error is, or comes from, the end of the input: click's ``Abort``."""
    while error is not None and not isinstance(error, _EndOfInput):
        error = error.__cause__ or error.__context__
    return error is not None


def _install() -> None:
    """Replace what belongs to the process; done once, it does nothing."""
    builtins.input = _read
    answer_prompts(_current)
    hide_arguments()
    if not isinstance(sys.stdout, _Output):
        sys.stdout = _Output(sys.stdout)
    if not isinstance(sys.stdin, _Input):
        sys.stdin = _Input(sys.stdin)


def hide_arguments() -> None:
    """Let no module read the command line when it is imported: that of a run is its own.

    ``DB = sys.argv[1]`` of an agent would be ``--backend``. Done once, it does nothing.
    """
    if not isinstance(sys.argv, _Arguments):
        sys.argv = _Arguments(sys.argv)


def _is_importing() -> bool:
    """True if the running code is that of a module which is being imported."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == IMPORTS:
            return True
        frame = frame.f_back
    return False


def _read(prompt: object = "", /) -> str:
    terminal = _current()
    return _input(prompt) if terminal is None else terminal.read()


def _current() -> _Terminal | None:
    """Return the terminal of the episode that the running code belongs to."""
    terminal = _terminal.get()
    if terminal is None and _open:  # run_in_executor(None, input) has no context
        if len(_open) > 1:
            raise RuntimeError(
                "input() was called in a thread that does not know its episode: "
                "adapt the agent again with --isolate process"
            )
        terminal = _open[0]
    return terminal


class _Arguments(list[str]):
    """``sys.argv``, of the episode where there is one; other code of an episode, and a module
    that is imported, see no more than the program's name."""

    def _own(self, *, counts: bool = False) -> list[str]:
        """Return it as the running code sees it; ``counts``: only how many there are, or the first."""
        terminal = _terminal.get()
        if terminal is not None:
            return terminal.arguments
        own = [*super().__iter__()]
        rollout = active.get()
        if rollout is None:
            return own[: 1 if _is_importing() else None]
        if not counts and rollout.read_arguments is None:
            rollout.read_arguments = own_place(traceback.extract_stack())
        return own[:1]

    def __reduce__(self) -> Any:
        """Give a process that is started the program's name: it imports modules at once."""
        return list, ([*super().__iter__()][:1],)

    def copy(self) -> list[str]:
        return self._own()

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        return self._own(counts=index == 0)[index]

    def __iter__(self) -> Any:
        return iter(self._own())

    def __len__(self) -> int:
        return len(self._own(counts=True))

    def __contains__(self, value: object) -> bool:
        return value in self._own()

    def __eq__(self, other: object) -> bool:
        return self._own() == other

    def __add__(self, other: Any) -> Any:
        return self._own() + other

    def index(self, *given: Any) -> int:
        return self._own().index(*given)


class _Output:
    """``sys.stdout``, which keeps what an episode prints to itself."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        terminal = _terminal.get()
        if terminal is None:
            written = self._stream.write(text)  # None, of a stream that colorama wraps
            return len(text) if written is None else int(written)
        if not isinstance(text, str):  # by this click tells text streams from others
            raise TypeError(f"write() takes str, not {type(text).__name__}")
        terminal.printed.append(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Input:
    """``sys.stdin``, which gives an episode the lines of its scenario."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readline(self, size: int = -1) -> str:
        terminal = _current()
        if terminal is None:
            return str(self._stream.readline(size))
        line = terminal.text(1)
        return terminal.put_back(line, size)

    def read(self, size: int | None = -1) -> str:
        terminal = _current()
        if terminal is None:
            return str(self._stream.read(size))
        return terminal.put_back(terminal.text(None), -1 if size is None else size)

    def readlines(self, hint: int = -1) -> list[str]:
        if _current() is None:
            return list(self._stream.readlines(hint))
        return self.read().splitlines(keepends=True)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._stream) if _current() is None else self.readline()
        if not line:
            raise StopIteration
        return str(line)

    def __enter__(self) -> _Input:
        return self

    def __exit__(self, *_: object) -> None:
        """Stay open: other episodes read it, too."""

    def isatty(self) -> bool:
        return True if _current() is not None else bool(self._stream.isatty())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
