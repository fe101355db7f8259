"""Who starts a conversation that a helper, or a provider behind a factory, carries on."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from art_adapt.source import read_source
from art_adapt.survey.survey import survey

HELPER = """
    from openai import OpenAI

    def ask({parameter}):
        return OpenAI().chat.completions.create(model="m", messages={parameter}).choices[0].message.content
"""
RELAY = """
    from openai import OpenAI

    def ask(system, text):
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        return OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message.content
"""
PROVIDER = """
    from openai import OpenAI
    {before}
    class Provider:
        def chat(self, messages, tools):
            raise NotImplementedError

    {above}
    class Gpt(Provider):
        def chat(self, messages, tools):
            return OpenAI().chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
    {below}
"""
AGENT = """
    from llm import {imported}

    class Agent:
        def __init__(self, kind="gpt"):
            self.llm = {made}

        def run(self, task: str) -> str:
            messages = [{{"role": "user", "content": task}}]
            for _ in range(5):
                reply = {asked}
                messages.append(reply)
            return reply.content
"""


def entry(folder: Path, **files: str) -> str:
    (folder / "pyproject.toml").touch()
    paths = []
    for name, text in files.items():
        paths.append(folder / f"{name}.py")
        paths[-1].write_text(dedent(text))
    return survey(list(map(read_source, paths))).entry_points[0].called


@pytest.mark.parametrize("parameter", ["messages", "message", "chat"])
@pytest.mark.parametrize(
    "starts",
    [
        """
        def explain(pod: str) -> str:
            messages = [{"role": "system", "content": "You explain."}, {"role": "user", "content": pod}]
            return ask(messages)
        """,
        """
        def explain(pod: str) -> str:
            talk = []
            talk.append({"role": "user", "content": f"Why does {pod} fail?"})
            return ask(talk)
        """,
        """
        import argparse

        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("pod")
            pod = parser.parse_args().pod
            print(ask([{"role": "user", "content": pod}]))
        """,
        """
        import click

        @click.command()
        @click.argument("pod", required=False)
        def explain(pod):
            pod = pod or click.prompt("Which?")
            click.echo(ask([{"role": "user", "content": pod}]))
        """,
    ],
)
def test_who_writes_the_messages_starts_the_conversation(
    starts: str, parameter: str, tmp_path: Path
) -> None:
    app = "from llm import ask\n" + dedent(starts)
    helper = HELPER.format(parameter=parameter)
    assert entry(tmp_path, llm=helper, app=app) in ("explain", "main")


def test_who_writes_the_prompt_of_a_helper_starts_it_too(tmp_path: Path) -> None:
    app = """
        import sys
        from llm import ask

        def main():
            print(ask("You explain pods.", f"Why does {sys.argv[1]} fail?"))
    """
    assert entry(tmp_path, llm=RELAY, app=app) == "main"


@pytest.mark.parametrize(
    "demo",
    [
        "def main():\n    print(ask([{'role': 'user', 'content': 'What is the time?'}]))\n",
        "def main():\n    print(ask(messages=[{'role': 'user', 'content': 'Hi there.'}]))\n",
    ],
)
def test_a_demo_whose_messages_never_differ_starts_none(
    demo: str, tmp_path: Path
) -> None:
    helper = HELPER.format(parameter="messages")
    assert entry(tmp_path, llm=helper, app=f"from llm import ask\n\n{demo}") == "ask"


@pytest.mark.parametrize(
    ("before", "above", "below", "imported", "made"),
    [
        ("", "", "def make(kind):\n    return Gpt()", "make", "make(kind)"),
        ("", "", "def of(kind):\n    return Gpt", "of", "of(kind)()"),
        (
            "",
            "",
            "KINDS = {'gpt': Gpt}\n\ndef make(kind) -> Provider:\n    made = KINDS[kind]\n    return made()",
            "make",
            "make(kind)",
        ),
        (
            "",
            "",
            "KINDS = {}\nKINDS['gpt'] = Gpt\n\ndef make(kind):\n    return KINDS[kind]()",
            "make",
            "make(kind)",
        ),
        (
            "KINDS = {}\n\ndef register(kind):\n    def wrap(cls):\n        KINDS[kind] = cls\n        return cls\n    return wrap\n",
            "@register('gpt')",
            "def make(kind):\n    return KINDS[kind]()",
            "make",
            "make(kind)",
        ),
        (
            "",
            "",
            "llm = None\n\ndef make():\n    global llm\n    llm = Gpt()\n    return llm",
            "make",
            "make()",
        ),
    ],
)
def test_a_provider_is_found_behind_a_factory(
    before: str, above: str, below: str, imported: str, made: str, tmp_path: Path
) -> None:
    llm = dedent(PROVIDER).format(before=before, above=above, below=below)
    agent = AGENT.format(
        imported=imported, made=made, asked="self.llm.chat(messages, tools=[])"
    )
    assert entry(tmp_path, llm=llm, agent=agent) == "Agent.run"


def test_what_a_call_returns_is_asked_at_once(tmp_path: Path) -> None:
    llm = dedent(PROVIDER).format(
        before="", above="", below="def make(kind) -> Provider:\n    return Gpt()"
    )
    agent = AGENT.format(
        imported="make", made="kind", asked="make(self.llm).chat(messages, tools=[])"
    )
    assert entry(tmp_path, llm=llm, agent=agent) == "Agent.run"


def test_a_caller_goes_before_what_it_calls(tmp_path: Path) -> None:
    """Both ask; only one of them writes what the helper sends."""
    handler = """
        def look(url, client):
            messages = [{"role": "system", "content": "Describe it."}, {"role": "user", "content": url}]
            return client.chat.completions.create(model="m", messages=messages).choices[0].message.content

        def look_at_all(message, client, extra: list) -> list:
            for attachment in message.attachments:
                extra.append({"role": "system", "content": look(attachment.url, client)})
            return extra

        async def answer(message, history, client) -> str:
            extra = look_at_all(message, client, [])
            messages = history.get_messages()
            messages.append({"role": "user", "content": message.content})
            messages.extend(extra)
            return await generate(client, messages)

        async def generate(client, messages) -> str:
            return client.chat.completions.create(model="m", messages=messages).choices[0].message.content
    """
    assert entry(tmp_path, handler=handler) == "answer"


def test_users_of_a_provider_that_only_use_it_are_listed(tmp_path: Path) -> None:
    """None of them drives a loop: the file that was named does not say which is the agent."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "llm.py").write_text(dedent(HELPER.format(parameter="messages")))
    for name in ("run_title", "make_tags", "make_notes"):
        (tmp_path / f"{name}.py").write_text(
            f"from llm import ask\n\ndef {name}(text: str) -> str:\n"
            "    return ask([{'role': 'user', 'content': text}]).strip()\n"
        )
    found = survey([read_source(tmp_path / "llm.py")]).entry_points
    likeliest = {each.called for each in found if each.score == found[0].score}
    assert likeliest == {"run_title", "make_tags", "make_notes"}
