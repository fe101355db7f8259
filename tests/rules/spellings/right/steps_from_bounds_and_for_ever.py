import art, random
from art.utils import iterate_dataset
def batches(rows, size):
    while True:
        random.shuffle(rows)
        for i in range(0, len(rows), size):
            yield rows[i:i + size]
async def a(model, backend, rows):
    for batch in batches(rows, 4):
        if await model.get_step() >= 50:
            break
        groups = await art.gather_trajectory_groups([], max_exceptions=1)
        await backend.train(model, groups)
async def b(model, backend, rows):
    first = await model.get_step()
    for batch in iterate_dataset(rows, 2, 3, first):
        groups = await art.gather_trajectory_groups([], max_exceptions=1)
        await backend.train(model, groups)
async def c(model, backend, bounds):
    for step in range(*bounds):
        groups = await art.gather_trajectory_groups([], max_exceptions=1)
        await backend.train(model, groups)
