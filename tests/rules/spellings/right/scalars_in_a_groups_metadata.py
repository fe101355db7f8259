import json

import art
from art.utils import iterate_dataset
from pydantic import BaseModel

from desk import rollout


class Meeting(BaseModel):
    id: str
    people: list[str]


def load() -> list[Meeting]:
    return [Meeting.model_validate_json(line) for line in open("meetings.jsonl")]


async def train(model: art.TrainableModel, backend):
    for batch in iterate_dataset(load(), groups_per_step=4, initial_step=await model.get_step()):
        groups = await art.gather_trajectory_groups(
            (
                art.TrajectoryGroup(
                    (rollout(model, m) for _ in range(6)),
                    metadata={"id": m.id, "people": json.dumps(m.people), "many": len(m.people)},
                )
                for m in batch.items
            ),
            max_exceptions=6 * len(batch.items),
        )
        await backend.train(model, groups)
