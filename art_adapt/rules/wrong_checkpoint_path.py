"""A checkpoint's folder is spelled by hand and wrong, so it is not there when it is needed

LocalBackend writes ``{path}/{project}/models/{name}/checkpoints/{step:04d}``: below
``checkpoints``, with four digits, and no folder called ``latest`` or ``best``. A wrong path
raises at the end of a run that has been paid for, or deploys nothing.

Ask ART for it: ``art.utils.output_dirs.get_step_checkpoint_dir(...)``, or ``checkpoint_path`` of
what ``backend.train`` returns. Since ART 0.5.20 the folder has the model's ``run_name``, not its
``name``.

Evidence: art 0.5.18 and 0.5.23, utils/output_dirs.py (``get_step_checkpoint_dir``); art 0.5.23,
model.py:1504 (``_storage_name``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, keyword, last_name
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART551", "wrong-checkpoint-path", Severity.WASTE)
BAD = (
    """\
import art
from pathlib import Path

def newest(model, step):
    return Path(".art") / model.project / "models" / model.name / "checkpoints" / str(step)  # <-

def without_folder(model, step):
    return Path(".art") / model.project / "models" / model.name / f"{step:04d}"  # <-

def by_constants(step):
    return f".art/{PROJECT}/models/{NAME}/checkpoints/{step}"  # <-

def latest(art_path: str, model: art.TrainableModel) -> str:
    return f"{art_path}/{model.project}/models/{model.name}/checkpoints/latest"  # <-
""",
    """\
import art, os

ART_PATH = ".art"

def deploy(model: art.TrainableModel, step: int) -> None:
    folder = os.path.join(ART_PATH, model.project, "models", model.name, "checkpoints", f"{step}")  # <-
    copy(folder)
""",
    """\
import art
from art.local import LocalBackend

async def run(art_path: str) -> str:
    backend = LocalBackend(path=art_path)
    await train(backend)
    return f"{art_path}/checkpoints/latest"  # <-
""",
)
GOOD = (
    """\
import art, os
from pathlib import Path

def newest(model, step):
    return Path(".art") / model.project / "models" / model.name / "checkpoints" / f"{step:04d}"

def every(model):
    return sorted((Path(".art") / model.project / "models" / model.name / "checkpoints").iterdir())

def own(folder, name):
    return os.path.join(folder, "models", name, "checkpoints", "latest")

def grown(path, names):
    for name in names:
        path = path / name
        path = Path(path) / "models"
    return path

def logs(name, day):
    return f"logs/models/{name}/{day}"

def history(model):
    return f".art/{model.project}/models/{model.name}/history.jsonl"

def padded(model, step):
    return f".art/{model.project}/models/{model.name}/checkpoints/{str(step).zfill(4)}"
""",
)

FOLDER = "checkpoints"
DEEPEST = 12  # parts, and names that stand for them
NAMES = ("name", "run_name")
SLOT = "\0"  # what is computed, in the text of a path
NAMED = re.compile(r"^(latest|last|best|final|current|newest)$")


def check(code: Code) -> Iterator[Found]:
    for node in code.syntax.nodes:
        parts = None if isinstance(node, ast.Name) else _parts(code, node)
        around = code.syntax.parents.get(node)
        if parts is None or (around is not None and _parts(code, around) is not None):
            continue  # no path, or a part of one
        if what := _wrong(code, parts):
            yield found(
                node,  # type: ignore[arg-type]
                f"{what}: ART writes .../models/NAME/checkpoints/0012, with four digits",
            )


def _wrong(code: Code, parts: list[list[ast.expr]]) -> str:
    """Return what is wrong with the parts of a path; "" if it is right, or none of ART's."""
    texts = ["".join(_text(code, piece) for piece in part) for part in parts]
    if texts[1:2] == [FOLDER] and len(parts[0]) == 1 and _is_root(code, parts[0][0]):
        return "the project and the model's name are missing"
    if "models" not in texts:
        return ""
    below = texts[texts.index("models") + 1 :]
    model = parts[texts.index("models") + 1] if below else []
    named = {each.attr for each in model if isinstance(each, ast.Attribute)}
    if named.isdisjoint(NAMES) and not texts[0].endswith(".art"):
        return ""
    match below[1:]:
        case [folder, step, *_] if folder == FOLDER:
            piece = parts[texts.index("models") + 3][0]
            if NAMED.match(step):
                return f"there is no folder {step!r}"
            return "the step is not padded" if step == SLOT and _is_bare(piece) else ""
        case [last] if last == SLOT or NAMED.match(last):
            return "the folder checkpoints is missing"
    return ""


def _is_root(code: Code, folder: ast.expr) -> bool:
    """Return whether a folder is the path that this function gives its backend."""
    return any(
        dotted(path) is not None
        and dotted(path) == dotted(folder)
        and code.syntax.owner(call) == code.syntax.owner(folder)
        for call in code.art_calls("LocalBackend")
        if (path := keyword(call, "path")) is not None
    )


def _parts(code: Code, node: ast.AST, depth: int = 0) -> list[list[ast.expr]] | None:
    """Return the pieces of each part of a path: ``a / b``, ``join(a, b)``, ``f"{a}/b"``."""

    def within(each: ast.expr) -> list[list[ast.expr]]:
        return _parts(code, each, depth + 1) or [[each]]

    match node:
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return [*within(left), *within(right)]
        case ast.Call(args=args) if last_name(node.func) in ("join", "Path") and args:
            if any(isinstance(each, ast.Starred) for each in args):
                return None
            return [part for each in args for part in within(each)]
        case ast.JoinedStr(values=values):
            return list(_of_text(values))
        case ast.Name() if depth < DEEPEST:  # a loop may make a path of itself
            made = [value.node for value in code.values(node)]
            if len(made) == 1 and not isinstance(made[0], ast.Name):
                return _parts(code, made[0], depth + 1)
    return None


def _of_text(values: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield the parts of an f-string between its slashes."""
    part: list[ast.expr] = []
    for value in values:
        if isinstance(value, ast.FormattedValue):
            part.append(value.value if value.format_spec is None else value)
            continue
        assert isinstance(value, ast.Constant)
        first, *others = str(value.value).split("/")
        part += [ast.Constant(first)] if first else []
        for each in others:
            yield part
            part = [ast.Constant(each)] if each else []
    yield part


def _text(code: Code, piece: ast.expr) -> str:
    known = code.constant(piece)
    return known if isinstance(known, str) else SLOT


def _is_bare(step: ast.expr) -> bool:
    """Return whether a number is spelled as it is: ``str(step)``, or a slot of an f-string."""
    if isinstance(step, ast.Call):
        return last_name(step.func) in ("str", "get_step")
    return isinstance(step, ast.Name | ast.Attribute | ast.Await)
