"""What the agent is made with is no field of a row, and a task that somebody gives is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

ASK = """
    asked = [{{"role": "user", "content": {text}}}]
    reply = OpenAI().chat.completions.create(model="m", messages=asked{more})
    return reply.choices[0].message.content
"""
HEAD = "import argparse\nimport sys\n\nfrom openai import OpenAI\n\nfrom parts import Part\n\n"
PARTS = "class Part:\n    def __init__(self, url: str, n: int = 3):\n        self.url = url\n"
LOOK = "LOOK = {'type': 'function', 'function': {'name': 'look', 'parameters': {}}}\n"
TRAINS_ALL = "AUXILIARY: tuple[str, ...] = ()"
# A program, what has to be in its train module, and what must not be a field.
PROGRAMS = {
    "what is offered as tools, whatever it is called": (
        f"{LOOK}\n\ndef solve(task: str, offered):"
        + ASK.format(text="task", more=", tools=offered")
        + "\n\ndef main(task):\n    every = [LOOK] + []\n    print(solve(task, every))\n",
        "every = [LOOK] + []",
        "offered",
    ),
    "an object that is made of the command line": (
        "\n\nclass Bot:\n    def __init__(self, part):\n        self.part = part\n\n"
        "    def solve(self, task: str):"
        + ASK.format(text="task + self.part.url", more="").replace("\n    ", "\n        ")
        + "\n\nif __name__ == '__main__':\n    part = Part('u', n=len(sys.argv))\n"
        "    print(Bot(part).solve(sys.argv[1]))\n",
        "training.fill_in(",
        "part",
    ),
    "an object of options that a function parses": (
        "\n\ndef parsed():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('task')\n"
        "    parser.add_argument('--url', default='u')\n    return parser.parse_args()\n\n\n"
        "class Bot:\n    def __init__(self, part):\n        self.part = part\n\n"
        "    def solve(self, task: str):"
        + ASK.format(text="task + self.part.url", more="").replace("\n    ", "\n        ")
        + "\n\ndef main():\n    options = parsed()\n    part = Part(options.url)\n"
        "    print(Bot(part).solve(options.task))\n\n\nif __name__ == '__main__':\n    main()\n",
        "training.fill_in(",
        "part",
    ),
    "a client whose chat is a method": (
        "\n\ndef solve(task: str, llm_client):\n    if not task:\n        return again(llm_client)\n"
        "    return llm_client.chat(task)\n\n\ndef again(client):\n    return client.chat('Again.')\n\n\n"
        "class Client:\n    def chat(self, text):"
        + ASK.format(text="text", more="").replace("\n    ", "\n        "),
        "training.fill_in(",
        "llm_client",
    ),
}  # fmt: skip


def module_of(tmp_path: Path, program: str, *options: str) -> str:
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "agent.py").write_text(HEAD + program)
    named = ("--isolated", *options, "agent.py")
    done = art_adapt(*named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    return (tmp_path / "agent_train.py").read_text()


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_the_agent_is_made_with_is_no_field(what: str, tmp_path: Path) -> None:
    program, has, is_no_field = PROGRAMS[what]
    entry = "Bot.solve" if "class Bot" in program else "solve"
    module = module_of(tmp_path, program, "--entry", entry)
    assert has in module
    scenario = module[module.index("class Scenario") : module.index("def episode")]
    assert "task: str" in scenario and f"{is_no_field}:" not in scenario
    assert "parsed()" not in module and "OpenAI(" not in module


def test_a_task_that_some_give_as_a_text_is_a_field(tmp_path: Path) -> None:
    """Others give a list of objects: no example of it is every episode's task."""
    program = (
        "class Message:\n    pass\n\n\ndef solve(task: str | list[Message], style: str = 'plain'):"
        + ASK.format(text="f'{task} {style}'", more="")
        + "\n\ndef first():\n    print(solve('Say hello.'))\n\n\n"
        "def second():\n    print(solve([Message(), Message()]))\n"
    )
    module = module_of(tmp_path, program, "--entry", "solve")
    assert "task=scenario.task" in module and "Say hello" not in module


def test_what_writes_the_answer_is_no_side_job(tmp_path: Path) -> None:
    program = (
        "\n\ndef complete(messages, tools=None):\n"
        "    return OpenAI().chat.completions.create(model='m', messages=messages, tools=tools).choices[0].message\n\n\n"
        "def solve(task: str):\n    messages = [{'role': 'user', 'content': task}]\n"
        "    for _ in range(3):\n        message = complete(messages, tools=[{}])\n        messages.append(message)\n"
        "        if not message.tool_calls:\n            return message.content\n"
        "        for call in message.tool_calls:\n"
        "            messages.append({'role': 'tool', 'tool_call_id': call.id, 'content': 'x'})\n"
        "    return KEPT\n\n\n"
        "def summarize(messages):\n"
        "    return complete([{'role': 'user', 'content': str(messages)}]).content\n"
    )
    kept = program.replace("KEPT", "summarize(messages)")
    assert TRAINS_ALL in module_of(tmp_path, kept, "--entry", "solve")
    beside = program.replace("    return KEPT", "    print(summarize(messages))")
    (tmp_path / "agent_train.py").unlink()
    assert TRAINS_ALL not in module_of(tmp_path, beside, "--entry", "solve")
