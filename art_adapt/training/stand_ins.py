"""Objects that stand for a chat platform's: a message, its author, the bot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from typing import Any

# What python-telegram-bot keeps of a user or a chat: empty dicts at first (CallbackContext).
KEPT = ("user_data", "chat_data", "bot_data")


class StandIn:
    """An object that has every attribute, and can be called, awaited and entered.

    What it was made with is there; anything else is another stand-in, which is false, empty
    and spelled as its name, as an optional part that a message does not have. Nothing can be
    looked up in it: ``state.get("last")`` is None.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made: Any = {} if name in KEPT else StandIn(name)
        setattr(self, name, made)
        return made

    def __call__(self, *given: object, **named: object) -> Any:
        if self._name == "get" and given:
            return given[1] if len(given) > 1 else named.get("default")
        return self

    def __await__(self) -> Generator[Any, None, StandIn]:
        yield from ()
        return self

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    async def __aenter__(self) -> StandIn:
        return self

    async def __aexit__(self, *error: object) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    async def __aiter__(self) -> AsyncIterator[Any]:
        nothing: tuple[Any, ...] = ()
        for each in nothing:
            yield each

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self._name


class _Given(StandIn):
    """A stand-in that holds something an episode was given."""

    def __bool__(self) -> bool:
        return True


def stand_in(given: Mapping[str, Any] | None = None, /, **named: Any) -> Any:
    """Make an object for a handler of a chat platform, which only the platform can make.

    It runs without one: ``await message.answer(text)`` does nothing, and what the agent
    asks of other parts of a message, it gets as another such object.

    Args:
        given: what parts of it are, by their paths: ``{"message.text": "Hello"}``.
        named: the same, for attributes of its own: ``text="Hello"``.
    """
    made = _Given()
    for path, value in {**(given or {}), **named}.items():
        *around, last = path.split(".")
        holder: StandIn = made
        for name in around:
            if not isinstance(vars(holder).get(name), _Given):
                setattr(holder, name, _Given(name))
            holder = getattr(holder, name)
        setattr(holder, last, value)
    return made
