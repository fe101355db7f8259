"""Render and tokenize as vLLM does, with a real tokenizer.

The chat templates are modelled on those of Qwen 3 and Llama 3.1.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

import jinja2.sandbox
from scripted_engine import Engine, Json
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

# After Qwen/Qwen3-4B-Instruct-2507: tools as JSON lines in the system message, calls in
# <tool_call>, their outputs in the user's turn.
QWEN = """\
{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- "# Tools\\n\\nYou may call one or more functions.\\n<tools>" }}
{%- for tool in tools %}{{- "\\n" }}{{- tool | tojson }}{%- endfor %}
{{- "\\n</tools><|im_end|>\\n" }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- set content = message.content if message.content is string else '' %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' + content }}
{%- for call in message.tool_calls or [] %}
{%- if (loop.first and content) or not loop.first %}{{- '\\n' }}{%- endif %}
{%- set call = call.function if call.function else call %}
{{- '<tool_call>\\n{"name": "' + call.name + '", "arguments": ' }}
{%- if call.arguments is string %}{{- call.arguments }}
{%- else %}{{- call.arguments | tojson }}{%- endif %}
{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}
{{- '<|im_start|>user' }}
{%- endif %}
{{- '\\n<tool_response>\\n' + content + '\\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""

# After meta-llama/Llama-3.1-8B-Instruct: tools in the first user message, one call a
# turn, outputs as ipython.
LLAMA = """\
{{- '<|begin_of_text|>' }}
{%- if messages[0].role == 'system' %}
{%- set system = messages[0].content | trim %}{%- set messages = messages[1:] %}
{%- else %}{%- set system = '' %}{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\n' }}
{%- if tools %}{{- 'Environment: ipython\\n' }}{%- endif %}
{{- system + '<|eot_id|>' }}
{%- if tools %}
{%- set first = messages[0].content | trim %}{%- set messages = messages[1:] %}
{{- '<|start_header_id|>user<|end_header_id|>\\n\\nRespond with a call.\\n\\n' }}
{%- for tool in tools %}{{- tool | tojson(indent=4) }}{{- '\\n\\n' }}{%- endfor %}
{{- first + '<|eot_id|>' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- '<|start_header_id|>ipython<|end_header_id|>\\n\\n' }}
{{- message.content | tojson }}{{- '<|eot_id|>' }}
{%- elif message.tool_calls %}
{%- set call = message.tool_calls[0].function %}
{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{{- '{"name": "' + call.name + '", "parameters": ' + call.arguments | tojson + '}' }}
{{- '<|eot_id|>' }}
{%- else %}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' }}
{{- message.content | trim + '<|eot_id|>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""
TEMPLATES = {"qwen": QWEN, "llama": LLAMA}
SPECIAL = (
    "<|im_start|>",
    "<|im_end|>",
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|reserved|>",  # ART needs an id that no conversation uses
)
END = {"qwen": "<|im_end|>", "llama": "<|eot_id|>"}


@functools.cache
def tokenizer() -> Tokenizer:
    """Make a tokenizer with one token per byte, and special ones."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: at for at, token in enumerate([*alphabet, *SPECIAL])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(t, special=True) for t in SPECIAL])
    return made


def render(family: str, messages: Sequence[Json], tools: Any, *, prompt: bool) -> str:
    """Render a conversation with a template, after preparing it as vLLM does."""

    def as_json(value: Any, indent: int | None = None) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["tojson"] = as_json
    template = environment.from_string(TEMPLATES[family])
    return template.render(
        messages=[_prepared(message) for message in messages],
        tools=[_dumped(tool) for tool in tools] if tools else None,
        add_generation_prompt=prompt,
    )


def _prepared(message: Json) -> Json:
    """Join parts and parse arguments, as vllm does in entrypoints/chat_utils.py."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content)
    prepared = {**message, "content": content or ""}
    if message.get("tool_calls"):
        prepared["tool_calls"] = [
            {
                **call,
                "function": {
                    **call["function"],
                    "arguments": json.loads(call["function"]["arguments"]),
                },
            }
            for call in message["tool_calls"]
        ]
    return prepared


def _dumped(tool: Json) -> Json:
    """Dump a tool as vllm's FunctionDefinition does (entrypoints/openai/protocol.py)."""
    function = tool["function"]
    declared = {key: function.get(key) for key in ("name", "description", "parameters")}
    return {"type": tool["type"], "function": {**declared, **function, **declared}}


class Rendered:
    """Tokens of rendered conversations.

    A prompt is the rendered request. Sampled is what the template makes of the reply, or
    the reply's ``sampled``, to the end of the turn.
    """

    unasked = True

    def __init__(self, family: str) -> None:
        self.family = family
        self.sequences: list[tuple[list[int], list[int]]] = []

    def prompt(self, request: Json) -> list[int]:
        ids: list[int] = tokenizer().encode(self._before(request)).ids
        return ids

    def _before(self, request: Json) -> str:
        messages, tools = request["messages"], request.get("tools")
        return render(self.family, messages, tools, prompt=True)

    def sampled(
        self, request: Json, reply: Json, message: Json, mark: int
    ) -> list[int]:
        if "sampled" in reply:
            text = reply["sampled"] + END[self.family]
        else:
            messages = [*request["messages"], message]
            whole = render(self.family, messages, request.get("tools"), prompt=False)
            text = whole.removeprefix(self._before(request)).rstrip("\n")
        ids: list[int] = tokenizer().encode(text).ids
        self.sequences.append((self.prompt(request), ids))
        return ids

    def spelled(self, token: int) -> list[int]:
        return list(tokenizer().decode([token]).encode())


class RenderingEngine(Engine):
    """An engine that keeps the prompt and the sampled tokens of each completion."""

    def __init__(self, family: str, replies: Sequence[Json]) -> None:
        tokens = Rendered(family)
        super().__init__(replies, tokens=tokens)
        self.sequences = tokens.sequences
