import asyncio

import art


async def train_once(model, backend, groups):
    for attempt in range(3):
        try:
            return await backend.train(model, groups)
        except TimeoutError:
            await asyncio.sleep(2**attempt)
    raise RuntimeError("no step in three attempts")
