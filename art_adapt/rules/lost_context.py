"""A model call runs in a thread without the rollout's context, so the recorder raises

The rollout is kept in a context variable, and ``Thread``, ``ThreadPoolExecutor.submit``,
``map`` and ``run_in_executor`` start with an empty context: a model call in such a thread
finds no rollout. While a rollout is active the recorder raises, and the episode is lost.

Wrap the function: ``executor.submit(carried(work), x)``. art-adapt does that.

Evidence: Python, contextvars (a new thread has an empty context); art_recording.py,
``carried``.
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
)
GOOD = (
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


def _handed_over(code: Code, call: ast.Call) -> ast.expr | None:
    name = (code.syntax.qualified(call.func) or "").rpartition(".")[2]
    if name in ("Thread", "Timer"):
        return keyword(call, "target")
    if not isinstance(call.func, ast.Attribute) or name not in STARTERS:
        return None
    at = 1 if name == "run_in_executor" else 0
    if name == "map" and not _is_pool(code, call.func.value):
        return None
    return call.args[at] if len(call.args) > at else None


def _is_pool(code: Code, expression: ast.expr) -> bool:
    made = map(ast.unparse, code.syntax.values_of(expression))
    return any(map(POOLS.search, (dotted(expression) or "", *made)))
