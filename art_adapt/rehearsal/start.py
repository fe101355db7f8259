"""Says where a train module is started, and with which command.

Agents read files by paths that count from the working folder: a configuration, a database.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from art_adapt.code.project_folder import above_source, folder_with, project_root
from art_adapt.paths import shown
from art_adapt.seen.notes import read_runs, seen_file
from art_adapt.train_file import agent_path, import_name


@dataclass(frozen=True)
class Start:
    """How a train module is started: in ``folder``, with imports from ``root`` as well.

    ``name`` is the module's, dotted where it is in a package. All paths are resolved.
    """

    module: Path
    folder: Path
    root: Path
    name: str

    @property
    def project(self) -> Path:
        """Return the folder that holds the project, and where it is imported from and runs."""
        project = folder_with(self.module, self.root)
        return self.folder if project.is_relative_to(self.folder) else project

    @property
    def command(self) -> str:
        """Return what a shell is told, from its working folder."""
        run = f"python {quote(os.path.relpath(self.module, self.folder))}"
        if "." in self.name:
            run = f"python -m {self.name}"
            if self.root != self.folder:
                below = Path(os.path.relpath(self.root, self.folder)).as_posix()
                run = f"PYTHONPATH={quote(below)} {run}"
        if self.folder == Path.cwd().resolve():
            return run
        return f"cd {quote(shown(self.folder))} && {run}"


def start_of(train_module: Path) -> Start:
    """Return where watched runs of the module's agent ran, if that is in the project or around it.

    Without any, a script runs in its own folder, and a package in the folder above it; or
    above that, if it is a ``src`` folder, which the project installs its packages from.
    """
    module = train_module.resolve()
    root, name = import_name(module)
    project = project_root(module)
    agent = agent_path(module)
    ran_in = {
        run.folder_of(agent)
        for run in read_runs(seen_file(module))
        if any(call.path == agent for call in run.calls.values())
    }
    folder = ran_in.pop() if len(ran_in) == 1 else None
    if (
        folder is not None
        and folder.is_dir()
        and folder not in (Path.home(), Path(folder.anchor))
        and (folder.is_relative_to(project) or project.is_relative_to(folder))
    ):
        return Start(module, folder, root, name)
    return Start(module, above_source(root) if "." in name else root, root, name)
