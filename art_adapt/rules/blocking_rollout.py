"""A blocking call in an async rollout stalls all other rollouts

Rollouts share one event loop. ``time.sleep``, ``requests`` or the synchronous OpenAI client in
an ``async def`` stops all of them while one waits: a step takes the sum of its rollouts' times
instead of the longest one, and the GPU idles.

Use ``await asyncio.sleep``, an async client, or ``await asyncio.to_thread(...)``.

Evidence: art 0.5.18 and 0.5.23, gather.py (one event loop); measured in
tests/rules/test_harm.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, last_name, root_object
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code import Body, Code
from art_adapt.rules.code.values import Place, Value
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.words import ASKS_SERVICE, CREDENTIALS

RULE = Rule("ART512", "blocking-rollout", Severity.WASTE)
BAD = (
    """\
import art, time, requests
from openai import OpenAI

client = OpenAI()

async def rollout(model, messages):
    time.sleep(1)  # <-
    exec(messages[-1]["content"])  # <-
    requests.get("x")  # <-
    response = client.chat.completions.create(model="m", messages=messages)  # <-
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
import art
from art.langgraph import init_chat_model, wrap_rollout
from dialogues import Analyzer, Desk

async def rollout(goal) -> art.Trajectory:  # <-
    analyzer = Analyzer(Desk(init_chat_model()))
    reward, _ = analyzer.run(goal)
    return art.Trajectory(messages_and_choices=[], reward=reward)

async def step(model, goals):
    run = wrap_rollout(model, rollout)
    return await art.gather_trajectory_groups(
        art.TrajectoryGroup(run(goal) for _ in range(8)) for goal in goals
    )
""",
)
GOOD = (
    """\
import art, asyncio, time
from openai import AsyncOpenAI, OpenAI

client = AsyncOpenAI()
blocking = OpenAI()

async def rollout(model, messages):
    await asyncio.sleep(1)
    response = await client.chat.completions.create(model="m", messages=messages)
    def work():
        time.sleep(1)
        return blocking.chat.completions.create(model="m", messages=messages)
    await asyncio.to_thread(work)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
""",
    """\
import art, requests

def load(url):
    return requests.get(url).json()

async def rollout(client, model, row):
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": row["q"]}])
    response = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages()
    )
    trajectory.messages_and_choices.append(response.choices[0])
    return trajectory

async def job(client, model, backend, url):
    rows = load(url)  # before the first rollout
    groups = await art.gather_trajectory_groups(
        art.TrajectoryGroup(rollout(client, model, row) for _ in range(8)) for row in rows
    )
    await backend.train(model, groups)
""",
)

BLOCKING = (
    "time.sleep",
    "requests.get",
    "requests.post",
    "requests.put",
    "requests.request",
    "httpx.get",
    "httpx.post",
    "urllib.request.urlopen",
    "subprocess.run",
    "subprocess.check_output",
    "subprocess.check_call",
    "subprocess.call",
    "os.system",
    "litellm.completion",
    "exec",  # of code that the model writes: it may never end
)
SYNC_CLIENTS = ("openai.OpenAI", "openai.AzureOpenAI")
SERVICES = ("openpipe.OpenPipe", "openpipe.client.OpenPipe")  # have their key elsewhere
LANGCHAIN = ("langchain", "langchain_core", "langchain_openai", "langgraph")
Known = dict[ast.AST, ast.Call | None]  # the call that blocks in a function
AWAITING = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Yield)
DEEPEST = 3  # functions that one leads to through the other


def check(code: Code) -> Iterator[Found]:
    yield from _awaiting_nothing(code)
    said = set()
    known: Known = {}
    for call in code.calls:
        if not code.is_async(call) or not code.trajectories.in_episode(call):
            continue
        if _is_in_lambda(code.syntax, call):
            continue
        if code.syntax.owner(call).startswith("main"):
            continue
        for blocking in _blocking(code, call, known):
            if blocking in said:
                continue
            said.add(blocking)
            yield found(
                blocking if blocking in code.syntax.parents else call,
                f"{dotted(blocking.func) or 'this'} blocks every rollout of the step while it "
                "waits: await an async equivalent, or asyncio.to_thread",
            )


def _awaiting_nothing(code: Code) -> Iterator[Found]:
    """Yield the rollouts that ``wrap_rollout`` fills and that await nothing: the model is asked in them."""
    wrapped = set(code.wrapped_rollouts)
    if any(b"wrap_rollout(" in text for text in code.importers):
        wrapped |= {
            code.syntax.functions[name]
            for name in code.trajectories.makers & code.syntax.functions.keys()
        }
    for function in sorted(wrapped, key=lambda each: each.node.lineno):
        nodes = list(code.syntax.owned_by(function.qualname))
        filled = any(
            code.syntax.owner(p.by) == function.qualname for p in code.trajectories.puts
        )
        if (
            isinstance(function.node, ast.AsyncFunctionDef)
            and not filled
            and any(
                isinstance(node, ast.Call) and _may_ask(code, node) for node in nodes
            )
            and not any(isinstance(node, AWAITING) for node in nodes)
        ):
            yield found(
                function.node,
                f"{function.qualname} awaits nothing, so no other rollout of the step runs before it "
                "has ended: await the agent, as with ainvoke, or asyncio.to_thread",
            )


def _may_ask(code: Code, call: ast.Call) -> bool:
    """Return whether a call may ask the model: a method that no file here shows."""
    return (
        isinstance(call.func, ast.Attribute)
        and call not in code.trajectories.new
        and code.art_name(call.func) is None
        and code.flow.functions.called(code.syntax, call.func) is None
        and dotted(call.func) not in BLOCKING
    )


def _blocking(code: Code, call: ast.Call, known: Known) -> list[ast.Call]:
    """Return a call if it blocks, or those that block in the functions that it enters."""
    if _blocks(code, code.syntax, call):
        return [call]
    is_awaited = isinstance(code.syntax.parents.get(call), ast.Await)
    within = (
        _within(code, body, DEEPEST, known)
        for body in code.may_enter(call)
        # Without await it is made here, and run by somebody else.
        if is_awaited or not _is_async(body)
    )
    return [each for each in within if each is not None]


def _is_async(body: Body) -> bool:
    return isinstance(body.function.node, ast.AsyncFunctionDef)


def _is_in_lambda(syntax: Syntax, call: ast.Call) -> bool:
    """Return whether somebody else may call it, as a thread."""
    return any(isinstance(node, ast.Lambda) for node in syntax.ancestors(call))


def _within(code: Code, body: Body, depth: int, known: Known) -> ast.Call | None:
    """Return the call that blocks in a function, or in what that calls; ``known``: of each."""
    if body.place.syntax is code.syntax and _is_async(body):
        return None  # looked at where it stands
    if body.function.node in known:
        return known[body.function.node]
    known[body.function.node] = None  # ends a recursion
    nodes = list(body.nodes)
    calls = [
        node
        for node in nodes
        if isinstance(node, ast.Call) and not _is_in_lambda(body.place.syntax, node)
    ]
    if any(isinstance(node, ast.Yield) for node in nodes):
        calls = []
    own = (call for call in calls if _blocks(code, body.place.syntax, call))
    inner = (
        _within(code, entered, depth - 1, known)
        for call in (calls if depth > 1 else ())
        for entered in code.may_enter(Value(call, body.place))
    )
    known[body.function.node] = next(own, None) or next(filter(None, inner), None)
    return known[body.function.node]


def _blocks(code: Code, syntax: Syntax, call: ast.Call) -> bool:
    name = syntax.qualified(call.func) or ""
    if name == "exec":
        return _runs_what_was_said(code, syntax, call)
    return (
        name in BLOCKING
        or _is_of_session(code, syntax, call)
        or _asks_a_service(code, syntax, call)
        or any(
            each.call is call and not each.recorded and _is_sync(code, each)
            for each in code.completions.of_file(syntax)
        )
    )


def _runs_what_was_said(code: Code, syntax: Syntax, call: ast.Call) -> bool:
    """Return whether ``exec`` runs code that is no constant, nor compiled from a file."""
    if "exec" in syntax.functions or not call.args:
        return False
    values = code.values(Value(call.args[0], Place(syntax)))
    return not any(isinstance(v.node, ast.Constant | ast.Call) for v in values)


def _is_of_session(code: Code, syntax: Syntax, call: ast.Call) -> bool:
    """Return whether it is a method of ``requests.Session()`` that is a function there, too."""
    if not isinstance(call.func, ast.Attribute):
        return False
    made = code.values(Value(call.func.value, Place(syntax)))
    names = [
        each.syntax.qualified(each.node.func) or ""
        if isinstance(each.node, ast.Call)
        else ""
        for each in made
    ]
    return bool(names) and all(
        f"{name.rpartition('.')[0]}.{call.func.attr}" in BLOCKING
        and name.rpartition(".")[2][:1].isupper()
        and "async" not in name.lower()
        for name in names
    )


def _asks_a_service(code: Code, syntax: Syntax, call: ast.Call) -> bool:
    """Return whether a call waits for a service: of LangChain, or a client with credentials."""
    function = call.func
    if (
        not isinstance(function, ast.Attribute)
        or function.attr not in ASKS_SERVICE
        or not isinstance(
            syntax.parents.get(call),
            ast.Assign | ast.Expr | ast.Return | ast.Attribute | ast.Subscript,
        )
    ):
        return False
    if function.attr == "invoke" and syntax.imports_module(*LANGCHAIN) is not None:
        # A tool of the project's own is not asked over a network.
        return code.flow.functions.called(syntax, function.value) is None
    made = code.values(Value(root_object(function.value), Place(syntax)))
    return bool(made) and all(_has_credentials(code, each) for each in made)


def _has_credentials(code: Code, made: Value) -> bool:
    """Return whether a client of a package is made with a key, and is no async one."""
    call = made.node
    if not isinstance(call, ast.Call):
        return False
    name = made.syntax.qualified(call.func) or ""
    if name in SERVICES:
        return True
    if not any(k.arg in CREDENTIALS for k in call.keywords):
        return False
    if not last_name(call.func)[:1].isupper():
        return False  # AutoTokenizer.from_pretrained(name, token=token)
    head = (dotted(call.func) or "").partition(".")[0]
    imported = made.syntax.imports.get(head)
    own = code.flow.functions.imported(made.syntax, head) is not None
    return imported is not None and not own and "async" not in name.lower()


def _is_sync(code: Code, completion: FoundCall) -> bool:
    return all(
        isinstance(value.node, ast.Call)
        and value.syntax.qualified(value.node.func) in SYNC_CLIENTS
        for value in code.values(root_object(completion.client))
    )
