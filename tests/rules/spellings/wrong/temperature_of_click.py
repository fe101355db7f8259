import art
import click


async def rollout(model, scenario, heat):
    client = model.openai_client()
    trajectory = art.Trajectory(messages_and_choices=[{"role": "user", "content": scenario}])
    answer = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=trajectory.messages(),
        temperature=heat,  # <- ART402
    )
    trajectory.messages_and_choices.append(answer.choices[0])
    trajectory.reward = len(answer.choices[0].message.content)
    return trajectory


@click.command()
@click.option("--heat", default=0.6)
def main(heat):
    run(lambda model, scenario: rollout(model, scenario, heat))


async def one(model, scenario, heat=0.6):
    return await rollout(model, scenario, heat)
