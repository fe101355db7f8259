"""Note whether the comparisons of a reward function ever hold.

A reward that compares the wrong field gives numbers like any other: the part for a right answer
is never earned, and no value shows that. So each comparison notes how it came out.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from art_adapt.recording.installed import is_installed
from art_adapt.recording.state import is_judging

NOTED = "_art_adapt_noted"  # a name in the globals of the function's module
ENOUGH = 8  # notes of a comparison that never holds, in one process
UNEQUAL = (ast.NotEq, ast.NotIn)
EQUAL = (ast.Eq, ast.In, *UNEQUAL)


@dataclass(frozen=True)
class Compared:
    """How a comparison of a reward function came out, once.

    ``held``: what it compares was equal.
    """

    path: str
    line: int
    text: str
    held: bool


def compared_file(out: str | Path) -> Path:
    """Return where the processes of a rehearsal note how comparisons come out."""
    return Path(f"{out}.compared")


def read_compared(text: str) -> tuple[Compared, ...]:
    """Return what the processes of a rehearsal have noted."""
    return tuple(Compared(**json.loads(line)) for line in text.splitlines())


def note_comparisons(score: Callable[..., Any], file: Path) -> None:
    """Let the functions beside ``score`` note in ``file`` how their comparisons come out.

    They stay the same objects, with code that calls a note. What is installed is left alone, and
    so are a callable object and a file that cannot be read again.
    """
    function = inspect.unwrap(score) if inspect.isfunction(score) else None
    if function is not None and inspect.isfunction(function):
        _note_beside(function, file)


@functools.cache  # once for each function, in each process
def _note_beside(function: types.FunctionType, file: Path) -> None:
    code = function.__code__
    if is_installed(code.co_filename):
        return
    with suppress(SyntaxError, OSError):
        marking = _Marking()
        tree = marking.visit(ast.parse(Path(code.co_filename).read_bytes()))
        ast.fix_missing_locations(tree)
        compiled = compile(tree, code.co_filename, "exec", dont_inherit=True)
        codes = {(c.co_qualname, c.co_firstlineno): c for c in _codes(compiled)}
        noted = _noting(file, code.co_filename, marking.found)
        function.__globals__[NOTED] = noted
        for each in {function, *_beside(function)}:
            same = codes.get((each.__code__.co_qualname, each.__code__.co_firstlineno))
            if same is not None and same.co_freevars == each.__code__.co_freevars:
                each.__code__ = same


def _beside(function: types.FunctionType) -> Iterator[Any]:
    """Yield the functions of a function's module, those of its classes too."""
    for value in [*function.__globals__.values()]:
        inner = vars(value).values() if isinstance(value, type) else ()
        for each in (value, *inner):
            found = inspect.unwrap(each) if inspect.isfunction(each) else None
            if getattr(found, "__globals__", None) is function.__globals__:
                yield found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


def _noting(
    file: Path, path: str, found: list[tuple[ast.expr, str]]
) -> Callable[[int, Any], Any]:
    """Return what notes how a comparison came out while a reward is computed, and returns that."""
    left = dict.fromkeys(range(len(found)), ENOUGH)

    def noted(number: int, value: Any) -> Any:
        if left[number] and isinstance(value, bool) and is_judging():
            node, text = found[number]
            held = value is not _is_unequal(node)
            left[number] = 0 if held else left[number] - 1
            came_out = asdict(Compared(path, node.lineno, text, held))
            with file.open("a", encoding="utf-8") as notes:
                notes.write(f"{json.dumps(came_out)}\n")
        return value

    return noted


class _Marking(ast.NodeTransformer):
    """Wrap each comparison in a call that notes it; ``found``: them, with their text."""

    def __init__(self) -> None:
        self.found: list[tuple[ast.expr, str]] = []

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        sides = (node.left, *node.comparators)
        compares = all(isinstance(each, EQUAL) for each in node.ops)
        if not compares or (len(node.ops) > 1 and _is_unequal(node)):
            self.generic_visit(node)
            return node
        return self._wrapped(node, not any(map(_is_literal, sides)))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Wrap a method's or a library's call, such as ``answer.endswith(expected)``."""
        given = (*node.args, *(each.value for each in node.keywords))
        differs = bool(given) and not any(map(_is_literal, given))
        return self._wrapped(node, differs and isinstance(node.func, ast.Attribute))

    def _wrapped(self, node: ast.expr, may_be: bool) -> ast.expr:
        text, before = ast.unparse(node), len(self.found)
        self.generic_visit(node)
        if not may_be or len(self.found) > before:  # what stands in it says more
            return node
        self.found.append((node, text))
        number = ast.Constant(before)
        name = ast.Name(NOTED, ast.Load())
        return ast.copy_location(ast.Call(name, [number, node], []), node)


def _is_unequal(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and any(
        isinstance(each, UNEQUAL) for each in node.ops
    )


def _is_literal(node: ast.expr) -> bool:
    """True for a value that the code spells out: a guard compares with one, not with an answer."""
    return not any(isinstance(each, ast.Name) for each in ast.walk(node))
