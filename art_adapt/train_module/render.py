"""Renders the train module of one agent from what was found and decided."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from art_adapt import __version__
from art_adapt.code.importable import ImportedName
from art_adapt.code.packages import package_depth
from art_adapt.code.project_folder import above_source, folder_with
from art_adapt.decisions import Training
from art_adapt.recipe.build import recipe_of
from art_adapt.recipe.fields import Field
from art_adapt.recipe.model import Recipe, Run, Script, Started
from art_adapt.settings import TrainingOptions
from art_adapt.survey.model import EntryPoint, Parameter, Survey
from art_adapt.survey.side_effects.harm import Effect, Harm, is_kept_apart
from art_adapt.train_file import sealed
from art_adapt.train_module.episode import render_episode
from art_adapt.train_module.fill import fill, names_of_template
from art_adapt.train_module.imports import (
    PATH,
    is_own,
    needs_importlib,
    own_imports,
    render_folders,
    script_folders,
)
from art_adapt.train_module.layout import (
    LINE_LENGTH,
    double_quoted,
    folder_above,
    literal,
    shortened,
    tuple_of,
)

MOST_WARNINGS = 8
WORST_FIRST = (
    Harm.ASKS,
    Harm.IMPORT,
    Harm.SHARED,
    Harm.COMMITS,
    Harm.CODE,
    Harm.PROCESS,
    Harm.NETWORK,
    Harm.WRITES,
    Harm.UNKNOWN,
    Harm.MAIN,
    Harm.LIMITS,
    Harm.CLOCK,
)
IN_COPY = (
    "Each episode works in a copy of the project's folder: what it writes there, no other\n"
    "sees, and the files of the project stay as they are."
)
IN_PROCESS = (
    "Each episode has a process of its own: what an episode changes in the agent's modules,\n"
    "no other sees."
)
SINGLE_TURN = (
    "An episode is one completion, on a request that the agent has made: no tool runs,\n"
    "and nothing of the agent does."
)


def render(
    entry: EntryPoint, training: Training, survey: Survey, decided: str = ""
) -> bytes:
    """Return the bytes of the train module that trains ``entry`` as ``training`` says.

    ``decided``: lines that keep how it was made, for later runs.
    """
    recipe = recipe_of(entry, names_of_template())
    values = {
        "PROJECT": literal(training.project),
        "RUN_NAME": literal(training.run_name),
        "BASE_MODEL": literal(training.base_model),
        "BACKEND": literal(training.backend),
        "JUDGE_MODEL": literal(training.judge_model),
        "RULER_WEIGHT": repr(training.ruler_weight),
        "RUBRIC": literal(training.rubric or ""),
        "TRAIN": f'{{"learning_rate": {training.learning_rate!r}}}',
        "ROLLOUTS_PER_GROUP": str(training.rollouts_per_group),
        "GROUPS_PER_STEP": str(training.groups_per_step),
        "EPOCHS": str(training.epochs),
        "MAX_STEPS": str(training.max_steps),
        "VALIDATION_SCENARIOS": str(training.validation_scenarios),
        "CONCURRENCY": "64" if training.isolate is None else "16",
        "SCENARIOS": literal(training.scenarios),
        "FOLDER": _project_folder(entry),
    }
    folders = script_folders(recipe, entry, survey.read)
    own = [
        *render_folders(folders, package_depth(entry.package)),
        *own_imports(recipe, entry, training.reward, survey.left_out),
    ]
    texts = {
        "docstring": _docstring(entry, training, survey),
        "local_imports": "\n".join([*own, *_starting(recipe)]),
        "auxiliary": _auxiliary(training),
        "fields": "" if training.single_turn else "\n".join(map(_field, recipe.fields)),
        "episode": render_episode(recipe),
    }
    text = fill(
        values,
        texts,
        _conditions(training, recipe),
        [*_libraries(recipe, entry, training), *(PATH if folders else ())],
    )
    return sealed(decided + text, __version__)


def _starting(recipe: Recipe) -> list[str]:
    """Render what fills the project's own objects before any episode, below the imports."""
    texts = [double_quoted(each.text) for each in recipe.starting]
    return ["", *texts] if texts else []


def _libraries(
    recipe: Recipe, entry: EntryPoint, training: Training
) -> Iterator[ImportedName]:
    """Yield what the module imports of libraries for this agent."""
    yield from (each for each in recipe.imports if not is_own(each, entry))
    if any(map(needs_importlib, recipe.imports)):
        yield ImportedName("importlib")
    types = (node for field in recipe.fields for node in ast.walk(field.type))
    named = {node.id for node in types if isinstance(node, ast.Name)}
    if "Literal" in named:
        yield ImportedName("typing", "Literal")
    names_file = isinstance(recipe.episode, Script | Started)
    if "Path" in named or names_file or training.isolate == "copy":
        yield ImportedName("pathlib", "Path")
    if isinstance(recipe.episode, Run) and recipe.episode.client:
        yield ImportedName("openai", recipe.episode.client)


def _project_folder(entry: EntryPoint) -> str:
    """Render the folder of an agent's project, from the train module beside the agent."""
    home = entry.home.resolve()
    imported_from = home.parents[package_depth(entry.package)]
    above = home.parents.index(folder_with(home, imported_from))
    return folder_above(above)


def _conditions(training: Training, recipe: Recipe) -> dict[str, bool]:
    """Return which of the template's marked statements stay."""
    combined = training.ruler_weight is not None
    judged = combined or (training.reward is None and not training.agent_rewards)
    steps = not training.pipeline
    episode = recipe.episode
    return {
        "only_here": False,
        "side_jobs": isinstance(episode, Run) and episode.needs_key,
        "replayed": not training.single_turn,
        "single_turn": training.single_turn,
        "steps": steps,
        "pipeline": not steps,
        "ruler": judged,
        "unjudged": not judged,
        "only_ruler": judged and not combined and training.rubric is None,
        "combined": combined and training.rubric is None,
        "weighed": combined,
        "rubric": judged and training.rubric is not None,
        "only_ruler_with_rubric": judged
        and not combined
        and training.rubric is not None,
        "combined_with_rubric": combined and training.rubric is not None,
        "reward": training.reward is not None,
        "agent_rewards": training.agent_rewards,
        "every_client": training.every_client,
        "unrewarded": training.reward is None,
        "processes": training.isolate == "process",
        "copies": training.isolate == "copy",
        "threads": training.isolate is None,
        "validation_scenarios": training.validation_scenarios
        != TrainingOptions.validation_scenarios,
        "weave": training.trace == "weave",
        "langfuse": training.trace == "langfuse",
    }


def _auxiliary(training: Training) -> str:
    if training.single_turn:  # nothing of the agent runs
        return ""
    about = "functions and models that are not trained"
    assigned = tuple_of("AUXILIARY", training.auxiliary)
    line = f"{assigned}  # {about}"
    above = f"# {about.capitalize()}.\n{assigned}"
    return line if len(line) <= LINE_LENGTH else above


def _run_command(entry: EntryPoint) -> str:
    """Return the command that runs an entry point's train module, as its docstring says."""
    if entry.module.startswith("."):
        root = entry.home.resolve().parents[package_depth(entry.package)]
        path = f"PYTHONPATH={root.name} " * (above_source(root) != root)
        return f"{path}python -m {entry.package}.{entry.home.stem}_train"
    return f"python {entry.home.stem}_train.py"


def _docstring(entry: EntryPoint, training: Training, survey: Survey) -> str:
    scored = (
        f"rewarded by {training.reward}"
        if training.reward
        else "rewarded by the agent itself"
        if training.agent_rewards
        else "scored by RULER"
    )
    typed = entry.terminal is not None
    effects = [*_lasting(survey, training.isolate)]
    warnings = _warnings(effects, typed)
    apart = ""
    if training.isolate == "copy" and not training.single_turn:
        apart = IN_COPY
    elif training.isolate and len(effects) < len([*_lasting(survey, None)]):
        apart = IN_PROCESS
    verdict = _verdict(entry, effects, training, typed, is_apart=bool(apart))
    replaying = [each for each in (apart, verdict, "\n".join(warnings)) if each]
    parts = [
        f"Trains {_name(entry)} with ART: GRPO, {scored}.",
        *([SINGLE_TURN] if training.single_turn else replaying),
        f"Run: {_run_command(entry)} --help",
    ]
    return '"""' + "\n\n".join(parts) + '\n"""'


def _name(entry: EntryPoint) -> str:
    file = entry.home.name
    return file if entry.is_script else f"{entry.called} of {file}"


def _verdict(
    entry: EntryPoint,
    effects: Sequence[Effect],
    training: Training,
    typed: bool,
    *,
    is_apart: bool,
) -> str:
    """Say whether episodes can be run many times over, and what follows.

    ``is_apart``: the text above it says how what was found is kept apart.
    """
    if training.every_client:
        return (
            "A framework runs the agent, with tools among what it was given: art-adapt has\n"
            "not looked there. Episodes are run many times over, side by side."
        )
    harms = {effect.harm for effect in effects}
    if Harm.ASKS in harms and not typed:
        return (
            "An episode asks a person, so it cannot be run many times over as it is:\n"
            "give it its answers from the scenario, or train on a part that asks nobody."
        )
    if Harm.IMPORT in harms and not typed:
        return (
            "Importing the agent does what is listed below, before any episode begins: put\n"
            'that under if __name__ == "__main__".'
        )
    if Harm.SHARED in harms and training.isolate is None:
        way = "copy" if any(each.in_files for each in effects) else "process"
        return (
            "Episodes share state and can see each other's changes. If that state belongs\n"
            f"to an episode, adapt the agent again with --isolate {way}."
        )
    if {Harm.WRITES, Harm.COMMITS, Harm.NETWORK, Harm.PROCESS, Harm.CODE} & harms:
        return (
            "Episodes are run many times over. What they write and whom they call must\n"
            "bear that; look at the effects below."
        )
    if Harm.UNKNOWN in harms:
        return (
            "Whether episodes can be run many times over depends on what is listed below:\n"
            "art-adapt does not know these libraries, and found nothing else that lasts."
        )
    if entry.is_helper:
        return (
            f"Whether episodes can be run many times over is seen where {entry.called} is\n"
            "called, which art-adapt has not found. Nothing in its own code outlives them."
        )
    if handed := [p.name for p in entry.needs if _is_handed(p)]:
        names = ", ".join(handed[:3]) + ", ..." * (len(handed) > 3)
        return (
            "Nothing in the agent's own code outlives an episode. What it is handed was not\n"
            f"looked at ({names}): episodes are run many times over, side by side."
        )
    also = "other " * is_apart
    return f"No {also}state was found that outlives an episode: it can run many times."


def _lasting(survey: Survey, isolate: str | None) -> Iterator[Effect]:
    """Yield the effects that outlive an episode: not what a training run leaves out or keeps apart."""
    for file in survey.files:
        for effect in file.effects:
            if not effect.calls and not is_kept_apart(effect, isolate):
                yield effect


def _is_handed(parameter: Parameter) -> bool:
    """True if episode() passes an object that art-adapt has not looked into.

    The agent may call its methods. What the project's own code makes of itself is known.
    """
    if parameter.made is not None:
        return parameter.made.foreign
    return parameter.is_object and parameter.default is None


def _warnings(effects: Sequence[Effect], typed: bool) -> list[str]:
    """Return the lines of the docstring that name the effects of an episode, the worst first."""
    harmless = {Harm.CLOCK, Harm.ASKS, Harm.IMPORT} if typed else {Harm.CLOCK}
    ranked = {
        (
            WORST_FIRST.index(effect.harm),
            f"{effect.place.path.name}: {_closed(effect.what)} {effect.harm}",
        )
        for effect in effects
        if effect.harm not in harmless
    }
    lines = [_in_docstring(f"* {text}") for _, text in sorted(ranked)]
    more = len(lines) - MOST_WARNINGS
    if more > 0:
        lines[MOST_WARNINGS:] = [f"* and {more} more: art-adapt --json lists them"]
    return lines


def _closed(what: str) -> str:
    """Return a phrase whose clause ends in a comma: ``ROWS, which add changes,``."""
    return f"{what}," if ", which " in what and not what.endswith(",") else what


def _in_docstring(text: str) -> str:
    """Return one line of the docstring, with nothing in it that would end it or escape."""
    return shortened(text.replace("\\", "/").replace('"', "'"), LINE_LENGTH)


def _field(field: Field) -> str:
    line = f"    {field.name}: {double_quoted(ast.unparse(field.type))}"
    default = field.shown_default
    return line if default is None else f"{line} = {double_quoted(default)}"
