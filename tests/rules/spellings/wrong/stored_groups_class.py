import json

import art


class Replay:
    def __init__(self, path: str) -> None:
        self.path = path

    def groups(self) -> list[art.TrajectoryGroup]:
        with open(self.path) as file:
            rows = json.load(file)
        return [
            art.TrajectoryGroup(
                [
                    art.Trajectory(  # <- ART211
                        messages_and_choices=each["messages"], reward=each["reward"]
                    )
                    for each in row
                ]
            )
            for row in rows
        ]


async def train(model, backend, replay: Replay) -> None:
    await backend.train(model, replay.groups())
