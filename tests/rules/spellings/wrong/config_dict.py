import art

CONFIG = {"trainer_gpu_ids": [0], "inference_gpu_ids": [0]}


def make() -> art.TrainableModel:
    return art.TrainableModel(
        name="a", project="p", base_model="b", _internal_config=CONFIG  # <- ART550
    )
