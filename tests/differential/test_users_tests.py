"""Users' unit tests say of an adapted agent what they said of it before (G3)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from agent_files import AGENTS, NAMES, agent_file, art_adapt, copy_of

from art_adapt import hooks_file

SUITE = Path(__file__).with_name("users_suite.py")
RUN = """\

def run(question):
    messages = [{"role": "user", "content": question}]
    return CALL.choices[0].message.content
"""
METHOD = RUN.replace("\n", "\n    ").replace("run(question", "run(self, question")
MODULE = "import functools\nimport openai\n\nclient = openai.OpenAI()\n"
SHAPES = {
    "partial_in_class": f"""{MODULE}

class Agent:
    ask = functools.partial(client.chat.completions.create, model="m")
{METHOD.replace("CALL", "self.ask(messages=messages)")}""",
    "bound_in_class": f"""{MODULE}

class Agent:
    complete = client.chat.completions.create
{METHOD.replace("CALL", 'self.complete(model="m", messages=messages)')}""",
    "alias_in_module": f"""{MODULE}complete = client.chat.completions.create

{RUN.replace("CALL", 'complete(model="m", messages=messages)')}""",
    "async_in_module": f"""import openai

client = openai.AsyncOpenAI()
complete = client.chat.completions.create

{RUN.replace("def", "async def").replace("CALL", '(await complete(model="m", messages=messages))')}""",
    "table_in_module": f"""{MODULE}CALLS = {{"fast": client.chat.completions.create}}

{RUN.replace("CALL", 'CALLS["fast"](model="m", messages=messages)')}""",
}


def results(folder: Path) -> dict[str, str]:
    """Run the suite, and return what each test printed and how it ended."""
    command = ["-q", "-rA", "--tb=line", "-p", "no:cacheprovider", "test_users.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *command],
        cwd=folder,
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        check=False,
    )
    seen: dict[str, str] = {}
    test = ""
    for line in done.stdout.splitlines():
        if header := re.match(r"_+ (\S+) _+$", line):
            test = header[1]
        elif line.startswith("SEEN "):
            line = re.sub(r" id='\d+'|0x[0-9a-f]+|toolu?_\w+", "", line)
            seen[test] = seen.get(test, "") + line
        elif ended := re.match(r"(PASSED|FAILED|ERROR) test_users.py::(\S+)", line):
            seen[ended[2]] = f"{seen.get(ended[2], '')} {ended[1]}"
    assert seen, done.stdout + done.stderr
    return seen


def prepared(folder: Path, *, adapts: bool) -> Path:
    shapes = folder / "shapes"
    shapes.mkdir(parents=True)
    for name, text in SHAPES.items():
        (shapes / f"{name}.py").write_text(text)
    for name in NAMES:
        copy_of(name, folder / "agents")
    (folder / "test_users.py").write_bytes(SUITE.read_bytes())
    if adapts:
        for name in NAMES:  # tests/end_to_end/test_expected.py: they become this
            agent = folder / "agents" / name
            shutil.copytree(AGENTS / name / "adapted", agent, dirs_exist_ok=True)
            hooks = agent_file(agent).with_name(hooks_file.NAME)
            hooks.write_bytes(hooks_file.contents())
        files = sorted(shapes.glob("*.py"))
        done = art_adapt("--isolated", "--no-train-module", *files, cwd=folder)
        assert done.returncode == 0, done.stderr.decode()
    return folder


def test_users_tests_say_the_same(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "before" / "users", adapts=False)
    before = results(folder)
    after = results(prepared(tmp_path / "after" / "users", adapts=True))
    mine = {name: said for name, said in before.items() if "fixture" not in said}
    assert mine and not [n for n, said in mine.items() if not said.endswith("PASSED")]
    assert {n: s for n, s in after.items() if s != before[n]} == {}
    assert after.keys() == before.keys() and len(after) > 4 * len(NAMES)
    for name in SHAPES:
        adapted = tmp_path / "after" / "users" / "shapes" / f"{name}.py"
        assert "recorded(client." in adapted.read_text(), name
