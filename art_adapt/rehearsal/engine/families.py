"""The kinds of base models that an engine is tried with: template, turns, parser of calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from art_adapt.rehearsal.replies import Reply
from art_adapt.training.base_models import parser_of

USUAL = "hermes"  # the parser of most base models, and ART's default
CHATML = """\
{%- if tools %}{{- '<|im_start|>system\\n# Tools\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\n</tools><|im_end|>\\n' }}{%- endif %}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.content is string %}{{- message.content }}
{%- elif message.content %}{{- message.content | tojson }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{%- set function = call.function %}
CALL
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""
HERMES_CALL = """\
{{- '<tool_call>\\n{"name": "' + function.name + '", "arguments": ' }}
{%- if function.arguments is string %}{{- function.arguments }}
{%- else %}{{- function.arguments | tojson }}{%- endif %}
{{- '}\\n</tool_call>' }}"""
XML_CALL = """\
{{- '<tool_call>\\n<function=' + function.name + '>\\n' }}
{%- for name, value in function.arguments | items %}
{{- '<parameter=' + name + '>\\n' }}
{%- if value is string %}{{- value }}{%- else %}{{- value | tojson }}{%- endif %}
{{- '\\n</parameter>\\n' }}
{%- endfor %}
{{- '</function>\\n</tool_call>' }}"""
LLAMA = """\
{%- for message in messages %}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' }}
{%- if loop.first and tools %}{{- 'Tools:' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}{{- '\\n\\n' }}{%- endif %}
{%- if message.content is string %}{{- message.content }}
{%- elif message.content %}{{- message.content | tojson }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{%- set function = call.function %}
{{- '; ' if not loop.first }}{{- '{"name": "' + function.name + '", "parameters": ' }}
{%- if function.arguments is string %}{{- function.arguments }}
{%- else %}{{- function.arguments | tojson }}{%- endif %}{{- '}' }}
{%- endfor %}
{{- '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}
"""


@dataclass(frozen=True)
class Family:
    """How a kind of base model talks.

    Attributes:
        parser: vLLM's parser of its tool calls.
        architecture: the transformers class, without ``ForCausalLM``.
        template: its chat template.
        special: its special tokens; the first one ends a turn.
        call: spells one tool call, of a name and JSON arguments.
        between: what stands between two calls of one turn.
    """

    parser: str
    architecture: str
    template: str
    special: tuple[str, ...]
    call: Callable[[str, str], str]
    between: str = ""

    def spelled(self, turn: Reply) -> str:
        """Write a turn as the template does, so that the engine's parser reads it back."""
        calls = self.between.join(self.call(*each) for each in turn.tool_calls)
        return (turn.content or "") + calls


def _hermes(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def _llama(name: str, arguments: str) -> str:
    return f'{{"name": "{name}", "parameters": {arguments}}}'


def _xml(name: str, arguments: str) -> str:
    given = json.loads(arguments)
    parts = "".join(
        f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value)}"
        "\n</parameter>\n"
        for key, value in given.items()
    )
    return f"<tool_call>\n<function={name}>\n{parts}</function>\n</tool_call>"


OF_CHATML = ("<|im_end|>", "<|im_start|>")
FAMILIES = {
    "hermes": Family(
        "hermes", "Qwen3", CHATML.replace("CALL", HERMES_CALL), OF_CHATML, _hermes
    ),
    "llama3_json": Family(
        "llama3_json",
        "Llama",
        LLAMA,
        ("<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|python_tag|>"),
        _llama,
        "; ",
    ),
    "qwen3_xml": Family(
        "qwen3_xml", "Qwen3", CHATML.replace("CALL", XML_CALL), OF_CHATML, _xml
    ),
}
LIKE = {"qwen3_coder": "qwen3_xml"}


def family_of(base_model: str) -> Family:
    """Return the family of the model that a train module names, by its parser of calls."""
    known = parser_of(base_model)
    name = USUAL if known is None else LIKE.get(known.value, known.value)
    return FAMILIES.get(name, FAMILIES[USUAL])
