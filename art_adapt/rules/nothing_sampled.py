"""Nothing sampled is put on a trajectory, so it is not trained but shifts its group's mean

ART trains on ``Choice`` objects only. A trajectory that has none (the prompt alone, turns that a
person or a script wrote, turns from a log or a file) is dropped without a warning; its reward still shifts
the mean that the others are compared with. If all are like that, every step trains nothing.

A ``Choice`` that was dumped to JSON and read back is a dict as well: write and read groups with
``Choice.model_dump`` and ``Choice.model_validate``.

The constructor copies the list that it is given: what is appended to that list later is not on
the trajectory.

Ask the model in training in the rollout, and append ``response.choices[0]``. To learn from turns
that are written already, use ``backend.train_sft``.

Evidence: art 0.5.18, preprocessing/tokenize.py:247-250 and 345-346; art 0.5.23,
preprocessing/tokenize.py:762-772.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    argument_of,
    arguments_of,
    called_name,
    dotted,
    given_to,
    last_name,
    targets_of,
)
from art_adapt.rules.code import Code, Put
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import LEAVES_TRAJECTORY

RULE = Rule("ART211", "nothing-sampled", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(model: art.Model, board):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "system", "content": "Play."}], reward=0)  # <-
    client = model.openai_client()
    while not board.is_over():
        trajectory.messages_and_choices.append({"role": "user", "content": f"Board: {board}"})
        reply = await client.chat.completions.create(
            model=model.get_inference_name(), messages=trajectory.messages()
        )
        board.move(reply.choices[0].message.content)
    trajectory.reward = board.score()
    trajectory.metrics["moves"] = board.moves
    return trajectory
""",
    """\
import art

async def rollout(client, model, question):
    prompt = [{"role": "user", "content": question}]
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=prompt
    )
    reward = rate(response.choices[0].message.content)
    return art.Trajectory(messages_and_choices=prompt, reward=reward)  # <-
""",
    """\
import art

def from_log(row):
    turns = [{"role": turn["who"], "content": turn["text"]} for turn in row["turns"]]
    return art.Trajectory(messages_and_choices=turns, reward=row["stars"])  # <-

async def train(model, backend, rows):
    groups = [art.TrajectoryGroup([from_log(row) for row in rows])]
    await backend.train(model, groups)
""",
    """\
import art, json
from pathlib import Path

def load_groups(path):
    groups = []
    for line in Path(path).read_text().splitlines():
        record = json.loads(line)
        trajectories = [
            art.Trajectory(  # <-
                messages_and_choices=t.get("messages_and_choices", []),
                reward=t.get("reward", 0.0),
            )
            for t in record["trajectories"]
        ]
        groups.append(art.TrajectoryGroup(trajectories))
    return groups

async def train(model, backend, path):
    await backend.train(model, load_groups(path))
""",
    """\
import art, json

def from_dict(d):
    return art.Trajectory(  # <-
        messages_and_choices=list(d["items"]), reward=float(d["reward"])
    )

def read_groups(file):
    return [
        art.TrajectoryGroup([from_dict(each) for each in json.loads(line)["trajectories"]])
        for line in file
    ]

async def train(model, backend, file):
    await backend.train(model, read_groups(file))
""",
)
GOOD = (
    """\
import art

async def caption(gateway, item):
    messages = [{"role": "user", "content": item["text"]}]
    text = await gateway.chat(messages)
    said = {"role": "assistant", "content": text}
    return art.Trajectory(messages_and_choices=[*messages, said], reward=len(text) < 125)

async def learn(model, backend, gateway, item):
    group = art.TrajectoryGroup([await caption(gateway, item) for _ in range(6)])
    await backend.train(model, [group], allow_training_without_logprobs=True)
""",
    """\
import art

async def rollout(client, model, question):
    prompt = [{"role": "user", "content": question}]
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=prompt
    )
    return art.Trajectory(
        messages_and_choices=[*prompt, response.choices[0]], reward=rate(response)
    )
""",
    """\
import art

def from_log(row):
    turns = [{"role": turn["who"], "content": turn["text"]} for turn in row["turns"]]
    return art.Trajectory(messages_and_choices=turns)

async def teach(model, backend, rows):
    await backend.train_sft(model, [from_log(row) for row in rows])
""",
    """\
import art

def item(each):
    return Choice.model_validate(each) if "finish_reason" in each else each

def load(line):
    record = json.loads(line)
    return art.TrajectoryGroup(
        art.Trajectory(messages_and_choices=[item(e) for e in t["items"]], reward=t["reward"])
        for t in record["trajectories"]
    )

def examples(line):
    record = json.loads(line)
    return art.Trajectory(messages_and_choices=record["messages"])

async def rollout(agent, scenario):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario}])
    await agent.run(scenario, trajectory)
    return trajectory
""",
)


READS_JSON = ("json.loads", "json.load", "orjson.loads")
# What takes out of it, and leaves all that is in a message as it is.
PLAIN = frozenset(
    {"get", "list", "loads", "load", "open", "Path", "read_text", "splitlines", "strip"}
    | {"read", "readlines", "split", "enumerate", "islice", "items", "values"}
)
# What fills trajectories out of sight.
FILLING = re.compile(
    r"\b(train_sft|wrap_rollout|additional_histories|exchanges|no_capture"
    r"|(capture_)?(auto|yield|yielded)_trajectory)\b"
)
# What a trajectory has, and what of it leaves its messages alone.
OWN = (
    "reward",
    "metrics",
    "metadata",
    "logs",
    "tools",
    "messages_and_choices",
    "messages",
    "finish",
)


def check(code: Code) -> Iterator[Found]:
    if "allow_training_without_logprobs" in code.source.text:
        return  # then ART trains messages of the assistant as well (tokenize.py)
    yield from _read_from_json(code)
    if FILLING.search(code.source.text):
        return
    if code.trajectories.is_hidden:
        return
    late = list(_put_too_late(code))
    if late:
        yield found(
            late[0].at,
            "the trajectory was made before this and has a copy of the list, so it does not "
            "get this; append to trajectory.messages_and_choices",
        )
        return
    if any(not _is_message(code, put) for put in code.trajectories.puts):
        return
    trains = any(code.training.calls)
    for call in code.trajectories.new:
        if _is_handed_on(code, call) or not _is_seen(code, call):
            continue
        owner = code.syntax.owner(call)
        asks = owner in code.completions.asking or _takes_model(code, owner)
        if (asks or trains) and not _has_sampled_text(code, call):
            yield found(
                call,
                "nothing that the model in training has sampled is on this trajectory, so it "
                "is not trained; append response.choices[0]",
            )


def _read_from_json(code: Code) -> Iterator[Found]:
    """Yield the trajectories of groups that have nothing but what JSON holds."""
    trains = code.training.calls
    if not trains:
        return
    grouped = {
        node
        for call in code.art_calls("TrajectoryGroup")
        for node in made_from(code.syntax, code.syntax.owner(call), given_to(call))
    }
    for call in code.trajectories.new if grouped else ():
        given = code.contents.given(call, "messages_and_choices")
        in_group = call in grouped or not grouped.isdisjoint(code.callers(call))
        if in_group and given is not None and _is_of_json(code, given):
            yield found(
                call,
                "these messages are read from JSON, which holds no Choice: nothing of them is "
                "trained; make the choices again with Choice.model_validate",
            )


def _is_of_json(code: Code, given: ast.expr, deepest: int = 2) -> bool:
    """Return whether a value is what JSON holds, as it was read: ``record["messages"]``.

    So is what all calls of a function give it.
    """
    owner = code.syntax.owner(given)
    parts = made_from(code.syntax, owner, [given])
    calls = [node for node in parts if isinstance(node, ast.Call)]
    read = [call for call in calls if code.syntax.qualified(call.func) in READS_JSON]
    if not all(called_name(call) in PLAIN for call in calls if call not in read):
        return False
    if read:
        return True
    function = code.function_of(given)
    parameters = function.given if function is not None else ()
    names = {node.id for node in ast.walk(given) if isinstance(node, ast.Name)}
    taken = [name for name in parameters if name in names]
    sites = code.callers(given) if taken and deepest else []
    return bool(sites) and all(
        (told := argument_of(site, taken[0], parameters)) is not None
        and _is_of_json(code, told, deepest - 1)
        for site in sites
    )


def _put_too_late(code: Code) -> Iterator[Put]:
    """Yield the choices that are only added to a list which the trajectory has copied."""
    recorded = {
        call
        for put in code.trajectories.puts
        if not _is_message(code, put)
        for call in code.sampled.sources(put.value)
    }
    for put in code.trajectories.late:
        if code.sampled.is_choice(put.value) and recorded.isdisjoint(
            code.sampled.sources(put.value)
        ):
            yield put


def _takes_model(code: Code, function: str) -> bool:
    """Return whether a function has a model of ART for a parameter."""
    known = code.syntax.functions.get(function)
    return known is not None and any(
        (code.art_name(each.annotation) or "").endswith("TrainableModel")
        for each in arguments_of(known.node)
        if each.annotation is not None
    )


def _is_message(code: Code, put: Put) -> bool:
    """Return whether it certainly is a dict that somebody wrote."""
    return all(isinstance(value.node, ast.Dict) for value in code.values(put.value))


def _is_seen(code: Code, call: ast.Call) -> bool:
    """Return whether all that a trajectory is made with can be seen."""
    given = code.contents.given(call, "messages_and_choices")
    if code.contents.may_give(call, "messages_and_choices") or call.args:
        return False
    if given is None:
        return any(
            code.syntax.owner(put.by) == code.syntax.owner(call)
            for put in code.trajectories.puts
        )
    return not any(
        isinstance(value.node, ast.Starred) for value in code.contents.elements(given)
    )


def _is_handed_on(code: Code, call: ast.Call) -> bool:
    """Return whether a function gets the trajectory that may put something on it."""
    parent = code.syntax.parents.get(call)
    if isinstance(parent, ast.Return):
        made = map(code.syntax.parents.get, code.callers(call))
        return any(isinstance(each, ast.Assign) for each in made)
    if isinstance(parent, ast.List | ast.ListComp | ast.GeneratorExp):
        return False
    name = next(map(dotted, targets_of(parent)), None)
    return name is None or any(_hands_on(code, each) for each in code.reads(name, call))


def _hands_on(code: Code, name: ast.Name) -> bool:
    """Return whether a use of a trajectory may put something on it."""
    parent = code.syntax.parents[name]
    if isinstance(parent, ast.Attribute):
        return parent.attr not in OWN
    if isinstance(parent, ast.Call):
        last = last_name(parent.func)
        return code.art_name(parent.func) is None and last not in LEAVES_TRAJECTORY
    return not isinstance(parent, ast.Return)


def _has_sampled_text(code: Code, call: ast.Call) -> bool:
    """Return whether a message on it has the model's text: that is another mistake."""
    return any(
        code.sampled.behind(code.flow.here(value.node))
        for put in code.trajectories.puts
        if put.by is call or code.syntax.owner(put.by) == code.syntax.owner(call)
        for value in [put.value]
        if code.has(put.value)
    )
