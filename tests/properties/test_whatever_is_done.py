"""Adapt with any flags, edit, check and undo, in any order: nothing is lost, nothing is left."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from agent_files import agent_file, art_adapt, copy_of, files_of
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

AGENTS = ["support_loop", "class_agent", "package_agent", "judge_and_policy"]
FLAGS = {
    "--reward": ["rewards:exact", "ruler"],
    "--isolate": ["process", "none"],
    "--run-name": ["mine-007"],
    "--max-steps": ["71", "5"],
    "--backend": ["serverless", "local"],
    "--trace": ["weave"],
    "--rubric": ['It\'s "brief".'],
}
REWARD = "def exact(trajectory, scenario):\n    return 0.5\n"
EDITS = {
    "a call": """\


def also{number}(client, text):
    messages = [{{"role": "user", "content": text}}]
    return client.chat.completions.create(model="gpt-4o-mini", messages=messages)
""",
    "a comment": "\n\n# number {number}\n",
    "a function": "\n\ndef plain{number}(text):\n    return text.strip()\n",
}
DECIDED = b"# Decided:"
flags = st.dictionaries(
    st.sampled_from(sorted(FLAGS)), st.integers(0, 1), max_size=3
).map(
    lambda chosen: {
        flag: FLAGS[flag][n % len(FLAGS[flag])] for flag, n in chosen.items()
    }
)


def said_in(folder: Path) -> dict[str, bytes]:
    """Leave out which files the runs were given, the hash of that, and where lines end for it."""
    files = files_of(folder)
    for name in files:
        if name.endswith("_train.py"):
            _, *lines = files[name].split(b"\n")
            decided = [each for each in lines if each.startswith(DECIDED)]
            words = b" ".join(each.removeprefix(DECIDED) for each in decided).split()
            rest = [each for each in lines if each not in decided]
            told = b" ".join(each for each in words if each != b"llm.py")
            files[name] = b"\n".join([told, *rest])
    return files


class Doing(RuleBasedStateMachine):
    """``users`` is the folder as its user wrote it, ``folder`` as art-adapt leaves it."""

    @initialize(name=st.sampled_from(AGENTS))
    def start(self, name: str) -> None:
        self.temporary = Path(tempfile.mkdtemp())
        self.folder = copy_of(name, self.temporary / "own")
        (self.folder / "pyproject.toml").write_text("")
        (agent_file(self.folder).parent / "rewards.py").write_text(REWARD)
        self.users = self.temporary / "users" / name
        shutil.copytree(self.folder, self.users)
        self.agent = agent_file(self.folder).relative_to(self.folder)
        self.decided: dict[str, str] = {}
        self.is_adapted = False
        self.edits = 0

    @rule(flags=flags, whole=st.booleans())
    def adapt(self, flags: dict[str, str], whole: bool) -> None:
        given = [part for flag in flags.items() for part in flag]
        target = "." if whole else str(self.agent)
        done = art_adapt(*given, "--yes", target, cwd=self.folder)
        assert done.returncode == 0, done.stderr.decode()
        self.decided |= flags
        self.is_adapted = True
        fresh = self.temporary / "fresh" / self.folder.name
        shutil.copytree(self.users, fresh)
        all_of_them = [part for flag in self.decided.items() for part in flag]
        done = art_adapt(*all_of_them, "--yes", self.agent, cwd=fresh)
        assert done.returncode == 0, done.stderr.decode()
        assert said_in(self.folder) == said_in(fresh)
        shutil.rmtree(fresh)
        self.check()

    @rule(kind=st.sampled_from(sorted(EDITS)))
    def edit(self, kind: str) -> None:
        self.edits += 1
        for folder in (self.users, self.folder):
            with (folder / self.agent).open("a") as file:
                file.write(EDITS[kind].format(number=self.edits))

    @rule(named=st.sampled_from(["agent", "train module", "hooks", "folder"]))
    def undo(self, named: str) -> None:
        beside = self.agent.parent
        target = {
            "agent": self.agent,
            "train module": beside / "agent_train.py",
            "hooks": next(
                (
                    path.relative_to(self.folder)
                    for path in self.folder.rglob("art_recording.py")
                ),
                self.agent,
            ),
            "folder": Path("."),
        }[named]
        done = art_adapt(
            "--undo", target if self.is_adapted else self.agent, cwd=self.folder
        )
        assert done.returncode == 0, done.stderr.decode()
        assert files_of(self.folder) == files_of(self.users)
        self.decided, self.is_adapted = {}, False

    def check(self) -> None:
        done = art_adapt("check", "--select", "ART1", ".", cwd=self.folder)
        assert done.returncode == 0, done.stdout.decode()

    def teardown(self) -> None:
        if hasattr(self, "temporary"):
            shutil.rmtree(self.temporary)


Doing.TestCase.settings = settings(
    max_examples=max(settings.default.max_examples // 3, 5),
    stateful_step_count=8,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # an example takes seconds
)
TestWhateverIsDone = Doing.TestCase
