"""Names a dish for what is in the fridge, with Anthropic's client."""

from anthropic import Anthropic

client = Anthropic()


def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    message = client.messages.create(
        model="claude-sonnet-4-5", max_tokens=200, messages=messages
    )
    messages += [
        {"role": "assistant", "content": message.content},
        {"role": "user", "content": "Without onions?"},
    ]
    message = client.messages.create(
        model="claude-sonnet-4-5", max_tokens=200, messages=messages
    )
    return message.content[0].text
