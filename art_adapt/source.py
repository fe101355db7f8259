"""Reads a Python file as bytes, and as the syntax tree that the survey uses."""

from __future__ import annotations

import ast
import io
import os
import re
import shlex
import stat
import sys
import tokenize
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from art_adapt.calls import WORDS
from art_adapt.errors import Refusal, missing

DECLARE_ENCODING = (
    "declare its encoding in a coding line (PEP 263), or save the file as UTF-8"
)
LARGEST = (
    4_000_000  # bytes that are parsed; the largest module of CPython has 0.4 million
)
# Words of files that may call a model in another way: through a framework, another
# client, ART or a process.
OTHER_WORDS = (
    r"langchain|langgraph|crewai|autogen|smolagents|pydantic_ai|llama_index|\bagents\b"
    r"|anthropic|dspy|google\.gen|\bart\b|subprocess"
)
# The cheapest test comes first: a file without any of these words makes no model call
# that the survey knows of.
MODEL_CALL = re.compile("|".join([*WORDS, OTHER_WORDS]).encode())


@dataclass(frozen=True, order=True)
class Place:
    """A line of a file, as messages name it."""

    path: Path
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Source:
    """A file: its path and bytes, and its text and tree, which are computed on demand."""

    path: Path
    data: bytes

    @property
    def mentions_model(self) -> bool:
        return MODEL_CALL.search(self.data) is not None

    @cached_property
    def encoding(self) -> str:
        """Return the encoding that Python reads the file with (PEP 263); ``utf-8-sig`` after a BOM."""
        try:
            return tokenize.detect_encoding(io.BytesIO(self.data).readline)[0]
        except SyntaxError as error:
            raise Refusal(
                f"not valid Python: {error.msg}",
                next_step=DECLARE_ENCODING,
                path=self.path,
                line=1,
            ) from error

    @cached_property
    def text(self) -> str:
        try:
            return self.data.decode(self.encoding)
        except (UnicodeError, LookupError) as error:
            raise Refusal(
                f"cannot decode this file as {self.encoding}: {error}",
                next_step=DECLARE_ENCODING,
                path=self.path,
            ) from error

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines as Python counts them.

        ``str.splitlines`` also splits at form feeds and other separators.
        """
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """Return the source of a node; ``ast.get_source_segment`` splits the file each time."""
        *before, last = self.lines[node.lineno - 1 : node.end_lineno]
        lines = [*before, last.encode()[: node.end_col_offset].decode()]
        lines[0] = lines[0].encode()[node.col_offset :].decode()
        return "\n".join(lines)

    @cached_property
    def tree(self) -> ast.Module:
        """Return the syntax tree.

        Raises:
            Refusal: this interpreter cannot parse the file; with line and column.
        """
        if len(self.data) > LARGEST:
            raise Refusal(
                f"too large for an agent: {len(self.data) / 1e6:.0f} MB",
                why=f"a file of more than {LARGEST / 1e6:.0f} MB takes minutes and gigabytes of memory to parse",
                next_step="move data into a separate file, and name the agent's file",
                path=self.path,
            )
        if b"\0" in self.data:
            raise Refusal("a binary file, not Python source", path=self.path)
        self.text  # noqa: B018 - report an encoding error before a syntax error
        try:
            with warnings.catch_warnings():
                # Invalid escapes in the user's strings are not art-adapt's to report.
                warnings.simplefilter("ignore")
                return ast.parse(self.data, filename=str(self.path))
        except SyntaxError as error:
            raise self._syntax_refusal(error) from error
        except (RecursionError, MemoryError) as error:
            raise Refusal("nested too deeply to parse", path=self.path) from error
        except ValueError as error:
            raise Refusal(f"not valid Python: {error}", path=self.path) from error

    def _syntax_refusal(self, error: SyntaxError) -> Refusal:
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        if _is_python_2(self.text):
            refusal = Refusal(
                "Python 2 source",
                why="ART runs on Python 3.11 and newer",
                next_step="convert the file with 2to3",
            )
        elif _is_newer_python(self.data):
            refusal = Refusal(
                f"newer syntax than that of Python {here}",
                why=f"art-adapt parses files with the Python that it runs on, {here}",
                next_step="install art-adapt under the Python that runs this agent",
            )
        elif magic := _magic(self.lines, error.lineno):
            refusal = Refusal(
                f"a notebook command: {magic}",
                why="it comes from an exported notebook, and Python cannot parse it",
                next_step="put a # before it and before others like it, then run art-adapt again",
            )
        else:
            refusal = Refusal(
                f"syntax error: {error.msg}",
                next_step="fix the syntax error, then run art-adapt again",
            )
        return replace(refusal, path=self.path, line=error.lineno, column=error.offset)


def _magic(lines: list[str], number: int | None) -> str:
    """Return the notebook's command at a line, as ``%load_ext`` or ``!pip install``; or nothing."""
    line = lines[number - 1].strip() if number and number <= len(lines) else ""
    return line if re.match(r"(%%?|!)[A-Za-z]", line) else ""


def _is_python_2(text: str) -> bool:
    return (
        re.search(
            r"^\s*(print\s+[\"'\w%]|except\s+[\w.]+\s*,\s*[a-z_]\w*\s*:|exec\s+[\"'])",
            text,
            re.MULTILINE,
        )
        is not None
    )


# Python 3.14 reads ``except A, B:`` as two exceptions (PEP 758).
TWO_EXCEPTIONS = re.compile(
    rb"^\s*except\*?\s+[\w.]+\s*,\s*[\w.]+[^\n:]*:", re.MULTILINE
)


def _is_newer_python(data: bytes) -> bool:
    """True if it has syntax of a Python 3 after this one, most of which libcst reads."""
    if TWO_EXCEPTIONS.search(data):
        return True
    import libcst

    try:
        libcst.parse_module(data)
    except BaseException:
        return False
    return True


def read_source(path: Path) -> Source:
    """Read ``path``.

    Raises:
        Refusal: it does not exist, is not a regular file, or is not readable.
    """
    path = Path(os.path.abspath(path))  # not resolved: a link stays a link
    if path.suffix == ".ipynb":
        raise Refusal(
            "a notebook, not a Python file",
            next_step="convert it with jupyter nbconvert --to python, delete its get_ipython() lines, and have the agent in a function",
            path=path,
        )
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as error:
        raise Refusal(
            f"cannot read this file: {error.strerror or error}", path=path
        ) from error
    # Root can read everything, but a file without read permission is left alone.
    if not stat.S_ISREG(mode):
        raise Refusal("cannot read this file: a pipe or a device", path=path)
    if not mode & 0o444 or not os.access(path, os.R_OK):
        raise Refusal(
            "cannot read this file: permission denied",
            next_step=f"chmod u+r {shlex.quote(str(path))}",
            path=path,
        )
    try:
        return Source(path, path.read_bytes())
    except OSError as error:
        raise Refusal(
            f"cannot read this file: {error.strerror or error}", path=path
        ) from error
