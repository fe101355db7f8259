import contextlib
import art
async def rollout(model: art.Model, q: str) -> art.Trajectory:
    t = art.Trajectory(messages_and_choices=[{"role": "user", "content": q}])
    with contextlib.suppress(Exception):
        r = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(), messages=t.messages())
        t.messages_and_choices.append(r.choices[0])
    t.reward = float("yes" in str(t.messages()[-1]["content"]))
    return t
