"""A name that ART does not have is used, so it raises

``art.train``, ``art.register_model``, ``model.generate`` and the like look plausible, but no ART
has them: the AttributeError comes when the line is reached, often after rollouts that have been
paid for.

``import art`` does not load ``art.rewards``, ``art.local`` or ``art.utils.litellm``: without an
import of their own, ``art.rewards.ruler_score_group`` raises AttributeError as well.

``art.types.Message`` and ``MessageOrChoice`` are aliases of types: there is nothing to call, and
``Message(role="user", ...)`` raises TypeError. A message is a dict.

``model._internal_config`` is a dict (``InternalModelConfig`` is a TypedDict):
``model._internal_config.init_args`` raises.

The training call is ``await backend.train(model, groups, ...)``; completions come from
``model.openai_client()``.

Evidence: art 0.5.18 and 0.5.23, __init__.py, model.py and types.py (a test compares the names that this
rule knows with those of the installed ART).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.nodes import bound_names
from art_adapt.rules.code import Code
from art_adapt.rules.code.art_names import ART, BACKEND, MODEL, PACKAGES
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART522", "unknown-art-name", Severity.WASTE)
BAD = (
    """\
import art

async def step(model: art.TrainableModel, groups):
    await art.train(model, groups)  # <-
    return await model.generate("Hi")  # <-
""",
    """\
import art

async def rollout(model: art.TrainableModel, messages, complete):
    response = await complete(**model.litellm_completion_params(), messages=messages)
    choice = art.utils.litellm.convert_litellm_choice_to_openai(response.choices[0])  # <-
    return art.Trajectory(messages_and_choices=[*messages, choice])

async def judge(group):
    return await art.rewards.ruler_score_group(group, "openai/o3")  # <-

async def log(model: art.Model, groups):
    if model._api is not None:  # <-
        await model.log(groups)
""",
    """\
import art
from art.types import Message

def prompt(scenario):
    start = art.types.Message(role="system", content="Be brief.")  # <-
    return [start, Message(role="user", content=scenario)]  # <-
""",
    """\
import art
from art.rewards import ruler_score_group, ruler_score_trajectory  # <-
from art.local import LocalBackend

async def main():
    backend = LocalBackend()
    await backend.cleanup()  # <-
""",
    """\
try:
    from art import Trajectory, TrainableModel, Message  # <-
except ImportError:
    Trajectory = TrainableModel = Message = None

import art
from art.local import LocalBackend

class Trainer:
    def __init__(self):
        self.backend = None

    async def start(self):
        self.backend = LocalBackend()

async def main():
    trainer = Trainer()
    await trainer.start()
    await trainer.backend.cleanup()  # <-

async def keep(model: art.TrainableModel):
    if not hasattr(model, "save"):
        await model.save()  # <-

async def rollout(model: art.TrainableModel, scenario):
    settings = model._internal_config.init_args  # <-
    return await play(model, scenario, settings["max_seq_length"])
""",
)
GOOD = (
    """\
import art
import art.local
from art import utils

async def judge(group):
    from art import rewards
    return await art.rewards.ruler_score_group(group, "openai/o3")

def make():
    if hasattr(art, "local"):
        art.local.LocalBackend()
    utils.iterate_dataset([])
    art.utils.iterate_dataset([])
    return art.local.LocalBackend(), art.serverless.ServerlessBackend()
""",
    """\
import art

async def step(model: art.TrainableModel, backend, groups):
    lengths = (model._internal_config or {}).get("init_args", {})
    shown = model._internal_config.items() if model._internal_config else lengths
    result = await backend.train(model, groups)
    await model.log(groups, split="train", metrics=result.metrics, step=result.step)
    return await art.retry(model.get_step)()
""",
    """\
from __future__ import annotations
import art, importlib
from art.types import Message, MessagesAndChoices

importlib.import_module("art.langgraph")

async def judge(group, backend: art.local.LocalBackend) -> art.pipeline_trainer.PipelineTrainer:
    art.langgraph.wrap_rollout(backend, group)
    try:
        return await art.rewards.ruler_score_group(group, "openai/o3")
    except AttributeError:
        return group

def prompt(scenario) -> list[Message]:
    items: MessagesAndChoices = MessagesAndChoices()
    return [*items, {"role": "user", "content": scenario}]
""",
    """\
try:
    from art import TrainableModel, Trajectory, Runner
except ImportError:
    from art import TrainableModel, Trajectory

try:
    from art.rewards import ruler_score_group
except ImportError:
    from art.rewards import ruler_score_trajectory as ruler_score_group

try:
    from art import Message
except ImportError:
    Message = dict
""",
    """\
import art
from . import Backend

class Algorithm:
    def __init__(self, backend: Backend):
        self.backend = backend

    async def run(self, model: art.TrainableModel, groups):
        if hasattr(model, "save"):
            await model.save()
        if not hasattr(model, "push"):
            return
        elif hasattr(model, "load") and model.load():
            print("loaded")
        return self.backend.execute_training(groups)
""",
)


# What people expect of a model; another name may be that of a class of their own.
PLAUSIBLE = frozenset(
    [
        *("generate", "agenerate", "chat", "complete", "completion", "completions"),
        *("predict", "sample", "save", "load", "create", "forward", "infer", "push"),
    ]
)
OLD = frozenset(  # reported by old-api
    ["LocalBackend", "LocalAPI", "UnslothAPI", "skypilot", "train", "TrainConfig"]
)


REMOVED = frozenset({"_api"})  # of models
# Modules that ``import art`` does not load, in any ART.
LATER = (
    *("art.rewards", "art.local", "art.langgraph", "art.mcp", "art.pipeline_trainer"),
    *("art.utils.litellm", "art.utils.sft", "art.utils.strip_logprobs"),
)
ALIASES = ("art.types.Message", "art.types.MessageOrChoice")  # of unions


def check(code: Code) -> Iterator[Found]:
    yield from _imports(code)
    for call in code.calls:
        if code.art_name(call.func) in ALIASES:
            yield found(
                call,
                "this is an alias of a union of types: calling it raises TypeError; a "
                'message is a dict, {"role": ..., "content": ...}',
            )
    for node in code.syntax.nodes:
        if (
            isinstance(node, ast.Attribute)
            and not isinstance(node.ctx, ast.Store)
            and (not node.attr.startswith("_") or node.attr in REMOVED)
            and (lacks := _what_lacks(code, node))
            and not code.is_asked_for(node)
        ):
            yield found(node, f"{lacks} no {node.attr}: this raises AttributeError")
    yield from _not_loaded(code)


def _not_loaded(code: Code) -> Iterator[Found]:
    """Yield the modules of ART that a file uses as attributes, and that nothing has imported."""
    used: dict[str, ast.Attribute] = {}
    later = "annotations" in code.syntax.imports
    for node in code.syntax.nodes:
        if (
            isinstance(node, ast.Attribute)
            and (name := code.art_name(node)) in LATER
            and not code.is_asked_for(node)
            and not code.is_caught(node)
            and not (later and _is_in_annotation(code, node))
        ):
            used.setdefault(name, node)
    for name, node in used.items():
        if not _is_loaded(code, name):
            yield found(node, f"import art does not load {name}: write import {name}")


def _is_loaded(code: Code, name: str) -> bool:
    """Return whether something loads a module of ART, such as an import in this file.

    So does a file that imports this one, or that this one imports, and what is imported by
    its name as text.
    """
    package, _, module = name.rpartition(".")
    for node in code.syntax.nodes:
        if isinstance(node, ast.Import):
            if any(f"{alias.name}.".startswith(f"{name}.") for alias in node.names):
                return True
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            of_it = f"{node.module}.".startswith(f"{name}.")
            itself = node.module == package and module in [a.name for a in node.names]
            if of_it or itself:
                return True
        elif isinstance(node, ast.Constant) and node.value == name:
            return True
    imported = code.flow.functions.files_imported(code.syntax)
    texts = (*code.importers, *map(code.session.text, imported))
    return any(name.encode() in text for text in texts)


def _is_in_annotation(code: Code, node: ast.AST) -> bool:
    """Return whether a node stands in the annotation of a name, a parameter or a result."""
    inner = node
    for outer in code.syntax.ancestors(node):
        if inner in (
            getattr(outer, "annotation", None),
            getattr(outer, "returns", None),
        ):
            return True
        inner = outer
    return False


def _what_lacks(code: Code, node: ast.Attribute) -> str:
    """Say what it is an attribute of, if that is ART's and does not have it."""
    if isinstance(node.value, ast.Name) and code.art_name(node.value) == "art":
        known = node.attr in ART or (node.attr in OLD and node.attr != "train")
        return "ART has" if not known and _is_ours(code) else ""
    if (
        isinstance(node.value, ast.Attribute)
        and node.value.attr == "_internal_config"
        and not hasattr({}, node.attr)
        and code.models.is_one(node.value.value)
    ):
        return "_internal_config is a dict, with"
    if node.attr in REMOVED:
        return "ART's models have" if code.models.is_one(node.value) else ""
    if (
        node.attr not in MODEL | OLD
        and isinstance(code.syntax.parents.get(node), ast.Call)
        and (
            code.models.is_trainable(node.value)
            or (node.attr in PLAUSIBLE and code.models.is_one(node.value))
            or code.art_name(node.value) in ("art.Model", "art.TrainableModel")
        )
        and not _is_subclassed(code)
    ):
        return "ART's models have"
    if (
        node.attr not in BACKEND
        and getattr(code.syntax.parents.get(node), "func", None) is node
        and code.models.is_backend(node.value)
    ):
        return "ART's backends have"
    return ""


def _imports(code: Code) -> Iterator[Found]:
    """Yield the imports that fail, but not where a ``try`` goes on with another of ART's."""
    for node in code.syntax.nodes:
        if not isinstance(node, ast.ImportFrom) or node.level or node.module is None:
            continue
        tries = [n for n in code.syntax.ancestors(node) if isinstance(n, ast.Try)]
        names = [alias.name for alias in node.names if alias.name != "*"]
        if node.module == "art":
            known = ART | OLD if _is_ours(code) or PROOF & set(names) else {*names}
            said, name = [each for each in names if each not in known][:1], "ART"
        else:
            known = PACKAGES.get(node.module, {*names})
            said = [] if _has_its_own(code) else sorted(set(names) - known)
            name = node.module
        if any(_has_another_way(o, node, {*names} & {*known}) for o in tries):
            continue
        for unknown in said:
            end = "this raises ImportError at once"
            if tries:
                end = f"{end}, and the rest of the file goes on without ART's names"
            yield found(node, f"{name} has no {unknown}: {end}")


def _has_another_way(outer: ast.Try, failing: ast.ImportFrom, known: set[str]) -> bool:
    """Return whether a ``try`` gets its names in another way.

    Its handlers import from ART themselves, or bind the names. A stand-in for a ``known``
    name, which ART has, does not count.
    """
    handled = [inner for handler in outer.handlers for inner in ast.walk(handler)]
    if failing in handled:
        return True
    imports = [n for n in handled if isinstance(n, ast.Import | ast.ImportFrom)]
    modules = (getattr(each, "module", None) or each.names[0].name for each in imports)
    if any(re.match(r"art\b", module) for module in modules):
        return True
    wanted = {alias.name for alias in failing.names}
    imported = {alias.asname or alias.name for each in imports for alias in each.names}
    bound = {
        name
        for each in handled
        if isinstance(each, ast.Assign)
        and getattr(each.value, "value", ...) is not None
        for name in bound_names(each.targets)
    }
    return wanted <= imported or (not known and wanted <= bound | imported)


def _has_its_own(code: Code) -> bool:
    """Return whether a folder around the file has a package ``art`` of the project's own."""
    path = code.source.path
    return path.is_file() and any(
        (folder / "art").is_dir() or (folder / "art.py").is_file()
        for folder in path.absolute().parents[:4]
    )


def _is_ours(code: Code) -> bool:
    """Return whether it is OpenPipe's ART that the file uses, and imports as such."""
    imported = code.syntax.imports.get("art")
    return (
        imported is not None
        and imported.module == "art"
        and any(
            isinstance(node, ast.Attribute)
            and code.art_name(node) is not None
            and node.attr in PROOF
            for node in code.syntax.nodes
        )
    )


PROOF = frozenset(
    ["Trajectory", "TrajectoryGroup", "TrainableModel", "gather_trajectory_groups"]
)


def _is_subclassed(code: Code) -> bool:
    """Return whether the file extends ART's models."""
    return any(
        (code.art_name(base) or "").endswith("Model")
        for node in code.syntax.classes.values()
        for base in node.bases
    )
