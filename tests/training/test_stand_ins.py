"""Objects that stand for a chat platform's messages, authors and bots."""

from __future__ import annotations

import asyncio

from art_adapt.training import stand_in


def test_what_it_was_given_is_there_and_the_rest_is_empty() -> None:
    message = stand_in(text="Hello")
    assert message.text == "Hello" and message
    assert not message.reply_to_message and not message.author.is_bot
    assert f"{message.author.name}" == "name"
    assert list(message.entities) == []
    assert stand_in() and not stand_in().text


def test_parts_of_parts_are_given_by_their_paths() -> None:
    update = stand_in({"message.text": "Hello", "message.chat.id": 7})
    assert update.message and update.message.chat
    assert (update.message.text, update.message.chat.id) == ("Hello", 7)
    assert not update.edited_message


def test_two_have_nothing_in_common() -> None:
    one, other = stand_in(text="a"), stand_in(text="b")
    one.chat.history = ["a"]
    assert not other.chat.history
    assert {one.chat.id: 1, other.chat.id: 2}[one.chat.id] == 1


def test_it_is_called_awaited_and_entered() -> None:
    message = stand_in(text="Hello")

    async def handle() -> list[str]:
        async with message.channel.typing() as typing:
            await typing.wait(3)
        sent = await message.answer("Hi")
        await sent.delete()
        return [each async for each in message.channel.history()]

    assert asyncio.run(handle()) == []
    with message.lock():
        message.reply("Hi")


def test_nothing_is_kept_for_a_first_message() -> None:
    context = stand_in()
    assert context.chat_data.get("last") is None and context.user_data == {}
    context.chat_data["last"] = "resp_1"
    assert context.chat_data["last"] == "resp_1"
    assert context.session.get("last") is None and context.state.get("n", 3) == 3
