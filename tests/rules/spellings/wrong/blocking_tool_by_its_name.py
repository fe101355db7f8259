import json
import subprocess

import art


def shell(command: str) -> str:
    done = subprocess.run(command, shell=True, capture_output=True)  # <- ART512
    return done.stdout.decode()


def note(text: str) -> str:
    return text


TOOLS = {each.__name__: each for each in (shell, note)}


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
            tool = TOOLS[call.function.name]
            result = tool(**arguments)
            trajectory.messages_and_choices.append(
                {"role": "tool", "tool_call_id": call.id, "content": str(result)}
            )
    trajectory.reward = float(task["answer"] in str(trajectory.messages()[-1]["content"]))
    return trajectory
