"""Some mistakes depend on the version of ART: the project's setting decides, then the installed one."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

HOSTED = """\
import art
from art.serverless.backend import ServerlessBackend

TRAIN = {"learning_rate": 1e-5, "loss_fn": "cispo"}


async def main(model: art.TrainableModel, groups):
    backend = ServerlessBackend()
    await model.register(backend)
    await backend.train(model, groups, **TRAIN)
"""
HOSTED_BY_NAME = HOSTED.replace("**TRAIN", "kl_penalty_coef=0.02")
PIPELINE = """\
import art
from art.pipeline_trainer import PipelineTrainer


async def main(model: art.TrainableModel, rollout, scenarios):
    backend = art.ServerlessBackend()
    await model.register(backend)
    await PipelineTrainer(model, backend, rollout, scenarios, None).train()
"""
PIPELINE_BY_KEYWORD = PIPELINE.replace(
    "model, backend, rollout", "model=model, backend=backend, rollout_fn=rollout"
).replace("scenarios, None", "scenarios=scenarios, config=None")
LOCAL_PIPELINE = PIPELINE.replace("art.ServerlessBackend()", "LocalBackend()").replace(
    "import art\n", "import art\nfrom art.local import LocalBackend\n"
)
CONFIGURED = """\
import art

config = art.TrainConfig(learning_rate=1e-5, kl_penalty_source="sample")
"""
METADATA = """\
import art


async def rollout(model, scenario):
    return art.Trajectory(messages_and_choices=[], metadata={"tags": ["a", "b"]})
"""
NO_RUN_NAME = (
    'import art\n\nmodel = art.TrainableModel(name="a", project="p", base_model="b")\n'
)


def found(folder: Path, text: str, version: str, *more: str) -> str:
    (folder / "train.py").write_text(text)
    (folder / "pyproject.toml").write_text(
        f'[tool.art-adapt.check]\nart-version = "{version}"\n'
    )
    done = art_adapt("check", "train.py", *more, cwd=folder)
    return done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (HOSTED, 4, "ServerlessBackend.train of ART 0.5.18 does not accept loss_fn="),
        (HOSTED_BY_NAME, 10, "does not accept kl_penalty_coef="),
        (PIPELINE, 8, "PipelineTrainer of ART 0.5.18 passes loss_fn= to the backend"),
        (PIPELINE_BY_KEYWORD, 8, "passes loss_fn= to the backend"),
        (CONFIGURED, 3, "TrainConfig of ART 0.5.18 has no kl_penalty_source"),
    ],
)
def test_what_only_the_older_art_refuses_is_found_for_it_alone(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    older = found(tmp_path, text, "0.5.18")
    assert f"train.py:{line}:" in older and says in older
    assert "ART515" not in found(tmp_path, text, "0.5.20")


def test_a_pipeline_with_another_backend_is_left_alone(tmp_path: Path) -> None:
    assert "ART515" not in found(tmp_path, LOCAL_PIPELINE, "0.5.18")


def test_a_rule_is_silent_for_an_art_that_does_not_do_this(tmp_path: Path) -> None:
    assert "ART307" in found(tmp_path, METADATA, "0.5.18")
    assert "ART307" not in found(tmp_path, METADATA, "0.5.23")
    all_rules = ("--select", "ALL")
    assert "ART519" not in found(tmp_path, NO_RUN_NAME, "0.5.18", *all_rules)
    assert "ART519" in found(tmp_path, NO_RUN_NAME, "0.5.20", *all_rules)


def test_the_installed_art_counts_where_no_version_is_set(tmp_path: Path) -> None:
    from importlib.metadata import version

    (tmp_path / "train.py").write_text(CONFIGURED)
    said = art_adapt("check", "train.py", cwd=tmp_path).stdout.decode()
    is_old = version("openpipe-art") == "0.5.18"
    assert ("TrainConfig of ART 0.5.18 has no kl_penalty_source" in said) == is_old


@pytest.mark.parametrize("written", ['"newest"', "0.5"])
def test_what_is_no_version_is_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / "train.py").write_text(CONFIGURED)
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.art-adapt.check]\nart-version = {written}\n"
    )
    done = art_adapt("check", "train.py", cwd=tmp_path)
    assert done.returncode == 2
    assert b"is not a version" in done.stderr and b"Traceback" not in done.stderr
