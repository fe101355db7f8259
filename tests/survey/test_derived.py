"""An argument that the application computes from another one is computed in each episode."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt

HEAD = """\
import asyncio
import sys
from enum import Enum
from openai import AsyncOpenAI, OpenAI

def search(text: str) -> str:
    return open(f"{text[:1]}.txt").read()

async def fetch(text: str) -> str:
    return search(text)

INDEX = []

def near(text: str) -> str:
    return max(INDEX, key=text.count)

def lines(text: str) -> list:
    return text.splitlines()

def confirm(text: str) -> str:
    return input(f"{text}? ")

def _ask(system: str, text: str) -> str:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message.content
"""
ANSWER = """
def answer(found: str, text: str) -> str:
    return _ask(f"Use {found}", text)
"""
COMPUTED = {
    "written in the call": (
        f"{ANSWER}\nif __name__ == '__main__':\n    text = sys.stdin.readline()\n"
        "    print(answer(search(text), text))\n",
        "answer(found=search(scenario.text), text=scenario.text)",
    ),
    "through a name": (
        f"{ANSWER}\ndef main():\n    while True:\n        said = input('> ')\n"
        "        found = search(said)\n        print(answer(found, said))\n",
        "answer(found=search(scenario.text), text=scenario.text)",
    ),
    "by keywords": (
        f"{ANSWER}\ndef main():\n    text = input('> ')\n"
        "    print(answer(text=text, found=search(text)))\n",
        "answer(found=search(scenario.text), text=scenario.text)",
    ),
    "an enumeration": (
        "\nclass Kind(Enum):\n    SUM = 'sum'\n    CHAT = 'chat'\n"
        "\ndef route(text: str) -> Kind:\n    return Kind.SUM if '+' in text else Kind.CHAT\n"
        "\ndef dispatch(kind: Kind, text: str) -> str:\n"
        "    return _ask('Add.' if kind is Kind.SUM else 'Chat.', text)\n"
        "\nif __name__ == '__main__':\n    said = input('> ')\n    kind = route(said)\n"
        "    print(dispatch(kind, said))\n",
        "dispatch(kind=route(scenario.text), text=scenario.text)",
    ),
    "methods": (
        "\nclass Desk:\n    def find(self, text: str) -> str:\n        return search(text)\n"
        "\n    def answer(self, found: str, text: str) -> str:\n"
        "        return _ask(found, text)\n"
        "\nif __name__ == '__main__':\n    desk = Desk()\n    text = input('> ')\n"
        "    found = desk.find(text)\n    print(desk.answer(found, text))\n",
        "agent.answer(found=agent.find(scenario.text), text=scenario.text)",
    ),
    "methods that a function calls": (
        "\nclass Desk:\n    def __init__(self):\n        self.seen = []\n"
        "\n    def find(self, text: str) -> str:\n        self.seen.append(text)\n"
        "        return ' '.join(self.seen)\n"
        "\n    def answer(self, found: str, text: str) -> str:\n"
        "        return _ask(found, text)\n"
        "\ndef main():\n    text = input('> ')\n    desk = Desk()\n"
        "    found = desk.find(text)\n    print(desk.answer(found, text))\n",
        "agent = Desk() return agent.answer(found=agent.find(scenario.text), text=scenario.text)",
    ),
    "awaited": (
        "\nasync def answer(found: str, text: str) -> str:\n"
        "    messages = [{'role': 'user', 'content': found + text}]\n"
        "    reply = await AsyncOpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n"
        "\nasync def main():\n    text = input('> ')\n"
        "    print(await answer(await fetch(text), text))\n"
        "\nif __name__ == '__main__':\n    asyncio.run(main())\n",
        "answer(found=await fetch(scenario.text), text=scenario.text)",
    ),
}
SAID = {
    "bound anew between": (
        "    text = input('> ')\n    found = search(text)\n    text = text.strip()\n"
        "    print(answer(found, text))\n"
    ),
    "computed in two ways": (
        "    text = input('> ')\n    if text:\n        print(answer(search(text), text))\n"
        "    else:\n        print(answer(_ask(text, text), text))\n"
    ),
    "of something else": (
        "    text, place = input('> '), input('where? ')\n"
        "    print(answer(search(place), text))\n"
    ),
    "changed before it is given": (
        "    text = input('> ')\n    found = search(text).split()\n    found = search(text)\n"
        "    found += 'more'\n    print(answer(found, text))\n"
    ),
    "added to": (
        "    text = input('> ')\n    found = lines(text)\n    found.append('In French.')\n"
        "    print(answer(found, text))\n"
    ),
    "asked of a person": (
        "    text = input('> ')\n    print(answer(confirm(text), text))\n"
    ),
    "of what the program fills": (
        "    INDEX.append('otters')\n    text = input('> ')\n"
        "    print(answer(near(text), text))\n"
    ),
    "a coroutine that is not awaited": (
        "    text = input('> ')\n    print(answer(fetch(text), text))\n"
    ),
    "what a library computes": (
        "    text = input('> ')\n    print(answer(str.upper(text), text))\n"
    ),
}


def _episode(tmp_path: Path, source: str) -> str:
    (tmp_path / "agent.py").write_text(HEAD + source)
    run = art_adapt("agent.py", "--yes", cwd=tmp_path)
    assert run.returncode == 0, run.stderr.decode()
    return " ".join((tmp_path / "agent_train.py").read_text().split())


def _fields(module: str) -> list[str]:
    scenario = module.partition("class Scenario(training.Scenario):")[2].partition(
        "def episode"
    )[0]
    return re.findall(r"(\w+): (?:str|Literal)", scenario)


@pytest.mark.parametrize("kind", COMPUTED)
def test_is_computed_as_the_application_does(tmp_path: Path, kind: str) -> None:
    source, called = COMPUTED[kind]
    module = _episode(tmp_path, source)
    assert called in module
    assert _fields(module) == ["text"]


NOT_IMPORTED = f"""
{ANSWER}
if __name__ == "__main__":
    def shorten(text: str) -> str:
        return text[:9]

    text = input("> ")
    print(answer(shorten(text), text))
"""
LEFT_OUT = """
def within(text: str, place: str) -> str:
    return search(place + text)

def answer(found: str, text: str, place: str = "archive") -> str:
    return _ask(found + place, text)

def main():
    text, place = input("> "), input("where? ")
    print(answer(within(text, place), text, place))
"""


@pytest.mark.parametrize("source", [NOT_IMPORTED, LEFT_OUT])
def test_a_call_that_an_episode_cannot_make_is_left_to_rows(
    tmp_path: Path, source: str
) -> None:
    """An import does not define the function, or a row leaves its argument out."""
    assert "found=scenario.found, text=scenario.text" in _episode(tmp_path, source)


@pytest.mark.parametrize("kind", SAID)
def test_a_row_says_what_only_looks_computed(tmp_path: Path, kind: str) -> None:
    module = _episode(tmp_path, f"{ANSWER}\ndef main():\n{SAID[kind]}")
    assert "answer(found=scenario.found, text=scenario.text)" in module


def test_a_function_of_another_file_is_imported_from_there(tmp_path: Path) -> None:
    (tmp_path / "store.py").write_text(
        "def lookup(text: str) -> str:\n    return text.title()\n"
    )
    module = _episode(
        tmp_path,
        dedent(
            """
            from store import lookup as find

            def answer(found: str, text: str) -> str:
                return _ask(found, text)

            if __name__ == "__main__":
                text = input("> ")
                print(answer(find(text), text))
            """
        ),
    )
    assert "from store import lookup" in module
    assert "answer(found=lookup(scenario.text), text=scenario.text)" in module


def test_functions_of_one_name_are_not_mixed_up(tmp_path: Path) -> None:
    for name in ("store", "web"):
        (tmp_path / f"{name}.py").write_text("def search(text: str) -> str: ...\n")
    module = _episode(
        tmp_path,
        "import store\nimport web\n\ndef answer(found: str, beside: str, text: str) -> str:\n"
        '    return _ask(f"Use {found} {beside}", text)\n\n'
        "if __name__ == '__main__':\n    text = input('> ')\n"
        "    print(answer(store.search(text), web.search(text), text))\n",
    )
    assert "found=scenario.found, beside=scenario.beside, text=scenario.text" in module


def test_a_row_says_what_two_arguments_are_made_of(tmp_path: Path) -> None:
    """It says the kind: the search must not be told another one than the agent."""
    module = _episode(
        tmp_path,
        "\ndef answer(kind: str, found: str, text: str) -> str:\n    return _ask(kind + found, text)\n\n"
        "def kind_of(text: str) -> str:\n    return text[:3]\n\n"
        "if __name__ == '__main__':\n    text = input('> ')\n    kind = kind_of(text)\n"
        "    print(answer(kind, search(kind), text))\n",
    )
    assert "kind=scenario.kind, found=search(scenario.kind)" in module
