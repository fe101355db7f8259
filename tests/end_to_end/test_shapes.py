"""The 26 shapes of agents in ``shapes/``: each is recorded whole, or refused with its
reason (G3, G4, G5, G8, G10).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from agent_files import REPOSITORY, TRAJECTORIES, art_adapt, run_episode
from recorded import differences
from scripted_engine import Engine

from end_to_end.shape import ALL, Production, Shape, run_in_production

ADAPTED = [shape for shape in ALL if shape.explained is None]
EXPLAINED = [shape for shape in ALL if shape.explained is not None]
RAISES = "23_exception"


def names(shapes: list[Shape]) -> list[str]:
    return [shape.name for shape in shapes]


@dataclass(frozen=True)
class Adapted:
    shape: Shape
    folder: Path
    usual: Production


def measured(shape: Shape) -> object:
    """A parameter; frameworks take seconds to import."""
    return pytest.param(shape, marks=[pytest.mark.slow] if shape.every_client else [])


@pytest.fixture(scope="module", params=map(measured, ADAPTED), ids=names(ADAPTED))
def adapted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Adapted:
    shape: Shape = request.param
    folder = shape.adapted(tmp_path_factory.mktemp("adapted"))
    return Adapted(shape, folder, run_in_production(shape, folder))


def test_outside_a_rollout_nothing_changes(adapted: Adapted, tmp_path: Path) -> None:
    shape = adapted.shape
    before = run_in_production(shape, shape.original(tmp_path))
    assert adapted.usual == before
    assert before.outcome.startswith("raised" if shape.name == RAISES else "returned")


@pytest.mark.parametrize("trajectory", TRAJECTORIES)
def test_in_a_rollout_everything_is_recorded(adapted: Adapted, trajectory: str) -> None:
    shape = adapted.shape
    with Engine(shape.replies) as production, Engine(shape.replies) as training:
        said = run_episode(
            adapted.folder, production.root, training.base_url, trajectory=trajectory
        )
        assert differences(said["histories"], training.log) == []
        assert said["outcome"] == adapted.usual.outcome
        assert training.log
        assert not [e for e in production.log if shape.is_policy(e)]
        assert bool(production.log) == (shape.auxiliary_model is not None)
        assert len(production.log) + len(training.log) == adapted.usual.calls
    # What an unhooked agent returns is its answer, for the train module to take.
    assert said["answered"] == (shape.name != RAISES and not shape.every_client)
    assert said["infrastructure_error"] == "None"


def test_an_episode_that_raises_keeps_its_first_completion(tmp_path: Path) -> None:
    shape = next(shape for shape in ALL if shape.name == RAISES)
    folder = shape.adapted(tmp_path)
    with Engine(shape.replies) as training:
        said = run_episode(folder, "http://127.0.0.1:1", training.base_url)
    assert said["outcome"] == "raised KeyError: 'Atlantis'"
    [history] = said["histories"]
    question, first = history["items"]
    assert question["role"] == "user"
    assert first["choice"]["message"]["tool_calls"]


@pytest.mark.parametrize("shape", EXPLAINED, ids=names(EXPLAINED))
def test_what_is_not_adapted_is_explained(shape: Shape, tmp_path: Path) -> None:
    folder = shape.original(tmp_path)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = art_adapt("--isolated", "agent.py", cwd=folder)
    message = done.stderr.decode()
    assert done.returncode == 2
    assert shape.explained is not None
    assert shape.explained in message
    assert "agent.py" in message
    assert "next:" in message
    assert {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file()
    } == before


def test_the_documents_list_the_shapes_that_there_are() -> None:
    text = (REPOSITORY / "docs" / "recording.md").read_text(encoding="utf-8")
    table = text.split("<!-- matrix -->")[1].split("<!-- /matrix -->")[0]
    assert re.findall(r"^\| (\d+ [^|]+?) +\|", table, re.M) == [s.title for s in ALL]
