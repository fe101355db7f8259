import art
from art.serverless.backend import ServerlessBackend

INTERNAL = {"init_args": {"max_seq_length": 16384}}


async def main() -> None:
    backend = ServerlessBackend()
    model = art.TrainableModel(
        name="m",
        run_name="m",
        project="p",
        base_model="b",
        _internal_config=INTERNAL,  # <- ART540
    )
    await model.register(backend)
