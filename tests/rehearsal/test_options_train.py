"""Options of TRAIN reach ART's own training: packing, advantages and loss, on a tiny model.

docs/art-options.md says "trained" of these.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from test_kills import settings_of
from test_learning import TOOL_LOOP, prepared

from art_adapt.rehearsal.child_process import run_child
from art_adapt.rehearsal.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch"),
]
SETS = {
    "ppo": {"loss_fn": "ppo", "epsilon": 0.1, "epsilon_high": 0.3, "verbose": True},
    "sequences": {
        "importance_sampling_level": "sequence",
        "mask_prob_ratio": True,
        "kimi_k2_tau": 0.1,
        "max_negative_advantage_importance_sampling_weight": 2.0,
        "truncated_importance_sampling": 2.0,
    },
    "advantages": {
        "advantage_balance": 0.5,
        "scale_rewards": False,
        "normalize_advantages": True,
        "allow_training_without_logprobs": True,
    },
    "sizes": {"packed_sequence_length": 4096, "logprob_calculation_chunk_size": 512},
}


def test_each_set_trains(tmp_path: Path) -> None:
    folder, module = prepared(tmp_path, TOOL_LOOP)
    settings = settings_of(folder, module)
    file = folder / module
    written = file.read_text()
    with ScriptedModel(0, ()) as scripted:
        for name, options in SETS.items():
            storage = folder / name
            storage.mkdir()
            given = {"learning_rate": 1e-5, **options}
            file.write_text(written.replace('{"learning_rate": 1e-05}', repr(given), 1))
            done = run_child(file, scripted.url, 1, storage, settings)
            trained = done.notes.training
            assert trained is not None and trained.tokens, (name, done.output)
            assert done.notes.raised is None, (name, done.notes.raised)
            assert trained.ended is not None and trained.ended.step == 1


def test_what_art_does_not_take_ends_the_run_before_it_samples(tmp_path: Path) -> None:
    folder, module = prepared(tmp_path, TOOL_LOOP)
    file = folder / module
    text = file.read_text().replace('{"learning_rate": 1e-05}', '{"beta": 0.1}', 1)
    file.write_text(text)
    with ScriptedModel(0, ()) as scripted:
        done = run_child(file, scripted.url, 1, folder)
        assert "TRAIN['beta']" in (done.notes.stopped or "")
        assert not scripted.log
