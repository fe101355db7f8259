import art

NAME = "debater"


async def main(backend):
    pro = art.TrainableModel(name=NAME, project="debate", base_model="Qwen/Qwen2.5-3B-Instruct")
    con = art.TrainableModel(name=NAME, project="debate", base_model="Qwen/Qwen2.5-7B-Instruct")  # <- ART553
    for model in (pro, con):
        await model.register(backend)
