import art


async def setup(backend, rank: int) -> art.TrainableModel:
    agent = art.TrainableModel(name="a", project="p", base_model="Qwen/Qwen2.5-3B-Instruct")
    if rank == 0:
        print("registering")
    await agent.register(backend)
    agent._internal_config = {"peft_args": {"r": 32}}  # <- ART550
    return agent
