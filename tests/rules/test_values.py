"""Check which values the rules see where a name is used.

Each program asks ``use(x)``; the values are the constants that x may be there.
"""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest

from art_adapt.check.run import check_files, check_source
from art_adapt.check.selection import Selection
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code import Code
from art_adapt.source import Source

EVERYTHING = Selection(select=("ALL",))


def values(text: str) -> list[set[object]]:
    """Return what each ``use(x)`` of a program may be given."""
    code = Code(Source(Path("x.py"), text.encode()))
    uses = [call for call in code.calls if ast.unparse(call.func) == "use"]
    return [
        {
            value.node.value
            if isinstance(value.node, ast.Constant)
            else ast.unparse(value.node)
            for value in code.values(use.args[0])
        }
        for use in uses
    ]


CASES = {
    "replaced": ("x = 1\nx = 2\nuse(x)", {2}),
    "one branch": ("x = 1\nif c:\n    x = 2\nuse(x)", {1, 2}),
    "both branches": ("x = 1\nif c:\n    x = 2\nelse:\n    x = 3\nuse(x)", {2, 3}),
    "a branch that leaves": ("x = 1\nif c:\n    x = 2\n    return\nuse(x)", {1}),
    "every case": (
        "x = 1\nmatch c:\n    case 1:\n        x = 2\n    case _:\n        x = 3\nuse(x)",
        {2, 3},
    ),
    "some cases": ("x = 1\nmatch c:\n    case 1:\n        x = 2\nuse(x)", {1, 2}),
    "a case's own name": ("x = 1\nmatch 5:\n    case x:\n        pass\nuse(x)", {5}),
    "a loop's end": ("x = 1\nfor i in y:\n    use(x)\n    x = 2", {1, 2}),
    "after a loop": ("x = 1\nfor i in y:\n    x = 2\nuse(x)", {1, 2}),
    "an endless loop": (
        "x = 1\nwhile True:\n    x = 2\n    if c:\n        break\nuse(x)",
        {2},
    ),
    "a break before": (
        "x = 1\nwhile True:\n    if c:\n        break\n    x = 2\nuse(x)",
        {1, 2},
    ),
    "a loop's else": (
        "x = 1\nfor i in y:\n    if c:\n        x = 2\n        break\nelse:\n    x = 3\nuse(x)",
        {2, 3},
    ),
    "continue": (
        "x = 1\nfor i in y:\n    use(x)\n    if c:\n        x = 2\n        continue\n    x = 1",
        {1, 2},
    ),
    "a handler": (
        "x = 1\ntry:\n    x = 2\n    x = 3\nexcept E:\n    use(x)",
        {1, 2, 3},
    ),
    "a handler that sets it": (
        "x = 1\ntry:\n    x = 2\nexcept E:\n    x = 3\nuse(x)",
        {2, 3},
    ),
    "after a try": (
        "x = 1\ntry:\n    x = 2\n    x = 3\nexcept E:\n    raise\nuse(x)",
        {3},
    ),
    "finally": ("x = 1\ntry:\n    x = 2\nfinally:\n    use(x)", {1, 2}),
    "after finally": ("x = 1\ntry:\n    x = 2\nfinally:\n    x = 3\nuse(x)", {3}),
    "with": ("x = 1\nwith a:\n    x = 2\n    x = 3\nuse(x)", {3}),
    "a walrus": ("x = 1\nif (x := 2):\n    pass\nuse(x)", {2}),
    "a walrus behind and": ("x = 1\nif c and (x := 2):\n    pass\nuse(x)", {1, 2}),
    "a walrus used at once": ("x = 1\nif (x := 2) and use(x):\n    pass", {2}),
    "a parameter replaced": ("def g(x):\n    x = 1\n    use(x)", {1}),
    "an inner function": ("x = 1\nx = 2\ndef g():\n    use(x)", {1, 2}),
    "a conditional": ("x = 1 if c else 2\nuse(x)", {1, 2}),
    "a tuple": ("x, y = 1, 2\nx, y = 3, 4\nuse(x)", {3}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("head", ["def f(c, y):\n", "async def f(c, y):\n"])
def test_definitions_that_reach_a_use(case: str, head: str) -> None:
    text, expected = CASES[case]
    body = "".join(f"    {line}\n" for line in text.splitlines())
    assert values(head + body) == [expected]


LONG = {
    "a name bound again and again": "    x = g(x)\n    use(x)\n" * 1_500,
    "branches": "    if c:\n        x = 1\n    use(x)\n" * 700,
    "a long sum": f"    t.reward = {' + '.join(['x'] * 900)}\n",
    "loops in loops": "".join(
        f"{'    ' * depth}for i in y:\n{'    ' * depth}    x = {depth}\n"
        for depth in range(1, 18)
    ),
    "attributes of each other": "    self.y = self.z\n    self.z = self.y\n    self.y()\n",
}


@pytest.mark.parametrize("name", LONG)
def test_long_functions_are_read_in_a_moment(name: str) -> None:
    """Bounded far above what it takes: reading them again for each use takes minutes."""
    text = f"import art\n\ndef f(self, t: art.Trajectory, x, y, c):\n{LONG[name]}"
    started = time.process_time()
    found = check_source(Source(Path("x.py"), text.encode()), EVERYTHING).found
    assert time.process_time() - started < 20
    assert "ART000" not in {each.rule.code for each in found}


def test_each_file_is_read_once_whoever_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = "def f1(x):\n    return x + 1\n"
    (tmp_path / "shared.py").write_text("import art\n" + functions)
    files = []
    for number in range(30):
        file = tmp_path / f"rollout_{number}.py"
        file.write_text(
            "import art\nfrom shared import f1\n\n"
            "async def rollout(model, s):\n    t = art.Trajectory()\n"
            "    t.reward = f1(s)\n    return t\n"
        )
        files.append(file)
    read: list[str] = []
    index = Syntax.of

    def seen(source: Source) -> Syntax:
        read.append(source.path.name)
        return index(source)

    monkeypatch.setattr(Syntax, "of", staticmethod(seen))
    assert check_files(files, EVERYTHING).with_art == 30
    assert sorted(read) == sorted(["shared.py", *(file.name for file in files)])


@pytest.mark.parametrize(
    "decorator", ["retry", "retries(3)", "backoff.on_exception(expo, OSError)"]
)
def test_two_rules_know_a_retry_by_the_same_words(decorator: str) -> None:
    inside = f"""\
import art
from art.langgraph import wrap_rollout

@{decorator}
async def ask(agent, task):
    return await agent.ainvoke(task)

async def rollout(task):
    return await ask(make_agent(), task)

rollouts = wrap_rollout(model, rollout)
"""
    outside = f"""\
import art

async def rollout(client, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)

    @{decorator}
    async def ask():
        reply = await client.chat.completions.create(model="m", messages=messages)
        trajectory.messages_and_choices.append(reply.choices[0])

    await ask()
    return trajectory
"""
    for text, code in ((inside, "ART212"), (outside, "ART207")):
        source = Source(Path("x.py"), text.encode())
        found = check_source(source, EVERYTHING).found
        assert code in {each.rule.code for each in found}


@pytest.mark.parametrize(
    ("other", "answers"), [("warn", True), ("logging.warning", False)]
)
def test_what_only_says_something_answers_no_tool_call(
    other: str, answers: bool
) -> None:
    text = f"""\
import art, logging

async def rollout(client, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=messages, tools=T)
        trajectory.messages_and_choices.append(response.choices[0])
        for call in response.choices[0].message.tool_calls or []:
            if call.function.name in TOOLS:
                messages.append({{"role": "tool", "tool_call_id": call.id, "content": run(call)}})
            else:
                {other}(call)
    return trajectory
"""
    found = check_source(Source(Path("x.py"), text.encode()), EVERYTHING).found
    assert ("ART208" not in {each.rule.code for each in found}) == answers
