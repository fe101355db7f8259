"""G1 and G2 over generated agents, and no crash on anything at all."""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from programs import Program, programs

from art_adapt.adaptation import remove
from art_adapt.errors import Refusal
from art_adapt.plan import make_plan
from art_adapt.settings import Options
from art_adapt.source import Source

PATH = Path("/nowhere/agent.py")
RECORD_ONLY = Options(train_module=False)
thoroughly = settings(
    max_examples=3 * settings.default.max_examples,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def adapted(data: bytes) -> bytes:
    plan = make_plan([Source(PATH, data)], RECORD_ONLY)
    return next(edit.after for edit in plan.edits if edit.path == PATH)


@thoroughly
@given(programs())
def test_every_call_is_recorded_and_all_hooks_come_off(program: Program) -> None:
    try:
        compile(program.data, "agent.py", "exec")
    except SyntaxError:
        assume(False)
    after = adapted(program.data)
    compile(after, "agent.py", "exec")
    calls = [
        node
        for node in ast.walk(ast.parse(after))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "recorded"
    ]
    assert len(calls) == program.calls
    assert remove(Source(PATH, after), 88) == program.data
    assert adapted(after) == after


@thoroughly
@given(programs(), st.data())
def test_a_new_call_gets_its_hook_and_nothing_else_changes(
    program: Program, data: st.DataObject
) -> None:
    try:
        compile(program.data, "agent.py", "exec")
    except SyntaxError:
        assume(False)
    newline = b"\r\n" if b"\r\n" in program.data else b"\n"
    once = adapted(program.data)
    grown = (
        once
        + newline
        + b"def more(client):"
        + newline
        + b"    client.chat.completions.create(messages=[])"
        + newline
    )
    again = adapted(grown)
    assert (
        again
        == once
        + newline
        + b"def more(client):"
        + newline
        + b"    recorded(client.chat.completions.create)(messages=[])"
        + newline
    )


@settings(max_examples=3 * settings.default.max_examples, deadline=None)
@given(st.binary() | st.text().map(str.encode))
def test_no_bytes_make_it_crash(data: bytes) -> None:
    for text in (data, b"client.chat.completions.create(messages=[])\n" + data):
        with contextlib.suppress(Refusal):
            make_plan([Source(PATH, text)], RECORD_ONLY)


@thoroughly
@given(programs(), st.integers(0, 4000), st.binary(max_size=3))
def test_no_damage_makes_it_crash(program: Program, at: int, junk: bytes) -> None:
    damaged = program.data[:at] + junk + program.data[at + len(junk) :]
    try:
        after = adapted(damaged)
    except Refusal:
        return
    assert remove(Source(PATH, after), 88) == damaged
