import enum
import art
class Phase(enum.Enum):
    TRAIN = "train"
    VAL = "val"
async def rollout(model: art.Model, q: str) -> art.Trajectory:
    m = [{"role": "user", "content": q}]
    r = await model.openai_client().chat.completions.create(model=model.get_inference_name(), messages=m)
    return art.Trajectory(messages_and_choices=[*m, r.choices[0]], reward=float("yes" in r.choices[0].message.content))
def groups_for(model, qs, n: int):
    return (art.TrajectoryGroup((rollout(model, q) for _ in range(n))) for q in qs)
async def loop(model, backend, phases):
    for phase, qs in phases:
        n = 8 if phase is Phase.TRAIN else 1
        groups = await art.gather_trajectory_groups(groups_for(model, qs, n), max_exceptions=n * len(qs))
        if phase is Phase.VAL:
            await model.log(groups, split=phase.value)
            continue
        result = await backend.train(model, groups, learning_rate=1e-5)
        await model.log(groups, split=phase.value, metrics=result.metrics, step=result.step)
