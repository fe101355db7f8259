import art

LR = 1e-4


async def warm(model: art.TrainableModel, data: list[art.Trajectory], size: int = 4):
    batches = len(data) // size
    rates = [LR * (batch + 1) / batches for batch in range(batches)]
    config = art.TrainSFTConfig(batch_size=size, learning_rate=rates)  # <- ART552
    await model.train_sft(data, config)
