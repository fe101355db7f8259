from art.local.backend import LocalBackend


async def connect(backend: LocalBackend, models) -> None:
    for model in models:
        await backend.register(model)  # <- ART555
