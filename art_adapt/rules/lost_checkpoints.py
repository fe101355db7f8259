"""Checkpoints are kept in a temporary folder or deleted, so a run cannot be resumed

``LocalBackend`` keeps checkpoints, the history and the step below its path. In a temporary folder
they are gone when the process ends or the machine restarts; a script that deletes ``.art`` at its
start throws away what the last run has paid for.

Leave the path alone (``.art`` in the working folder), or give one on a disk that stays.

Evidence: art 0.5.18, local/backend.py:167 and utils/output_dirs.py; art 0.5.23,
local/backend.py:315.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, keyword, last_name
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART527", "lost-checkpoints", Severity.WASTE)
BAD = (
    """\
import art, tempfile
from art.local import LocalBackend

async def main():
    folder = tempfile.mkdtemp()
    backend = LocalBackend(path=folder)  # <-
""",
    """\
import art, shutil
from art.local import LocalBackend

async def main():
    shutil.rmtree(".art", ignore_errors=True)  # <-
    backend = LocalBackend()
""",
)
GOOD = (
    """\
import art, shutil, tempfile
from art.local import LocalBackend

async def main():
    shutil.rmtree("logs")
    with tempfile.TemporaryDirectory() as sandbox:
        backend = LocalBackend(path="/data/art")
""",
)


TEMPORARY = ("mkdtemp", "TemporaryDirectory", "gettempdir")
DELETING = ("rmtree", "system", "run", "call", "check_call")


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("LocalBackend"):
        path = keyword(call, "path")
        if path is not None and all(map(_is_temporary, _leaves(code, path))):
            yield found(
                path,
                "checkpoints in a temporary folder are lost when the run ends, and it "
                "cannot be resumed",
            )
    if not any(code.art_calls("LocalBackend", "TrainableModel")):
        return
    for call in code.calls:
        name = last_name(call.func)
        if name not in DELETING or not call.args:
            continue
        if _deletes(code, name, call.args[0]) or _is_asked_for(code, call):
            yield found(
                call,
                "this deletes the checkpoints of earlier runs, so they cannot be resumed",
            )


def _leaves(code: Code, path: ast.expr) -> list[ast.expr]:
    """Return what a path is made of first: the folder that everything is below."""
    found_leaves = []
    for value in code.values(path):
        node = value.node
        while True:
            inner: ast.expr | None = None
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                inner = node.left
            elif isinstance(node, ast.Attribute) and node.attr == "name":
                inner = node.value
            elif isinstance(node, ast.Call) and node.args:
                called = last_name(node.func)
                inner = node.args[0] if called in ("str", "Path", "join") else None
            if inner is None:
                break
            node = code.values(value.of(inner))[0].node
        found_leaves.append(node)
    return found_leaves


def _is_temporary(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) in TEMPORARY
    return isinstance(node, ast.Constant) and str(node.value).startswith("/tmp/")


def _is_asked_for(code: Code, call: ast.Call) -> bool:
    """Return whether the call is under a test for a name that begins with ``.art``."""
    name = dotted(call.args[0])
    return (dotted(call.func) or "").endswith("rmtree") and any(
        isinstance(outer, ast.If)
        and any(
            isinstance(each, ast.Constant) and str(each.value) in (".art", ".art/")
            for each in ast.walk(outer.test)
        )
        and any(dotted(each) == name for each in ast.walk(outer.test))
        for outer in code.syntax.ancestors(call)
    )


def _deletes(code: Code, name: str, argument: ast.expr) -> bool:
    """Return whether a call removes ``.art``."""
    for value in code.values(argument):
        node = value.node
        if isinstance(node, ast.Call) and node.args:
            node = node.args[0]  # Path(".art")
        text = node.value if isinstance(node, ast.Constant) else None
        if not isinstance(text, str):
            continue
        if name == "rmtree" and text.rstrip("/").rpartition("/")[2] == ".art":
            return True
        if name != "rmtree" and re.search(r"^rm .*\.art(/|\s|$)", text):
            return True
    return False
