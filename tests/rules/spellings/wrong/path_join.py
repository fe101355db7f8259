import os

import art


def deploy(model: art.TrainableModel, step: int) -> str:
    return os.path.join(".art", model.project, "models", model.name, "checkpoints", str(step))  # <- ART551
