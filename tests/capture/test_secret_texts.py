"""Of a text with a secret, nothing of that secret is left; what only looks like one stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from art_adapt.secret_texts import HIDDEN, secrets_in, without_secrets

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo\n-----END RSA PRIVATE KEY-----"
TOKEN = "sk-" + "a1b2c3d4" * 3
WHOLE = [
    f"deploy with secret: {KEY}",
    json.dumps({"client_secret": KEY}),
    "access_token: Bearer 0a1b2c3d4e5f60718293a4b5c6d7",
    "aws_access_key_id=AKIAIOSFODNN7EXAMPLE aws_secret_access_key=wJalrXUtnFEMI/K7MDENG",
    'password: "correct horse battery staple"',
    "password=yourMother1990!",
    "api_key: sk-...abcdefREALKEY123456",
    "mysql://root:toor@h/db",
    json.dumps({"cfg": json.dumps({"password": "hunter2hunter2 and more"})}),
]
BY_NAME: list[Any] = [
    {"password": "yourMother1990!"},
    {"password": "<Tr0ub4dor&3>"},
    {"password": f"hunter2secret {TOKEN}"},
    {"api_key": f"key1 {TOKEN}"},
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_text_whose_secret_has_no_clear_end_is_hidden(text: str) -> None:
    assert without_secrets(text) == HIDDEN


@pytest.mark.parametrize("value", BY_NAME)
def test_what_a_name_says_is_a_secret_is_hidden(value: dict[str, str]) -> None:
    (hidden,) = without_secrets(value).values()
    assert hidden == HIDDEN
    (noted,) = without_secrets({k: {"value": v} for k, v in value.items()}).values()
    assert noted == {"not_json": HIDDEN}


@pytest.mark.parametrize("end", ["", " today", "', then", '"}'])
def test_a_key_is_cut_out_of_a_text(end: str) -> None:
    left = without_secrets(f"Ask with {TOKEN}-xyz{end}")
    assert left == f"Ask with {HIDDEN}{end}"


@pytest.mark.parametrize(
    "text", ["api_key: 'sk-or-...'", "API_KEY=<your key>", "API_KEY=${KEY}", "api_key: your_key_here"]
)  # fmt: skip
def test_a_placeholder_stays(text: str) -> None:
    assert without_secrets(text) == text and not list(secrets_in(text))
