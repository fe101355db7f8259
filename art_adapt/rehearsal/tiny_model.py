"""Build a chat model that is small enough to learn on a laptop.

It is a transformer of one layer. Its vocabulary consists of pieces of the agent's own
prompts and of whole turns, each a single token. A turn is that token and the end of turn,
so all there is to learn is what to say when. Everything else is as in a large model: a chat
template, a tokenizer, sampling, logprobs, a softmax over the vocabulary.
"""

from __future__ import annotations

import contextlib
import json
import threading
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from art_adapt.rehearsal.protocol import TinyModelSettings
from art_adapt.rehearsal.replies import Reply

Json = dict[str, Any]

FILE = "tiny.pt"  # in a checkpoint's folder
END = "<|im_end|>"
UNUSED = "<|unused|>"  # ART needs an id that nothing uses
SPECIAL = [END, "<|im_start|>", UNUSED]
PIECES = 1_500  # of the prompts' text, besides turns
TEMPLATE = """\
{%- if tools %}{{- '<|im_start|>tools' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}{{- '<|im_end|>' }}
{%- endif %}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.content is string %}{{- message.content }}
{%- elif message.content %}{{- message.content | tojson }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{%- set function = call.function %}
{{- '<call>' + function.name + ' ' }}
{%- if function.arguments is string %}{{- function.arguments }}
{%- else %}{{- function.arguments | tojson }}{%- endif %}
{{- '</call>' }}
{%- endfor %}
{{- '<|im_end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""


def spelled(turn: Reply) -> str:
    """Write a turn as the template does."""
    calls = [f"<call>{name} {arguments}</call>" for name, arguments in turn.tool_calls]
    return (turn.content or "") + "".join(calls)


def make_tokenizer(
    prompts: Sequence[Json],
    scenarios: Sequence[Json],
    turns: Sequence[str],
    special: Sequence[str],
    template: str,
) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE on prompts and scenarios, with each turn as one token.

    ``special``: the special tokens, of which the first one ends a turn.
    """
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    texts = [
        str(text)
        for prompt in prompts
        for text in (
            *(message.get("content") for message in prompt["messages"]),
            json.dumps(prompt.get("tools") or []),
        )
    ]
    texts += [json.dumps(scenario, ensure_ascii=False) for scenario in scenarios]
    made.train_from_iterator(texts, trainer)
    made.add_special_tokens([AddedToken(text, special=True) for text in special])
    made.add_tokens([AddedToken(turn, normalized=False) for turn in turns])
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token=special[0], chat_template=template
    )


class TinyModel:
    """A model that samples turns, and computes the logprobs that a trainer needs."""

    def __init__(self, settings: TinyModelSettings) -> None:
        self.device = torch.device(settings.device)
        torch.manual_seed(settings.seed)
        torch.set_num_threads(1)
        self._seed = settings.seed
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()
        turns = settings.turns
        texts = [spelled(turn) for turn in turns]
        self.tokenizer = make_tokenizer(
            settings.prompts, settings.scenarios, texts, SPECIAL, TEMPLATE
        )
        size = len(self.tokenizer)
        ids = self.tokenizer.convert_tokens_to_ids(texts)
        self._turns = dict(zip(ids, turns, strict=True))
        self._end = self.tokenizer.convert_tokens_to_ids(END)
        # What may come next: the end after a turn, else a turn. It is part of the model:
        # sampled from and trained alike.
        self._is_turn = torch.zeros(size, dtype=torch.bool, device=self.device)
        self._is_turn[ids] = True
        self._ends = torch.zeros(size, dtype=torch.bool, device=self.device)
        self._ends[self._end] = True
        self.network = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=size,
                hidden_size=64,
                intermediate_size=128,
                num_hidden_layers=1,
                num_attention_heads=4,
                max_position_embeddings=32_768,
                tie_word_embeddings=False,
                # With one, ART 0.5.23's patch of masks fails on transformers 5.2.0, which
                # its own [backend] installs.
                use_cache=False,
                initializer_range=0.1,
                rms_norm_eps=0.1,  # large: what is small stays small, up to the head
            )
        )
        self.network.model.norm.variance_epsilon = 1e-6
        with torch.no_grad():
            rarity = self._rarity(settings.prompts).unsqueeze(-1)
            self.network.model.embed_tokens.weight.mul_(rarity)
        self.network.to(self.device)
        # The head alone: as with a LoRA, most of the model stays as it is.
        self.optimizer = torch.optim.Adam(self.network.lm_head.parameters())

    def _rarity(self, prompts: Sequence[Json]) -> torch.Tensor:
        """Scale each token by how few of ``prompts`` contain it.

        What is the same in every prompt tells the model nothing, and there is much of it.
        """
        count = torch.zeros(len(self.tokenizer))
        for prompt in prompts:
            count[list(set(self.prompt_ids(prompt)))] += 1
        return 0.02 + 10 * (1 - count / max(1, len(prompts))) ** 2

    def logprobs(
        self, tokens: torch.Tensor, positions: torch.Tensor, sees: torch.Tensor
    ) -> torch.Tensor:
        """Compute the logprobs of the vocabulary after each of ``tokens`` (batch, length).

        ``sees`` (batch, 1, length, length) says what attends to what. All tensors are on
        the model's device.
        """
        logits = self.network(
            input_ids=tokens, position_ids=positions, attention_mask=sees
        ).logits
        after_turn = self._is_turn[tokens].unsqueeze(-1)
        allowed = torch.where(after_turn, self._ends, self._is_turn)
        return torch.log_softmax(logits.masked_fill(~allowed, -torch.inf), dim=-1)

    def save(self, checkpoint: Path) -> None:
        """Write the weights and the optimizer's state into a checkpoint's folder."""
        state = {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        checkpoint.mkdir(parents=True, exist_ok=True)
        torch.save(state, checkpoint / FILE)

    def load(self, file: Path) -> None:
        """Read the file that ``save`` wrote."""
        state = torch.load(file, map_location=self.device)
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])

    def fingerprint(self) -> str:
        """Return a checksum of the weights."""
        state = self.network.state_dict().values()
        return f"{zlib.crc32(b''.join(each.cpu().numpy().tobytes() for each in state)):08x}"

    # ------------------------------------------------------------------------ answering

    def complete(self, request: Json, serial: int) -> Json:
        """Sample a chat completion, with the ids and logprobs that vLLM returns."""
        prompt = self.prompt_ids(request)
        text = json.dumps([request["messages"], request.get("tools")])
        with self._lock:
            # Draws differ, but not with the order in which the rollouts come.
            self._asked[text] += 1
            said = f"{self._seed} {self.fingerprint()} {self._asked[text]} {text}"
            generator = torch.Generator().manual_seed(zlib.crc32(said.encode()))
            length = len(prompt)
            causal = torch.ones(1, 1, length, length, dtype=torch.bool).tril()
            inputs = (
                torch.tensor([prompt]),
                torch.arange(length).unsqueeze(0),
                causal,
            )
            with torch.no_grad():
                given = self.logprobs(*(each.to(self.device) for each in inputs))
            given = given[0, -1].cpu()
            drawn = [
                int(torch.multinomial(given.exp(), 1, generator=generator))
                for _ in range(request.get("n") or 1)
            ]
        sampled = [(token, float(given[token])) for token in drawn]
        choices = [
            self._choice(token, logprob, f"{serial}_{at}", at)
            for at, (token, logprob) in enumerate(sampled)
        ]
        return {
            "id": f"chatcmpl-{serial}",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": choices,
            "prompt_token_ids": prompt,
            "usage": {
                "prompt_tokens": length,
                "completion_tokens": 2 * len(choices),
                "total_tokens": length + 2 * len(choices),
            },
        }

    def prompt_ids(self, request: Json) -> list[int]:
        """Tokenize a request as the template writes it, with arguments as data."""
        messages = [_with_data(message) for message in request["messages"]]
        text = self.tokenizer.apply_chat_template(
            messages,
            tools=request.get("tools"),
            add_generation_prompt=True,
            tokenize=False,
        )
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return ids

    def _choice(self, token: int, logprob: float, name: str, index: int) -> Json:
        turn = self._turns[token]
        message: Json = {"role": "assistant", "content": turn.content}
        if turn.tool_calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{name}_{at}",
                    "type": "function",
                    "function": {"name": function, "arguments": arguments},
                }
                for at, (function, arguments) in enumerate(turn.tool_calls)
            ]
        tokens = [
            {"token": f"token_id:{id_}", "logprob": p, "bytes": [], "top_logprobs": []}
            for id_, p in ((token, logprob), (self._end, 0.0))
        ]
        return {
            "index": index,
            "message": message,
            "finish_reason": "tool_calls" if turn.tool_calls else "stop",
            "logprobs": {"content": tokens, "refusal": None},
            "token_ids": [token, self._end],
        }


def _with_data(message: Json) -> Json:
    if not message.get("tool_calls"):
        return message
    calls = []
    for call in message["tool_calls"]:
        function = dict(call["function"])
        with contextlib.suppress(
            TypeError, ValueError
        ):  # an agent may hand back anything
            function["arguments"] = json.loads(function["arguments"])
        calls.append({**call, "function": function})
    return {**message, "tool_calls": calls}
