"""Of several classes behind one method, episodes run the one that asks the model."""

from pathlib import Path

import pytest
from agent_files import art_adapt

HEAD = (
    "import sys\nfrom abc import ABC, abstractmethod\n\nfrom openai import OpenAI\n\n"
)
MODEL = """\
    def __init__(self, model: str):
        self.model = model

    def move(self, steps):
        messages = [{"role": "user", "content": f"So far: {steps}. Next?"}]
        reply = OpenAI().chat.completions.create(model=self.model, messages=messages)
        return reply.choices[0].message.content


"""
GAME = """\
class Game:
    def __init__(self, start: str, target: str, player: Player):
        self.start, self.target, self.player = start, target, player

    def run(self):
        steps = [self.start]
        while len(steps) < 4 and steps[-1] != self.target:
            steps.append(self.player.move(steps))
        return steps


"""
MADE = "if __name__ == '__main__':\n    print(Game(sys.argv[1], sys.argv[2], {player}).run())\n"
ASKS = '        return input("Move: ")\n\n\n'
# How a person's moves stand beside the model's.
FAMILIES = {
    "the base asks a person": (
        "class Player:\n    def move(self, steps):\n" + ASKS,
        "class Agent(Player):\n" + MODEL,
        "",
    ),
    "a sibling asks a person": (
        "class Player(ABC):\n    @abstractmethod\n    def move(self, steps): ...\n\n\n",
        "class Agent(Player):\n" + MODEL,
        "class Human(Player):\n    def move(self, steps):\n" + ASKS,
    ),
    "a class below asks a person": (
        "",
        "class Player:\n" + MODEL,
        "class Human(Player):\n    def move(self, steps):\n" + ASKS,
    ),
    "a cousin asks a person": (
        "class Player(ABC):\n    @abstractmethod\n    def move(self, steps): ...\n\n\n",
        "class Agent(Player):\n" + MODEL,
        "class Local(Player):\n    pass\n\n\nclass Human(Local):\n    def move(self, steps):\n"
        + ASKS,
    ),
}
# What the model's own move asks, a person is asked in each episode.
PERSONS = {
    "the model's own move": MODEL.replace(
        "        messages =", "        steps.append(input())\n        messages ="
    ),
}


def scenario_of(folder: Path, text: str) -> str:
    (folder / "agent.py").write_text(text)
    done = art_adapt("--diff", "agent.py", cwd=folder)
    said = done.stdout.decode()
    found = said.partition("+class Scenario")[2].partition("+@training")[0]
    return found + done.stderr.decode()


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_person_beside_the_model_is_not_asked(kind: str, tmp_path: Path) -> None:
    base, agent, human = FAMILIES[kind]
    player = "Agent('m')" if "class Agent" in agent else "Player('m')"
    text = HEAD + base + agent + human + GAME + MADE.format(player=player)
    said = scenario_of(tmp_path, text)
    assert "+    start: str\n+    target: str\n" in said, said
    assert "inputs" not in said and "asks a person" not in said


def test_a_person_whom_the_model_s_move_asks_is_asked(tmp_path: Path) -> None:
    agent = "class Player:\n" + PERSONS["the model's own move"]
    text = HEAD + agent + GAME + MADE.format(player="Player('m')")
    assert "asks a person" in scenario_of(tmp_path, text)


def test_what_the_model_s_move_runs_of_its_base_class_counts(tmp_path: Path) -> None:
    """``super().move(steps)`` writes a file in each episode."""
    base = "class Player:\n    def move(self, steps):\n        open('log', 'a').write(str(steps))\n\n\n"
    asks = MODEL.replace(
        "        messages =", "        super().move(steps)\n        messages ="
    )
    text = HEAD + base + "class Agent(Player):\n" + asks + GAME
    said = scenario_of(tmp_path, text + MADE.format(player="Agent('m')"))
    assert "open() agent.py:8" in said and "writes outside the episode" in said, said


@pytest.mark.parametrize("first", ["Scout", "Lead"])
def test_the_agent_that_sends_the_others_out_is_the_episode(
    first: str, tmp_path: Path
) -> None:
    """Both inherit what runs them; a scout is only made by the leading one."""
    base = (
        "class Agent:\n    def __init__(self, prompt: str):\n        self.prompt = prompt\n\n"
        "    def run(self, text: str) -> str:\n"
        "        messages = [{'role': 'system', 'content': self.prompt}, {'role': 'user', 'content': text}]\n"
        "        for _ in range(6):\n"
        "            reply = OpenAI().chat.completions.create(model='m', messages=messages, tools=TOOLS)\n"
        "            message = reply.choices[0].message\n            messages.append(message)\n"
        "            if not message.tool_calls:\n                return message.content\n"
        "            for call in message.tool_calls:\n"
        "                said = self.handle(call.function.arguments)\n"
        "                messages.append({'role': 'tool', 'tool_call_id': call.id, 'content': said})\n\n\n"
    )
    agents = {
        "Scout": "class Scout(Agent):\n    def handle(self, order):\n        return 'seen ' + order\n\n\n",
        "Lead": "class Lead(Agent):\n    def handle(self, order):\n        return Scout('You look.').run(order)\n\n\n",
    }
    second = next(name for name in agents if name != first)
    starts = (
        "if __name__ == '__main__':\n    print(Lead('You plan.').run(sys.argv[1]))\n"
    )
    tools = "TOOLS = [{'type': 'function', 'function': {'name': 'handle'}}]\n\n\n"
    text = HEAD + tools + base + agents[first] + agents[second] + starts
    (tmp_path / "agent.py").write_text(text)
    told = art_adapt("--diff", "agent.py", cwd=tmp_path).stderr.decode()
    assert "  entry       Lead.run " in told, told
