"""Names of the agent's, as a train module imports them beside its own."""

from __future__ import annotations

import re

from art_adapt.survey.model import (
    EntryPoint,
    Parameter,
)
from art_adapt.train_module.fill import names_of_template
from art_adapt.train_module.taken_over import taken_over


def record_class(parameter: Parameter) -> str:
    """Return the class of the object that episode() makes for a parameter.

    That is the one of its annotation, as the agent's file names it, or one derived from it.
    """
    if parameter.made is not None:
        return taken_over(parameter.made).value
    text = (parameter.annotation or "").strip("\"'")
    text = re.sub(r"^(?:typing\.)?Optional\[(.*)\]$", r"\1", text)
    return re.sub(r"\s*\|\s*None$|^None\s*\|\s*", "", text).strip("\"'")


def imported_name(entry: EntryPoint) -> tuple[str, str]:
    """Return the agent's name for its entry point, and one that is free here."""
    name = (entry.class_name or entry.called).split(".")[0]
    return name, local_name(name)


def local_name(name: str) -> str:
    """Return a name of the agent's, as the train module can use it beside its own."""
    return f"agent_{name}" if name in names_of_template() else name
