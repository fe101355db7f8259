from dataclasses import asdict, dataclass

import art


@dataclass(frozen=True)
class Decoding:
    temperature: float = 0.0  # <- ART401
    max_tokens: int = 200

    def as_options(self) -> dict:
        return asdict(self)


DECODING = Decoding()


async def rollout(client, model: art.TrainableModel, task: dict) -> art.Trajectory:
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": task["text"]}])
    reply = await client.chat.completions.create(
        model=model.get_inference_name(), messages=trajectory.messages(), **DECODING.as_options()
    )
    trajectory.messages_and_choices.append(reply.choices[0])
    trajectory.reward = float(reply.choices[0].message.content == task["answer"])
    return trajectory


async def step(model: art.TrainableModel, backend, tasks: list[dict], client) -> None:
    groups = await art.gather_trajectory_groups(
        (art.TrajectoryGroup(rollout(client, model, task) for _ in range(6)) for task in tasks),
        max_exceptions=6,
    )
    await backend.train(model, groups)
