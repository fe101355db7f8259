"""One rehearsal: starts the scripted model and the child, and reads what they saw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.rehearsal.findings import Figures, Finding, Seen, figures, findings
from art_adapt.rehearsal.replies import Scripted, read_rows
from art_adapt.rehearsal.scripted_model import PRODUCTION_KEY, ScriptedModel

TIMEOUT = 600  # seconds


@dataclass(frozen=True)
class Rehearsal:
    """What came of it. ``output`` is what the train module printed."""

    path: Path
    art: str
    seconds: float
    figures: Figures
    findings: tuple[Finding, ...]
    output: str

    @property
    def passed(self) -> bool:
        return not self.findings


def rehearse(
    path: Path, *, steps: int = 2, seed: int = 0, replies: Path | None = None
) -> Rehearsal:
    """Run the train module ``path`` for ``steps`` steps against a scripted model.

    ``replies``: a JSONL file of what the model says (``replies.read_rows``).

    Raises:
        Refusal: there is no such file, ART is not installed, or the module does not
            end.
    """
    if not path.is_file():
        raise Refusal("there is no such file", path=path)
    rows = _rows(replies) if replies is not None else ()
    version = _art_version()
    begun = time.perf_counter()
    with ScriptedModel(seed, rows) as model, tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "seen.json")
        command = [sys.executable, "-m", "art_adapt.rehearsal.child"]
        command += [str(path.resolve()), model.url, str(steps), str(out)]
        try:
            done = subprocess.run(
                command,
                env=_environment(model.url),
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Refusal(
                f"the train module did not end within {TIMEOUT} seconds",
                next_step="rehearse fewer steps, with --steps 1",
                path=path,
            ) from None
        output = (done.stdout + done.stderr).decode(errors="replace")
        if not out.exists():
            last = output.strip().splitlines()[-1:] or ["no output"]
            raise Refusal("the train module's process died", why=last[0], path=path)
        notes = json.loads(out.read_text(encoding="utf-8"))
        seen = Seen(path, path.read_text(encoding="utf-8"), notes, tuple(model.log))
    return Rehearsal(
        path,
        version,
        time.perf_counter() - begun,
        figures(seen),
        tuple(findings(seen)),
        output,
    )


def _rows(path: Path) -> tuple[Scripted, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return read_rows([json.loads(line) for line in lines if line.strip()])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refusal(
            f"no replies to read: {error}",
            next_step='write one JSON object a line, such as {"content": "yes"}',
            path=path,
        ) from error


def _art_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("openpipe-art")
    except PackageNotFoundError:
        raise Refusal(
            "ART is not installed here",
            next_step="pip install 'art-adapt[train]', then rehearse again",
        ) from None


def _environment(url: str) -> dict[str, str]:
    """No key of the user's, and no way to the network but loopback."""
    secret = ("KEY", "TOKEN", "SECRET", "PASSWORD")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().endswith(secret) and not name.lower().endswith("_proxy")
    }
    nowhere = "http://127.0.0.1:9"
    return kept | {
        "OPENAI_BASE_URL": url,
        "OPENAI_API_BASE": url,
        "OPENAI_API_KEY": PRODUCTION_KEY,
        "AZURE_OPENAI_ENDPOINT": url.removesuffix("/v1"),
        "AZURE_OPENAI_API_KEY": PRODUCTION_KEY,
        "WANDB_API_KEY": PRODUCTION_KEY,
        "WANDB_MODE": "disabled",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1,localhost",
        "TQDM_DISABLE": "1",
    }
