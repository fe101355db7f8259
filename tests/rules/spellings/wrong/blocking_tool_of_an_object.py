import json
import requests

import art


class Desk:
    def __init__(self):
        self.tools = {"rate": self.rate, "name": self.name}

    def rate(self, currency: str) -> float:
        return requests.get(f"https://example.org/{currency}").json()["rate"]  # <- ART512

    def name(self, currency: str) -> str:
        return currency.upper()

    def run(self, tool: str, arguments: dict) -> object:
        return self.tools[tool](**arguments)


DESK = Desk()


async def rollout(model: art.TrainableModel, task: dict) -> art.Trajectory:
    trajectory = art.Trajectory(
        messages_and_choices=[{"role": "user", "content": task["question"]}], tools=task["tools"]
    )
    for _ in range(6):
        response = await model.openai_client().chat.completions.create(
            model=model.get_inference_name(),
            messages=trajectory.messages(),
            tools=task["tools"],
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        if not choice.message.tool_calls:
            break
        for call in choice.message.tool_calls:
            arguments = json.loads(call.function.arguments)
            result = DESK.run(call.function.name, arguments)
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": str(result)}
            )
    trajectory.reward = float(task["answer"] in str(trajectory.messages()[-1]["content"]))
    return trajectory
