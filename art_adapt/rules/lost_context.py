"""A model call runs in a thread without the rollout's context, so it is not recorded

The rollout is kept in a context variable, and ``Thread``, ``ThreadPoolExecutor.submit``,
``map`` and ``run_in_executor`` start with an empty context: a model call in such a thread
finds no rollout. While a rollout is active the recorder raises, and the episode is lost.
ART's ``capture_auto_trajectory`` leaves the trajectory empty instead.

Wrap the function: ``executor.submit(carried(work), x)``. art-adapt does that. Without the
recorder use ``asyncio.to_thread``, which carries the context.

Evidence: Python, contextvars (a new thread has an empty context); art_recording.py,
``carried``; art 0.5.18, auto_trajectory.py:50-75 and 149-151.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import dotted, keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import POOLS

RULE = Rule("ART104", "lost-context", Severity.WASTE)
BAD = (
    """\
from concurrent.futures import ThreadPoolExecutor
from art_recording import recorded

def ask(question):
    return recorded(client.chat.completions.create)(model="m", messages=[question])

def run(questions):
    with ThreadPoolExecutor() as pool:
        return list(pool.map(ask, questions))  # <-
""",
    """\
import threading
from art_recording import recorded

def ask(question):
    return recorded(client.chat.completions.create)(model="m", messages=[question])

def work(question):
    return ask(question)

def run(question):
    threading.Thread(target=work, args=(question,)).start()  # <-
""",
    """\
import art, asyncio
from openai import OpenAI

def ask(question):
    return OpenAI().chat.completions.create(model="m", messages=[question])

async def episode(question):
    await asyncio.get_running_loop().run_in_executor(None, ask, question)  # <-

async def rollout(model, question):
    return await art.capture_auto_trajectory(episode(question))
""",
)
GOOD = (
    """\
import art, asyncio
from openai import OpenAI

def ask(question):
    return OpenAI().chat.completions.create(model="m", messages=[question])

async def episode(question):
    await asyncio.to_thread(ask, question)

async def rollout(model, question):
    return await art.capture_auto_trajectory(episode(question))
""",
    """\
from concurrent.futures import ThreadPoolExecutor
from art_recording import carried, recorded

def ask(question):
    return recorded(client.chat.completions.create)(model="m", messages=[question])

def count(question):
    return len(question)

def run(questions):
    with ThreadPoolExecutor() as pool:
        list(pool.map(count, questions))
        return list(pool.map(carried(ask), questions))
""",
)
STARTERS = ("submit", "map", "run_in_executor")


def check(code: Code) -> Iterator[Found]:
    if not code.is_adapted:
        yield from _captured(code)
        return
    recorded = {call.function for call in code.completions.calls if call.recorded}
    leading = code.flow.functions.leading_to(code.syntax, recorded)
    reaching = {each.rpartition(".")[2] for each in leading} - {""}
    for call in code.calls:
        handed = _handed_over(code, call)
        if handed is None:
            continue
        name = dotted(handed)
        if name is not None and name.rpartition(".")[2] in reaching:
            yield found(
                handed,
                f"{name} calls the model in a thread without the rollout's context, so the "
                f"recorder raises; pass carried({name})",
            )


def _captured(code: Code) -> Iterator[Found]:
    """Yield the threads that ask the model in what ``capture_auto_trajectory`` runs."""
    inside = _inside(code)
    asking = {call.function for call in code.completions.calls}
    for call in code.calls if inside and asking else ():
        handed = _handed_over(code, call)
        if handed is None or code.syntax.runs_in(call) not in inside:
            continue
        if _leading(code, _run_by(code, handed)) & asking:
            yield found(
                call,
                "the model is asked in a thread without the rollout's context, so "
                "capture_auto_trajectory records nothing; use asyncio.to_thread",
            )


def _inside(code: Code) -> set[str]:
    """Return the functions of this file that ``capture_auto_trajectory`` runs."""
    found = set()
    for call in code.art_calls("capture_auto_trajectory"):
        for given in call.args:
            found |= _leading(code, _run_by(code, given))
    return found


def _run_by(code: Code, given: ast.expr) -> set[str]:
    """Return the functions of this file that an expression calls, or passes on to be called."""
    if isinstance(given, ast.Lambda):
        calls = [node for node in ast.walk(given) if isinstance(node, ast.Call)]
        functions = [code.given_function(call.func) for call in calls]
        return {each.qualname for each in functions if each is not None}
    function = code.given_function(given)
    if function is None and isinstance(given, ast.Call):
        called = code.flow.functions.called(code.syntax, given.func)
        function = called[1] if called and called[0] is code.syntax else None
    return set() if function is None else {function.qualname}


def _leading(code: Code, functions: set[str]) -> set[str]:
    """Return functions of this file with those that they call, also in threads."""
    found: set[str] = set()
    left = list(functions)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        left += code.flow.functions.called_by(code.syntax, name)
        for node in code.syntax.owned_by(name):
            if isinstance(node, ast.Call):
                for each in node.args:
                    if isinstance(each, ast.Name | ast.Attribute):
                        left += _run_by(code, each)
    return found


def _handed_over(code: Code, call: ast.Call) -> ast.expr | None:
    name = (code.syntax.qualified(call.func) or "").rpartition(".")[2]
    if name in ("Thread", "Timer"):
        return keyword(call, "target") or keyword(call, "function")
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in STARTERS:
        return None
    name = call.func.attr
    at = 1 if name == "run_in_executor" else 0
    if name == "map" and not _is_pool(code, call.func.value):
        return None
    return call.args[at] if len(call.args) > at else None


def _is_pool(code: Code, expression: ast.expr) -> bool:
    made = map(ast.unparse, code.syntax.values_of(expression))
    return any(map(POOLS.search, (dotted(expression) or "", *made)))
