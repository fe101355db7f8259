"""Check that docs/rules is up to date, and that the rules know the names of ART."""

from __future__ import annotations

import importlib

import art
import pytest
from pages import FOLDER, pages

from art_adapt.rules.old_api import GONE
from art_adapt.rules.undeclared_field import FIELDS


def test_the_pages_are_up_to_date() -> None:
    there = {
        file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")
    }
    assert there == pages(), "run python tests/rules/pages.py"


@pytest.mark.parametrize("name", sorted(GONE))
def test_what_is_said_to_be_gone_is_gone(name: str) -> None:
    with pytest.raises((ImportError, AttributeError)):
        importlib.import_module(name)
        raise AssertionError("it is a module")
    module, _, attribute = name.rpartition(".")
    with pytest.raises((ImportError, AttributeError)):
        getattr(importlib.import_module(module), attribute)


def test_a_trajectorys_fields_are_known() -> None:
    assert set(art.Trajectory.model_fields) <= FIELDS
