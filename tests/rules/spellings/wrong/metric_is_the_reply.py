import art
from dataclasses import asdict, dataclass
@dataclass
class Outcome:
    turns: int = 0
    answer: str = ""
async def rollout(model: art.Model, q: str) -> art.Trajectory:
    m = [{"role": "user", "content": q}]
    r = await model.openai_client().chat.completions.create(model=model.get_inference_name(), messages=m)
    t = art.Trajectory(messages_and_choices=[*m, r.choices[0]], reward=float("yes" in r.choices[0].message.content))
    t.metrics["answer"] = r.choices[0].message.content  # <- ART306
    return t
