"""Agents whose run shows what reading does not, and what watching and adapting say of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from agent_files import art_adapt
from scripted_engine import Engine

HEAD = """\
import argparse
import asyncio
import json
import sys

from openai import AsyncOpenAI, OpenAI

client = OpenAI()
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}}]


def think(messages):
    reply = client.chat.completions.create(model="m", messages=messages)
    return reply.choices[0].message.content


def think_of(prompt):
    return think([{"role": "user", "content": prompt}])


"""
LOOP = """\
messages = [{"role": "user", "content": task}]
while True:
    message = client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0].message
    messages.append(message)
    if not message.tool_calls:
        return message.content
    for call in message.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "sunny"})
"""


def function(head: str, body: str = LOOP) -> str:
    return f"{head}\n{indent(body, '    ')}\n\n"


QUESTION = "Is it sunny in Rome?"
CALL = {"tool_calls": [{"name": "look", "arguments": {"city": "Rome"}}]}
PLAN = {"content": "first count the red apples\nthen count the green apples"}
SAID = [
    {"content": f"there are {n} apples in the basket"}
    for n in ("three", "seven", "nine")
]
WORKER = """\
class Worker:
    def work(self, question, plan):
        notes = result = ""
        for step in plan:
            result = think_of(f"{question} {notes} Now: {step}")
            notes += result
        return result


"""
AGENT = (
    "class Agent:\n    def __init__(self, rounds=3):\n        self.rounds, self.tools, self.tasks = rounds, [], []\n\n"
    "    def add_tool(self, tool):\n        self.tools.append(tool)\n        return len(self.tools)\n\n"
    "    def add_task(self, text):\n        self.tasks.append(text)\n\n"
    + indent(
        function(
            "def run(self, task=None):",
            "task = task or self.tasks[-1]\n" + LOOP.replace("TOOLS", "self.tools"),
        ),
        "    ",
    )
)
RUNS = "if __name__ == '__main__':\n    "
# An agent, the replies of its model, what a run shows as its episode, and the row that it starts from.
SHOWN: dict[str, tuple[str, list[Any], str, dict[str, Any]]] = {
    "a team around a planner and a worker": (
        WORKER
        + "class Team:\n    def run(self, question):\n"
        "        plan = think_of(f'Plan: {question}').splitlines()\n"
        "        print(Worker().work(question, plan))\n\n\n"
        + RUNS + "Team().run('How many apples?')\n",
        [PLAN, *SAID], "Team.run", {"question": "How many apples?"},
    ),
    "functions, one of which hands on what the model said": (
        "def plan(goal):\n    return think_of('Plan: ' + goal)\n\n\n"
        "def carry_out(goal, steps):\n    return think_of(goal + steps)\n\n\n"
        "def solve(goal):\n    steps = plan(goal)\n    return carry_out(goal, steps)\n\n\n"
        + RUNS + "print(solve('Count all of the apples'))\n",
        [PLAN, *SAID], "solve", {"goal": "Count all of the apples"},
    ),
    "a fixed question first": (
        "def score(resume):\n"
        "    form = think_of('Which dimensions has the rubric?')\n"
        "    return think_of(f'By {form.upper()}: {resume}')\n\n\n"
        + RUNS + "print(score('Ada, analytical engines'))\n",
        SAID, "score", {"resume": "Ada, analytical engines"},
    ),
    "workers side by side": (
        "aclient = AsyncOpenAI()\n\n\n"
        "async def ask(prompt):\n"
        "    asked = [{'role': 'user', 'content': prompt}]\n"
        "    reply = await aclient.chat.completions.create(model='m', messages=asked)\n"
        "    return reply.choices[0].message.content\n\n\n"
        "async def research(topic):\n"
        "    found = await asyncio.gather(*(ask(f'{topic}: {part}') for part in ('past', 'future')))\n"
        "    return await ask(' and '.join(found))\n\n\n"
        + RUNS + "print(asyncio.run(research('apples in Rome')))\n",
        SAID, "research", {"topic": "apples in Rome"},
    ),
    "a loop that prints, whose model answers at once": (
        "class Mind:\n    def __call__(self, message):\n        return think_of(message)\n\n\n"
        "def solve(question, mind):\n    said = question\n    for _ in range(5):\n        said = mind(said)\n"
        "        print(said)\n        if 'apples' in said:\n            return\n\n\n"
        + RUNS + "solve('Count all of the fruit', Mind())\n",
        SAID, "solve", {"question": "Count all of the fruit"},
    ),
    "tasks of a loop that the module runs, which ends without an answer": (
        "aclient = AsyncOpenAI()\n\n\n"
        "async def ask(prompt):\n"
        "    asked = [{'role': 'user', 'content': prompt}]\n"
        "    reply = await aclient.chat.completions.create(model='m', messages=asked)\n"
        "    return reply.choices[0].message.content\n\n\n"
        "async def side_by_side(prompts):\n    return await asyncio.gather(*map(ask, prompts))\n\n\n"
        "async def research(topic):\n    plan = think_of(f'Plan: {topic}')\n"
        "    found = await side_by_side([f'{topic}: {part}' for part in plan.splitlines()])\n"
        "    print(found)\n    raise SystemExit\n\n\n"
        + RUNS + "asyncio.run(research('apples in Rome'))\n",
        [PLAN, *SAID], "research", {"topic": "apples in Rome"},
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n\n\n"
        "def research(topic):\n"
        "    with ThreadPoolExecutor(2) as pool:\n"
        "        found = list(pool.map(think_of, [f'{topic}: past', f'{topic}: future']))\n"
        "    return think_of(' and '.join(found))\n\n\n"
        + RUNS + "print(research('apples in Rome'))\n",
        SAID, "research", {"topic": "apples in Rome"},
    ),
    "a conversation that another method begins, of several": (
        "class Desk:\n    def __init__(self):\n        self.kept = {}\n\n"
        "    def begin(self, topic):\n        key = len(self.kept)\n"
        "        self.kept[key] = [{'role': 'system', 'content': topic}]\n        return key\n\n"
        "    def say(self, key, text):\n        self.kept[key].append({'role': 'user', 'content': text})\n"
        "        return think(self.kept[key])\n\n\n"
        + RUNS + "desk = Desk()\n    old = desk.begin('pears')\n    desk.say(old, 'How sweet?')\n"
        "    key = desk.begin('apples')\n    desk.begin('plums')\n    print(desk.say(key, 'How many?'))\n",
        SAID, "Desk.say", {"topic": "pears", "text": "How sweet?"},
    ),
    "an LLM helper is given the conversation": (
        "def ask(messages):\n"
        "    return client.chat.completions.create(model='m', messages=messages, tools=TOOLS)\n\n\n"
        + function("def answer(task):", LOOP.replace(
            'client.chat.completions.create(model="m", messages=messages, tools=TOOLS)', "ask(messages)"))
        + RUNS + "print(answer('Is it sunny in Rome?'))\n",
        [CALL, *SAID], "answer", {"task": "Is it sunny in Rome?"},
    ),
    "an answer within what the model said": (
        "def ask(messages):\n    return think(messages)\n\n\n"
        "def answer(task):\n    messages = [{'role': 'user', 'content': task}]\n"
        "    return json.loads(ask(messages))['answer']\n\n\n"
        + RUNS + "print(answer('Is it sunny in Rome?'))\n",
        [{"content": '{"answer": "sunny all day"}'}], "answer", {"task": "Is it sunny in Rome?"},
    ),
    "a session that keeps the conversation for the next question": (
        "class Session:\n    def __init__(self):\n        self.messages = []\n\n\n"
        "def turn(question, messages):\n    messages.append({'role': 'user', 'content': question})\n"
        "    messages.append({'role': 'assistant', 'content': think(messages)})\n"
        "    return messages[-1]['content']\n\n\n"
        + RUNS + "kept = []\n    print(turn('How many apples?', kept))\n    print(turn('And how many pears?', kept))\n",
        SAID, "turn", {"question": "How many apples?"},
    ),
    "steps that return what the model said, and one around them that prints": (
        "def plan(goal):\n    return think_of('Plan: ' + goal).splitlines()\n\n\n"
        "def solve(goal):\n    for step in plan(goal):\n        print(think_of(step))\n\n\n"
        + RUNS + "solve('Count all of the apples')\n",
        [PLAN, *SAID], "solve", {"goal": "Count all of the apples"},
    ),
    "a command that sums the session up after its agent": (
        AGENT
        + "def summed_up(agent):\n    print(think_of(f'Sum up {len(agent.tasks)} tasks'))\n\n\n"
        "def command(args: argparse.Namespace):\n"
        "    agent = Agent()\n    agent.add_tool(TOOLS[0])\n    agent.add_task(args.task)\n"
        "    print(agent.run())\n    summed_up(agent)\n\n\n"
        + RUNS + "command(argparse.Namespace(task=sys.argv[1]))\n",
        [CALL, *SAID], "Agent.run", {"text": QUESTION},
    ),
    "steps of a policy without a history": (
        "def act(seen: dict):\n    return think_of(f'You see {seen[\"view\"]}. What next?')\n\n\n"
        "def play(level):\n    seen, score = {'view': 'a closed green door'}, 0\n"
        "    while score < 3:\n        seen = {'view': f'{act(seen)} behind door {score}'}\n        score += 1\n"
        "    return score\n\n\n"
        + RUNS + "print(play('first'))\n",
        SAID, "play", {"level": "first"},
    ),
    "two functions that a game asks by turns": (
        "class Player:\n    def letter(self):\n        return think_of(f'Say one letter. {self.game.said}')\n\n"
        "    def word(self):\n        return think_of(f'Say the word. {self.game.said}')\n\n\n"
        "class Game:\n    def __init__(self, size):\n        self.size, self.said = size, ''\n\n"
        "    def play(self, player):\n        player.game = self\n        for turn in range(3):\n"
        "            self.said += player.word() if turn == 2 else player.letter()\n        print(self.said)\n\n\n"
        + RUNS + "Game(7).play(Player())\n",
        SAID, "Game.play", {"size": 7},
    ),
    "a title before the conversation": (
        function("def answer(task):")
        + "def main():\n    print(think_of('A title for: ' + sys.argv[1]), answer(sys.argv[1]))\n\n\n"
        + RUNS + "main()\n",
        [SAID[0], CALL, *SAID[1:]], "answer", {"task": QUESTION},
    ),
    "a factory fills the agent and prints": (
        AGENT + "def make():\n    agent = Agent(rounds=8)\n"
        "    print(agent.add_tool(TOOLS[0]), 'tools')\n    return agent\n\n\n"
        + RUNS + "print(make().run('Is it sunny in Rome?'))\n",
        [CALL, *SAID], "Agent.run", {"task": "Is it sunny in Rome?"},
    ),
    "the Responses API, which keeps the conversation": (
        "def step(items, before):\n"
        "    return client.responses.create(model='m', input=items, tools=RTOOLS, previous_response_id=before)\n\n\n"
        "RTOOLS = [{'type': 'function', **TOOLS[0]['function']}]\n\n\n"
        "def answer(task):\n    items, before = task, None\n    while True:\n"
        "        response = step(items, before)\n        before = response.id\n"
        "        calls = [each for each in response.output if each.type == 'function_call']\n"
        "        if not calls:\n            return response.output_text\n"
        "        items = [{'type': 'function_call_output', 'call_id': c.call_id, 'output': 'sunny'} for c in calls]\n\n\n"
        + RUNS + "print(answer('Is it sunny in Rome?'))\n",
        [CALL, *SAID], "answer", {"task": "Is it sunny in Rome?"},
    ),
    "a stream, read by another function": (
        "def read(stream):\n    return ''.join(chunk.choices[0].delta.content or '' for chunk in stream)\n\n\n"
        "def chat(messages):\n"
        "    return read(client.chat.completions.create(model='m', messages=messages, stream=True))\n\n\n"
        "def answer(task):\n    messages = [{'role': 'user', 'content': task}]\n    for _ in range(2):\n"
        "        messages.append({'role': 'assistant', 'content': chat(messages)})\n"
        "        messages.append({'role': 'user', 'content': 'Are you sure?'})\n"
        "    return messages[-2]['content']\n\n\n"
        + RUNS + "print(answer('Is it sunny in Rome?'))\n",
        SAID, "answer", {"task": "Is it sunny in Rome?"},
    ),
    "a command line in another function": (
        function("def answer(task):") + "def main():\n    print(answer(sys.argv[1]))\n\n\n"
        + RUNS + "main()\n",
        [CALL, *SAID], "answer", {"task": "Is it sunny in Rome?"},
    ),
}  # fmt: skip
# A toolbox whose method asks the model, and somebody who asks it about the answer.
BESIDE = (
    "class Toolbox:\n    def look(self, city):\n        return think_of(f'Where is {city}?')\n\n\n"
    + function("def answer(task, toolbox):", LOOP.replace(
        '"content": "sunny"', '"content": toolbox(call.function.name, json.loads(call.function.arguments))'))
    + "def is_polite(text):\n    asked = [{'role': 'user', 'content': f'Is this polite: {text}'}]\n"
    "    return client.chat.completions.create(model='m', messages=asked).choices[0].message.content\n\n\n"
    + RUNS + "print(is_polite(answer('Is it sunny in Rome?', lambda name, given: vars(Toolbox)[name](None, **given))))\n"
)  # fmt: skip


def watched(
    folder: Path,
    agent: str,
    replies: list[Any],
    *command: str,
    options: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[bytes]:
    (folder / "pyproject.toml").touch()
    (folder / "agent.py").write_text(HEAD + agent)
    run = command or (sys.executable, "agent.py", QUESTION)
    with Engine(replies) as engine, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", engine.base_url)
        patch.setenv("OPENAI_API_KEY", "k")
        return art_adapt("capture", *options, "--", *run, cwd=folder)


def entry_of(folder: Path, *options: str) -> dict[str, Any]:
    """Return which function adapting takes, and from where."""
    done = art_adapt("--diff", "--json", "--isolated", *options, "agent.py", cwd=folder)
    assert done.returncode == 1, done.stderr.decode()
    told: dict[str, Any] = json.loads(done.stdout)
    return told["decisions"]["entry"]


def patch_of(folder: Path, *options: str) -> str:
    done = art_adapt("--diff", "--isolated", *options, "agent.py", cwd=folder)
    assert done.returncode == 1, done.stderr.decode()
    return done.stdout.decode()


def rows(folder: Path) -> list[dict[str, Any]]:
    file = folder / "scenarios.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [
        {k: v for k, v in json.loads(line).items() if k != "captured"} for line in lines
    ]
