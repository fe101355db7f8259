"""Test that a client of another API is named where it asks, with a call to record."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.errors import Refusal
from art_adapt.plan import Plan, make_plan
from art_adapt.settings import Options
from art_adapt.source import read_source

# By what they show: the file, its client, the line that asks, the call to write.
ASKED = {
    "Anthropic": (
        "import anthropic\nclient = anthropic.Anthropic()\ndef ask(m):\n"
        "    return client.messages.create(model='claude-x', system=S, messages=m,\n"
        "        max_tokens=200).content[0].text\n",
        "the Anthropic client",
        4,
        "litellm.completion(model='anthropic/claude-x', messages=[{'role': 'system', "
        "'content': S}, *m], max_tokens=200)",
    ),
    "an asynchronous attribute, a model by name": (
        "from anthropic import AsyncAnthropic\nclass A:\n    def __init__(self):\n"
        "        self.client = AsyncAnthropic()\n    async def ask(self, m):\n"
        "        return await self.client.messages.create(model=MODEL, messages=m)\n",
        "the Anthropic client",
        6,
        "await litellm.acompletion(model=f'anthropic/{MODEL}', messages=m)",
    ),
    "a stream": (
        "from anthropic import Anthropic\ndef ask(m):\n"
        "    with Anthropic().messages.stream(model='c', messages=m) as s:\n"
        "        return s.get_final_text()\n",
        "the Anthropic client",
        3,
        "litellm.completion(model='anthropic/c', messages=m)",
    ),
    "Gemini": (
        "from google import genai\nclient = genai.Client()\ndef ask(text):\n"
        "    return client.models.generate_content(model='g', contents=text).text\n",
        "the Gemini client",
        4,
        "litellm.completion(model='gemini/g', messages=[{'role': 'user'",
    ),
    "Gemini's older package": (
        "import google.generativeai as genai\nmodel = genai.GenerativeModel('g')\n"
        "def ask(text):\n    chat = model.start_chat()\n"
        "    return chat.send_message(text).text\n",
        "the Gemini client",
        5,
        "litellm.completion(model='gemini/...'",
    ),
    "Ollama": (
        "import ollama\ndef ask(m):\n"
        "    return ollama.chat(model='llama3', messages=m)['message']['content']\n",
        "the Ollama client",
        3,
        "litellm.completion(model='ollama_chat/llama3', messages=m)",
    ),
    "an import alone": (
        "from anthropic.types import Message\ndef ask(m: Message):\n    return m\n",
        "the Anthropic client",
        1,
        "through LiteLLM",
    ),
}


def planned(tmp_path: Path, source: str) -> Plan:
    file = tmp_path / "agent.py"
    file.write_text(source)
    return make_plan([read_source(file)], Options())


@pytest.mark.parametrize(
    ("source", "client", "line", "call"), ASKED.values(), ids=list(ASKED)
)
def test_the_call_and_what_to_write(
    source: str, client: str, line: int, call: str, tmp_path: Path
) -> None:
    with pytest.raises(Refusal, match=client) as refused:
        planned(tmp_path, source)
    assert refused.value.line == line
    assert call in refused.value.next_step


# What imports another client and asks nothing by it.
UNUSED = {
    "alone": "import anthropic\ndef one():\n    return 1\n",
    "from": "from anthropic import Anthropic\ndef one():\n    return 1\n",
    "as": "from google import genai as models\ndef one():\n    return 1\n",
    "tried": "try:\n    import ollama\nexcept ImportError:\n    ollama = None\n",
    "in a function": "def one():\n    import cohere\n    return 1\n",
}


@pytest.mark.parametrize("kind", UNUSED)
def test_a_client_that_nothing_uses_asks_nothing(kind: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="no completion call found"):
        planned(tmp_path, UNUSED[kind])


ADK = """
from google.adk.agents import Agent
from google.adk.runners import Runner
from google.genai import types
agent = Agent(name='a', model={model})
runner = Runner(agent=agent, app_name='x', session_service=None)
async def ask(question):
    async for event in runner.run_async(new_message=question):
        last = event
    return last
"""


def test_adk_is_recorded_where_it_asks_by_litellm(tmp_path: Path) -> None:
    by_litellm = "from google.adk.models.lite_llm import LiteLlm" + ADK
    plan = planned(tmp_path, by_litellm.format(model="LiteLlm('openai/gpt-4o')"))
    assert [call.callee for call in plan.decisions.policy] == ["runner.run_async"]
    with pytest.raises(Refusal, match="Google's ADK on Gemini") as refused:
        planned(tmp_path, ADK.format(model="'gemini-2.5-flash'"))
    assert "LiteLlm('openai/...')" in refused.value.next_step


OPENAI = """\
from openai import OpenAI


class GPT:
    def say(self, text: str) -> str:
        reply = OpenAI().chat.completions.create(
            model="m", messages=[{"role": "user", "content": text}]
        )
        return reply.choices[0].message.content
"""
CLAUDE = """\
import anthropic


class Claude:
    def __init__(self):
        self.client = anthropic.Anthropic()

    def say(self, text: str) -> str:
        kwargs = {"model": "c", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}
        return self.client.messages.create(**kwargs).content[0].text

    def unused(self, text: str) -> str:
        return text
"""
# How an agent asks the other client, in a file of its own.
OPPONENTS = {
    "an attribute": "class Game:\n    def __init__(self):\n        self.one, self.other = GPT(), Claude()\n\n"
    "    def play(self, opening: str) -> str:\n"
    "        return self.one.say(self.other.say(opening))\n",
    "a list": "def play(opening: str) -> str:\n    for player in [GPT(), Claude()]:\n"
    "        opening = player.say(opening)\n    return opening\n",
    "a dict": "PLAYERS = {'gpt': GPT(), 'claude': Claude()}\n\n\ndef play(opening: str) -> str:\n"
    "    for name, player in PLAYERS.items():\n        opening = player.say(opening)\n    return opening\n",
    "a helper": "def other(text):\n    return Claude().say(text)\n\n\n"
    "def play(opening: str) -> str:\n    return GPT().say(other(opening))\n",
    "a parameter": "def play(opening: str, player=None) -> str:\n    player = player or Claude()\n"
    "    return GPT().say(player.say(opening))\n",
}
APART = {
    "another function": "def play(opening: str) -> str:\n    return GPT().say(opening)\n\n\n"
    "def compare(text):\n    return Claude().say(text)\n",
    "another method": "def play(opening: str) -> str:\n    return GPT().say(Claude().unused(opening))\n",
}


@pytest.mark.parametrize("kind", [*OPPONENTS, *APART])
def test_a_client_in_a_file_of_its_own_is_named_if_episodes_ask_it(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "gpt.py").write_text(OPENAI)
    (tmp_path / "claude.py").write_text(CLAUDE)
    imports = "from claude import Claude\nfrom gpt import GPT\n\n\n"
    plan = planned(tmp_path, imports + (OPPONENTS | APART)[kind])
    found = [each for each in plan.survey.obstacles if "Anthropic" in each.what]
    assert len(found) == (kind in OPPONENTS)
    assert all(each.place.path.name == "claude.py" for each in found)
    assert all("with its own key" in each.instead for each in found)


@pytest.mark.parametrize("name", ["ollama.py", "ollama/chat.py"])
def test_what_is_named_after_a_client_uses_it(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    (file.parent / "__init__.py").touch()
    file.write_text(ASKED["Ollama"][0])
    with pytest.raises(Refusal, match="the Ollama client"):
        make_plan([read_source(file)], Options())


def test_a_package_of_the_project_is_no_client(tmp_path: Path) -> None:
    (tmp_path / "ollama.py").write_text("def chat(**_):\n    return 'yes'\n")
    with pytest.raises(Refusal, match="no completion call found"):
        planned(tmp_path, ASKED["Ollama"][0])
