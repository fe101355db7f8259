"""A run shows what its agent is made of, wherever in the project that is: episodes are made so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt, first_now
from scripted_engine import Engine

AGENT = dedent("""\
    from openai import OpenAI

    client = OpenAI()


    def run_agent(task: str, tools: list) -> str:
        messages = [{"role": "user", "content": task}]
        schemas = [{"type": "function", "function": {"name": each.__name__}} for each in tools]
        while True:
            reply = client.chat.completions.create(model="m", messages=messages, tools=schemas)
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "42"})


    def demo_tool() -> str:
        return "demo"


    if __name__ == "__main__":
        print(run_agent("Try the demo tool, please", tools=[demo_tool]))
    """)
BOT = dedent("""\
    from openai import OpenAI


    class Bot:
        def __init__(self, rules: str):
            self.client, self.rules, self.topic = OpenAI(), rules, ""

        def clear(self) -> None:
            self.topic = ""

        def ask(self, question: str, left: int = 3) -> str:
            messages = [
                {"role": "system", "content": self.rules},
                {"role": "user", "content": question},
            ]
            reply = self.client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
            message = reply.choices[0].message
            if message.tool_calls and left:
                return self.ask(f"{question} Known: 42", left - 1)
            return message.content or ""


    TOOLS = [{"type": "function", "function": {"name": "look"}}]
    """)
CASES = dedent("""\
    class Store:
        def __init__(self, path: str):
            self.path, self.known = path, {}

        def put(self, key: str, value: str) -> None:
            self.known[key] = value


    class Looker:
        def __init__(self, client, store: Store):
            self.client, self.store = client, store

        def examine(self, summary: str, store: Store) -> str:
            asked = [{"role": "user", "content": f"{summary}: {sorted(store.known)}"}]
            reply = self.client.chat.completions.create(model="m", messages=asked)
            return reply.choices[0].message.content or ""
    """)
# The files of each project, what is run, the agent's file, and what episode() has to say.
MADE: dict[str, tuple[dict[str, str], list[str], str, str]] = {
    "the tools of another file, and not a demo's": (
        {
            "agent.py": AGENT,
            "shop.py": "import sys\n\nfrom agent import run_agent\n\n\ndef price() -> str:\n    return '3'\n\n\n"
            "TOOLS = [price]\n\nif __name__ == '__main__':\n    print(run_agent(sys.argv[1], tools=TOOLS))\n",
        },
        ["shop.py", "What does an apple cost?"],
        "agent.py",
        "return run_agent(task=scenario.task, tools=TOOLS)",
    ),
    "what each pass of a loop over tasks does to the agent": (
        {
            "bot.py": BOT,
            "desk.py": "import sys\n\nfrom bot import Bot\n\n\ndef answer(bot: Bot, question: str) -> str:\n"
            "    return bot.ask(question)\n\n\nif __name__ == '__main__':\n    bot = Bot('Be brief.')\n"
            "    for question in sys.argv[1:]:\n        bot.clear()\n        print(answer(bot, question))\n",
        },
        ["desk.py", "How many apples are there?", "How many pears are there?"],
        "desk.py",
        "bot.clear()\n    return answer(bot=bot, question=scenario.question)",
    ),
    "the path that a factory was given": (
        {
            "bot.py": BOT,
            "rules/short.txt": "Be brief.",
            "desk.py": "import sys\nfrom pathlib import Path\n\nfrom bot import Bot\n\n\n"
            "def load(path: Path) -> Bot:\n    return Bot(path.read_text())\n\n\n"
            "def main(given=None):\n    bot = load(Path(given or 'rules/short.txt').resolve())\n"
            "    for question in sys.argv[1:]:\n        print(bot.ask(question))\n\n\n"
            "if __name__ == '__main__':\n    main()\n",
        },
        ["desk.py", "How many apples are there?", "How many pears are there?"],
        "bot.py",
        'agent = load(path=Path("rules/short.txt"))',
    ),
    "what fills the store that an agent looks into": (
        {
            "looker.py": CASES,
            "review.py": "import json\nimport sys\nfrom pathlib import Path\n\nfrom openai import OpenAI\n\n"
            "from looker import Looker, Store\n\n\ndef review(path: str) -> str:\n"
            "    case = json.loads(Path(path).read_text())\n    store = Store(f'{path}.db')\n"
            "    for key, value in case['found'].items():\n        store.put(key, value)\n"
            "    return Looker(OpenAI(), store).examine(case['summary'], store)\n\n\n"
            "if __name__ == '__main__':\n    for name in sys.argv[1:]:\n        print(review(name))\n",
            "one.json": json.dumps({"summary": "An odd archive job at night", "found": {"tar": "x"}}),
            "two.json": json.dumps({"summary": "A temporary file that ran", "found": {"upd": "y"}}),
        },
        ["review.py", "one.json", "two.json"],
        "looker.py",
        "return review(path=scenario.path)",
    ),
    "a script whose folder has what it imports": (
        {
            "shop/__init__.py": "",
            "shop/agent.py": AGENT,
            "tries/prices.py": "def price() -> str:\n    return '3'\n",
            "tries/ask.py": "import sys\n\nfrom prices import price\n\nsys.path.append('.')\n"
            "from shop.agent import run_agent\n\nTOOLS = [price]\n\n"
            "if __name__ == '__main__':\n    print(run_agent(sys.argv[1], tools=TOOLS))\n",
        },
        ["tries/ask.py", "What does an apple cost?"],
        "shop/agent.py",
        "return run_agent(task=scenario.task, tools=TOOLS)",
    ),
}  # fmt: skip
CALL = {"tool_calls": [{"name": "look", "arguments": {}}]}


@pytest.mark.parametrize("kind", first_now(MADE, 2))
def test_an_episode_is_made_as_the_run_made_it(kind: str, tmp_path: Path) -> None:
    files, command, agent, shown = MADE[kind]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".git").mkdir()
    with Engine([CALL, {"content": "there are 42 of them"}] * 9) as engine:
        address = {"OPENAI_BASE_URL": engine.base_url, "OPENAI_API_KEY": "k"}
        seen = subprocess.run(
            [sys.executable, "-m", "art_adapt", "capture", "--agent", agent, "--", sys.executable, *command],
            cwd=tmp_path, capture_output=True, check=False, env={**os.environ, **address},
        )  # fmt: skip
    assert seen.returncode == 0, seen.stderr.decode()
    named = seen.stderr.decode().partition("next: art-adapt ")[2].split()[0]
    done = art_adapt("-y", named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    (module,) = tmp_path.rglob("*_train.py")
    episode = module.read_text().partition("def episode(")[2].partition("\n\n\n")[0]
    assert shown in episode, episode
    (rows,) = tmp_path.rglob("scenarios.jsonl")
    tasks = [json.loads(line) for line in rows.read_text().splitlines()]
    assert len(tasks) == len(command) - 1, tasks  # a call of itself is none of its own
    package = module.relative_to(tmp_path).with_suffix("").as_posix().replace("/", ".")
    loaded = subprocess.run(
        [sys.executable, "-c", f"import {package}"],
        cwd=tmp_path, capture_output=True, check=False, env={**os.environ, **address},
    )  # fmt: skip
    assert loaded.returncode == 0, loaded.stderr.decode()
