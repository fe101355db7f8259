import art


async def play(model: art.TrainableModel, board) -> art.Trajectory:
    client = model.openai_client()
    history = art.Trajectory(messages_and_choices=[{"role": "system", "content": "Play."}])
    score = 0.0
    for _ in range(10):
        history.messages_and_choices.append({"role": "user", "content": str(board)})
        completion = await client.chat.completions.create(
            model=model.get_inference_name(), messages=history.messages()
        )
        text = completion.choices[0].message.content or ""
        move = board.parse(text)
        if move is None:
            history.reward = -0.5
            history.metrics["invalid"] = 1
            return history  # <- ART218
        history.messages_and_choices.append(completion.choices[0])
        score += board.play(move)
    history.reward = score
    return history
