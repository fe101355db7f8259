"""Make values that fit a JSON schema."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from random import Random
from typing import Any

from art_adapt.rehearsal.patterns import text_for

WORDS = ("amber", "brook", "cedar", "delta", "ember", "fjord", "grove", "heath")
# A text that no other reply has: where another episode reads it, something was kept.
OWN_TEXT = re.compile(rf"\b(?:{'|'.join(WORDS)})(?:-\d{{7}}| \d{{7,10}})(?!\d)")
DEEPEST = 6  # values inside each other, where a schema holds itself
# Texts of the formats that tools name; the number makes them differ.
FORMATS = {
    "date": "2026-03-{0}",
    "date-time": "2026-03-{0}T10:00:00Z",
    "time": "10:{0}:00",
    "duration": "P{0}D",
    "email": "ember{0}@example.com",
    "hostname": "host{0}.example.com",
    "ipv4": "192.0.2.{0}",
    "ipv6": "2001:db8::{0}",
    "uri": "https://example.com/{0}",
    "url": "https://example.com/{0}",
    "uuid": "12345678-1234-4234-8234-1234567890{0}",
}
# Schemas that agents make of annotations; models understand them.
SPELLED_AS_IN_PYTHON = {
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def fits(value: Any, schema: Any) -> bool:
    """True if a value is what a schema asks for, formats included."""
    import jsonschema  # for a tenth of a second

    kinds = jsonschema.validators.validator_for(schema)
    try:
        checker = kinds(schema, format_checker=jsonschema.FormatChecker())
        return bool(checker.is_valid(value))
    except Exception:  # a schema that is none: nobody can say what fits it
        return True


def _is_scalar(schema: Any) -> bool:
    kind = schema.get("type") if isinstance(schema, dict) else "string"
    return kind in ("string", "integer", "number", "boolean", "int", "float", "bool")


def value_of(schema: Any, random: Random, root: Any, depth: int = 0) -> Any:
    """Make a value that fits a JSON schema, with some of its optional properties.

    Of alternatives it takes the first, but where a property beside them names as many
    kinds: ``{"type": "text" or "call", "content": a text or a call}``. There it takes the
    one that stands where the kind does. A schema that holds itself ends at DEEPEST, where
    only what is required is made.
    """
    if not isinstance(schema, dict):
        return random.choice(WORDS)
    if depth > 4 * DEEPEST:
        return None  # a schema that no value fits: it holds itself without an end
    if "$ref" in schema:
        return value_of(_referred(schema["$ref"], root), random, root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return random.choice(schema["enum"])
    if schema.get("allOf"):
        return value_of(_merged(schema, root), random, root, depth + 1)
    if alternatives := _alternatives(schema):
        if depth > DEEPEST:  # one that does not lead further, null among them
            alternatives = _every_alternative(schema)
            alternatives.sort(key=lambda each: "$ref" in each)
        return value_of(alternatives[0], random, root, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = SPELLED_AS_IN_PYTHON.get(kind, kind) if isinstance(kind, str) else kind
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if kind == "object":
        required = set(schema.get("required") or ())
        made = {
            name: value_of(inner, random, root, depth + 1)
            for name, inner in _of_one_kind(schema.get("properties") or {}, random)
            if name in required
            # An agent that declares nothing as required still expects the plain ones.
            or (not required and _is_scalar(inner))
            or (random.random() < 0.5 and depth < DEEPEST)
        }
        others = schema.get("additionalProperties")
        least = schema.get("minProperties", 0)
        if isinstance(others, dict) and depth < DEEPEST:
            least = max(least, 0 if made else 1)
        for word in random.sample(WORDS, len(WORDS)):
            if len(made) < least and others is not False:
                inner = others if isinstance(others, dict) else {}
                made[word] = value_of(inner, random, root, depth + 1)
        return made
    if kind == "array":
        return _list_of(schema, random, root, depth)
    if kind in ("integer", "number"):
        return _number(schema, random, kind)
    if kind == "string":
        return _text(schema, random)
    return {"boolean": random.random() < 0.5, "null": None}.get(
        kind, random.choice(WORDS)
    )


def _referred(reference: str, root: Any) -> Any:
    target: Any = root
    for part in reference.removeprefix("#/").split("/"):
        target = target.get(part, {}) if isinstance(target, dict) else {}
    return target


def _merged(schema: Any, root: Any) -> Any:
    """Return one schema for what has to fit several."""
    parts = [schema, *schema["allOf"]]
    parts = [_referred(p["$ref"], root) if "$ref" in p else p for p in parts]
    whole: dict[str, Any] = {}
    for part in parts:
        whole |= {key: value for key, value in part.items() if key != "allOf"}
    whole["properties"] = {
        name: inner
        for part in parts
        for name, inner in (part.get("properties") or {}).items()
    }
    whole["required"] = [n for part in parts for n in part.get("required") or ()]
    if not whole["properties"]:
        del whole["properties"], whole["required"]
    return whole


def _list_of(schema: Any, random: Random, root: Any, depth: int) -> list[Any]:
    items = schema.get("items")
    first = schema.get("prefixItems") or (items if isinstance(items, list) else ())
    made = [value_of(each, random, root, depth + 1) for each in first]
    usual = 1 if depth < DEEPEST and items is not False and not first else 0
    least = min(
        max(usual, schema.get("minItems", 0)), schema.get("maxItems", 20 + usual)
    )
    for _ in range(20 * least):
        if len(made) >= least:
            break
        value = value_of(items, random, root, depth + 1)
        if not (schema.get("uniqueItems") and value in made):
            made.append(value)
    return made


def _number(schema: Any, random: Random, kind: str) -> float:
    step = schema.get("multipleOf") or (1 if kind == "integer" else 0.01)
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    low = schema.get("minimum", 0 if above is None else above + step)
    # What has no bound may be a share, a mark or a percentage: gates stand at any height.
    widest = 20 if kind == "integer" else random.choice((1, 1, 10, 100))
    least = max(widest, step)
    high = schema.get("maximum", low + least if below is None else below - step)
    if "minimum" not in schema and above is None:
        low = min(low, high)
    number = round(random.uniform(low, max(low, high)) / step) * step
    if not low <= number <= max(low, high):
        number = math.ceil(low / step) * step
    return round(number) if kind == "integer" else round(number, 6)


def _text(schema: Any, random: Random) -> str:
    made = FORMATS.get(schema.get("format", ""))
    if made is not None:
        return made.format(random.randrange(10, 28))
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (matching := text_for(pattern, random)) is not None:
        return matching
    text = f"{random.choice(WORDS)}-{random.randrange(10**6, 10**7)}"
    while len(text) < schema.get("minLength", 0):
        text += f" {random.choice(WORDS)}"
    return text[: schema.get("maxLength", len(text))]


def _every_alternative(schema: Any) -> list[Any]:
    return [each for name in ("anyOf", "oneOf") for each in schema.get(name) or ()]


def _alternatives(schema: Any) -> list[Any]:
    """Return what a value may be, of which null is the last resort."""
    for several in ("anyOf", "oneOf"):
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
