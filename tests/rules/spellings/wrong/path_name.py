from pathlib import Path

import art

ROOT = Path(".art")


def newest(model: art.TrainableModel) -> Path:
    models = ROOT / model.project / "models"
    return models / model.name / "checkpoints" / "latest"  # <- ART551
