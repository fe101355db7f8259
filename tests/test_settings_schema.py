"""Editors complete and check ``[tool.art-adapt]`` by a schema that says what the tool takes."""

from __future__ import annotations

from settings_schema import FILE, schema, text

from art_adapt.pyproject import CHECK_KEYS
from art_adapt.settings import SETTINGS


def test_the_schema_is_up_to_date() -> None:
    assert FILE.read_text() == text(), "run python tests/settings_schema.py"


def test_the_schema_has_each_key() -> None:
    known = schema()["properties"]
    assert set(known) == {*(each.key for each in SETTINGS), "agents", "check"}
    assert set(known["check"]["properties"]) == set(CHECK_KEYS)
    assert all(each["description"] for each in known.values())
