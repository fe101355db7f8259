"""Runs the command of an agent that is watched while the scripted model answers it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from art_adapt.capture.run import activity_in, append_notes, run_listening
from art_adapt.code.project_folder import root_around
from art_adapt.project_copy import Copy, TooLarge, fill
from art_adapt.rehearsal import outside
from art_adapt.rehearsal.environment import environment
from art_adapt.rehearsal.outside import Overlay
from art_adapt.rehearsal.replies import Scripted
from art_adapt.rehearsal.scripted_model import ScriptedModel

SHORTEST = 8  # characters of a value of the environment that no row keeps


@dataclass(frozen=True)
class Script:
    """What the scripted model says before it makes something up, and what the agent gets.

    ``let_through``: variables of the environment.
    """

    let_through: Sequence[str] = ()
    rows: Sequence[Scripted] = ()


def run_scripted(
    command: Sequence[str], agent: Path, file: Path, script: Script
) -> tuple[int, frozenset[str], tuple[str, ...]]:
    """Run a command whose model is the scripted one, on a copy of the project's folder.

    The tools get made-up arguments: what they write is nobody's. Its environment is that of a
    rehearsal. ``file`` gets the notes.

    Returns its exit code, what that environment says in the place of the user's own, and
    the variables that the agent reads and is not given.
    """
    module = agent.with_name(f"{agent.stem}_train.py")
    project = root_around(agent).resolve()
    with (
        ScriptedModel(seed=0, rows=script.rows) as model,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        made = environment(model.url, module, script.let_through)
        # An address or a key; a shorter one may be the user's own word by chance.
        made_up = frozenset(
            {each for each in made.variables.values() if len(each) >= SHORTEST}
            - set(os.environ.values())
        )
        copy = Copy(project, Path(folder).resolve() / "copy" / project.name)
        try:
            fill(copy)
        except TooLarge:
            listened = activity_in(project, file, model.url)
            code = run_listening(command, listened, made.variables)
        else:
            noted = Path(folder, "seen.jsonl")
            kept = noted.parent.resolve()
            folders = Overlay((f"{kept}",), f"{kept / 'outside'}", f"{project}")
            settings = {
                **activity_in(copy.folder, noted, model.url, project),
                "overlay": {"file": outside.__file__, "folders": asdict(folders)},
            }
            code = run_listening(
                [*map(copy.inside, command)],
                settings,
                copy.environment(made.variables),
                copy.inside(os.getcwd()),
            )
            _keep(noted, file, copy)
            outside.put_back(kept / "outside")
        return code, made_up, made.withheld


def _keep(noted: Path, file: Path, copy: Copy) -> None:
    """Append notes, with the project's paths, to those that only their owner reads."""
    if noted.exists():  # else the command has asked nothing
        append_notes(file, copy.told_outside(noted.read_text("utf-8")).encode())
