import art, asyncio
from art.pipeline_trainer import PipelineTrainer
from art.serverless.backend import ServerlessBackend
async def solve(model: art.TrainableModel, s: dict, config: None) -> art.Trajectory:
    m = [{"role": "user", "content": s["q"]}]
    r = await model.openai_client().chat.completions.create(model=model.get_inference_name(), messages=m)
    return art.Trajectory(messages_and_choices=[*m, r.choices[0]], reward=float(s["a"] in r.choices[0].message.content))
async def main():
    model = art.TrainableModel(name="m", project="p", base_model="OpenPipe/Qwen3-14B-Instruct")
    backend = ServerlessBackend()
    await model.register(backend)
    try:
        await PipelineTrainer(model=model, backend=backend, rollout_fn=solve, scenarios=[{"q": "1+1", "a": "2"}], config=None).train()  # <- ART546
    finally:
        await backend.close()
if __name__ == "__main__":
    asyncio.run(main())
