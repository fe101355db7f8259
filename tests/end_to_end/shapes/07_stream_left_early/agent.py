"""Streams a draft, stops reading at its first full stop, then asks for a title."""

from openai import OpenAI

client = OpenAI()


def first_sentence(messages: list[dict]) -> str:
    text = ""
    stream = client.chat.completions.create(
        model="gpt-4o-mini", messages=messages, stream=True
    )
    for chunk in stream:
        text += chunk.choices[0].delta.content or ""
        if text.endswith("."):
            break
    return text


def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    sentence = first_sentence(messages)
    messages += [
        {"role": "assistant", "content": sentence},
        {"role": "user", "content": "Give it a title."},
    ]
    response = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
    return f"{response.choices[0].message.content}: {sentence}"
