"""Tell which values certainly are texts."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import attribute_of, dotted, last_name, receiver
from art_adapt.rules.code import Code
from art_adapt.rules.code.annotated import annotation
from art_adapt.rules.code.sampled import Kind
from art_adapt.rules.code.values import Value
from art_adapt.words import STRIPS

SPELLING = ("str", "repr", "json.dumps")
OF_TEXT = ("lower", "upper", "casefold", "title", "capitalize")  # methods
MATCHING = ("search", "match", "fullmatch")
NAMING = {"finish_reason": Kind.CHOICE, "role": Kind.MESSAGE}  # words, not numbers


def spells_text(node: ast.expr) -> bool:
    """Return whether an expression is a text as it is written."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    is_spelled = isinstance(node, ast.Call) and dotted(node.func) in SPELLING
    return is_spelled or isinstance(node, ast.JoinedStr)


def is_text(code: Code, value: Value) -> bool:
    """Return whether a value is a text: as written, as annotated, or what the model said."""
    return _is_text(code, value, {})


def _is_text(code: Code, value: Value, known: dict[Value, bool]) -> bool:
    """Return whether a value is a text; what is being asked of it already is none."""
    if value not in known:
        known[value] = False
        known[value] = _is_made_text(code, value, known)
    return known[value]


def _is_made_text(code: Code, value: Value, known: dict[Value, bool]) -> bool:
    node = value.node
    if spells_text(node):
        return True
    if receiver(node, *OF_TEXT) is not None:
        return True
    whole = receiver(node, *STRIPS)  # said.strip()
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Slice):  # said[:40]
            whole = node.value
        elif _is_match(code, value.of(node.value)):
            return True
    if whole is not None:
        parts = code.values(value.of(whole))
        return bool(parts) and all(_is_text(code, part, known) for part in parts)
    if (match := receiver(node, "group")) is not None:
        return _is_match(code, value.of(match))
    if (read := attribute_of(node)) and read[1] in NAMING:
        return code.sampled.kind(value.of(read[0])) is NAMING[read[1]]
    if read and _is_of_enum(code, value.of(read[0]), read[1]):
        return True
    kind = code.sampled.kind(value)
    return kind is Kind.TEXT or annotation(code.flow, value) == "str"


def _is_of_enum(code: Code, member: Value, attribute: str) -> bool:
    """Return whether it is the name of a member of an enumeration, or its value that is a text."""
    if attribute not in ("name", "value"):
        return False
    named = annotation(code.flow, member).strip("'\"")
    definition = code.syntax.classes.get(named)
    if definition is None or not any(map(_is_enum, definition.bases)):
        return False
    values = [
        each.value
        for each in definition.body
        if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None
    ]
    return attribute == "name" or (bool(values) and all(map(spells_text, values)))


def _is_enum(base: ast.expr) -> bool:
    return last_name(base) in ("Enum", "StrEnum")


def is_asked_for_its_class(code: Code, value: ast.expr) -> bool:
    """Return whether a function asks ``isinstance`` of a name: it may convert a text."""
    name = dotted(value)
    return name is not None and any(
        dotted(call.func) == "isinstance" and call.args and dotted(call.args[0]) == name
        for call in code.calls
        if code.syntax.owner(call) == code.syntax.owner(value)
    )


def _is_match(code: Code, value: Value) -> bool:
    """Return whether a value certainly is the match of a regular expression."""
    found = code.values(value)
    return bool(found) and all(_matches(code, each) for each in found)


def _matches(code: Code, value: Value) -> bool:
    pattern = receiver(value.node, *MATCHING)
    if pattern is None:
        return False
    if value.syntax.qualified(pattern) == "re":
        return True
    return all(
        isinstance(each.node, ast.Call)
        and each.syntax.qualified(each.node.func) == "re.compile"
        for each in code.values(value.of(pattern))
    )
