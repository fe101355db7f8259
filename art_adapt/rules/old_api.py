"""Uses an API that current ART has removed, so it raises an error

``model.train(groups, config=art.TrainConfig(...))``, ``art.LocalBackend``, ``art.LocalAPI``
and ``art.skypilot`` exist in neither 0.5.18 nor 0.5.23. An import fails at once;
``model.train`` raises an AttributeError after the first batch of rollouts has been paid for.

Use ``result = await backend.train(model, groups, learning_rate=...)``. It logs nothing, so add
``await model.log(groups, split="train", metrics=result.metrics, step=result.step)``. Import
the backend with ``from art.local import LocalBackend``.

Evidence: art 0.5.18 and 0.5.23, model.py and __init__.py (the names are not there; a test asks
both versions).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, keyword, last_name
from art_adapt.code.used_names import used_names
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.training import GROUPS
from art_adapt.rules.rule import (
    Fix,
    Found,
    Rule,
    Severity,
    TextEdit,
    end_of,
    found,
    replace,
)

RULE = Rule("ART514", "old-api", Severity.WASTE)
LOCAL = "from art.local import LocalBackend"
# Removed names, and what replaces them.
GONE = {
    "art.LocalBackend": LOCAL,
    "art.LocalAPI": LOCAL,
    "art.UnslothAPI": LOCAL,
    "art.local.LocalAPI": LOCAL,
    "art.skypilot": "run on the machine with the GPU, or use ServerlessBackend",
    "art.dev.ModelConfig": "art.dev.InternalModelConfig, as _internal_config=",
    "art.utils.get_trajectory_messages": "trajectory.messages()",
    # openai 1.0, which any ART needs, removed these.
    "openai.error": "the exceptions are openai.APIError and the like",
}
BAD = (
    """\
import art
from art.local import LocalBackend

async def main(scenarios):
    backend = LocalBackend()
    model = art.TrainableModel(name="a", project="p", base_model="b")
    await model.register(backend)
    groups = await art.gather_trajectory_groups([])
    await model.train(groups, config=art.TrainConfig(learning_rate=1e-5))  # <-
""",
    """\
import art
import openai
from art.skypilot import SkyPilotBackend  # <-
from openai.error import RateLimitError  # <-

backend = art.LocalBackend()  # <-
LOST = (openai.error.Timeout, openai.APIError)  # <-
""",
)
FIXED = BAD[0].replace(
    "    await model.train(groups, config=art.TrainConfig(learning_rate=1e-5))  # <-",
    "    result = await backend.train(model, groups, learning_rate=1e-5)\n"
    '    await model.log(groups, split="train", metrics=result.metrics, step=result.step)  # <-',
)
GOOD = (
    FIXED.replace("  # <-", ""),
    """\
import art, torch
from art.local import LocalBackend

def fit(model: torch.nn.Module):
    model.train()
    model.train(True)
    return art.TrainConfig(learning_rate=1e-5)
""",
    """\
import art

async def step(model: art.TrainableModel, backend, groups):
    if hasattr(model, "train"):  # up to 0.4
        await model.train(groups, config=art.TrainConfig(learning_rate=1e-5))
    else:
        await backend.train(model, groups, learning_rate=1e-5)
""",
)
# Attributes of models, and what they are called now.
FIELDS = {"base_url": "inference_base_url", "api_key": "inference_api_key"}


def check(code: Code) -> Iterator[Found]:
    for call, model in code.method_calls("train"):
        if _is_old_train(code, call, model) and not code.is_asked_for(call.func):
            yield found(
                call,
                "ART removed model.train, so this raises after the first rollouts: "
                "await backend.train(model, groups, ...), then model.log",
                _fix(code, call, dotted(model)),
            )
    yield from _imports(code)
    for node in code.syntax.nodes:
        if isinstance(node, ast.Attribute):
            name = code.art_name(node) or code.syntax.qualified(node)
            if (
                name in GONE
                and _is_whole(code, node)
                and not code.is_asked_for(node)
                and not _is_tried(code, node, name)
            ):
                yield found(node, _removed(name, name), _import_fix(code, node))
            elif (
                node.attr in FIELDS
                and code.models.is_one(node.value)
                and not code.is_asked_for(node)
            ):
                yield found(
                    node,
                    f"ART's models have no {node.attr}: it is {FIELDS[node.attr]} now",
                )


def _imports(code: Code) -> Iterator[Found]:
    for node in code.syntax.nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names]
            gone = next((n for n in (module, *names) if _gone(n)), None)
        elif isinstance(node, ast.Import):
            gone = next((a.name for a in node.names if _gone(a.name)), None)
        else:
            continue
        if gone is not None and not _is_tried(code, node, gone):
            fix = None
            if gone == "art.LocalBackend" and isinstance(node, ast.ImportFrom):
                fix = _split(code, node)
            yield found(node, _removed(gone, _gone(gone) or gone), fix)


def _is_tried(code: Code, node: ast.AST, name: str) -> bool:
    """Return whether a name of openai's is tried: code that runs with older versions, too."""
    return name.startswith("openai.") and any(
        isinstance(outer, ast.Try) and outer.handlers
        for outer in code.syntax.ancestors(node)
    )


def _removed(name: str, known: str) -> str:
    """Say who removed a name, and what replaces it."""
    package = "ART" if name.startswith("art.") else "openai"
    return f"{package} removed {name}: {GONE[known]}"


def _is_whole(code: Code, node: ast.Attribute) -> bool:
    """Return whether a removed name ends here: ``art.skypilot`` of ``art.skypilot.x`` does not."""
    ends = dotted(code.syntax.parents[node]) is None
    return ends or not (code.art_name(node) or "").startswith("art.")


def _gone(name: str) -> str | None:
    return next((g for g in GONE if name == g or name.startswith(f"{g}.")), None)


def _split(code: Code, node: ast.ImportFrom) -> Fix | None:
    before = code.source.lines[node.lineno - 1][: node.col_offset]
    if any(alias.asname for alias in node.names) or before.strip():
        return None
    rest = [alias.name for alias in node.names if alias.name != "LocalBackend"]
    lines = [f"from art import {', '.join(rest)}"] if rest else []
    indent = "\n" + before
    edit = TextEdit(
        (node.lineno, node.col_offset),
        end_of(node),
        indent.join([*lines, LOCAL]),
    )
    return Fix("import it from art.local", (edit,))


def _import_fix(code: Code, node: ast.Attribute) -> Fix | None:
    """Import LocalBackend after ``import art``, and use it by its name."""
    imported = code.syntax.imports.get("art")
    there = code.syntax.imports.get("LocalBackend")
    if there is not None and there.module == "art.local":
        return Fix("call it by its name", (replace(node, "LocalBackend"),))
    if (
        code.art_name(node) != "art.LocalBackend"
        or imported is None
        or not isinstance(imported.node, ast.Import)
        or len(imported.node.names) != 1
        or imported.node.col_offset
        or "LocalBackend" in used_names(code.syntax)
    ):
        return None
    line = code.source.lines[imported.node.lineno - 1]
    if ";" in line:
        return None
    end = (imported.node.lineno, len(line.encode()))
    return Fix(
        "import it from art.local",
        (TextEdit(end, end, f"\n{LOCAL}"), replace(node, "LocalBackend")),
    )


def _is_old_train(code: Code, call: ast.Call, model: ast.expr) -> bool:
    given = [each.arg for each in call.keywords]
    if not call.args and not GROUPS.intersection(given):
        return False
    if len(call.args) > 1:
        return False  # backend.train(model, groups)
    awaited = isinstance(code.syntax.parents.get(call), ast.Await)
    named = last_name(model) == "model"
    if awaited and named and any(code.art_calls("TrajectoryGroup", "Trajectory")):
        return True  # no other library's model has a train that is awaited
    return code.models.is_one(model) or any(
        isinstance(config.node, ast.Call)
        and (config.syntax.qualified(config.node.func) or "").endswith(".TrainConfig")
        for config in _configs(code, call)
    )


def _configs(code: Code, call: ast.Call) -> Iterator[Value]:
    for each in call.keywords:
        if each.arg == "config":
            yield from code.values(each.value)
        elif each.arg is None:
            yield from code.contents.item(each.value, "config").values


def _fix(code: Code, call: ast.Call, model: str | None) -> Fix | None:
    """Rewrite the call, if the backend, the groups and the settings are known here."""
    awaited = code.syntax.parents.get(call)
    statement = code.syntax.parents.get(awaited) if awaited is not None else None
    config = keyword(call, "config")
    backend = _backend(code, call, model)
    if (
        not isinstance(awaited, ast.Await)
        or not isinstance(statement, ast.Expr)
        or model is None
        or backend is None
        or len(call.args) != 1
        or not isinstance(call.args[0], ast.Name)
        or any(each.arg != "config" for each in call.keywords)
        or "result" in used_names(code.syntax)
        or any(
            code.constant(keyword(c, "split")) == "train"
            for c, _ in code.method_calls("log")
        )
    ):
        return None
    indent = code.source.lines[statement.lineno - 1][: statement.col_offset]
    if indent.strip():
        return None
    settings = ""
    if config is not None:
        if not isinstance(config, ast.Call) or config.args:
            return None
        if any(each.arg != "learning_rate" for each in config.keywords):
            return None
        settings = "".join(
            f", learning_rate={_text(code, each.value)}" for each in config.keywords
        )
    groups = call.args[0].id
    text = (
        f"result = await {backend}.train({model}, {groups}{settings})\n"
        + indent
        + f'await {model}.log({groups}, split="train", metrics=result.metrics, '
        "step=result.step)"
    )
    return Fix("train through the backend", (replace(awaited, text),))


def _text(code: Code, node: ast.expr) -> str:
    return ast.get_source_segment(code.source.text, node) or ast.unparse(node)


def _backend(code: Code, call: ast.Call, model: str | None) -> str | None:
    """Return the backend that the model is registered with in the same function."""
    for other, registered in code.method_calls("register"):
        if (
            dotted(registered) == model
            and len(other.args) == 1
            and isinstance(other.args[0], ast.Name)
            and code.syntax.owner(other) == code.syntax.owner(call)
        ):
            return other.args[0].id
    return None
