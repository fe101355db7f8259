"""Ask ART itself what it does with trajectories.

These are its tokenization, its gather, and a model with a backend that has no GPU.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import art
from openai.types.chat.chat_completion import Choice

IS_0_5_18 = importlib.metadata.version("openpipe-art") == "0.5.18"
USER = {"role": "user", "content": "q"}


def choice(text: str = "hi there", ids: tuple[int, ...] = (11, 12)) -> Choice:
    """Return a choice as vLLM gives it, with the token IDs of it and its prompt."""
    tokens = [
        {"token": f"token_id:{id_}", "logprob": -0.5, "bytes": [], "top_logprobs": []}
        for id_ in ids
    ]
    return Choice.model_validate(
        {
            "finish_reason": "stop",
            "index": 0,
            "logprobs": {"content": tokens},
            "message": {"role": "assistant", "content": text},
            "prompt_token_ids": [1, 2, 3],
            "token_ids": list(ids),
        }
    )


def trajectory(*items: Any, reward: float = 0.0, **fields: Any) -> art.Trajectory:
    made = art.Trajectory(reward=reward, **fields)
    made.messages_and_choices.extend(items)
    return made


def trained(*trajectories: art.Trajectory) -> list[tuple[int, list[int], float]]:
    """Return what ``backend.train`` trains on: (trained tokens, IDs, advantage)."""
    from art.preprocessing.tokenize import tokenize_trajectory_groups

    results = tokenize_trajectory_groups(
        tokenizer(),
        [art.TrajectoryGroup(trajectories)],
        False,
        True,
        shuffle_group_trajectories=False,
    )
    return [(sum(r.assistant_mask), r.token_ids, r.advantage) for r in results]


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = [
        "<unk>",
        "<eos>",
        "<|user|>",
        "<|assistant|>",
        "<|end|>",
        "<|tools|>",
        "q",
        "hi",
        "there",
    ]
    words += [f"w{at}" for at in range(len(words), 120)]
    made = Tokenizer(
        models.WordLevel({w: at for at, w in enumerate(words)}, unk_token="<unk>")
    )
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        unk_token="<unk>",
        eos_token="<eos>",
        chat_template=(
            "{% if tools %}<|tools|> {% for t in tools %}{{ t.function.name }} "
            "{% endfor %}{% endif %}{% for m in messages %}<|{{ m.role }}|> "
            "{{ m.content }} <|end|> {% endfor %}"
        ),
    )


def raised(function: Callable[[], Any]) -> str:
    """Return what ``function`` raises as text, empty if it raises nothing."""
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def gather(groups: Callable[[], Iterable[Any]], **options: Any) -> list[Any]:
    async def run() -> list[Any]:
        return await art.gather_trajectory_groups(groups(), pbar_desc=None, **options)

    return asyncio.run(run())


async def succeed() -> art.Trajectory:
    return art.Trajectory()


async def fail() -> art.Trajectory:
    raise RuntimeError("boom")


class Backend:
    """An implementation of ART's ``Backend`` protocol that does nothing."""

    step = 3
    kept: list[int] | None = None

    async def register(self, model: Any) -> None: ...

    async def _prepare_backend_for_training(self, *_: Any) -> tuple[str, str]:
        return "http://127.0.0.1:9/v1", "key"

    def _model_inference_name(self, model: Any, step: int | None = None) -> str:
        return f"{model.name}@{self.step if step is None else step}"

    async def _get_step(self, model: Any) -> int:
        return self.step

    async def _delete_checkpoint_files(self, model: Any, keep: list[int]) -> None:
        self.kept = sorted(keep)


def model() -> Any:
    options = {"name": "agent", "project": "p", "base_model": "b"}
    options["base_path"] = tempfile.mkdtemp()
    if not IS_0_5_18:
        options["run_name"] = "r"
    return art.TrainableModel(**options, report_metrics=[])
