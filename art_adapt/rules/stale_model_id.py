"""The policy is requested by the wrong name, so requests fail or use old weights

LocalBackend serves the weights of each step as ``name@step``: ``model.name`` is answered with
a 404, and every rollout of the run fails. ``model.inference_model_name`` is fixed when the
model is registered: after the first step it samples from an old policy. ``wrap_rollout`` of
``art.langgraph`` asks by that name.

Use ``model.get_inference_name()``, called once in each rollout. A judge such as ``gpt-4.1`` needs a
client of its own: ``model.openai_client()`` asks ART's server, which does not know it.

Evidence: art 0.5.18, local/backend.py:332-369, dev/openai_server.py:22-41 and
model.py:1164-1168, langgraph/llm_wrapper.py:92-105; art 0.5.23, local/backend.py:795-847 and
model.py:1661-1665.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.closed_models import CLOSED
from art_adapt.code.nodes import (
    attribute_of,
    dotted,
    first_argument,
    given_to,
    keyword,
    last_name,
    receiver,
)
from art_adapt.rules.code import Code, Value
from art_adapt.rules.code.annotated import annotation
from art_adapt.rules.code.untrained import is_for_untrained
from art_adapt.rules.rule import Fix, Found, Rule, Severity, found, replace
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.words import MODEL_CLASSES, MODELS

RULE = Rule("ART511", "stale-model-id", Severity.WASTE)
WRAPPED = """\
import art
from art.langgraph import wrap_rollout
from art.local import LocalBackend

async def main(model: art.TrainableModel, rollout, rows):
    backend = LocalBackend()
    await model.register(backend)
    for step in range(9):
        ask = wrap_rollout(model, rollout)  # <-
        groups = [art.TrajectoryGroup([await ask(model, row) for _ in range(8)]) for row in rows]
        await backend.train(model, groups)
"""
KEPT = """\
import art
from art.local import LocalBackend

class Trainer:
    def __init__(self, model: art.TrainableModel):
        self.model = model
        self.backend = LocalBackend()
        self.name: str | None = None

    async def setup(self):
        await self.model.register(self.backend)
        self.name = self.model.get_inference_name()  # <-
        self.client = self.model.openai_client()

    async def rollout(self, messages):
        response = await self.client.chat.completions.create(model=self.name, messages=messages)
        return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])

    async def fit(self, rows):
        for step in range(await self.model.get_step(), 9):
            groups = await art.gather_trajectory_groups(
                art.TrajectoryGroup(self.rollout(row) for _ in range(8)) for row in rows
            )
            await self.backend.train(self.model, groups)"""
BAD = (
    """\
import art

async def rollout(model: art.TrainableModel, messages):
    client = model.openai_client()
    response = await client.chat.completions.create(model=model.name, messages=messages)  # <-
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
import art, litellm

async def rollout(model: art.Model, messages):
    if model.trainable:
        name = f"hosted_vllm/{model.name}"  # <-
    else:
        name = model.name
    response = await litellm.acompletion(model=name, messages=messages)
    options = {"model": model.name}  # <-
    await model.openai_client().chat.completions.create(messages=messages, **options)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
import art
from art.local import LocalBackend

def options(model: art.Model) -> dict:
    made = {"temperature": 1.0}
    if model.trainable:
        made["model"] = model.name  # <-
    else:
        made["model"] = model.inference_model_name
    return made

async def rollout(model: art.Model, messages):
    client = model.openai_client()
    response = await client.chat.completions.create(messages=messages, **options(model))
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])

backend = LocalBackend()
""",
    """\
import art
from dataclasses import dataclass
from art.local import LocalBackend

@dataclass
class Policy:
    client: object
    name: str

    @classmethod
    def of(cls, model):
        return cls(client=model.openai_client(), name=model.get_inference_name())  # <-

async def rollout(policy: Policy, messages):
    response = await policy.client.chat.completions.create(model=policy.name, messages=messages)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])

async def main(model: art.TrainableModel, rows):
    backend = LocalBackend()
    policy = Policy.of(model)
    for step in range(9):
        groups = await art.gather_trajectory_groups(
            art.TrajectoryGroup(rollout(policy, row) for _ in range(8)) for row in rows
        )
        await backend.train(model, groups)
""",
    """\
import art

async def judge(model, text):
    asked = [{"role": "user", "content": text}]
    client = model.openai_client()
    await client.chat.completions.create(model="gpt-4.1-mini", messages=asked)  # <-

async def step(model, backend, groups):
    await backend.train(model, groups)
""",
    """\
import art

NAME = "clan"

async def main(backend, groups):
    model = art.TrainableModel(name=NAME, run_name=NAME, project="p", base_model="b")
    await backend.train(model, groups)
    client = model.openai_client()
    await client.chat.completions.create(model=NAME, messages=[])  # <-
""",
    """\
import art

async def rollout(model: art.TrainableModel, messages):
    client = model.openai_client()
    response = await client.chat.completions.create(model=model, messages=messages)  # <-
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    WRAPPED,
    KEPT,
    KEPT
    + """
async def main(model, rows):
    trainer = Trainer(model)
    await trainer.setup()
    await trainer.fit(rows)
""",
)
FIXED = BAD[0].replace("model=model.name", "model=model.get_inference_name()")
GOOD = (
    FIXED.replace("  # <-", ""),
    WRAPPED.replace("  # <-", "").replace(
        "        ask",
        "        model.inference_model_name = model.get_inference_name()\n        ask",
    ),
    WRAPPED.replace("  # <-", "").replace("Local", "Serverless"),
    WRAPPED.replace("  # <-", "").replace("await backend.train(", "print("),
    """\
import art

async def rollout(model: art.Model, messages):
    response = await client.chat.completions.create(model=settings.name, messages=messages)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])

async def of_any(model: art.Model, messages):
    is_api = not isinstance(model, art.TrainableModel)
    name = model.name if is_api else model.get_inference_name()
    client = model.openai_client()
    response = await client.chat.completions.create(model=name, messages=messages)
    if not model.trainable:
        name = model.name
    else:
        name = model.get_inference_name()
    again = await client.chat.completions.create(model=name, messages=messages)
    large = art.Model(name="gpt-4.1", project="p", inference_model_name="gpt-4.1")
    await large.openai_client().chat.completions.create(model="gpt-4.1", messages=messages)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0], again.choices[0]])
""",
    """\
import art

async def rollout(model: art.TrainableModel, client, messages):
    response = await client.chat.completions.create(
        model=model.inference_model_name, messages=messages
    )
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
)

USES_LOCAL = re.compile(rb"^[^#\n]*\bLocalBackend\(", re.MULTILINE)
A_MODEL = re.compile(r"(\w+\.)?(Trainable)?Model(\[.*\])?")
STALE = ("name", "inference_model_name")


def check(code: Code) -> Iterator[Found]:
    # Other backends may serve the latest weights under a fixed name.
    local = any(code.art_calls("LocalBackend")) or any(
        USES_LOCAL.search(text) for text in code.importers
    )
    serverless = any(code.art_calls("ServerlessBackend"))
    said = set()
    if local:
        yield from _of_langgraph(code)
        for value in _of_wrappers(code):
            model = _name(value.node)
            if model is not None and code.models.is_one(value.of(model[0])):
                said.add(value.node)
                yield _report(code, value, *model, value.node)
    for call in code.completions.calls:
        given = code.completions.argument(call, "model")
        values = () if given is None else given.values
        if given is not None and _is_anothers(code, call, given.constant):
            yield found(
                given.at,
                f"the client of a model in training asks ART's own server, which does not serve "
                f"{given.constant}: give that model a client of its own",
            )
            continue
        if given is not None and _is_asked_by_name(code, call, given.constant):
            yield found(
                given.at,
                "the endpoint does not serve the model under its bare name: use "
                "model.get_inference_name()",
            )
            continue
        if values and given is not None and all(_is_a_model(code, v) for v in values):
            yield found(
                given.at,
                "this is the model, not its name: the request cannot be sent; use "
                f"{ast.unparse(given.at)}.get_inference_name()",
            )
            continue
        named = {model[1] for each in values if (model := _name(each.node))}
        for value in values:
            if (
                local
                and value.node not in said
                and _is_old(code, value)
                and not _is_before_training(code, call.callee)
            ):
                said.add(value.node)
                yield found(
                    value.node,
                    "this name is taken once, before the training loop: LocalBackend serves "
                    "each step under a new one; call get_inference_name() in each rollout",
                )
            model = _name(value.node)
            if model is None or not code.models.is_one(value.of(model[0])):
                continue
            owner, attribute = model
            if "inference_model_name" in named and _is_last_resort(value, attribute):
                continue  # of `inference_model_name or name`, the first is always set
            if value.node in said or is_for_untrained(value.syntax, value.node):
                continue
            if not local and (attribute != "name" or serverless):
                continue
            said.add(value.node)
            yield _report(code, value, owner, attribute, given.at if given else owner)


def _of_langgraph(code: Code) -> Iterator[Found]:
    """Yield the rollouts that ``wrap_rollout`` lets ask by the name of a trained model's first step."""
    if _is_named_anew(code) or not any(map(code.training.loops, code.training.calls)):
        return
    if any(_of_wrappers(code)) and not any(code.art_calls("init_chat_model")):
        return  # the rollout asks by a chat model of its own, which has its own name
    for call in code.art_calls("wrap_rollout"):
        asked = first_argument(call, "model")
        made = [] if asked is None else [v.node for v in code.values(asked)]
        if not made or not all(_is_of_an_api(code, each) for each in made):
            yield found(
                call,
                "wrap_rollout asks model.inference_model_name, the policy of the step at which "
                "the model was registered: set it to get_inference_name() before each step",
            )


def _is_of_an_api(code: Code, made: ast.expr) -> bool:
    """Return whether it is ``art.Model(...)``, which is never trained."""
    return isinstance(made, ast.Call) and code.art_name(made.func) == "art.Model"


def _is_named_anew(code: Code) -> bool:
    """Return whether the name that a model is asked by is set, or it is registered in a loop."""
    sets = any(
        isinstance(node, ast.Attribute)
        and node.attr == "inference_model_name"
        and isinstance(node.ctx, ast.Store)
        and code.models.is_one(node.value)
        for node in code.syntax.nodes
    )
    by_name = any(
        last_name(call.func) in ("setattr", "__setattr__")
        and "inference_model_name" in map(code.constant, call.args)
        for call in code.calls
    )
    registering = [
        each
        for call, owner in code.method_calls("register")
        if code.models.is_one(owner)
        for each in (call, *code.callers(call))
    ]
    return sets or by_name or any(map(code.syntax.enclosing_loop, registering))


def _is_a_model(code: Code, value: Value) -> bool:
    """Return whether a value certainly is a model of ART, and nobody asks what it is."""
    node = value.node
    if isinstance(node, ast.Call):
        return code.models.is_one(value)
    return (
        isinstance(node, ast.Name)
        and code.models.is_one(value)
        and A_MODEL.fullmatch(annotation(code.flow, value).strip("'\"")) is not None
        and not any(
            dotted(call.func) == "isinstance" and dotted(call.args[0]) == node.id
            for call in code.calls
            if call.args
        )
    )


def _is_asked_by_name(code: Code, call: FoundCall, name: object) -> bool:
    """Return whether a model's own client is asked for a constant that is the model's name."""
    return isinstance(name, str) and any(
        isinstance(made.node, ast.Call)
        and code.models.is_trainable(made)
        and code.constant(keyword(made.node, "name")) == name
        for client in code.values(call.client)
        if (model := receiver(client.node, "openai_client")) is not None
        for made in code.values(client.of(model))
    )


def _is_anothers(code: Code, call: FoundCall, name: object) -> bool:
    """Return whether the client of what is trained is asked for a model that only its maker serves."""
    if not isinstance(name, str) or not CLOSED.match(name):
        return False
    trained = {dotted(each) for c in code.training.calls for each in given_to(c)}
    clients = [
        receiver(each.node, "openai_client") for each in code.values(call.client)
    ]
    return bool(clients) and all(
        model is not None
        and (
            dotted(model) in trained or code.models.is_trainable(code.flow.here(model))
        )
        for model in clients
    )


def _of_wrappers(code: Code) -> Iterator[Value]:
    """Yield the models that other libraries' objects ask, such as a ChatOpenAI."""
    completions = code.completions.by_call
    for call in code.calls:
        named = last_name(call.func)
        if (
            call in completions
            or code.art_name(call.func)
            or not MODEL_CLASSES.search(named)
        ):
            continue
        for name in MODELS:
            given = keyword(call, name)
            if given is not None:
                yield from code.values(given)


def _report(
    code: Code, value: Value, owner: ast.expr, attribute: str, at: ast.expr
) -> Found:
    name = ast.unparse(owner)
    what = (
        "a 404 on LocalBackend, which serves name@step"
        if attribute == "name"
        else "the policy of the step at which the model was registered"
    )
    here = value.syntax is code.syntax
    # Positions inside f-strings are not exact before Python 3.12.
    fix = None
    if here and isinstance(value.node, ast.Attribute):
        edit = replace(value.node, f"{name}.get_inference_name()")
        fix = Fix("ask for get_inference_name()", (edit,))
    message = f"{name}.{attribute} is {what}: use get_inference_name()"
    return found(value.node if here else at, message, fix)


def _name(value: ast.expr) -> tuple[ast.expr, str] | None:
    """Return ``model`` and ``name`` of ``model.name``, of getattr, or ending an f-string."""
    if isinstance(value, ast.JoinedStr) and value.values:
        last = value.values[-1]
        value = last.value if isinstance(last, ast.FormattedValue) else value
    read = attribute_of(value)
    return read if read is not None and read[1] in STALE else None


def _is_last_resort(value: Value, attribute: str) -> bool:
    """Return whether it is the ``model.name`` of ``model.inference_model_name or model.name``."""
    around = value.syntax.parents[value.node]
    asks = isinstance(around, ast.BoolOp | ast.IfExp | ast.Call)
    return (
        attribute == "name" and asks and "inference_model_name" in ast.unparse(around)
    )


def _is_old(code: Code, value: Value) -> bool:
    """Return whether it asks for the name of a model outside the loop that trains it."""
    node = value.node
    if not receiver(node, "get_inference_name") or value.syntax is not code.syntax:
        return False
    return _is_before_training(code, node) and not _is_renewed(code, node)


def _is_renewed(code: Code, name: ast.expr) -> bool:
    """Return whether the attribute or entry that keeps a name is set elsewhere, too, but to None."""
    parent = code.syntax.parents.get(name)
    attribute: object = None
    entry: object = None
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Attribute):
        attribute = parent.targets[0].attr
    elif isinstance(parent, ast.keyword):
        attribute = entry = parent.arg
    elif isinstance(parent, ast.Dict):
        keys = zip(parent.keys, parent.values, strict=True)
        key = next(key for key, value in keys if value is name)
        entry = code.constant(key) if key is not None else None
    return any(
        isinstance(node.ctx, ast.Store)
        and (other := code.syntax.parents.get(node)) is not parent
        and code.constant(getattr(other, "value", None)) is not None
        and (
            node.attr == attribute
            if isinstance(node, ast.Attribute)
            else entry is not None and code.constant(node.slice) == entry
        )
        for node in code.syntax.nodes
        if isinstance(node, ast.Attribute | ast.Subscript)
    )


def _is_before_training(code: Code, node: ast.expr, deepest: int = 3) -> bool:
    """Return whether an expression certainly is evaluated before the training loop.

    It stands before the loop, or in a function all calls of which do. When a partial is
    called is not known.
    """
    owner = code.syntax.owner(node)
    for call in code.training.calls:
        looped = False
        for at, loops in code.training.sites(call):
            # What calls the function that has the loop stands for it.
            whole = loops[-1] if loops else at if looped else None
            if whole is not None and code.syntax.owner(whole) == owner:
                is_inside = node is whole or code.blocks.within(node, whole)
                return not is_inside and node.lineno < whole.lineno
            looped = looped or bool(loops)
    function = code.function_of(node)
    if function is None or not deepest:
        return False
    calls = code.flow.functions.calls_of(code.syntax, function)
    if not calls and code.training.calls:
        # A loop of this file never calls it, so what it keeps stays the same in the loop.
        kept = code.syntax.parents.get(node)
        return (
            isinstance(kept, ast.Assign)
            and dotted(kept.targets[0]) is not None
            and (isinstance(kept.targets[0], ast.Attribute))
        )
    return bool(calls) and all(
        each in code.calls and _is_before_training(code, each, deepest - 1)
        for each in calls
    )
