"""Test that the scripted model's values fit their schemas, and how rows for it are read."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from art_adapt.rehearsal.replies import read_rows, value_of

scalars = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 3, "maximum": 5},
        {"type": "number", "minimum": -1, "maximum": 1},
        {"type": "boolean"},
        {"enum": ["a", 7]},
        {"const": "fixed"},
        {"type": ["null", "integer"], "minimum": 0},
        {"anyOf": [{"type": "null"}, {"type": "string"}]},
        {"$ref": "#/$defs/Kind"},
    ]
)
schemas = st.recursive(
    scalars,
    lambda inner: (
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner, "minItems": st.integers(0, 2)}
        )
        | st.dictionaries(st.sampled_from("abc"), inner, min_size=1).map(
            lambda properties: {
                "type": "object",
                "properties": properties,
                "required": sorted(properties)[:1],
            }
        )
    ),
    max_leaves=6,
)
ROOT = {"$defs": {"Kind": {"enum": ["x", "y"]}}}


@given(schemas, st.integers())
def test_values_fit(schema: dict[str, Any], seed: int) -> None:
    check(value_of(schema, Random(seed), ROOT), schema)


def check(value: Any, schema: dict[str, Any]) -> None:
    if "$ref" in schema:
        assert value in ("x", "y")
    elif "enum" in schema:
        assert value in schema["enum"]
    elif "const" in schema:
        assert value == schema["const"]
    elif "anyOf" in schema:
        assert isinstance(value, str)
    elif schema["type"] == "object":
        assert set(schema["required"]) <= set(value) <= set(schema["properties"])
        for name, inner in value.items():
            check(inner, schema["properties"][name])
    elif schema["type"] == "array":
        assert len(value) >= schema["minItems"]
        for inner in value:
            check(inner, schema["items"])
    else:
        kinds: dict[str, Any] = {
            "string": str,
            "integer": int,
            "number": float,
            "boolean": bool,
        }
        kind = schema["type"] if isinstance(schema["type"], str) else "integer"
        assert isinstance(value, kinds[kind])
        if "minimum" in schema and "maximum" in schema:
            assert schema["minimum"] <= value <= schema["maximum"]


def test_a_kind_decides_between_alternatives() -> None:
    """As agents describe a reply that is a text or a call, with the name of which it is."""
    kinds = {"enum": ["text", "call"]}
    content = {"anyOf": [{"type": "string"}, {"type": "object", "properties": {}}]}
    optional = {"anyOf": [{"type": "null"}, *content["anyOf"]]}
    for second in (content, optional, {"oneOf": content["anyOf"]}):
        schema = {
            "properties": {"content": second, "type": kinds},
            "required": ["content", "type"],
        }
        drawn = [value_of(schema, Random(seed), schema) for seed in range(20)]
        assert {each["type"] for each in drawn} == {"text", "call"}
        assert all(
            (each["type"] == "text") == isinstance(each["content"], str)
            for each in drawn
        )


def test_a_row_has_calls_in_short_or_as_a_completion_has_them() -> None:
    function = {"name": "look", "arguments": '{"at": 1}'}
    for call in (
        {"name": "look", "arguments": {"at": 1}},
        {"id": "1", "type": "function", "function": function},
    ):
        (row,) = read_rows([{"tool_calls": [call]}])
        assert row.reply.tool_calls == (("look", '{"at": 1}'),)
    with pytest.raises(ValueError, match="row 1 has a tool call without a name"):
        read_rows([{"tool_calls": [{"function": {}}]}])
