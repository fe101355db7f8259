"""What is examined, and what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any

from art_adapt.scenarios.rows import load_scenarios, source_beside
from art_adapt.training.options import wrong_in_model


class State(StrEnum):
    """How something stands: a failure would end the run, or make it worthless."""

    OK = "ok"
    NOTE = "note"
    FAILED = "FAILED"


@dataclass(frozen=True)
class Finding:
    """One line of the report; ``remedy`` is what to do about it."""

    state: State
    subject: str
    what: str
    remedy: str = ""


@dataclass(frozen=True)
class Setup:
    """A train module, imported, with its constants.

    ``try_judge``: ask the judge for one answer, which costs a little.
    """

    path: Path
    module: ModuleType
    settings: Mapping[str, Any]
    try_judge: bool = False

    @property
    def is_local(self) -> bool:
        return bool(self.settings.get("BACKEND", "local") == "local")

    @property
    def engine(self) -> Mapping[str, Any]:
        """Return the settings that the module gives vLLM; none where MODEL is wrong."""
        model = self.settings.get("MODEL", {})
        if next(wrong_in_model(model), None) is not None:
            return {}
        given: Mapping[str, Any] = model.get("engine_args", {})
        return given

    def scenarios(self) -> list[Any]:
        """Load what the module would train on.

        Raises:
            SystemExit: it is missing, or a row is no scenario; with its place.
        """
        module = vars(self.module)
        return load_scenarios(module["Scenario"], source_beside(module))


Check = Callable[[Setup], Iterator[Finding]]


def ok(subject: str, what: str) -> Finding:
    return Finding(State.OK, subject, what)


def note(subject: str, what: str, remedy: str = "") -> Finding:
    return Finding(State.NOTE, subject, what, remedy)


def failed(subject: str, what: str, remedy: str) -> Finding:
    return Finding(State.FAILED, subject, what, remedy)
