"""Recognises what art-adapt does not handle, and says what to use instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.calls import METHOD_NAMES, SERVER_STATE, UNRECORDED, UnrecordedCall
from art_adapt.code.nodes import dotted, entries, receiver, text_of
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.conversation_signs import MEDIA
from art_adapt.source import Place
from art_adapt.survey.calls.frameworks import imported_frameworks
from art_adapt.survey.calls.other_clients import find_other_clients
from art_adapt.survey.calls.raw_http import find_raw_http
from art_adapt.survey.calls.threads import starts_processes
from art_adapt.survey.side_effects.effects import find_hosted_tools
from art_adapt.survey.side_effects.harm import Obstacle

UNFOUND = (
    "name the function that runs one episode with --entry: training records every client "
    "of the openai SDK"
)

PROCESS_ADVICE = (
    "another process",
    "a rollout cannot record another process, and a recorded call there raises: use threads or tasks",
)
HOSTED_ADVICE = (
    "only OpenAI runs this tool, so a request with it ends its rollout: offer a function of "
    "yours instead"
)
MEDIA_ADVICE = (
    "ART trains on text only, so an episode that sends one is lost: train on scenarios without it, "
    "or describe it in words"
)
KEPT_ADVICE = (
    "the model in training cannot read it, so a request with it ends its rollout: send the "
    "messages and the instructions themselves"
)
ASSISTANTS = "beta.threads"  # of the SDK's client
ASSISTANTS_ADVICE = (
    "OpenAI runs its loop, where no completion can be recorded: call client.responses.create "
    "or client.chat.completions.create, and run the tools yourself"
)
UNRECORDED_CALLS = {name: call for call in UNRECORDED for name in call.names}
UNRECORDED_NAMES = {name.rpartition(".")[2] for name in UNRECORDED_CALLS}


def find_obstacles(syntax: Syntax) -> Iterator[Obstacle]:
    """Find frameworks and calls that no hook can record, each kind once."""
    said: set[str] = set()
    for obstacle in (
        *_imported(syntax),
        *find_other_clients(syntax),
        *_called(syntax),
        *_kept(syntax),
        *_hosted(syntax),
        *_media(syntax),
        *_of_ipython(syntax),
        *find_raw_http(syntax),
    ):
        if not obstacle.calls_model:
            yield obstacle
        elif obstacle.what not in said:
            said.add(obstacle.what)
            yield obstacle


def _imported(syntax: Syntax) -> Iterator[Obstacle]:
    for node, framework in imported_frameworks(syntax):
        place = syntax.place(node)
        yield Obstacle(place, framework.name, UNFOUND, every_client=True)


def _called(syntax: Syntax) -> Iterator[Obstacle]:
    for node in syntax.nodes:
        if isinstance(node, ast.Attribute | ast.Name):
            if (dotted(node) or "").endswith(f".{ASSISTANTS}"):
                what = "the Assistants API (client.beta.threads)"
                yield Obstacle(syntax.place(node), what, ASSISTANTS_ADVICE)
            if (call := _unrecorded(node, syntax)) is not None:
                what = call.what or syntax.qualified(node) or ""
                yield Obstacle(syntax.place(node), what, call.instead)
        elif isinstance(node, ast.Call) and starts_processes(syntax, node):
            yield Obstacle(syntax.place(node), *PROCESS_ADVICE, calls_model=False)


def _kept(syntax: Syntax) -> Iterator[Obstacle]:
    """Find what OpenAI keeps of a request to its Responses API: ``prompt={"id": ...}``."""
    for node in syntax.nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="responses"), attr=method)
            ) if method in METHOD_NAMES:
                for each in node.keywords:
                    unset = (
                        isinstance(each.value, ast.Constant) and not each.value.value
                    )
                    if each.arg in SERVER_STATE and not unset:
                        what = f"{each.arg}= ({SERVER_STATE[each.arg]})"
                        place = syntax.place(node)
                        yield Obstacle(place, what, KEPT_ADVICE, calls_model=False)


def _hosted(syntax: Syntax) -> Iterator[Obstacle]:
    """Find tools that OpenAI runs, which the model in training does not have."""
    for effect in find_hosted_tools(syntax):
        yield Obstacle(effect.place, effect.what, HOSTED_ADVICE, calls_model=False)


def _media(syntax: Syntax) -> Iterator[Obstacle]:
    """Find the first part of a message that is no text, spelled as a dict or a call."""
    for node in syntax.nodes:
        kind = text_of(entries(node).get("type"))
        if isinstance(node, ast.expr) and kind in MEDIA:
            what = f"a message with {kind}"
            place = syntax.place(node)
            yield Obstacle(place, what, MEDIA_ADVICE, calls_model=False)
            return


def _of_ipython(syntax: Syntax) -> Iterator[Obstacle]:
    """Find what a notebook's export asks of IPython, if nothing catches its absence."""
    calls = [
        node
        for node in syntax.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "get_ipython"
        and syntax.owner(node) == MODULE_LEVEL
        and not any(
            isinstance(outer, ast.Try | ast.If) for outer in syntax.ancestors(node)
        )
    ]
    if calls and "get_ipython" not in syntax.imports:
        places = [syntax.place(each) for each in calls]
        cells = [each for each in calls if _keeps_a_cell(syntax, each)]
        lines = ", ".join(str(each.line) for each in places)
        word = "line" if len(places) == 1 else "lines"
        if cells:  # deleting that line would delete code
            yield Obstacle(
                syntax.place(cells[0]),
                "get_ipython().run_cell_magic()",
                "take the cell's magic (such as %%time) out of the notebook, and export it again",
                calls_model=False,
                fails_import=True,
                hides_code=True,
            )
            return
        yield Obstacle(
            places[0],
            "get_ipython()",
            "get_ipython() exists only in a notebook, so this file cannot be imported: delete "
            f"{word} {lines} (numbered without hooks), then adapt it again",
            calls_model=False,
            fails_import=True,
        )


def _keeps_a_cell(syntax: Syntax, call: ast.Call) -> bool:
    """True for ``get_ipython().run_cell_magic("time", "", "def ask(...): ...")``."""
    run = syntax.parents.get(syntax.parents[call])
    return receiver(run, "run_cell_magic") is call and len(getattr(run, "args", ())) > 2


def _unrecorded(
    node: ast.Attribute | ast.Name, syntax: Syntax
) -> UnrecordedCall | None:
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    if name not in UNRECORDED_NAMES and name not in syntax.imports:
        return None
    if isinstance(syntax.parents[node], ast.Attribute):
        return None  # litellm.responses.main: a module of that name
    return UNRECORDED_CALLS.get(syntax.qualified(node) or "")


def art_use(syntax: Syntax) -> Place | None:
    """Return where a file uses ART itself; None if it does not.

    Such a file records its own trajectories, so it is left alone.
    """
    art = syntax.imports.get("art")
    if art is None or art.module != "art" or art.level:
        return next(
            (
                syntax.place(i.node)
                for i in syntax.imports.values()
                if i.level == 0
                and i.module.split(".")[0] == "art"
                and i.attribute
                in ("Trajectory", "TrainableModel", "Model", "TrajectoryGroup")
            ),
            None,
        )
    for node in syntax.nodes:
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "art"
            and node.attr[:1].isupper()
        ):
            return syntax.place(node)
    return None
