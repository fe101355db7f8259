"""Make values that fit a JSON schema."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

WORDS = ("amber", "brook", "cedar", "delta", "ember", "fjord", "grove", "heath")
# Schemas that agents make of annotations; models understand them.
SPELLED_AS_IN_PYTHON = {
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def _is_scalar(schema: Any) -> bool:
    kind = schema.get("type") if isinstance(schema, dict) else "string"
    return kind in ("string", "integer", "number", "boolean", "int", "float", "bool")


def value_of(schema: Any, random: Random, root: Any) -> Any:
    """Make a value that fits a JSON schema, with some of its optional properties.

    Of alternatives it takes the first, but where a property beside them names as many
    kinds: ``{"type": "text" or "call", "content": a text or a call}``. There it takes the
    one that stands where the kind does.
    """
    if not isinstance(schema, dict):
        return random.choice(WORDS)
    if "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target.get(part, {})
        return value_of(target, random, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return random.choice(schema["enum"])
    if alternatives := _alternatives(schema):
        return value_of(alternatives[0], random, root)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = SPELLED_AS_IN_PYTHON.get(kind, kind) if isinstance(kind, str) else kind
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if kind == "object":
        required = set(schema.get("required") or ())
        return {
            name: value_of(inner, random, root)
            for name, inner in _of_one_kind(schema.get("properties") or {}, random)
            if name in required
            # An agent that declares nothing as required still expects the plain ones.
            or (not required and _is_scalar(inner))
            or random.random() < 0.5
        }
    if kind == "array":
        least = max(1, schema.get("minItems", 0))
        return [value_of(schema.get("items"), random, root) for _ in range(least)]
    if kind in ("integer", "number"):
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        high = max(low, schema.get("maximum", low + 20))
        number = random.uniform(low, high)
        return round(number) if kind == "integer" else round(number, 2)
    return {"boolean": random.random() < 0.5, "null": None}.get(
        kind, random.choice(WORDS)
    )


def _alternatives(schema: Any) -> list[Any]:
    """Return what a value may be, of which null is the last resort."""
    for several in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema, dict) and schema.get(several):
            some = [each for each in schema[several] if each.get("type") != "null"]
            return some or schema[several]
    return []


def _of_one_kind(
    properties: dict[str, Any], random: Random
) -> Iterator[tuple[str, Any]]:
    """Yield the properties of one value, whose kind decides between alternatives of others."""
    kinds = [
        len(schema["enum"])
        for schema in properties.values()
        if isinstance(schema, dict) and schema.get("enum")
    ]
    drawn = {count: random.randrange(count) for count in kinds}
    for name, schema in properties.items():
        alternatives = _alternatives(schema)
        options = schema.get("enum") if isinstance(schema, dict) else None
        if options and any(
            len(_alternatives(each)) == len(options) for each in properties.values()
        ):
            yield name, {"const": options[drawn[len(options)]]}
        elif len(alternatives) in drawn:
            yield name, alternatives[drawn[len(alternatives)]]
        else:
            yield name, schema
