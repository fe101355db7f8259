import random

import art


def rows_of(path: str) -> list[str]:
    with open(path) as file:
        return file.read().splitlines()


def divided(rows: list[str]) -> tuple[list[str], list[str]]:
    chance = random.Random(7)
    val_rows = chance.sample(rows, 50)
    train_rows = list(rows)
    for row in val_rows:
        train_rows.remove(row)
    return train_rows, val_rows


async def main(model: art.TrainableModel, backend: art.Backend, gather) -> None:
    train_rows, val_rows = divided(rows_of("rows.txt"))
    for step in range(await model.get_step(), 50):
        groups = await gather(model, train_rows, step)
        await backend.train(model, groups, learning_rate=5e-6)
        await model.log(groups, split="train", step=step)
        await model.log(await gather(model, val_rows, step), split="val", step=step)
