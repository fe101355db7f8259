import art
from openai import APITimeoutError


class Runner:
    def __init__(self, model: art.TrainableModel):
        self.model = model

    @art.retry(max_attempts=3, exceptions=(APITimeoutError,))
    async def talk(self, traj: art.Trajectory, task) -> None:
        traj.messages_and_choices.append({"role": "user", "content": task.text})  # <- ART207
        completion = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(completion.choices[0])

    async def rollout(self, task) -> art.Trajectory:
        traj = art.Trajectory(messages_and_choices=[{"role": "system", "content": "Help."}])
        await self.talk(traj, task)
        traj.reward = task.rate(traj.messages()[-1]["content"])
        return traj
