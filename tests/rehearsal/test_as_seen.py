"""A rehearsal compares what episodes ask with what the agent asked in a run that was seen."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from agent_files import art_adapt
from test_rehearse import REWARD, rehearse

AGENT = """\
import json
import sys

from openai import OpenAI

client = OpenAI()
STYLES = {"short": "Answer in one word.", "long": "Answer at length, with reasons."}


class Agent:
    def __init__(self, prompt="", style="short"):
        self.prompt, self.style, self.tools = prompt, style, {}

    def add_tool(self, function):
        self.tools[function.__name__] = function

    def run(self, question: str) -> str:
        messages = [{"role": "user", "content": f"{question} {STYLES[self.style]}"}]
        if self.prompt:
            messages.insert(0, {"role": "system", "content": self.prompt})
        while True:
            reply = client.chat.completions.create(
                model="m",
                messages=messages,
                tools=[
                    {"type": "function", "function": {"name": name, "parameters": {
                        "type": "object", "properties": {"city": {"type": "string"}},
                        "required": ["city"]}}}
                    for name in self.tools
                ] or None,
            )
            message = reply.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                try:
                    result = self.tools[call.function.name](**json.loads(call.function.arguments))
                except Exception as error:
                    result = str(error)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def look(city: str) -> str:
    return "sunny in " + city


def make_agent() -> Agent:
    agent = Agent("You are a guide. It is day 7 of the tour, started at 10:32.", style="long")
    agent.add_tool(look)
    return agent


if __name__ == "__main__":
    print(make_agent().run(sys.argv[1]))
"""
QUESTION = "Is it warm in Rome?"
# How an episode is started, and what is said of it.
MADE = {
    "as in the run": ("make_agent()", None),
    "without the prompt": (
        "(agent := Agent(style='long'), agent.add_tool(look))[0]",
        "the prompt was 'You are a guide. It is day 7 of...' in the run that was seen, and is "
        "empty in the episode",
    ),
    "with another prompt": (
        "(agent := Agent('You are a guide to Rome.', 'long'), agent.add_tool(look))[0]",
        "the prompt was '...are a guide. It is",
    ),
    "without its tools": (
        "Agent('You are a guide. It is day 7 of the tour, started at 09:00.', 'long')",
        "the run that was seen offered look, episodes do not",
    ),
    "with a default that the project does not use": (
        "(agent := Agent('You are a guide. It is day 7 of the tour, started at 10:32.'), "
        "agent.add_tool(look))[0]",
        "the message of the user was '...in Rome? Answer at length, with reasons.' in the run",
    ),
}


def adapted_after_a_run(folder: Path, made: str) -> None:
    """Watch a run, adapt, and let episodes make the agent in a way of their own."""
    (folder / "pyproject.toml").touch()
    (folder / "agent.py").write_text(AGENT)
    (folder / "rewards.py").write_text(REWARD)
    run = ("capture", "--scripted", "--", sys.executable, "agent.py", QUESTION)
    assert art_adapt(*run, cwd=folder).returncode == 0
    adapting = ("--isolated", "--reward", "rewards:f", "agent.py")
    assert art_adapt(*adapting, cwd=folder).returncode == 0
    module = folder / "agent_train.py"
    text = module.read_text()
    assert "agent = make_agent()" in text
    module.write_text(
        text.replace("make_agent()", made).replace(
            "import make_agent", "import Agent, look, make_agent"
        )
    )


def told_of(folder: Path, having: str = "the run") -> tuple[list[str], list[str]]:
    """Rehearse, and return what was seen as in the run, and what was not; not that it has no row."""
    _, said, complaints = rehearse("agent_train.py", "--json", cwd=folder)
    told = json.loads(said or "{}")
    assert told, complaints
    return (
        [each for each in told["witnessed"] if having in each],
        [
            each
            for each in told["unwitnessed"]
            if having in each and "was compared with" not in each
        ],
    )


@pytest.mark.parametrize("way", MADE)
def test_an_episode_asks_what_the_run_asked(way: str, tmp_path: Path) -> None:
    made, otherwise = MADE[way]
    adapted_after_a_run(tmp_path, made)
    as_seen, apart = told_of(tmp_path)
    if otherwise is None:
        assert apart == []
        assert as_seen == [
            "given the replies of the watched run, an episode of its row sends the run's requests "
            "(2 requests)"
        ]
    else:
        assert as_seen == []
        (said,) = apart
        assert said.startswith(otherwise), said


@pytest.mark.parametrize(
    "way", ["as in the run", "without the prompt", "without its tools"]
)
def test_rows_of_its_own_are_compared_by_tools_and_a_prompt(
    way: str, tmp_path: Path
) -> None:
    """No run had these tasks: only what every conversation has is compared."""
    adapted_after_a_run(tmp_path, MADE[way][0])
    rows = [{"question": f"Where is the town number {n}?"} for n in range(4)]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(map(json.dumps, rows)))
    as_seen, apart = told_of(tmp_path)
    assert as_seen == []
    assert len(apart) == (way != "as in the run"), apart


def test_what_is_asked_again_after_a_reply_is_no_beginning(tmp_path: Path) -> None:
    """A word of the first reply is in the second prompt, and is another one in each run."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "agent.py").write_text(
        "import sys\nfrom openai import OpenAI\n\n\ndef ask(prompt):\n"
        "    messages = [{'role': 'user', 'content': prompt}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n\n\ndef run(query: str) -> str:\n"
        "    code = ask(query)\n    for _ in range(2):\n"
        "        word = (code.split() or ['nothing'])[0]\n"
        "        code = ask(f'{query}\\nError: name {word!r} is not defined.')\n    return code\n\n\n"
        "if __name__ == '__main__':\n    print(run(sys.argv[1]))\n"
    )
    command = ("capture", "--scripted", "--", sys.executable, "agent.py", QUESTION)
    done = art_adapt(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert art_adapt("--isolated", "agent.py", cwd=tmp_path).returncode == 0
    (tmp_path / "scenarios.jsonl").write_text('{"query": "Is it cold in Bern?"}\n')
    assert told_of(tmp_path) == ([], [])


DELEGATING = """\
import sys

from openai import OpenAI


def tools(name):
    function = {"name": name, "parameters": {"type": "object", "properties": {}}}
    return [{"type": "function", "function": function}]


def ask(prompt, name):
    asked = [{"role": "system", "content": "Work."}, {"role": "user", "content": prompt}]
    reply = OpenAI().chat.completions.create(model="m", messages=asked, tools=tools(name))
    return str(reply.choices[0].message.content)


def run(budget: int) -> str:
    plan = ask("Order something for the shop.", "order")
    return ask("Deliver this: " + plan, OFFERED)


if __name__ == "__main__":
    print(run(int(sys.argv[1])))
"""


@pytest.mark.parametrize("later", ["deliver", "return"])
def test_the_tools_of_a_sub_agent_were_in_the_run_as_well(
    later: str, tmp_path: Path
) -> None:
    """Its conversation begins with what the model said, and its tools are its own."""
    (tmp_path / "pyproject.toml").touch()
    agent = tmp_path / "agent.py"
    agent.write_text(DELEGATING.replace("OFFERED", '"deliver"'))
    command = ("capture", "--scripted", "--", sys.executable, "agent.py", "7")
    done = art_adapt(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    adapting = ("--isolated", "--entry", "run", "agent.py")
    assert art_adapt(*adapting, cwd=tmp_path).returncode == 0
    agent.write_text(agent.read_text().replace('"deliver"', f'"{later}"'))
    (tmp_path / "scenarios.jsonl").write_text('{"budget": 1}\n{"budget": 2}\n')
    _, apart = told_of(tmp_path)
    assert any("episodes offer" in each for each in apart) == (later == "return"), apart


@pytest.mark.wide
def test_a_row_with_a_key_for_the_reward_is_compared(tmp_path: Path) -> None:
    """The quickstart adds ``expected`` to a captured row; a question of one's own is another row."""
    adapted_after_a_run(tmp_path, "make_agent()")
    rows = tmp_path / "scenarios.jsonl"
    (row,) = map(json.loads, rows.read_text().splitlines())
    rows.write_text(
        json.dumps({"expected": "It is sunny there, and warm.", **row}) + "\n"
    )
    done = art_adapt("rehearse", "agent_train.py", cwd=tmp_path)
    assert b"as seen     given the replies of the watched run" in done.stdout, (
        done.stdout
    )
    rows.write_text(json.dumps({**row, "question": "Is Oslo cold in May?"}) + "\n")
    done = art_adapt("rehearse", "agent_train.py", cwd=tmp_path)
    assert b"no episode was compared with the watched run" in done.stdout, done.stdout
