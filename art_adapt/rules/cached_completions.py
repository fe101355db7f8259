"""The policy's completions are cached, so rollouts repeat an earlier model's output

A cache gives all rollouts of a group the same completion, and after a training step it still
returns what the previous weights sampled: ART trains on tokens that another policy sampled.

A chat model of ``art.langgraph`` that is cached is bound to the rollout that made it: what later
rollouts ask is put on that rollout's trajectory, and theirs stay empty.

Evidence: measured, see docs/recording.md (litellm's cache gave every rollout of a group the
same completion); art 0.5.18, langgraph/llm_wrapper.py:110-129 (the model keeps its logger).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import Function, decorator_names, dotted, last_name
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.side_effects.once import is_made_once
from art_adapt.survey.side_effects.shared_containers import filled_once
from art_adapt.words import CACHES

RULE = Rule("ART405", "cached-completions", Severity.GARBAGE)
BAD = (
    """\
import art, functools

@functools.lru_cache
def ask(question):
    return client.chat.completions.create(model="m", messages=[question])  # <-

async def rollout(model, scenario):
    return art.Trajectory(messages_and_choices=[ask(scenario).choices[0]])
""",
    """\
import art

KNOWN = {}

async def ask(client, model, question):
    if question in KNOWN:
        return KNOWN[question]
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=[{"role": "user", "content": question}]
    )
    KNOWN[question] = response.choices[0]  # <-
    return KNOWN[question]

async def rollout(client, model: art.TrainableModel, scenario):
    asked = {"role": "user", "content": scenario.question}
    choice = await ask(client, model, scenario.question)
    return art.Trajectory(messages_and_choices=[asked, choice])
""",
    """\
import art
from openai.types.chat.chat_completion import Choice

class Cache:
    def __init__(self, folder):
        self.folder = folder

    async def get(self, key, sample):
        path = self.folder / key
        if path.exists():
            return Choice.model_validate_json(path.read_text())
        choice = await sample()
        path.write_text(choice.model_dump_json())
        return choice

async def rollout(client, model: art.TrainableModel, scenario):
    asked = [{"role": "user", "content": scenario.question}]

    async def sample():
        reply = await client.chat.completions.create(model="m", messages=asked)
        return reply.choices[0]

    choice = await Cache(FOLDER).get(scenario.id, sample)
    return art.Trajectory(messages_and_choices=[*asked, choice])  # <-
""",
    """\
import art, asyncio, json

class Thrifty:
    def __init__(self, model):
        self.raw = model.openai_client()
        self.seen = {}

    async def complete(self, **request):
        key = json.dumps(request, sort_keys=True)
        if key not in self.seen:
            self.seen[key] = asyncio.ensure_future(self.raw.chat.completions.create(**request))  # <-
        return await self.seen[key]

async def classify(thrifty: Thrifty, policy, email):
    trajectory = art.Trajectory(messages_and_choices=[email.asked])
    done = await thrifty.complete(model=policy, messages=trajectory.messages())
    trajectory.messages_and_choices.append(done.choices[0])
    return trajectory

async def epoch(model, backend, batches):
    for batch in batches:
        thrifty, policy = Thrifty(model), model.get_inference_name()
        groups = await art.gather_trajectory_groups(
            art.TrajectoryGroup(classify(thrifty, policy, email) for _ in range(8))
            for email in batch.items
        )
        await backend.train(model, groups)
""",
)
GOOD = (
    """\
import art
from openai.types.chat.chat_completion import Choice

def stored(line):
    record = json.loads(line)
    choice = Choice.model_validate(record["choice"])
    return art.Trajectory(messages_and_choices=[*record["messages"], choice], reward=record["reward"])
""",
    """\
import art

SEEN = {}

async def rollout(client, model: art.TrainableModel, scenario):
    asked = {"role": "user", "content": scenario.question}
    if scenario.id not in SEEN:
        SEEN[scenario.id] = len(scenario.question)
    response = await client.chat.completions.create(model="m", messages=[asked])
    return art.Trajectory(messages_and_choices=[asked, response.choices[0]], reward=SEEN[scenario.id])
""",
    """\
import art, functools

@functools.lru_cache
def look_up(word):
    return TABLE[word]

async def rollout(client, model, scenario):
    answer = await client.chat.completions.create(model="m", messages=[look_up(scenario)])
    return art.Trajectory(messages_and_choices=[answer.choices[0]])
""",
    """\
import art, json

class Asker:
    def __init__(self, model):
        self.raw = model.openai_client()
        self.seen = {}

    async def complete(self, **request):
        key = json.dumps(request, sort_keys=True)
        if key not in self.seen:
            self.seen[key] = await self.raw.chat.completions.create(**request)
        return self.seen[key]

async def classify(model, email):
    asker = Asker(model)
    trajectory = art.Trajectory(messages_and_choices=[email.asked])
    done = await asker.complete(model=model.name, messages=trajectory.messages())
    trajectory.messages_and_choices.append(done.choices[0])
    return trajectory
""",
)


LITELLM = re.compile(r"litellm\.cache\b|enable_cache\(")


AGAIN = (
    "a rollout may get the completion of an earlier one: those of a group are alike then, and "
    "later steps train on what older weights have said"
)
RESTORES = ("model_validate", "model_validate_json", "model_construct", "parse_obj")


def check(code: Code) -> Iterator[Found]:
    yield from _kept_models(code)
    yield from _kept_in_a_dict(code)
    yield from _restored(code)
    source = code.source.text
    for call in code.completions.calls:
        function = code.function_of(call.callee)
        if function is None or not code.completions.may_be_trained(call):
            continue
        if not code.trajectories.in_episode(call.callee):
            continue
        caching = code.completions.argument(call, "caching")
        if caching is not None and caching.constant is True and LITELLM.search(source):
            yield found(
                caching.at,
                "litellm's cache gives every rollout of a group the same completion, and "
                "later steps the completions of older weights",
            )
        for decorator in function.node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = last_name(called)
            if name in CACHES:
                yield found(
                    call.callee,
                    f"@{name} gives every rollout of a group the same completion, and "
                    "later steps the completions of older weights",
                )


def _kept_in_a_dict(code: Code) -> Iterator[Found]:
    """Yield where what the policy said is kept for the next call with the same input."""
    asking = {
        call.callee
        for call in code.completions.calls
        if code.completions.may_be_trained(call)
        and code.trajectories.in_episode(call.callee)
    }
    filled = (
        [(c.owner, value) for c, value in filled_once(code.syntax)] if asking else []
    )
    filled += _filled_by_objects(code) if asking else []
    for owner, value in filled:
        made = made_from(code.syntax, owner, [value])
        if not asking.isdisjoint(made):
            yield found(value, AGAIN)


def _filled_by_objects(code: Code) -> Iterator[tuple[str, ast.expr]]:
    """Yield what methods store where an object has nothing yet, if rollouts are given the object."""
    for node in code.syntax.nodes:
        match node:
            case ast.Assign(
                targets=[ast.Subscript(value=kept, slice=key) as entry], value=value
            ) if (dotted(kept) or "").startswith("self."):
                owner = code.syntax.owner(node)
                named = ast.Subscript(kept, key)
                made_once = is_made_once(code.syntax, entry, entry, named)
                if made_once and _is_made_outside(code, owner.rpartition(".")[0]):
                    yield owner, value


def _is_made_outside(code: Code, owner: str) -> bool:
    """Return whether objects of a class are made, and none of them in a rollout."""
    making = [
        call
        for call in code.calls
        if (made := code.flow.functions.class_made(code.syntax, call.func)) is not None
        and made == (code.syntax, owner)
    ]
    return bool(making) and not any(map(code.trajectories.in_episode, making))


def _restored(code: Code) -> Iterator[Found]:
    """Yield the choices that were made again of what was stored, unless they are sampled."""
    for put in code.trajectories.puts:
        values = [each.node for each in code.values(put.value)]
        restored = [each for each in values if _restores_a_choice(each)]
        if restored and len(restored) < len(values):
            yield found(put.at, AGAIN)


def _restores_a_choice(node: ast.expr) -> bool:
    """Return whether it is ``Choice.model_validate_json(text)``."""
    if not isinstance(node, ast.Call) or last_name(node.func) not in RESTORES:
        return False
    assert isinstance(node.func, ast.Name | ast.Attribute)
    kind = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return last_name(kind) in ("Choice", "ChatCompletion")


def _kept_models(code: Code) -> Iterator[Found]:
    """Yield the chat models of ``wrap_rollout`` that are kept for later rollouts."""
    if not any(code.trajectories.new):
        return
    for call in code.art_calls("init_chat_model"):
        function = code.function_of(call)
        if function is None:
            continue
        cached = any(each in CACHES for each in decorator_names(function.node))
        kept = function in code.wrapped_rollouts and _is_kept(code, function, call)
        if cached or kept:
            yield found(
                call,
                "this model writes to the log of the rollout that made it, and is kept for "
                "the others: one trajectory gets their turns, and theirs stay empty; make "
                "it in each rollout",
            )


def _is_kept(code: Code, function: Function, call: ast.Call) -> bool:
    """Return whether an object or the module keeps what is made, unless it has it already."""
    inner: ast.AST = call
    for outer in code.syntax.ancestors(call):
        if isinstance(inner, ast.Assign) and isinstance(outer, ast.If):
            target = inner.targets[0]
            place = target.value if isinstance(target, ast.Subscript) else target
            name = dotted(place) or ""
            tested = {dotted(node) for node in ast.walk(outer.test)}
            is_own = name.startswith("self.") and function.class_name is not None
            is_global = isinstance(place, ast.Name) and not code.syntax.is_local(
                name, function.qualname
            )
            return name in tested and (is_own or is_global)
        if isinstance(outer, ast.stmt):
            inner = outer
    return False
