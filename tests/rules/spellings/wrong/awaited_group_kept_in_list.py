import art

from quiz import Question, ask

SIZE = 8


async def collect(model: art.TrainableModel, questions: list[Question]):
    pending = []
    for question in questions:
        group = await art.TrajectoryGroup(  # <- ART503
            ask(model, question) for _ in range(SIZE)
        )
        pending.append(group)
    return await art.gather_trajectory_groups(pending, max_exceptions=SIZE)
