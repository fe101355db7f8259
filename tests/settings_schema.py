"""Write docs/settings.schema.json from the options: ``python tests/settings_schema.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from art_adapt.rules import rules
from art_adapt.settings import SETTINGS, Setting

FILE = Path(__file__).parents[1] / "docs" / "settings.schema.json"
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
NAMES = {"type": "array", "items": {"type": "string"}}


def schema() -> dict[str, Any]:
    """Return the JSON schema of ``[tool.art-adapt]``, for editors."""
    options = {setting.key: _of(setting) for setting in SETTINGS}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "[tool.art-adapt] in pyproject.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **options,
            "agents": {
                "description": "Options of one agent: its path from pyproject.toml.",
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": options,
                },
            },
            "check": {
                "description": "What art-adapt check reports.",
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "select": _rules("Rules to report, instead of all but the untidy."),
                    "extend-select": _rules("Rules to report in addition."),
                    "ignore": _rules("Rules to leave out."),
                    "art-version": {
                        "description": "The ART that you train with; the default is the installed one.",
                        "type": "string",
                    },
                    "exclude": {
                        **NAMES,
                        "description": "Files to leave out: patterns.",
                    },
                    "per-file-ignores": {
                        "description": "Rules to leave out in files, by pattern.",
                        "type": "object",
                        "additionalProperties": _rules("Rules to leave out there."),
                    },
                },
            },
        },
    }


def _of(setting: Setting) -> dict[str, Any]:
    described: dict[str, Any] = {"description": setting.help}
    if setting.kind is tuple:
        return {**described, **NAMES}
    described["type"] = TYPES[setting.kind]
    if setting.default not in (None, ""):
        described["default"] = setting.default
    return described


def _rules(description: str) -> dict[str, Any]:
    every = [
        *(each.rule.code for each in rules()),
        *(each.rule.name for each in rules()),
    ]
    return {
        "description": description,
        "type": "array",
        "items": {"anyOf": [{"enum": ["ALL", *every]}, {"pattern": "^ART\\d{0,3}$"}]},
    }


def text() -> str:
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
