"""Spells what makes an agent's value again of what a row has for it."""

from __future__ import annotations

from collections.abc import Callable

from art_adapt.survey.inputs.rebuilt import NAMESPACE
from art_adapt.survey.model import Parameter


def is_rebuilt(parameter: Parameter) -> bool:
    """True if a row has what records, members or a command line's options are made of again."""
    is_other = parameter.is_record or parameter.is_object or parameter.element
    return bool(parameter.rebuilt) and not is_other


def is_validated(parameter: Parameter) -> bool:
    """True if a row has an object of a pydantic class whole, as a dict that makes it."""
    is_other = parameter.is_record or parameter.is_object
    return bool(parameter.validated) and not is_other


def is_member(parameter: Parameter) -> bool:
    """True if a parameter is always a member of an enumeration: its class makes one of a value."""
    is_class = parameter.rebuilt.replace(".", "").isidentifier()
    return parameter.members is not None and is_class


def made_again(parameter: Parameter, row: str, local: Callable[[str], str]) -> str:
    """Return the code that makes a value of ``row``, the code for what a row has; "" if that is it.

    ``local`` gives a name of the agent's as the train module has it.
    """
    if parameter.element:
        return f"[{local(parameter.element)}(**each) for each in {row}]"
    if is_rebuilt(parameter) and parameter.rebuilt == NAMESPACE:
        return f"{NAMESPACE}(**{row})"
    if is_rebuilt(parameter) and is_member(parameter):
        return f"{local(parameter.rebuilt)}({row})"
    if is_rebuilt(parameter):
        return f"TypeAdapter({parameter.rebuilt}).validate_python({row})"
    if is_validated(parameter):
        return f"{local(parameter.validated)}.model_validate({row})"
    return ""
