from functools import partial
import art, asyncio
from art.local import LocalBackend
async def rollout(model, t) -> art.Trajectory:
    r = await model.openai_client().chat.completions.create(model=model.get_inference_name(), messages=t.messages())
    t.messages_and_choices.append(r.choices[0])
    t.reward = float(len(r.choices[0].message.content))
    return t
def group_of(model, s):
    start = art.Trajectory(messages_and_choices=[{"role": "user", "content": s}])
    return art.TrajectoryGroup(rollout(model, start) for _ in range(8))  # <- ART215
async def main():
    model = art.TrainableModel(name="m", project="p", base_model="Qwen/Qwen2.5-7B-Instruct")
    backend = LocalBackend()
    await model.register(backend)
    try:
        for step in range(await model.get_step(), 50):
            groups = await art.gather_trajectory_groups(
                (group_of(model, s) for s in ("a", "b")), max_exceptions=16)
            result = await backend.train(model, groups, learning_rate=1e-5)
            await model.log(groups, split="train", metrics=result.metrics, step=result.step)
    finally:
        await backend.close()
if __name__ == "__main__":
    asyncio.run(main())
