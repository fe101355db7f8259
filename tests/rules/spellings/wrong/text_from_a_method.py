import art


class Guesser:
    def __init__(self, model: art.TrainableModel):
        self.model = model

    async def chat(self, history: list) -> str:
        completion = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=history
        )
        return completion.choices[0].message.content or ""


async def rollout(model: art.TrainableModel, task) -> art.Trajectory:
    traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}])
    guesser = Guesser(model)
    said = await guesser.chat(traj.messages())
    traj.messages_and_choices.append({"role": "assistant", "content": said})  # <- ART202
    traj.reward = task.rate(said)
    return traj
