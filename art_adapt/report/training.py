"""Say how to train for real: what to install, what it takes, what to do then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from art_adapt.backends import INSTALL, KEYS, NEEDED_PYTHON, WHERE, Backend
from art_adapt.installing import is_from_a_folder, refused_python
from art_adapt.paths import shown
from art_adapt.printable import counted
from art_adapt.rehearsal.outlook import LONG, SHORT, Outlook
from art_adapt.rehearsal.start import start_of
from art_adapt.report.lines import Line

CENT = 0.01  # of a dollar
FEWEST = 4  # scenarios: with fewer, a model learns their answers by heart


def training_lines(
    module: Path, backend: Backend, outlook: Outlook | None = None
) -> Iterator[Line]:
    """Yield the steps from here to a trained model, in the order in which they fail cheapest."""
    key = f", with {KEYS[backend]} set" if backend in KEYS else ""
    yield Line(text=f"{WHERE[backend]}{key}:", heading=True)
    for at, command in enumerate(INSTALL[backend]):
        yield Line("install" if at == 0 else "", command, is_command=True)
    if is_from_a_folder():
        yield Line(
            "", "art-adapt is not on PyPI yet: from a clone, install '.[train]' instead"
        )
    needed = NEEDED_PYTHON.get(backend)
    if needed and (wanted := refused_python(module, needed)) is not None:
        yield Line(
            "python",
            f"your pyproject.toml requires {wanted}, which leaves {needed} out: "
            f"make the agent run there, or train with --backend {Backend.SERVERLESS}",
        )
    check = f"art-adapt doctor {quote(shown(module))}"
    yield Line("check", check, is_command=True)
    train = start_of(module).command
    yield Line("train", train, is_command=True)
    if outlook is not None:
        yield from _takes(outlook)
    yield Line("then", "the run prints how to serve the trained model")
    yield Line("", f"{train} evaluate compares it with your agent's own model")


def _takes(outlook: Outlook) -> Iterator[Line]:
    bounds = []
    if outlook.least is not None:
        short, long = map(_spelled, outlook.least)
        bounds.append(
            f"at least {short} on one {outlook.gpu} with replies of {SHORT} tokens, "
            f"{long} with {LONG:,}, plus loading the model"
        )
    if outlook.hours is not None:
        bounds.append(f"no step starts after {_spelled(outlook.hours * 3600)}")
    said = f"{outlook.steps:,} step{'s' * (outlook.steps != 1)}"
    yield Line("takes", "; ".join([said, *bounds]))
    if outlook.scenarios < FEWEST:
        few = f"{outlook.scenarios}, on which every step trains; write more before you pay for a GPU"
        yield Line("scenarios", few)
    for each in outlook.beside:
        asked = f"{each.model}, {counted(round(each.requests), 'request')} a step"
        yield Line(each.what, f"{asked}: {_price(each.dollars)}")


def _price(dollars: float | None) -> str:
    if dollars is None:
        return "price not known"
    if dollars < CENT:
        return "under a cent, by the tokens counted here"
    return f"at least ${dollars:,.2f} in all"


def _spelled(seconds: float) -> str:
    """Spell a duration in the unit that reads best."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:g} h"
