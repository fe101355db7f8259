import art, asyncio
from art.local import LocalBackend
async def rollout(model, s) -> art.Trajectory:
    m = [{"role": "user", "content": s}]
    r = await model.openai_client().chat.completions.create(model=model.get_inference_name(), messages=m)
    return art.Trajectory(messages_and_choices=[*m, r.choices[0]], reward=float(len(r.choices[0].message.content)))
async def main():
    model = art.TrainableModel(name="m", project="p", base_model="Qwen/Qwen2.5-7B-Instruct")
    backend = LocalBackend()
    await model.register(backend)
    try:
        for step in range(await model.get_step(), 50):
            groups = await art.gather_trajectory_groups(
                (art.TrajectoryGroup(rollout(model, s) for _ in range(8)) for s in ("a", "b")), max_exceptions=16)
            held = await art.gather_trajectory_groups((art.TrajectoryGroup(rollout(model, s) for _ in range(4)) for s in ("c", "d")), max_exceptions=9)
            await model.log(held, split="val", step=step)
            result = await backend.train(model, groups + held, learning_rate=1e-5)  # <- ART545
            await model.log(groups, split="train", metrics=result.metrics, step=result.step)
    finally:
        await backend.close()
if __name__ == "__main__":
    asyncio.run(main())
