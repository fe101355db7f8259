"""Foretell from a rehearsal what the run itself takes: time, and other models' dollars.

Both are bounds. The least time follows from the GPU's data sheet (``cost``), the most is where
the train module stops by itself. The least of a judge or of a side job's model is its price
for the tokens that were counted.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from art_adapt.backends import Backend
from art_adapt.rehearsal.cost import Asked, cost_of_step
from art_adapt.rehearsal.embeddings import tokens_in
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.seen import Seen

USUAL_GPU = "H100"
JUDGE = "judge"
# Tokens of a reply: a tool call with a sentence, and a model that thinks first. The scripted
# model's replies are shorter than either.
SHORT, LONG = 100, 1000


@dataclass(frozen=True)
class Beside:
    """Another model's part of a run: requests of a step, and dollars of all steps at least.

    ``what`` it is asked for. ``dollars`` is None where litellm knows no price of the model.
    """

    what: str
    model: str
    requests: float
    dollars: float | None


@dataclass(frozen=True)
class Outlook:
    """The bounds of a run.

    ``steps`` and ``hours`` are the most that the module does. ``least`` are the least seconds
    of these steps on ``gpu``, with replies of ``SHORT`` and of ``LONG`` tokens; None where
    no GPU of one's own is taken, or the base model's size is not known. ``scenarios``: how
    many there are to train on.
    """

    backend: Backend
    steps: int
    hours: float | None
    gpu: str
    least: tuple[float, float] | None
    beside: tuple[Beside, ...]
    scenarios: int


def foretell(seen: Seen, gpu: str | None) -> Outlook | None:
    """Return the bounds of the run that was rehearsed; None where the module sets none.

    ``gpu`` is one of ``cost.GPUS``; None: an H100.
    """
    bounds, gpu = seen.notes.bounds, gpu or USUAL_GPU
    if bounds is None:
        return None
    least = None
    if bounds.backend is Backend.LOCAL:
        seconds = [
            cost_of_step(
                seen, Asked(gpu, reply_tokens=min(tokens, bounds.reply_tokens))
            ).seconds
            for tokens in (SHORT, LONG)
        ]
        if seconds[0] is not None and seconds[1] is not None:
            # The scripted model answers at once: what an episode took is its own, such as a sleep.
            took = [each.seconds for each in seen.notes.rollouts if each.seconds]
            own = fmean(took) * bounds.waves if took else 0.0
            least = (
                max(seconds[0], own) * bounds.steps,
                max(seconds[1], own) * bounds.steps,
            )
    beside = tuple(_beside(seen, bounds.judge, bounds.steps))
    return Outlook(
        bounds.backend,
        bounds.steps,
        bounds.hours,
        gpu,
        least,
        beside,
        len(seen.notes.scenarios),
    )


def _beside(seen: Seen, judge: str, steps: int) -> Iterator[Beside]:
    """Yield the models that are asked beside the policy, the judge first."""
    used: dict[tuple[str, str], list[Mapping[str, int]]] = {}
    begun = min((each.serial for each in seen.log if each.is_policy), default=0)
    for exchange in seen.log:
        if exchange.response is None or exchange.is_policy:
            continue
        is_judge = bool(judge) and is_judgement(exchange.request)
        if is_judge and exchange.serial < begun:
            continue  # the judge is tried once before a run
        model = judge if is_judge else str(exchange.request.get("model"))
        asked = (JUDGE if is_judge else "side jobs", model)
        used.setdefault(asked, []).append(exchange.response.get("usage") or {})
    for request in seen.embedded:
        asked = ("embeddings", str(request.get("model")))
        used.setdefault(asked, []).append({"prompt_tokens": tokens_in(request)})
    rehearsed = len(seen.notes.steps)
    in_order = sorted(used.items(), key=lambda each: (each[0][0] != JUDGE, each[0]))
    for (what, model), usages in in_order if rehearsed else ():
        dollars = None
        if (price := _price(model)) is not None:
            once = sum(
                usage.get("prompt_tokens", 0) * price["input_cost_per_token"]
                + usage.get("completion_tokens", 0) * price["output_cost_per_token"]
                for usage in usages
            )
            dollars = once / rehearsed * steps
        yield Beside(what, model, len(usages) / rehearsed, dollars)


def _price(model: str) -> Mapping[str, Any] | None:
    """Return litellm's prices of a token; its import alone would take seconds."""
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return None
    name = "model_prices_and_context_window_backup.json"  # litellm 1.82
    try:
        text = Path(found.origin).with_name(name).read_text(encoding="utf-8")
    except OSError:
        return None
    prices: Mapping[str, Mapping[str, Any]] = json.loads(text)
    price = prices.get(model) or prices.get(model.partition("/")[2], {})
    return price if "input_cost_per_token" in price else None
