"""Another model's choice is recorded, so training uses tokens the policy never sampled

Rollouts that sample from a named model (``model="gpt-4o"``) and record its choices train the
local model on tokens that it never sampled: the IDs belong to another vocabulary, and the
importance weights compare two different models.

ART's server also has the base model, under its own name: what that says is not the policy's either.

Ask ``model.get_inference_name()`` at ``model.inference_base_url``. Do not put a judge's answer
on the trajectory.

Evidence: art 0.5.18, preprocessing/tokenize.py:463-480 (a token without an ID is looked up in
the vocabulary, or becomes end-of-text); dev/openai_server.py:36-41; art 0.5.18 and 0.5.23, loss.py (the ratio of new to
sampled logprobs).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from art_adapt.code.nodes import dotted, names_in, names_set_in
from art_adapt.rules.code import Code, Put, Value, is_api_model
from art_adapt.rules.code.untrained import is_for_untrained
from art_adapt.rules.code.values import constant
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.calls.completion_calls import FoundCall

RULE = Rule("ART105", "foreign-choice", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(model="gpt-4o", messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])  # <-
    return trajectory
""",
    """\
import art
from openai import AsyncOpenAI

judge = AsyncOpenAI()

class Episode:
    def __init__(self, model: art.Model, essay: str):
        self.model = model
        self.traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": essay}])

    async def say(self, client, name):
        response = await client.chat.completions.create(model=name, messages=self.traj.messages())
        self.traj.messages_and_choices.append(response.choices[0])
        return response.choices[0].message.content

    async def run(self) -> art.Trajectory:
        await self.say(self.model.openai_client(), self.model.get_inference_name())
        self.traj.reward = float(await self.say(judge, "gpt-4.1"))  # <-
        return self.traj
""",
    """\
import art

async def rollout(model: art.Model, client, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    if model.trainable:
        said = await client.chat.completions.create(model="gpt-4o", messages=[])
        trajectory.messages_and_choices.append(said.choices[0])  # <-
    return trajectory
""",
    """\
import art
from openai import AsyncOpenAI

class Customer:
    def __init__(self, goal: str, model: str = "gpt-4.1-mini"):
        self.goal, self.model, self.client = goal, model, AsyncOpenAI()

    async def reply(self, messages):
        said = await self.client.chat.completions.create(model=self.model, messages=messages)
        return said.choices[0]

async def rollout(model: art.Model, goal: str) -> art.Trajectory:
    customer = Customer(goal)
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": "Hello?"}])
    client, name = model.openai_client(), model.get_inference_name()
    for _ in range(8):
        response = await client.chat.completions.create(model=name, messages=traj.messages())
        traj.messages_and_choices.append(response.choices[0])
        said = await customer.reply(traj.messages())
        traj.messages_and_choices.append(said)  # <-
    return traj
""",
    """\
import art
from openai import AsyncOpenAI

CLIENT = AsyncOpenAI(base_url="https://dashscope.aliyuncs.com/compatible-mode/v1", api_key="k")

async def rollout(model: art.Model, messages: list) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=messages)
    said = await CLIENT.chat.completions.create(model="qwen-max", messages=trajectory.messages())
    trajectory.messages_and_choices.append(said.choices[0])  # <-
    return trajectory
""",
    """\
import art

BUYER = art.Model(name="buyer", project="p", inference_model_name="gpt-4.1-mini")

async def speak(speaker: art.Model, view: list):
    said = await speaker.openai_client().chat.completions.create(
        model=speaker.get_inference_name(), messages=view
    )
    return said.choices[0]

async def bargain(model: art.TrainableModel, view: list) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=view)
    trajectory.messages_and_choices.append(await speak(model, view))
    trajectory.messages_and_choices.append(await speak(BUYER, view))  # <-
    return trajectory
""",
    """\
import art
from dataclasses import dataclass

@dataclass
class Settings:
    base_model: str = "Qwen/Qwen2.5-7B-Instruct"

    def request(self):
        return {"model": self.base_model, "max_tokens": 200}

async def rollout(model: art.TrainableModel, settings: Settings, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    response = await model.openai_client().chat.completions.create(
        messages=trajectory.messages(), **settings.request()
    )
    trajectory.messages_and_choices.append(response.choices[0])  # <-
    return trajectory

async def train(questions):
    settings = Settings()
    model = art.TrainableModel(name="m", project="p", base_model=settings.base_model)
    return art.TrajectoryGroup(rollout(model, settings, q) for q in questions)
""",
    """\
import art

async def rollout(model: art.TrainableModel, question, spare):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    client = model.openai_client()
    try:
        response = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
    except ValueError:
        response = await client.chat.completions.create(
            model=model.base_model, messages=trajectory.messages()
        )
    trajectory.messages_and_choices.append(response.choices[0])  # <-
    return trajectory
""",
    """\
import art
from openai import AsyncOpenAI

helper = AsyncOpenAI()

async def student(model, messages):
    said = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    return said.choices[0]

async def repaired(messages):
    said = await helper.chat.completions.create(model="gpt-4.1-mini", messages=messages)
    return said.choices[0]

async def extract(model, messages):
    match await student(model, messages):
        case choice if choice.message.content.startswith("{"):
            return choice
        case _:
            return await repaired(messages)

async def rollout(model: art.Model, text: str) -> art.Trajectory:
    messages = [{"role": "user", "content": text}]
    choice = await extract(model, messages)
    return art.Trajectory(messages_and_choices=[*messages, choice], reward=len(text))  # <-
""",
)
GOOD = (
    """\
import art
from openai import AsyncOpenAI

TEACHER = AsyncOpenAI(base_url="https://dashscope.aliyuncs.com/compatible-mode/v1", api_key="k")
ENGINE = AsyncOpenAI(base_url="http://10.0.0.7:8000/v1", api_key="k")

async def taught(messages: list) -> art.Trajectory:
    said = await TEACHER.chat.completions.create(model="qwen-max", messages=messages)
    answer = {"role": "assistant", "content": said.choices[0].message.content}
    return art.Trajectory(messages_and_choices=[*messages, answer])

async def own(messages: list) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=messages)
    said = await ENGINE.chat.completions.create(model="mine@3", messages=messages)
    trajectory.messages_and_choices.append(said.choices[0])
    return trajectory
""",
    """\
import art

async def rollout(model, client, judge, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    name = model.get_inference_name()
    response = await client.chat.completions.create(model=name, messages=messages)
    trajectory.messages_and_choices.append(response.choices[0])
    verdict = await judge.chat.completions.create(model="gpt-4o", messages=messages)
    trajectory.reward = float(verdict.choices[0].message.content)
    return trajectory
""",
    """\
import art

async def rollout(client, name, question) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    response = await client.chat.completions.create(model=name, messages=trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory

async def train(model, questions):
    client, name = model.openai_client(), model.get_inference_name()
    return art.TrajectoryGroup(rollout(client, name, q) for q in questions)

async def benchmark(client, questions):
    return [await rollout(client, "gpt-4.1", each) for each in questions]

async def either(model: art.Model, client, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    if model.trainable:
        name = model.get_inference_name()
        said = await model.openai_client().chat.completions.create(model=name, messages=[])
        trajectory.messages_and_choices.append(said.choices[0])
    else:
        said = await client.chat.completions.create(model="gpt-4o", messages=[])
        trajectory.messages_and_choices.append(said.choices[0])
    return trajectory

async def compare(model, question):
    ours = await rollout(model.openai_client(), model.get_inference_name(), question)
    theirs = await rollout(judge, "gpt-4.1", question)
    return ours.reward - theirs.reward
""",
    """\
import art
from openai import AsyncOpenAI

class Episode:
    def __init__(self, model: art.Model, essay: str):
        self.model = model
        self.traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": essay}])

    async def say(self, client, name, record=True):
        response = await client.chat.completions.create(model=name, messages=self.traj.messages())
        if record:
            self.traj.messages_and_choices.append(response.choices[0])
        return response.choices[0].message.content

    async def add(self, client, name):
        response = await client.chat.completions.create(model=name, messages=self.traj.messages())
        self.traj.messages_and_choices.append(response.choices[0])

    async def run(self) -> art.Trajectory:
        await self.say(self.model.openai_client(), self.model.get_inference_name())
        self.traj.reward = float(await self.say(AsyncOpenAI(), "gpt-4.1", record=False))
        if self.model.trainable:
            await self.add(self.model.openai_client(), self.model.get_inference_name())
        else:
            await self.add(AsyncOpenAI(), "gpt-4.1")
        return self.traj
""",
    """\
import art
from openai import AsyncOpenAI

class Policy:
    def __init__(self, model: str = "gpt-4.1-mini"):
        self.model, self.client = model, AsyncOpenAI()

    async def reply(self, messages):
        said = await self.client.chat.completions.create(model=self.model, messages=messages)
        return said.choices[0]

async def rollout(model: art.Model, goal: str) -> art.Trajectory:
    policy = Policy()
    policy.model, policy.client = model.get_inference_name(), model.openai_client()
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": goal}])
    traj.messages_and_choices.append(await policy.reply(traj.messages()))
    return traj
""",
    """\
import art

BASE = "Qwen/Qwen2.5-7B-Instruct"

async def rollout(client, name, question):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": question}])
    response = await client.chat.completions.create(model=name, messages=trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory

async def compare(client, question):
    model = art.TrainableModel(name="m", project="p", base_model=BASE)
    before = await rollout(client, BASE, question)
    after = await rollout(model.openai_client(), model.get_inference_name(), question)
    return after.reward - before.reward
""",
)


def check(code: Code) -> Iterator[Found]:
    for put in code.trajectories.puts:
        if not code.sampled.is_choice(put.value):
            continue
        if is_for_untrained(code.syntax, put.by):
            continue
        asked = _asked(code, put)
        models = {name for each in asked for name in each.names}
        name = models.pop() if len(models) == 1 else _in_some_turns(code, put, asked)
        if not is_api_model(name):
            name = _beside_the_policy(code, asked)
        if not is_api_model(name) and _is_of_base(code, asked):
            yield found(
                put.at,
                "this choice is sampled from the base model, which the server has beside the one "
                "in training: ask for get_inference_name()",
            )
        elif is_api_model(name):
            yield found(
                put.at,
                f"this choice is sampled from {name!r}, not from the model in training, "
                "which is then trained on tokens it never sampled",
            )
        elif (asking := _asking_another(code, put, asked)) is not None:
            yield found(
                asking,
                "this call records the choice of a model behind an API as a turn of the model in "
                "training, which is then trained on tokens it never sampled",
            )
        elif _is_of_another_endpoint(code, put, asked) or (
            asked
            and all(e.call and code.completions.is_at_an_api(e.call) for e in asked)
        ):
            yield found(
                put.at,
                "this choice is sampled at another endpoint than the model in training, "
                "which is then trained on tokens it never sampled",
            )


@dataclass(frozen=True)
class Asked:
    """A request that a choice may come from; no call if that is unknown."""

    source: Value | None
    call: FoundCall | None
    names: frozenset[object]  # of the model; ``...`` is any other

    @property
    def is_foreign(self) -> bool:
        return all(map(is_api_model, self.names))


def _asked(code: Code, put: Put) -> list[Asked]:
    found = []
    for source in code.sampled.sourced(put.value):
        call = None if source is None else code.completions.by_call.get(source.node)
        names: frozenset[object] = frozenset({...})
        if source is not None and call is not None:
            names = code.completions.models(call, source.place)
            if names == {...}:
                names = _of_its_object(code, put, call)
            trains = code.training.whole_loop and code.training.may_come_from(put.by)
            if names == {...} and trains:  # no other file says what this one trains on
                given = code.completions.argument(call, "model", source.place)
                names = names if given is None else given.constants
        found.append(Asked(source, call, names))
    return found


def _of_its_object(code: Code, put: Put, call: FoundCall) -> frozenset[object]:
    """Return the model's name that an object keeps which the recording function has made.

    That is the default of ``Customer(goal, model="gpt-4.1-mini")`` for ``Customer(goal)``.
    """
    given = code.completions.argument(call, "model")
    owner = code.function_of(call.callee)
    if given is None or owner is None or owner.class_name is None:
        return frozenset({...})
    kept = [e.node.attr for e in given.written if isinstance(e.node, ast.Attribute)]
    keeps = len(kept) == len(given.written) and not any(
        isinstance(node, ast.Attribute)
        and node.attr in kept
        and isinstance(node.ctx, ast.Store)
        and code.syntax.owner(node) != f"{owner.class_name}.__init__"
        for node in code.syntax.nodes
    )
    made = [
        each
        for each in code.calls
        if isinstance(each.func, ast.Name) and each.func.id == owner.class_name
    ]
    function = code.syntax.owner(put.by)
    is_own = bool(made) and all(code.syntax.owner(each) == function for each in made)
    return given.constants if keeps and is_own else frozenset({...})


def _is_of_base(code: Code, asked: list[Asked]) -> bool:
    """Return whether all requests, or that of a handler, name the model that training began with."""
    bases = {
        value
        for call in code.art_calls("TrainableModel")
        if (given := code.contents.given(call, "base_model")) is not None
        for value in code.values(given)
    }
    named = {each for each in map(constant, bases) if isinstance(each, str)}
    of_base = []
    for each in asked:
        place = None if each.source is None else each.source.place
        asks = each.call and code.completions.argument(each.call, "model", place)
        values = asks.values if asks else ()
        if values and all(
            value in bases or constant(value) in named or _reads_base(code, value)
            for value in values
        ):
            of_base.append(each)
    return bool(of_base) and (
        len(of_base) == len(asked)
        or any(
            each.source is not None
            and other.source is not None
            and _is_instead(code, *each.source.parting(other.source))
            for each in of_base
            for other in asked
            if other not in of_base
        )
    )


def _reads_base(code: Code, value: Value) -> bool:
    """Return whether it is ``model.base_model`` of a model of ART."""
    node = value.node
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "base_model"
        and code.models.is_one(value.of(node.value))
    )


def _asking_another(code: Code, put: Put, asked: list[Asked]) -> ast.Call | None:
    """Return the call of a recording method that names a model of an API, where others do not.

    Both are calls of one episode: ``self.say(judge, "gpt-4.1")`` after ``self.say(policy, name)``.
    They put it on a trajectory that the method is given or keeps, whatever its other arguments.
    """
    method = code.function_of(put.by)
    if method is None or put.trajectory is None:
        return None
    kept = dotted(put.trajectory) or ""
    if kept.partition(".")[0] not in method.parameters or any(
        isinstance(outer, ast.If) and not names_in(outer.test).isdisjoint(method.given)
        for outer in code.syntax.ancestors(put.by)
    ):
        return None
    calls = code.callers(put.by)
    for each in asked:
        if (
            each.call is None
            or each.source is None
            or each.source.place.frame is not None
        ):
            continue
        foreign, others = [], []
        for call in calls:
            body = code.entered(call)
            names = code.completions.models(each.call, body.place) if body else {...}
            if names and all(map(is_api_model, names)):
                foreign.append(call)
            else:
                others.append(call)
        for call in foreign:
            if any(
                code.syntax.owner(call) == code.syntax.owner(other)
                and not code.blocks.exclude(call, other)
                and not code.blocks.exclude(other, call)
                for other in others
            ):
                return call
    return None


def _in_some_turns(code: Code, put: Put, asked: list[Asked]) -> object:
    """Return the name of a model of an API that is asked in some turns of an episode.

    Its name is chosen in the loop of the turns. One that is chosen before is another run,
    such as a benchmark.
    """
    loop = code.syntax.enclosing_loop(put.by)
    made = put.trajectory
    if loop is None or made is None:
        return None
    if any(code.blocks.within(value.node, loop) for value in code.values(made)):
        return None  # each turn has a trajectory of its own
    for each in asked:
        given = code.completions.argument(each.call, "model") if each.call else None
        if given is None:
            continue
        chosen = any(
            _is_chosen_by_turn(code, definition.node, loop)
            for written in given.written
            for definition in code.flow.definitions(written)
        )
        for value in given.values:
            name = code.constant(value)
            if is_api_model(name) and (chosen or code.blocks.within(value.node, loop)):
                return name
    return None


def _is_chosen_by_turn(code: Code, definition: ast.AST, loop: ast.AST) -> bool:
    """Return whether a definition depends on what the loop of the turns changes."""
    if not code.blocks.within(definition, loop):
        return False
    changing = names_set_in(loop)
    around = (definition, *code.syntax.ancestors(definition))
    tests = [n.test for n in ast.walk(definition) if isinstance(n, ast.IfExp)]
    tests += [
        outer.test
        for outer in around
        if isinstance(outer, ast.If) and code.blocks.within(outer, loop)
    ]
    asked = {name for test in tests for name in names_in(test)}
    return not asked.isdisjoint(changing - names_set_in(definition))


def _beside_the_policy(code: Code, asked: list[Asked]) -> object:
    """Return the name of a model of an API that is asked after the policy, or if that fails."""
    for each in asked:
        for other in asked:
            if not each.is_foreign or other.is_foreign:
                continue
            if each.source is None or other.source is None or other.call is None:
                continue
            one, before = each.source.parting(other.source)
            if not code.syntax.has(one) or not code.syntax.has(before):
                continue
            if code.sampled.is_for_another_model(one):
                continue
            if _is_instead(code, one, before) or (
                code.syntax.owner(one) == code.syntax.owner(before)
                and before.lineno < one.lineno
                and not code.blocks.exclude(before, one)
            ):
                return next(iter(each.names))
    return None


def _is_instead(code: Code, node: ast.expr, tried: ast.expr) -> bool:
    """Return whether a handler evaluates something where another expression has failed."""
    inner: ast.AST = node
    for outer in code.syntax.ancestors(node):
        if isinstance(outer, ast.Try) and isinstance(inner, ast.ExceptHandler):
            return any(code.blocks.within(tried, each) for each in outer.body)
        inner = outer
    return False


def _is_of_another_endpoint(code: Code, put: Put, asked: list[Asked]) -> bool:
    """Return whether a choice comes from a client of its own, and others on it from ART's."""
    if not asked or not all(
        each.call is not None
        and each.source is not None
        and code.completions.is_elsewhere(each.call, each.source.place)
        for each in asked
    ):
        return False
    return any(
        each.call is not None and code.completions.is_arts(each.call)
        for other in code.trajectories.puts
        if other is not put and _are_on_one(code, put, other)
        for each in _asked(code, other)
    )


def _are_on_one(code: Code, one: Put, other: Put) -> bool:
    """Return whether two values certainly are put on the same trajectory."""
    if one.by is other.by:
        return True
    if one.trajectory is None or other.trajectory is None:
        return False
    return (
        dotted(one.trajectory) is not None
        and dotted(one.trajectory) == dotted(other.trajectory)
        and code.syntax.owner(one.by) == code.syntax.owner(other.by)
    )
