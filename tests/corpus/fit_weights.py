"""Choose how much each feature of a candidate counts, on labelled agents.

python tests/corpus/fit_weights.py LABELS SOURCES [--features FILE]

LABELS is a file of JSON lines: "source", "paths" and "episode" ("right" and "defensible"
functions, as "file.py:name"). SOURCES has the agents, as for ``undoing.py``. Reading them
takes minutes; ``--features`` keeps what was read.

A weight is a whole number, so that candidates of which the same is true stay equal. The
search begins at the table that stands and changes one weight at a time, for as long as
more agents have a right function first, or by a clearer margin; each change costs a
little, so that a weight which no agent speaks for stays. Five times, a fifth of the agents
is left out: what the others choose says how well the table does on agents it has not seen.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.source import read_source
from art_adapt.survey.candidates.weights import WEIGHTS
from art_adapt.survey.survey import survey

CLEAR = 3  # a margin that is no near tie
COST = 0.02  # of a change of a weight by one, in agents
FOLDS = 5
STEPS = (-3, -2, -1, 1, 2, 3)

Weights = dict[str, int]


@dataclass(frozen=True)
class Labelled:
    """The candidates of one agent: the features of each, and whether it is right."""

    id: str
    candidates: list[tuple[list[str], bool]]


def read(labels: Path, sources: Path) -> Iterator[Labelled]:
    for line in labels.read_text().splitlines():
        label = json.loads(line)
        kind, _, name = label["source"].partition(":")
        folder = name.replace("/", "__").replace("==", "-")
        root = sources / kind / folder
        episode = label["episode"]
        right = {*episode.get("right", ()), *episode.get("defensible", ())}
        if not root.is_dir() or not right:
            continue
        try:
            given = [read_source(root / path) for path in label["paths"]]
            found = survey(given).entry_points
        except Refusal:
            continue
        candidates = [
            (
                list(each.features),
                any(
                    f"{path.relative_to(root)}:{called}" in right
                    for path, called in (
                        (each.place.path, each.name),
                        (each.home, each.called),
                    )
                ),
            )
            for each in found
            if each.features
        ]
        if len({right for _, right in candidates}) == 2:
            print(label["id"], len(candidates), flush=True)
            yield Labelled(label["id"], candidates)


def won(agent: Labelled, weights: Weights) -> float:
    """Return 1 for an agent whose right function is clearly first, and less for less."""
    best = {True: -1000, False: -1000}
    for features, right in agent.candidates:
        best[right] = max(best[right], sum(weights[name] for name in features))
    margin = best[True] - best[False]
    return 0.0 if margin < 0 else 0.5 if margin == 0 else 0.9 + 0.1 * (margin >= CLEAR)


def fitted(agents: Sequence[Labelled], start: Weights) -> Weights:
    def worth(weights: Weights) -> float:
        changed = sum(abs(weights[name] - start[name]) for name in start)
        return sum(won(each, weights) for each in agents) - COST * changed

    weights, best = dict(start), worth(start)
    while True:
        tried = [
            {**weights, name: weights[name] + step} for name in start for step in STEPS
        ]
        chosen = max(tried, key=worth)
        if worth(chosen) <= best + 1e-9:
            return weights
        weights, best = chosen, worth(chosen)


def first(agents: Sequence[Labelled], weights: Weights) -> str:
    right = sum(won(each, weights) >= 0.9 for each in agents)
    ties = sum(won(each, weights) == 0.5 for each in agents)
    return f"{right} of {len(agents)} right, {ties} tied"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--features", type=Path)
    given = parser.parse_args()
    if given.features is not None and given.features.exists():
        kept = json.loads(given.features.read_text())
        agents = [Labelled(each["id"], each["candidates"]) for each in kept]
    else:
        agents = list(read(given.labels, given.sources))
        if given.features is not None:
            given.features.write_text(json.dumps([asdict(each) for each in agents]))
    print("the table that stands:", first(agents, WEIGHTS))
    equal = {name: (1 if weight > 0 else -1) for name, weight in WEIGHTS.items()}
    print("every feature counted as one:", first(agents, equal))
    random.Random(0).shuffle(agents)
    folds = [agents[number::FOLDS] for number in range(FOLDS)]
    for name, start in (("the table", WEIGHTS), ("one each", equal)):
        held_out = 0.0
        for fold in folds:
            others = [each for each in agents if each not in fold]
            weights = fitted(others, start)
            held_out += sum(won(each, weights) >= 0.9 for each in fold)
        print(f"held out, from {name}: {held_out:.0f} of {len(agents)} right")
    weights = fitted(agents, WEIGHTS)
    print("fitted on all:", first(agents, weights))
    for name, weight in weights.items():
        was = WEIGHTS[name]
        print(f'    "{name}": {weight},' + (f"  # was {was}" if was != weight else ""))


if __name__ == "__main__":
    main()
