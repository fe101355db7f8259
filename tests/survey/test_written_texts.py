"""A function that has another one write what it asks does more than to relay its caller's words."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from art_adapt.source import Source
from art_adapt.survey.survey import survey

CLASS = """\
from openai import OpenAI

TEMPLATE = "Classify this mail: {}"


def described(mail):
    return f"A mail from {mail['sender']} came in: {mail['body']}"


class Classifier:
    def __init__(self):
        self.client = OpenAI()

    def classify(self, mail):
        ASKED

    def _describe(self, mail):
        RETURNED

    def _ask(self, text):
        told = [{"role": "system", "content": "You sort mails."}, {"role": "user", "content": text}]
        return self.client.chat.completions.create(model="m", messages=told).choices[0].message.content


class Router:
    def __init__(self, store):
        self.classifier, self.store = Classifier(), store

    def route(self, mail):
        kind = self.classifier.classify(mail)
        self.store.save(mail, kind)
        return kind
"""
METHOD = "text = self._describe(mail)\nreturn self._ask(text)"
WRITTEN = {
    "a method": (METHOD, "return f\"From {mail['sender']} came {mail['body']}\""),
    "a local": (METHOD, "text = 'Sort this mail: ' + mail['body']\nreturn text"),
    "a template": (METHOD, "return TEMPLATE.format(mail['body'])"),
    "lines": (METHOD, "return '\\n'.join(['Sort this mail.', mail['body']])"),
    "in one line": ("return self._ask(self._describe(mail))", "return f'Sort this: {mail}'"),
    "a function": ("return self._ask(described(mail))", "pass"),
}  # fmt: skip
RELAYED = {
    "joined": (METHOD, "return ', '.join(mail)"),
    "stripped": (METHOD, "return mail.strip()"),
}


def is_relay(asked: str, returned: str) -> bool:
    inside = " " * 8
    text = CLASS.replace("ASKED", indent(asked, inside).lstrip())
    text = text.replace("RETURNED", indent(returned, inside).lstrip())
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())]).entry_points
    (entry,) = (each for each in found if each.called == "Classifier.classify")
    return "only_relays" in entry.features


@pytest.mark.parametrize("way", WRITTEN)
def test_a_text_of_its_own_is_no_relay(way: str) -> None:
    assert not is_relay(*WRITTEN[way])


@pytest.mark.parametrize("way", RELAYED)
def test_what_the_caller_says_is_one(way: str) -> None:
    assert is_relay(*RELAYED[way])
