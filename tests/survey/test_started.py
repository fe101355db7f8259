"""Which function runs an episode: the one that the project starts, with all of its stages."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from art_adapt.source import Source, read_source
from art_adapt.survey.model import EntryPoint, Survey
from art_adapt.survey.survey import survey

ASK = (
    'client.chat.completions.create(model="m", messages={}).choices[0].message.content'
)
HEAD = "from openai import OpenAI\n\nclient = OpenAI()\n"


def of(text: str) -> Survey:
    whole = HEAD + dedent(text)
    return survey([Source(Path("/nowhere/agent.py"), whole.encode())])


def first(found: Survey) -> EntryPoint:
    likeliest, *others = found.entry_points
    assert not others or likeliest.score > others[0].score, [e.called for e in others]
    return likeliest


STAGES = f"""
def make_plan(goal):
    messages = [{{"role": "user", "content": "Plan: " + goal}}]
    return {ASK.format("messages")}

def work(tasks):
    results = []
    for task in tasks:
        messages = [{{"role": "user", "content": "Do: " + task}}]
        results.append({ASK.format("messages")})
    return results
"""
COMPOSED = {
    "a main with a goal": "def main(goal):\n    plan = make_plan(goal)\n    return work(plan)",
    "one call in the other": "def main(goal):\n    return work(make_plan(goal).split())",
    "through a name for a part": (
        "def main(goal):\n    plan = make_plan(goal)\n    steps = plan.splitlines()\n    return work(steps)"
    ),
    "a command line": (
        "import argparse\ndef main():\n    args = argparse.ArgumentParser().parse_args()\n"
        "    plan = make_plan(args.goal)\n    print(work(plan))\nif __name__ == '__main__':\n    main()"
    ),
    "a method": (
        "class Flow:\n    def start(self, goal):\n        plan = make_plan(goal)\n        return work(plan)"
    ),
}


@pytest.mark.parametrize("whole", COMPOSED)
def test_what_runs_all_stages_is_the_episode(whole: str) -> None:
    found = of(f"{STAGES}\n{COMPOSED[whole]}\n")
    assert first(found).called.rpartition(".")[2] in ("main", "start")


# Modules that hand one stage's result to the next, from what a person says.
COMPOSING = {
    "arguments": "import sys\nplan = make_plan(sys.argv[1])\nprint(work(plan))",
    "a parser": (
        "import argparse\nargs = argparse.ArgumentParser().parse_args()\n"
        "print(work(make_plan(args.goal).split()))"
    ),
    "input": "steps = make_plan(input()).splitlines()\nfor done in work(steps):\n    print(done)",
    "below a guard": "if __name__ == '__main__':\n    plan = make_plan(input('Goal: '))\n    print(work(plan))",
}


@pytest.mark.parametrize("whole", COMPOSING)
def test_a_script_that_runs_all_stages_is_the_episode(whole: str) -> None:
    assert first(of(f"{STAGES}\n{COMPOSING[whole]}\n")).is_script


def test_a_summary_of_an_answer_is_no_part_of_the_agent() -> None:
    whole = (
        f"{STAGES}\ndef solve(task):\n    messages = [{{'role': 'user', 'content': task}}]\n"
        f"    for _ in range(9):\n        messages.append({ASK.format('messages')})\n"
        "    return messages[-1]\n\nif __name__ == '__main__':\n"
        "    import sys\n    answer = solve(sys.argv[1])\n    print(answer, make_plan(answer))\n"
    )
    assert first(of(whole)).called == "solve"


@pytest.mark.parametrize(
    "module",
    [
        "import sys\nprint(make_plan(sys.argv[1]))\nprint(work([sys.argv[2]]))",  # two tasks
        "plan = make_plan('a goal')\nprint(work(plan))",  # nobody says anything
        "import sys\nif sys.argv[1] == 'plan':\n    print(make_plan(sys.argv[2]))\nelse:\n    print(work([sys.argv[2]]))",
    ],
)
def test_a_module_that_only_calls_stages_is_no_script(module: str) -> None:
    assert not any(each.is_script for each in of(f"{STAGES}\n{module}\n").entry_points)


def test_one_or_the_other_stage_is_no_whole() -> None:
    main = "def main(goal, fast):\n    if fast:\n        return make_plan(goal)\n    return work([goal])\n"
    one, other, *_ = of(f"{STAGES}\n{main}").entry_points
    assert {one.called, other.called} == {"main", "work"}
    assert one.score == other.score  # so that the user is asked


BOT = f"""
class Bot:
    def __init__(self, system: str):
        self.system = system

    def chat(self, text: str) -> str:
        messages = [{{"role": "system", "content": self.system}}, {{"role": "user", "content": text}}]
        return {ASK.format("messages")}

    def chat_aloud(self, text: str, voice: str = "alloy") -> str:
        answer = self.chat(text)
        client.audio.speech.create(model="tts-1", voice=voice, input=answer)
        return answer
"""


@pytest.mark.parametrize(
    ("start", "entry"),
    [
        ("if __name__ == '__main__':\n    bot = Bot('Brief.')\n    print(bot.chat(input()))", "Bot.chat"),
        ("def main():\n    print(Bot('Brief.').chat(input()))", "Bot.chat"),
        ("bot = Bot('Brief.')\ndef main():\n    print(bot.chat_aloud(input()))", "Bot.chat_aloud"),
    ],
)  # fmt: skip
def test_the_method_that_the_project_calls_comes_first(start: str, entry: str) -> None:
    assert first(of(f"{BOT}\n{start}\n")).called == entry


RELAYED = '[{"role": "system", "content": system}, {"role": "user", "content": text}]'
FILES = {
    "llm": (f"{HEAD}\ndef ask(system, text):\n    return {ASK.format(RELAYED)}\n"),
    "steps": (
        "from llm import ask\n\ndef plan(text):\n    return ask('Plan a review.', text)\n\n"
        "def write(text, plan):\n    return ask('Review by this plan: ' + plan, text)\n"
    ),
    "flow": "from steps import plan, write\n\ndef review(text):\n    return write(text, plan(text))\n",
}


def project(folder: Path, given: str, files: dict[str, str]) -> Survey:
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return survey([read_source(folder / f"{given}.py")])


@pytest.mark.parametrize("given", FILES)
def test_callers_without_a_call_of_their_own_are_found(
    given: str, tmp_path: Path
) -> None:
    assert first(project(tmp_path, given, FILES)).called == "review"


def test_one_caller_that_has_the_prompt_is_found(tmp_path: Path) -> None:
    files = {**FILES, "steps": FILES["steps"].partition("def plan")[0]}
    files["steps"] += "def write(text):\n    return ask('Review this.', text)\n"
    del files["flow"]
    assert first(project(tmp_path, "llm", files)).called == "write"


def test_a_chat_in_another_file_holds_the_conversation(tmp_path: Path) -> None:
    api = (
        f"{HEAD}\ndef call_llm(history, model='gpt-4o'):\n"
        "    messages = [{'role': 'system', 'content': 'Be brief.'}]\n    messages.extend(history)\n"
        f"    return {ASK.format('messages')}\n"
    )
    main = """
        from api import call_llm

        class Chat:
            def __init__(self):
                self.history = []

            def send(self, message):
                self.history.append({"role": "user", "content": message})
                answer = call_llm(self.history)
                self.history.append({"role": "assistant", "content": answer})
                print(answer)

        if __name__ == "__main__":
            chat = Chat()
            while True:
                chat.send(input("You: "))
    """
    found = project(tmp_path, "api", {"api": api, "main": dedent(main)})
    assert first(found).called == "Chat.send"


CHAT = f"""
messages = [{{"role": "system", "content": "..."}}]

def ask(messages):
    return {ASK.format("messages")}

def run_steps():
    for _ in range(20):
        content = ask(messages)
        messages.append({{"role": "assistant", "content": content}})
        if "done" in content:
            break

def NAME():
    while (goal := input("> ")) != "exit":
        messages.append({{"role": "user", "content": goal}})
        run_steps()
"""


@pytest.mark.parametrize("name", ["main", "chat_loop", "repl"])
@pytest.mark.parametrize("helper", ["", "\ndef typed(text):\n    return input(text)\n"])
def test_a_turn_that_takes_nothing_is_a_part_of_its_chat(
    name: str, helper: str
) -> None:
    text = CHAT.replace("NAME", name)
    if helper:  # which asks for it
        text = text.replace("input(", "typed(") + helper
    assert first(of(text)).called == name


PROVIDERS = {
    "base": (
        "from abc import ABC, abstractmethod\n\nclass Backend(ABC):\n    @abstractmethod\n"
        "    def reply(self, messages): ...\n"
    ),
    "claude": (
        "import anthropic\n\nfrom base import Backend\n\nclass ClaudeBackend(Backend):\n    def reply(self, messages):\n"
        "        return anthropic.Anthropic().messages.create(model='c', messages=messages).content\n"
    ),
    "gpt": (
        f"{HEAD}\nfrom base import Backend\n\nclass GptBackend(Backend):\n    def reply(self, messages):\n"
        f"        return {ASK.format('messages')}\n"
    ),
    "agent": (
        "from base import Backend\n\nclass Agent:\n    def __init__(self, backend: Backend):\n"
        "        self.backend, self.messages = backend, []\n\n    def run_turn(self, text: str) -> str:\n"
        "        self.messages.append({'role': 'user', 'content': text})\n"
        "        answer = self.backend.reply(self.messages)\n"
        "        self.messages.append({'role': 'assistant', 'content': answer})\n        return answer\n"
    ),
    "cli": (
        "import sys\n\nfrom agent import Agent\nfrom claude import ClaudeBackend\nfrom gpt import GptBackend\n\n"
        "def build(name):\n    return ClaudeBackend() if name == 'claude' else GptBackend()\n\n"
        "def main():\n    backend = build(sys.argv[1])\n    print(Agent(backend).run_turn(sys.argv[2]))\n"
    ),
}


@pytest.mark.parametrize("given", ["agent", "cli", "gpt"])
def test_an_agent_that_knows_an_interface_is_found_with_what_can_be_recorded(
    given: str, tmp_path: Path
) -> None:
    entry = first(project(tmp_path, given, PROVIDERS))
    assert entry.called == "Agent.run_turn"
    (backend,) = entry.constructor
    assert backend.made is not None and "GptBackend" in backend.made.value


KINDS = f"""
class Gpt:
    def generate(self, prompt, text):
        messages = [{{"role": "system", "content": prompt}}, {{"role": "user", "content": text}}]
        return {ASK.format("messages")}

class Echo:
    def generate(self, prompt, text):
        return text

class Agent:
    def __init__(self, kind, MODEL):
        self.model = MADE

    def chat(self, text: str) -> str:
        return self.model.generate("Be brief.", text)
"""


@pytest.mark.parametrize(
    ("annotated", "made"),
    [
        ("model: Union[Gpt, Echo]", "model"),
        ("model: typing.Union[None, Gpt]", "model"),
        ("model: Gpt | Echo", "model"),
        ("model", "{'gpt': Gpt, 'echo': Echo}[kind]()"),
        ("model", "(Gpt if kind == 'gpt' else Echo)()"),
        ("table=None", "KNOWN.get(kind)()"),
    ],
)
def test_an_object_of_one_of_several_classes_is_followed(
    annotated: str, made: str
) -> None:
    text = KINDS.replace("MODEL", annotated).replace("MADE", made)
    assert first(of(f"{text}\nKNOWN = {{'gpt': Gpt, 'echo': Echo}}\n")).called == (
        "Agent.chat"
    )


@pytest.mark.parametrize(
    "line", ["from . import echo, gpt", "from back import echo, gpt"]
)
def test_modules_that_a_package_imports_from_itself_are_modules(
    line: str, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    package = tmp_path / "back"
    package.mkdir()
    asks = "    messages = [{'role': 'system', 'content': system}, {'role': 'user', 'content': user}]\n"
    files = {
        "__init__": (
            f"{line}\n\nQUERIES = {{'gpt': gpt.query, 'echo': echo.query}}\n\ndef query(system, user, kind='gpt'):\n"
            "    function = QUERIES[kind]\n    return function(system, user)\n"
        ),
        "echo": "def query(system, user):\n    return user\n",
        "gpt": f"{HEAD}\ndef query(system, user):\n{asks}    return {ASK.format('messages')}\n",
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    (tmp_path / "agent.py").write_text(
        "from back import query\n\ndef solve(task):\n    draft = query('Solve.', task)\n"
        "    for _ in range(3):\n        draft = query('Mend.', draft)\n    return draft\n"
    )
    found = survey([read_source(package / "gpt.py")])
    assert first(found).called == "solve"


PLAYED = f"""
class Game:
    def __init__(self, level):
        self.said = [{{"role": "user", "content": level}}]

    def play(self, rounds: int = 6) -> str:
        for _ in range(rounds):
            self.said.append({{"role": "assistant", "content": {ASK.format("self.said")}}})
        return self.said[-1]["content"]
"""
# Drivers that count results: each turn of their loops is a game of its own.
DRIVERS = {
    "a number of games": "for _ in range(10):\n        game = Game(level)\n        won.append(game.play())",
    "made in the call": "for _ in range(10):\n        won.append(Game(level).play())",
    "a comprehension": "won = [Game(level).play() for _ in range(10)]",
    "a function that is mapped": "game = Game(level)\n    def one(number):\n        return game.play(number)\n    won += pool.map(one, range(10))",
    "mapped by the builtin": "game = Game(level)\n    won += map(game.play, range(10))",
    "a loop in a loop": "for size in (3, 4):\n        for _ in range(10):\n            game = Game(level)\n            won.append(game.play(size))",
}  # fmt: skip


@pytest.mark.parametrize("kind", DRIVERS)
def test_one_of_many_games_is_the_episode(kind: str) -> None:
    driver = f"def evaluate(level):\n    won = []\n    {DRIVERS[kind]}\n    return len(won)\n"
    found = of(f"{PLAYED}\n\n{driver}")
    assert first(found).name == "Game.play"
    (other,) = (each for each in found.entry_points if each.name == "evaluate")
    assert "starts_or_tries" in other.features
