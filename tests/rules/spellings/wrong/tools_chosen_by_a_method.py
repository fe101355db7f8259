import art

LOOK = {"type": "function", "function": {"name": "look"}}
FINISH = {"type": "function", "function": {"name": "finish"}}


class Desk:
    def offered(self, turn: int) -> list:
        if turn >= 3:
            return [LOOK, FINISH]
        return [LOOK]

    async def rollout(self, model: art.TrainableModel, task) -> art.Trajectory:
        traj = art.Trajectory(messages_and_choices=[{"role": "user", "content": task.text}], tools=[LOOK])
        for turn in range(8):
            completion = await model.openai_client().chat.completions.create(
                model=model.get_inference_name(),
                messages=traj.messages(),
                tools=self.offered(turn),  # <- ART210
            )
            traj.messages_and_choices.append(completion.choices[0])
            traj.messages_and_choices.append({"role": "user", "content": task.step(completion)})
        traj.reward = task.score()
        return traj
