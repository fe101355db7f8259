"""A train module whose agent makes its client when it is imported, without a key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from agent_files import adapted_copy_of


def test_a_missing_key_is_one_message(tmp_path: Path) -> None:
    folder = adapted_copy_of("support_loop", tmp_path)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, "agent_train.py", "--help"],
        cwd=folder,
        env={**kept, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "agent.py:23: the agent makes its client here" in done.stderr
    assert "OPENAI_API_KEY is not set\n  next: set it" in done.stderr
    assert "Traceback" not in done.stderr
