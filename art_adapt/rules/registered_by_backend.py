"""The backend is told of the model, and the model not of the backend

``backend.register(model)`` is what ``model.register(backend)`` calls. Called alone it prepares a
folder or a record; the model keeps no backend, no address and no key. ``model.openai_client()`` then
raises, or the rollouts ask another server than the one that trains.

Write ``await model.register(backend)``.

Evidence: art 0.5.18, model.py:1150-1168; art 0.5.23, model.py (``TrainableModel.register``: sets
``_backend``, ``inference_base_url``, ``inference_api_key`` and ``inference_model_name``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from art_adapt.code.nodes import given_to
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART555", "registered-by-backend", Severity.WASTE)
BAD = (
    """\
import art
from art.local import LocalBackend

async def main():
    model = art.TrainableModel(name="m", run_name="m", project="p", base_model="b")
    with LocalBackend() as backend:
        await backend.register(model)  # <-
        return model.openai_client()
""",
    """\
from art.serverless.backend import ServerlessBackend

class Trainer:
    def __init__(self, model):
        self.model = model
        self.backend = ServerlessBackend()

    async def start(self):
        await self.backend.register(self.model)  # <-
""",
)
GOOD = (
    """\
import art
from art.local import LocalBackend

class Logged:
    def __init__(self):
        self.inner = LocalBackend()

    async def register(self, model):
        await self.inner.register(model)

async def main(registry, model):
    backend = LocalBackend()
    await model.register(backend)
    await registry.register(model)
    await backend.register(model)  # once more, after a restart of the server
""",
)


def check(code: Code) -> Iterator[Found]:
    calls = list(code.method_calls("register"))
    if any(
        code.models.is_backend(given) for call, _ in calls for given in given_to(call)
    ):
        return  # a model is registered with it, under this name or another one
    for call, backend in calls:
        function = code.function_of(call)
        delegates = function is not None and function.node.name == "register"
        if len(call.args) == 1 and not delegates and code.models.is_backend(backend):
            yield found(
                call,
                "this leaves the model without its backend, address and key; "
                f"await {ast.unparse(call.args[0])}.register({ast.unparse(backend)})",
            )
