import asyncio

import art


async def learn(backend, groups, log):
    model = art.TrainableModel(name="a", run_name="a", project="p", base_model="Qwen/Qwen2.5-7B-Instruct")
    await model.register(backend)
    await backend.train(model, groups)
    log.close()
    await asyncio.gather(backend.close())
