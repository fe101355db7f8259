"""Run one rehearsal: start the scripted model and the children, and read their notes."""

from __future__ import annotations

import importlib.util
import json
import shutil
import tempfile
import threading
import time
import traceback
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from art_adapt.code.syntax import Syntax
from art_adapt.errors import Refusal, missing
from art_adapt.installing import pip_install
from art_adapt.paths import shown
from art_adapt.project_copy import Copy
from art_adapt.rehearsal.checks.witnesses import witnesses
from art_adapt.rehearsal.child_process import USUAL, Child, Conditions, run_child
from art_adapt.rehearsal.cost import Asked, Cost, cost_of_step
from art_adapt.rehearsal.engine.outcome import EngineRun, engine_findings
from art_adapt.rehearsal.engine.server import find_vllm
from art_adapt.rehearsal.environment import check_let_through
from art_adapt.rehearsal.figures import Figures, figures
from art_adapt.rehearsal.findings import findings
from art_adapt.rehearsal.learning import Learning, learning, learning_findings
from art_adapt.rehearsal.outlook import Outlook, foretell
from art_adapt.rehearsal.parts import agent_parts
from art_adapt.rehearsal.protocol import Evaluated, TinyModelSettings
from art_adapt.rehearsal.replies import Scripted, is_judgement, replies_in
from art_adapt.rehearsal.scripted_model import Exchange, ScriptedModel
from art_adapt.rehearsal.seen import Finding, Seen, ToRead, Witness, to_read
from art_adapt.rehearsal.stubs import check_stubs
from art_adapt.rehearsal.turns import prompts, turns
from art_adapt.seen.notes import read_runs, seen_file
from art_adapt.source import Place, read_source
from art_adapt.survey.calls.obstacles import art_use
from art_adapt.train_file import ENDING, train_module_path

EXTRAS = {"--train": "rehearse", "--engine": "engine"}
ENGINE_STEPS = 3  # on a real engine, and one more after them


@dataclass(frozen=True)
class Rehearsal:
    """The result of a rehearsal.

    ``output`` is what the train module printed. ``answers_tools`` is a place where the
    agent answers a tool call. ``learning`` is None unless a model was trained, ``cost``
    unless a GPU was named. ``witnesses``: what adapting states, and whether it was so.
    ``engine``: the results on a real engine, if one was named. ``outlook``: what the run
    itself takes, where a step was rehearsed. ``to_read``: episodes for a person.
    """

    path: Path
    art: str
    seconds: float
    figures: Figures
    findings: tuple[Finding, ...]
    answers_tools: Place | None
    learning: Learning | None
    cost: Cost | None
    output: str
    witnesses: tuple[Witness, ...] = ()
    engine: EngineRun | None = None
    outlook: Outlook | None = None
    to_read: tuple[ToRead, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.findings


def rehearse(
    path: Path,
    *,
    steps: int = 2,
    seed: int = 0,
    replies: Path | None = None,
    train: int | None = None,
    engine: Path | None = None,
    cost: Asked | None = None,
    conditions: Conditions = USUAL,
) -> Rehearsal:
    """Run the train module ``path`` for ``steps`` steps against a scripted model.

    Then train a tiny model for ``train`` steps, unless something fatal was found; and, with
    ``engine``, the Python of an environment with vLLM, train on that for ``ENGINE_STEPS``.
    ``replies`` is a JSONL file of what the model says (see ``replies.read_rows``); ``cost``
    names the GPU on which to estimate a step. ``conditions`` hold for each run of the module.

    Raises:
        Refusal: the file does not exist, ART is not installed, the module does not end, or
            ``train`` or ``engine`` is given without what they need.
    """
    if not path.is_file():
        raise missing(path)
    rows = replies_in(replies) if replies is not None else ()
    version = _art_version()
    if train is not None:
        _must_be_installed("--train", "torch", "transformers")
    vllm = None if engine is None else find_vllm(engine)  # before anything takes time
    if vllm is not None:
        _must_be_installed("--engine", "torch", "transformers", "peft")
        from art_adapt.rehearsal.engine.run import on_engine  # needs torch

    begun = time.perf_counter()
    syntax = _train_module(path)
    check_stubs(path, conditions.stubs)
    check_let_through(conditions.let_through, path)
    runs = read_runs(seen_file(path))
    # A run that ended shows how many requests it takes.
    asked = max((len(run.requests) for run in runs), default=0)
    most = max(conditions.most_calls, 2 * asked)
    conditions = replace(conditions, most_calls=most)
    with (
        ScriptedModel(seed, rows, runs=runs) as model,
        tempfile.TemporaryDirectory() as folder,
    ):
        child = run_child(path, model.url, steps, Path(folder), conditions=conditions)
        if model.broken is not None:
            raise _broken(model.broken)
        seen = Seen(
            path,
            syntax,
            child.notes,
            _as_told(model.log, child.copy),
            agent_parts(path),
            child.written,
            _as_told(model.repeats, child.copy),
            runs,
            child.withheld,
            tuple(model.embedded),
            child.outside,
            child.unreached,
            child.compared,
            conditions.most_calls,
        )
        found, learned, served, output = findings(seen), None, None, child.output
        if train is not None and not any(finding.fatal for finding in found):
            learned, said = _learn(seen, rows, train, seed, Path(folder), conditions)
            found += learning_findings(seen, learned)
            output += said
        if vllm is not None and not any(finding.fatal for finding in found):
            served, said = on_engine(
                seen,
                training_settings(seen, rows, seed),
                vllm,
                ENGINE_STEPS,
                Path(folder),
                conditions,
            )
            found += engine_findings(seen, served)
            output += said
    return Rehearsal(
        path,
        version,
        time.perf_counter() - begun,
        figures(seen),
        tuple(found),
        seen.agent.answers_tools,
        learned,
        cost_of_step(seen, cost) if cost and seen.notes.steps else None,
        output,
        tuple(witnesses(seen)),
        served,
        foretell(seen, cost.gpu if cost else None) if seen.notes.steps else None,
        tuple(to_read(seen.notes)),
    )


def _as_told(log: Iterable[Exchange], copy: Copy | None) -> tuple[Exchange, ...]:
    """Return requests as the notes tell them: with the paths of the project, not of its copy."""
    if copy is None:
        return tuple(log)
    told = (copy.told_outside(json.dumps(each.request)) for each in log)
    return tuple(
        replace(each, request=json.loads(text))
        for each, text in zip(log, told, strict=True)
    )


def _broken(error: Exception) -> Refusal:
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    return Refusal(
        f"the scripted model failed: {type(error).__name__}: {str(error)[:200]} ({where})",
        why="a request of the agent has a part that the scripted model does not support; the agent is not at fault",
        next_step="report it, with the tools of that request",
    )


def _train_module(path: Path) -> Syntax:
    """Read a train module.

    Raises:
        Refusal: it cannot be read, or it is something else.
    """
    source = read_source(path)
    syntax = Syntax.of(source)
    own = train_module_path(path)
    beside = own if own.is_file() else min(path.parent.glob(f"*{ENDING}"), default=None)
    trains = source.path.stem.endswith("_train") or art_use(syntax) is not None
    if "main" in syntax.functions and trains:
        return syntax
    raise Refusal(
        "not a train module: it trains nothing"
        if "main" in syntax.functions
        else "not a train module: it has no main()",
        next_step="name the train module that art-adapt wrote beside your agent"
        if beside is None
        else f"art-adapt rehearse {quote(shown(beside))}",
        path=path,
    )


def _learn(
    seen: Seen,
    rows: Sequence[Scripted],
    steps: int,
    seed: int,
    folder: Path,
    conditions: Conditions,
) -> tuple[Learning, str]:
    """Train, with a control of shuffled rewards beside it; then resume for one step."""
    judged = any(is_judgement(exchange.request) for exchange in seen.log)
    settings = training_settings(seen, rows, seed)
    favourite = _favourite(settings)

    interrupted = threading.Event()

    def trained(name: str, steps: int, shuffle: bool = False) -> Child:
        kept = folder / name
        kept.mkdir(exist_ok=True)
        train = replace(settings, shuffle=shuffle)

        def tell(text: str) -> None:
            if interrupted.is_set():
                raise KeyboardInterrupt  # which only the main thread has got
            if not shuffle:
                conditions.tell(text)

        with ScriptedModel(seed, rows, favourite, seen.runs) as others:
            told = replace(conditions, tell=tell)
            return run_child(seen.path, others.url, steps, kept, train, conditions=told)

    with ThreadPoolExecutor(2) as pool:
        try:
            real = pool.submit(trained, "real", steps)
            control = pool.submit(trained, "control", steps, True)
            curve, flat = real.result(), control.result()
            weights = (
                ("trained", _weights(folder / "real", "trained")),
                ("shuffled", _weights(folder / "control", "shuffled")),
            )
            going_on = pool.submit(trained, "real", 1)
            with ScriptedModel(seed, rows, favourite, seen.runs) as others:
                evaluated = run_child(
                    seen.path,
                    others.url,
                    steps,
                    folder,
                    evaluated=Evaluated(settings, weights),
                    conditions=conditions,
                )
            resumed = going_on.result()
        except BaseException:
            interrupted.set()
            raise
    learned = learning(
        curve.notes,
        flat.notes,
        resumed.notes,
        evaluated.notes.results,
        len(settings.turns),
        judged,
    )
    return learned, curve.output + resumed.output + evaluated.output


def _weights(storage: Path, name: str) -> str:
    """Copy the last checkpoint in ``storage``: a run that goes on may delete it."""
    # ART numbers the folders of checkpoints with leading zeros.
    last = max(storage.rglob("tiny.pt"))
    return str(shutil.copy(last, storage.with_name(f"{name}.pt")))


def _favourite(settings: TinyModelSettings) -> str | None:
    """Return an answer for a judge to prefer; None: there is none.

    It is not said in the prompts: a judge would find it in every episode.
    """
    asked = json.dumps(settings.prompts, ensure_ascii=False)
    answers = (turn.content for turn in settings.turns if turn.content)
    spelled = ((each, json.dumps(each, ensure_ascii=False)[1:-1]) for each in answers)
    return next((each for each, text in spelled if text not in asked), None)


def training_settings(
    seen: Seen, rows: Sequence[Scripted], seed: int
) -> TinyModelSettings:
    """Make the tiny model's settings from what a scripted rehearsal saw."""
    scenarios = seen.notes.scenarios
    said = turns(seen.log, rows, scenarios)
    return TinyModelSettings(said, prompts(seen.log), scenarios, seed)


def _must_be_installed(flag: str, *modules: str) -> None:
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise Refusal(
            f"not installed here: {' and '.join(missing)}, which {flag} needs",
            next_step=f"{pip_install(EXTRAS[flag])}, or rehearse without {flag}",
        )


def _art_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("openpipe-art")
    except PackageNotFoundError:
        raise Refusal(
            "ART is not installed here",
            next_step=f"{pip_install('train')}, then rehearse again",
        ) from None
