"""What art-adapt and ART's own capture record of the 26 shapes; the table of it.

    python tests/end_to_end/matrix.py --out rows.json
    python tests/end_to_end/matrix.py --table rows-311.json rows-312.json \\
        --into docs/recording.md

The first measures with the ART and the openai package of the interpreter that runs it,
the second puts any number of such measurements side by side. Not a test:
``test_shapes.py`` says what must hold.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent_files import art_adapt, run_episode
from recorded import differences
from scripted_completions import marker
from scripted_engine import Exchange

from end_to_end.serving_engine import ServingEngine
from end_to_end.shape import ALL, Shape, run_in_production

CAPTURE_CHILD = Path(__file__).with_name("capture_child.py")
LANGGRAPH_CHILD = Path(__file__).with_name("langgraph_child.py")
ON_LANGGRAPH = "25_langgraph"  # is measured on art.langgraph as well
BEGIN, END = "<!-- matrix -->", "<!-- /matrix -->"
PACE = 0.02  # seconds between chunks: a stream that can be left


@dataclass(frozen=True)
class Measured:
    """``recorded`` counts the policy's choices behind the right messages and tools,
    ``given`` those that there were.

    ``auxiliary``: completions of another model among what was recorded. ``unchecked``:
    those of the Responses and the Messages API, which carry no marks. ``remark``: an
    error, or why there is nothing.
    """

    calls: int = 0
    given: int = 0
    recorded: int = 0
    auxiliary: int = 0
    unchecked: int = 0
    histories: int = 0
    tokens: int = 0
    inert: bool | None = None
    remark: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="measure, and write the rows here")
    parser.add_argument("--only", nargs="*", default=[], help="shapes by their number")
    parser.add_argument("--table", type=Path, nargs="+", help="rows to show")
    parser.add_argument("--into", type=Path, help="the document with the markers")
    given = parser.parse_args()
    if given.out:
        chosen = [
            shape
            for shape in ALL
            if not given.only or shape.title.split()[0] in given.only
        ]
        given.out.write_text(json.dumps(measure(chosen), indent=1) + "\n")
    if given.table and given.into:
        rows = [json.loads(path.read_text()) for path in given.table]
        given.into.write_text(_with_table(given.into.read_text(), table(rows)))


# ---------------------------------------------------------------------------- measuring


def measure(shapes: Sequence[Shape]) -> dict[str, Any]:
    measured: dict[str, Any] = {
        "environment": {
            "python": ".".join(platform.python_version_tuple()[:2]),
            "openai": version("openai"),
            "art": version("openpipe-art"),
        },
        "shapes": {},
    }
    for shape in shapes:
        row = {"adapted": asdict(_adapted(shape)), "capture": asdict(_captured(shape))}
        if shape.name == ON_LANGGRAPH:
            row["art.langgraph"] = asdict(_captured(shape, LANGGRAPH_CHILD))
        measured["shapes"][shape.name] = row
        print(shape.title, row, file=sys.stderr)
    return measured


def _adapted(shape: Shape) -> Measured:
    with tempfile.TemporaryDirectory() as temporary:
        folder = shape.original(Path(temporary))
        before = run_in_production(shape, folder) if not shape.explained else None
        done = art_adapt("--isolated", "agent.py", cwd=folder)
        if done.returncode == 2:
            return Measured(remark="explained")
        inert = run_in_production(shape, folder) == before
        with (
            ServingEngine(shape.replies, pace=PACE) as production,
            ServingEngine(shape.replies, pace=PACE) as training,
        ):
            try:
                said = run_episode(folder, production.root, training.base_url)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                return Measured(inert=inert, remark=_last_line(str(error)))
            calls = len(production.log) + len(training.log)
            given = _marks(training.log)
            return Measured(
                calls=calls,
                given=len(given),
                recorded=_right(said["histories"], training.log, given),
                histories=len(said["histories"]),
                tokens=_sampled_tokens(said["histories"]),
                inert=inert,
            )


def _captured(shape: Shape, child: Path = CAPTURE_CHILD) -> Measured:
    with (
        tempfile.TemporaryDirectory() as temporary,
        ServingEngine(shape.replies, pace=PACE) as engine,
    ):
        folder = shape.original(Path(temporary))
        try:
            said = run_episode(folder, engine.root, child=child)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            return Measured(remark=_last_line(str(error)))
        policy = _marks([e if shape.is_policy(e) else None for e in engine.log])
        others = _marks([None if shape.is_policy(e) else e for e in engine.log])
        histories = said["histories"]
        tokens = said["tokens"]
        return Measured(
            calls=len(engine.log),
            given=len(policy) or len(engine.log),
            recorded=_right(histories, engine.log, policy),
            auxiliary=_right(histories, engine.log, others),
            unchecked=said.get("others", 0),
            histories=said["sequences"],
            tokens=_sampled_tokens(histories) if tokens is None else tokens,
            remark=said.get("error", ""),
        )


def _marks(log: Sequence[Exchange | None]) -> set[int]:
    """The choices that the engine gave, by the token that stands for each."""
    return {
        marker(number, choice["index"])
        for number, exchange in enumerate(log, 1)
        if exchange is not None and exchange.response is not None
        for choice in exchange.response.get("choices", ())
    }


def _right(
    histories: Sequence[dict[str, Any]], log: Sequence[Exchange], of: set[int]
) -> int:
    """How many of these choices are recorded, each behind the messages and tools that
    it answered.
    """
    right: set[int] = set()
    for history in histories:
        for at, item in enumerate(history["items"]):
            choice = _with_tokens(item.get("choice"), log)
            if choice is None or choice["token_ids"][0] not in of:
                continue
            before = [
                earlier["choice"]["message"] if "choice" in earlier else earlier
                for earlier in history["items"][:at]
            ]
            alone = {"tools": history["tools"], "items": [*before, {"choice": choice}]}
            if all(p.startswith("lost") for p in differences([alone], log)):
                right.add(choice["token_ids"][0])
    return len(right)


def _with_tokens(
    choice: dict[str, Any] | None, log: Sequence[Exchange]
) -> dict[str, Any] | None:
    """A choice with its tokens, wherever it has them: art 0.5.18 trains from the
    logprobs, and renders prompts anew.
    """
    sampled = _trainable_ids(choice) if choice is not None else []
    if choice is None or not sampled:
        return None
    exchange = log[(sampled[0] - 1_000_000) // 10 - 1]
    assert exchange.response is not None
    return {
        **choice,
        "token_ids": sampled,
        "prompt_token_ids": choice.get("prompt_token_ids")
        or exchange.response["prompt_token_ids"],
    }


def _trainable_ids(choice: dict[str, Any]) -> list[int]:
    """What ART trains of a Choice: ``token_ids`` (0.5.23), or what the logprobs say
    (0.5.18).
    """
    if version("openpipe-art") != "0.5.18":
        has_prompt = choice.get("prompt_token_ids") is not None
        return (choice.get("token_ids") or []) if has_prompt else []
    tokens = [t["token"] for t in (choice.get("logprobs") or {}).get("content") or []]
    return [
        int(t.removeprefix("token_id:")) for t in tokens if t.startswith("token_id:")
    ]


def _sampled_tokens(histories: Sequence[dict[str, Any]]) -> int:
    return sum(
        len(_trainable_ids(item["choice"]))
        for history in histories
        for item in history["items"]
        if "choice" in item
    )


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "failed"


# ---------------------------------------------------------------------------- the table


def table(measurements: Sequence[dict[str, Any]]) -> str:
    """One row a shape. What art-adapt records stands there once where all environments
    agree.
    """
    environments = [_label(m["environment"]) for m in measurements]
    head = [
        "shape",
        "calls",
        "recorded",
        "histories",
        "tokens",
        "inert",
        *(f"ART {label}" for label in environments),
    ]
    rows = []
    for shape in ALL:
        found = [m["shapes"][shape.name] for m in measurements]
        ours = [Measured(**row["adapted"]) for row in found]
        captures = [_captures(row) for row in found]
        rows.append([shape.title, *_our_cells(ours), *captures])
    return "\n".join(_line(cells) for cells in [head, ["---"] * len(head), *rows])


def _label(environment: dict[str, str]) -> str:
    return f"{environment['art']}, openai {environment['openai'].split('.')[0]}"


def _our_cells(measured: Sequence[Measured]) -> list[str]:
    if all(m.remark == "explained" for m in measured):
        return ["", "explained", "", "", ""]
    columns = [
        [str(m.calls) for m in measured],
        [m.remark or f"{m.recorded}/{m.given}" for m in measured],
        [str(m.histories) for m in measured],
        [str(m.tokens) for m in measured],
        [{True: "yes", False: "no", None: ""}[m.inert] for m in measured],
    ]
    return [cells[0] if len(set(cells)) == 1 else "; ".join(cells) for cells in columns]


def _captures(row: dict[str, Any]) -> str:
    """The cell of what ART itself records, by its capture and by ``art.langgraph``."""
    cell = _capture_cell(Measured(**row["capture"]))
    if "art.langgraph" in row:
        langgraph = _capture_cell(Measured(**row["art.langgraph"]))
        cell += f"; `art.langgraph` {langgraph}"
    return cell


def _capture_cell(measured: Measured) -> str:
    """As "3/3 in 1, 23 t": choices, histories or sequences, the tokens that train."""
    missing = ("ModuleNotFoundError", "ImportError")
    if measured.remark.startswith(missing) or not measured.calls:
        return "not measured"
    cell = f"{measured.recorded}/{measured.given}"
    if measured.recorded:
        cell += f" in {measured.histories}, {measured.tokens} t"
    if measured.unchecked:
        cell += f" ({measured.unchecked} without ids, {measured.tokens} t)"
    if measured.auxiliary:
        cell += f", {measured.auxiliary} of the judge"
    if measured.remark:
        cell += f" ({measured.remark.split(':')[0]})"
    return cell


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _with_table(text: str, rows: str) -> str:
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    # A blank line, or the table is text: a comment begins a block of HTML.
    return f"{before}{BEGIN}\n\n{rows}\n\n{END}{after}"


if __name__ == "__main__":
    main()
