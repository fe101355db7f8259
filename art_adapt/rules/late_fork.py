"""A checkpoint is forked after the model is registered, so training starts from an empty one

``register`` starts the engine, which serves the last checkpoint of that moment, or an empty
``0000`` that it saves first; the trainer's weights are loaded once as well. A fork that comes
later only copies files: the run starts from the base model, without a word.

Fork first, then register.

Evidence: art 0.5.18, model.py:1150-1157 (register prepares the engine),
unsloth/service.py:629-637 and 871-879, local/backend.py:1346 (the fork copies a folder).
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.code.nodes import dotted, keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART531", "late-fork", Severity.WASTE)
FORK = "_experimental_fork_checkpoint"
BAD = (
    f"""\
import art
from art.local import LocalBackend

async def start(model):
    async with LocalBackend() as backend:
        await model.register(backend)
        await backend.{FORK}(model, from_model="a")  # <-
""",
)
GOOD = (
    f"""\
import art
from art.local import LocalBackend

async def start(model, other):
    async with LocalBackend() as backend:
        await backend.{FORK}(model, from_model="a")
        await model.register(backend)
        await backend.{FORK}(other, from_model="a")
        await other.register(backend)
""",
)


def check(code: Code) -> Iterator[Found]:
    for fork, _ in code.method_calls(FORK):
        model = fork.args[0] if fork.args else keyword(fork, "model")
        name = None if model is None else dotted(model)
        before = (
            call
            for call, registered in code.method_calls("register")
            if dotted(registered) == name
            and code.syntax.owner(call) == code.syntax.owner(fork)
            and call.lineno < fork.lineno
        )
        if name is not None and any(before):
            yield found(
                fork,
                "the engine has already loaded the empty first checkpoint: fork before "
                "model.register(backend)",
            )
