"""A verdict is made up where the judge failed, so the policy is trained on its outage

If the judge times out, or answers something that cannot be parsed, and a handler gives a score
in its place, the policy is rewarded or punished for what nobody has judged. Beside rewards that
were judged, the made-up ones move the mean of the group.

Let the error propagate: the group goes on without the episode (``max_exceptions``). Retry the
judge with ``art.retry`` or tenacity.

Evidence: art 0.5.18, preprocessing/tokenize.py:247-250; art 0.5.23,
preprocessing/tokenize.py:762-772 (the mean is over all trajectories).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import (
    Function,
    argument_of,
    assignment,
    dotted,
    given_to,
    keyword,
    last_name,
    names_in,
    names_set_in,
    targets_of,
)
from art_adapt.rules.code import Code, below
from art_adapt.rules.code.blocks import LEAVING
from art_adapt.rules.code.handlers import BROAD, NOT_ITS_DOING, Handler, handlers
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import JUDGES, VERDICT

RULE = Rule("ART313", "made-up-verdict", Severity.GARBAGE)
BAD = (
    """\
import art, json

async def judge(client, answer):
    response = await client.chat.completions.create(
        model="gpt-4.1", messages=[{"role": "user", "content": f"Grade: {answer}"}]
    )
    try:
        return float(json.loads(response.choices[0].message.content)["score"])
    except Exception:  # <-
        return 0.5

async def rollout(client, judge_client, model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    trajectory.reward = await judge(judge_client, response.choices[0].message.content)
    return trajectory
""",
    """\
import art

async def score_group(judge, group):
    try:
        for trajectory, score in zip(group.trajectories, await judge(group)):
            trajectory.reward = score
    except Exception as error:  # <-
        for trajectory in group.trajectories:
            trajectory.reward = 0.0
    return group
""",
    """\
import art, json

async def judged(client, answers):
    response = await client.chat.completions.create(
        model="gpt-4.1", messages=[{"role": "user", "content": f"Grade: {answers}"}]
    )
    try:
        scores = json.loads(response.choices[0].message.content)["scores"]
    except Exception:  # <-
        scores = [1.0 - at / len(answers) for at in range(len(answers))]
    return scores

async def score(client, group):
    for trajectory, points in zip(group.trajectories, await judged(client, group.trajectories)):
        trajectory.reward = points
""",
    """\
import art, httpx

async def evaluate(client: httpx.AsyncClient, answer):
    try:
        response = await client.post("/verify", json={"answer": answer})
        response.raise_for_status()
        return response.json()
    except Exception as error:  # <-
        return {"score": 0.0, "summary": f"Evaluation error: {error}", "hallucinated": False}

async def rollout(client, model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    trajectory.reward = (await evaluate(client, await play(model, trajectory)))["score"]
    return trajectory
""",
    """\
import art, json, re
from .llm import get_judge_completion

def scores_of(text: str) -> dict:
    try:
        return json.loads(text)
    except Exception:  # <-
        return {}

async def rollout(client, model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    verdict = await get_judge_completion(f"Grade: {response.choices[0].message.content}")
    scores = scores_of(verdict)
    trajectory.reward = 0.6 * float(scores.get("style", 0.0)) + 0.4 * float(scores.get("facts", 0))
    return trajectory
""",
    """\
import art
from openai import AsyncOpenAI
from pydantic import BaseModel

class Verdict(BaseModel):
    reasoning: str
    score: float = 1.0

class Grader:
    def __init__(self):
        self.client = AsyncOpenAI()

    async def __call__(self, question, answer):
        try:
            response = await self.client.chat.completions.parse(
                model="gpt-5.4-mini",
                messages=[{"role": "user", "content": f"Grade: {question} {answer}"}],
                response_format=Verdict,
            )
            parsed = response.choices[0].message.parsed
            if parsed is not None:
                return parsed
        except Exception as error:  # <-
            print("grader", error)
        return Verdict(reasoning="not graded")

async def rollout(client, model, item, grader: Grader):
    trajectory = art.Trajectory(messages_and_choices=[item.asked])
    done = await client.chat.completions.create(model=model.name, messages=trajectory.messages())
    trajectory.messages_and_choices.append(done.choices[0])
    verdict = await grader(item.question, done.choices[0].message.content)
    trajectory.reward = verdict.score
    return trajectory
""",
)
GOOD = (
    """\
import art, json

async def judged(client, answers):
    response = await client.chat.completions.create(
        model="gpt-4.1", messages=[{"role": "user", "content": f"Grade: {answers}"}]
    )
    text = response.choices[0].message.content
    try:
        scores = json.loads(text)["scores"]
    except Exception:
        scores = [float(each) for each in text.split(",")]
    return scores

async def score(client, group):
    for trajectory, points in zip(group.trajectories, await judged(client, group.trajectories)):
        trajectory.reward = points
""",
    BAD[0].replace("  # <-", "").replace("        return 0.5", "        raise"),
    """\
import art, json

async def rollout(client, model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    try:
        score = json.loads(response.choices[0].message.content)["confidence"]
    except (ValueError, KeyError):  # the policy's own mistake
        score = 0.0
    trajectory.reward = score
    return trajectory
""",
    """\
import art, json, litellm

async def complete(model, messages):
    return await litellm.acompletion(messages=messages, **model.litellm_completion_params())

async def rollout(model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    response = await complete(model, trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])
    try:
        plan = json.loads(response.choices[0].message.content)
        trajectory.reward = len(plan["days"]) / 7
    except (ValueError, KeyError):  # the policy's own mistake
        trajectory.reward = -0.2
    return trajectory
""",
    """\
import art, json

def parsed(text: str) -> dict:
    try:
        return json.loads(text)
    except Exception:  # the policy's own mistake
        return {}

async def rollout(client, model, scenario):
    trajectory = art.Trajectory(messages_and_choices=[scenario])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    answer = parsed(response.choices[0].message.content)
    trajectory.reward = float(answer.get("confidence", 0.0))
    return trajectory
""",
    BAD[0]
    .replace("  # <-", "")
    .replace("trajectory.reward = await", "score = await")
    .replace(
        "    return traj", '    trajectory.metrics["score"] = score\n    return traj'
    ),
    """\
import art
from openai import AsyncOpenAI
from pydantic import BaseModel

class Verdict(BaseModel):
    reasoning: str
    score: float | None = None

judge = AsyncOpenAI()

async def grade(question, answer):
    try:
        response = await judge.chat.completions.parse(
            model="gpt-5.4-mini",
            messages=[{"role": "user", "content": f"Grade: {question} {answer}"}],
            response_format=Verdict,
        )
        return response.choices[0].message.parsed
    except Exception as error:
        print("grader", error)
    return Verdict(reasoning="not graded")

async def rollout(client, model, item):
    trajectory = art.Trajectory(messages_and_choices=[item.asked])
    done = await client.chat.completions.create(model=model.name, messages=trajectory.messages())
    trajectory.messages_and_choices.append(done.choices[0])
    verdict = await grade(item.question, done.choices[0].message.content)
    if verdict.score is None:
        raise RuntimeError("no verdict")
    trajectory.reward = verdict.score
    return trajectory
""",
)
# What a verdict that cannot be read raises.
PARSING = frozenset(["ValueError", "KeyError", "JSONDecodeError", "ValidationError"])


def check(code: Code) -> Iterator[Found]:
    if code.only_evaluates:
        return
    said: list[ast.AST] = []
    for handler in handlers(code.syntax):
        if any(code.blocks.within(handler.node, outer) for outer in said):
            continue
        function = code.function_of(handler.statement)
        if (
            function is not None
            and handler.names & (NOT_ITS_DOING | PARSING)
            and not any(isinstance(node, ast.Raise) for node in below(handler.body))
            and (
                (
                    _asks_a_judge(code, function, handler)
                    and _gives_a_score(code, handler)
                    and not _is_a_metric(code, function)
                )
                or _rewards_a_group(code, function, handler)
            )
        ):
            said.append(handler.node)
            yield found(
                handler.node,
                "a failing judge becomes a score that the policy is trained on; let it "
                "raise, and the group goes on without this episode",
            )


def _asks_a_judge(code: Code, function: Function, handler: Handler) -> bool:
    """Return whether what is tried depends on another model's answer, and on the policy's only through it."""
    tried = list(below(handler.tried))
    named = JUDGES.search(function.node.name) is not None
    if named and any(map(_requests, tried)):
        return True
    left: list[tuple[str, ast.AST]] = [(function.qualname, n) for n in handler.tried]
    seen, asked = set[tuple[str, str]](), False
    while left:
        owner, node = left.pop()
        if code.completions.asks_another(node) or _is_anothers(code, node):
            asked = True
            continue  # the policy's answer may be what it is asked about
        if code.completions.asks(node):
            return False
        if isinstance(node, ast.Name) and (owner, node.id) not in seen:
            seen.add((owner, node.id))
            left += ((owner, each) for each in code.syntax.origins(owner, node.id))
            left += _given_by_callers(code, owner, node)
        left += ((owner, each) for each in ast.iter_child_nodes(node))
    return asked


def _given_by_callers(
    code: Code, owner: str, name: ast.Name
) -> Iterator[tuple[str, ast.AST]]:
    """Yield what the callers of a function give it for a parameter, with who they are."""
    function = code.syntax.functions.get(owner)
    if function is None or name.id not in function.given:
        return
    for call in code.callers(name):
        told = argument_of(call, name.id, function.given)
        if told is not None:
            yield code.syntax.owner(call), told


def _is_anothers(code: Code, node: ast.AST) -> bool:
    """Return whether it awaits a judge that another module has: ``judge_completion(prompt)``."""
    call = node.value if isinstance(node, ast.Await) else None
    return (
        isinstance(call, ast.Call)
        and "judge" in last_name(call.func).lower()
        and code.entered(call) is None
    )


def _is_a_metric(code: Code, function: Function) -> bool:
    """Return whether all that a function returns in this file is kept as a metric only."""
    calls = code.flow.functions.calls_of(code.syntax, function)
    used: list[ast.AST] = []
    for call in calls:
        statement = _statement(code, call)
        named = statement.targets[0] if isinstance(statement, ast.Assign) else None
        reads = code.reads(named.id, call) if isinstance(named, ast.Name) else []
        used += [_statement(code, each) for each in reads] or [statement]
    kept = [
        target
        for each in used
        if isinstance(each, ast.Assign)
        for target in each.targets
    ]
    read = (
        node
        for node in code.syntax.nodes
        if isinstance(node, ast.Attribute)
        and node.attr == "metrics"
        and code.syntax.parents.get(node) not in kept
    )
    return (
        bool(used)
        and all(isinstance(each, ast.Assign) for each in used)
        and all(".metrics[" in ast.unparse(target) for target in kept)
        and not any(read)
    )


def _statement(code: Code, node: ast.AST) -> ast.AST:
    return next(e for e in code.syntax.ancestors(node) if isinstance(e, ast.stmt))


def _rewards_a_group(code: Code, function: Function, handler: Handler) -> bool:
    """Return whether a handler of a judge gives a reward to each trajectory of a group."""
    if not (JUDGES.search(function.node.name) and handler.names & BROAD):
        return False
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and node.targets[0].attr == "reward"
        and code.syntax.enclosing_loop(node) is not None
        and code.blocks.within(code.syntax.enclosing_loop(node) or node, handler.node)
        for node in below(handler.body)
    ) and any(isinstance(node, ast.Await) for node in below(handler.tried))


def _requests(node: ast.AST) -> bool:
    """Return whether a node awaits the answer of a server: ``await client.post(...)``."""
    return (
        isinstance(node, ast.Await)
        and isinstance(node.value, ast.Call)
        and last_name(node.value.func) in ("post", "get", "request")
    )


def _gives_a_score(code: Code, handler: Handler) -> bool:
    """Return whether a handler returns a number or a verdict, or sets the one that it tried to set."""
    last = _last(code, handler)
    if isinstance(last, ast.Return) and last.value is not None:
        value = last.value
        if isinstance(value, ast.Call):  # Verdict(accept=False)
            given = map(code.constant, given_to(value))
            return any(isinstance(e, int | float) for e in given) or _has_score(
                code, value
            )
        if isinstance(value, ast.Dict) and not value.keys:
            return _stands_for_numbers(code, handler)
        if isinstance(value, ast.Dict) and any(
            VERDICT.search(str(code.constant(key))) and _is_number(code.constant(said))
            for key, said in zip(value.keys, value.values, strict=True)
        ):
            return True
        if isinstance(value, ast.Dict | ast.Tuple):
            parts = value.values if isinstance(value, ast.Dict) else value.elts
            constants = [code.constant(each) for each in parts]
            return None not in constants and any(map(_is_number, constants))
        return isinstance(code.constant(value), int | float) or _is_made_list(
            code, handler, value
        )
    tried = {
        ast.dump(target)
        for node in below(handler.tried)
        for target in assignment(node)[0]
    }
    for targets, instead in map(assignment, handler.body):
        again = [each for each in targets if ast.dump(each) in tried]
        if instead is not None and again and _is_made_list(code, handler, instead):
            return True
        if instead is not None and _is_number(code.constant(instead)):
            names = [ast.unparse(each) for each in again]
            if any(VERDICT.search(e) and ".metrics[" not in e for e in names):
                return True
    return False


def _last(code: Code, handler: Handler) -> ast.stmt | None:
    """Return what a handler ends with: also what is returned behind it, of nothing that was set."""
    last = handler.body[-1] if handler.body else None
    after = [] if isinstance(last, LEAVING) else code.blocks.after(handler.statement)
    if after and isinstance(after[0], ast.Return) and after[0].value is not None:
        given = {name for node in handler.tried for name in names_set_in(node)}
        given |= {name for node in handler.body for name in names_set_in(node)}
        if given.isdisjoint(names_in(after[0].value)):
            return after[0]
    return last


def _has_score(code: Code, made: ast.Call) -> bool:
    """Return whether an object has a score that nobody gave it: its class's default."""
    found = code.flow.functions.class_of(code.syntax, made.func)
    return found is not None and any(
        isinstance(each, ast.AnnAssign)
        and VERDICT.search(name := dotted(each.target) or "") is not None
        and keyword(made, name) is None
        and isinstance(each.value, ast.Constant)
        and _is_number(each.value.value)
        for each in found[1].body
    )


def _stands_for_numbers(code: Code, handler: Handler) -> bool:
    """Return whether those who get an empty dict read a number where none is: ``get(name, 0.0)``."""
    for call in code.callers(handler.node):
        named = next(map(dotted, targets_of(_statement(code, call))), None)
        reads = code.reads(named, call)
        if any(isinstance(code.syntax.parents[r], ast.Subscript) for r in reads):
            continue  # which raises of an empty dict
        for read in reads:
            match code.syntax.parents.get(code.syntax.parents[read]):
                case ast.Call(func=ast.Attribute(attr="get"), args=[_, default]):
                    if _is_number(code.constant(default)):
                        return True
    return False


def _is_made_list(code: Code, handler: Handler, value: ast.expr) -> bool:
    """Return whether it is a list of numbers that has nothing of what was tried."""
    match value:
        case ast.ListComp(elt=element):
            numbers = [element]
        case ast.BinOp(left=ast.List(elts=numbers), op=ast.Mult()):
            pass
        case _:
            return False
    tried = {name for node in handler.tried for name in names_set_in(node)}
    known = [code.constant(each) for each in numbers]
    return tried.isdisjoint(names_in(value)) and all(
        _is_number(each) or isinstance(node, ast.BinOp)
        for each, node in zip(known, numbers, strict=True)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
