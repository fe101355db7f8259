import art
import gymnasium as gym

env = gym.make("FrozenLake-v1")


async def rollout(model: art.TrainableModel, seed: int) -> art.Trajectory:
    obs, _ = env.reset(seed=seed)  # <- ART220
    traj = art.Trajectory(messages_and_choices=[{"role": "system", "content": "Walk."}])
    total, done = 0.0, False
    while not done:
        traj.messages_and_choices.append({"role": "user", "content": str(obs)})
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=traj.messages()
        )
        traj.messages_and_choices.append(response.choices[0])
        obs, gain, done, *_ = env.step(int(response.choices[0].message.content or 0))
        total += gain
    traj.reward = total
    return traj
