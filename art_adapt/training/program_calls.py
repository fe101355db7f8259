"""Lets a scenario into the calls of a program: one of them is the episode, others come before it."""

from __future__ import annotations

import argparse
import asyncio
import functools
import inspect
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
)
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from pydantic import PydanticSchemaGenerationError, TypeAdapter

JSON = (str, int, float, bool, list, dict, type(None))
WAITING = 0.05  # seconds between two looks at whether the episode is over

Function = Callable[..., Any]
Given = Mapping[str, Any]


class Over(KeyboardInterrupt):
    """The episode is over, and so is its program.

    Programs let Ctrl-C end them: few handlers catch it, and asyncio and pytest pass it on.
    """


_inside: ContextVar[bool] = ContextVar("art_adapt_inside_episode", default=False)


@dataclass(eq=False)
class ProgramEpisode:
    """The call that is the episode, and what it has come to."""

    until: str
    given: Mapping[str, Given]
    filled: set[str] = field(default_factory=set)  # calls that the scenario has reached
    begins: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)
    returned: Any = None
    error: BaseException | None = None

    def takes_over(self, call: str) -> Callable[[Any], Any]:
        """Return the decorator of a function, or class, that the scenario reaches."""

        def decorate(decorated: Any) -> Any:
            if isinstance(
                decorated, type
            ):  # whose __init__ is made for it, or inherited
                made: Any = decorated
                made.__init__ = self._filled_in(call, made.__init__)
                return decorated
            if call != self.until:
                return self._filled_in(call, decorated)
            return self._episode_of(decorated)

        return decorate

    def _filled_in(self, call: str, function: Function) -> Function:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if call not in self.filled:
                self.filled.add(call)
                args, kwargs = _with(function, args, kwargs, self.given[call])
            return function(*args, **kwargs)

        return called

    def _episode_of(self, function: Function) -> Function:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def called(*args: Any, **kwargs: Any) -> Any:
                if _inside.get():  # it calls itself
                    return await function(*args, **kwargs)
                if not self.begins.acquire(blocking=False):
                    await self._end()
                args, kwargs = self._told(function, args, kwargs)
                return await self._awaited(function(*args, **kwargs))

            return called

        @functools.wraps(function)
        def called_here(*args: Any, **kwargs: Any) -> Any:
            if _inside.get():
                return function(*args, **kwargs)
            if not self.begins.acquire(blocking=False):
                if _is_in_loop():  # which the episode needs
                    return self._end()
                self.over.wait()
                raise Over
            begun = _inside.set(True)
            try:
                args, kwargs = self._told(function, args, kwargs)
                returned = function(*args, **kwargs)
            except BaseException as error:
                raise self._ends(error=error) from None
            if inspect.isawaitable(returned):
                _inside.reset(begun)  # others may be made before this one is awaited
                return self._awaited(returned)
            if inspect.isasyncgen(returned):
                return self._streamed(returned)
            if inspect.isgenerator(returned):
                return self._yielded(returned)
            raise self._ends(returned)

        return called_here

    def _told(self, function: Function, args: Any, kwargs: Any) -> Any:
        return _with(function, args, kwargs, self.given[self.until])

    async def _awaited(self, work: Awaitable[Any]) -> Any:
        _inside.set(True)
        try:
            returned = await work
        except BaseException as error:
            raise self._ends(error=error) from None
        raise self._ends(returned)

    async def _streamed(self, parts: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            async for part in parts:
                yield part
        except BaseException as error:
            raise self._ends(error=error) from None
        raise self._ends()

    def _yielded(self, parts: Generator[Any, Any, Any]) -> Iterator[Any]:
        try:
            returned = yield from parts
        except BaseException as error:
            raise self._ends(error=error) from None
        raise self._ends(returned)

    async def _end(self) -> None:
        """Wait until the episode is over, and with it the program."""
        while not self.over.is_set():
            await asyncio.sleep(WAITING)
        raise Over

    def _ends(self, returned: Any = None, error: BaseException | None = None) -> Over:
        """Keep how the episode ended; whoever reads a stream may stop before its end."""
        if not isinstance(error, GeneratorExit):
            self.error = error
        self.returned = returned
        self.over.set()
        return Over()


def _is_in_loop() -> bool:
    """True if an event loop runs the calling code."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _with(
    function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], given: Given
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with what the scenario says in their place."""
    signature = inspect.signature(function)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    rest = next(
        (p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), ""
    )
    for path, value in given.items():
        name, _, inner = path.partition(".")
        arguments = bound.arguments
        if name not in arguments and rest:
            arguments = arguments[rest]
        if inner:
            _set(arguments[name], inner, value)
        else:
            arguments[name] = _like(arguments.get(name), value)
    return bound.args, bound.kwargs


def _set(holder: Any, path: str, value: Any) -> None:
    """Set an attribute, or a key, of what the program gives."""
    name, _, inner = path.partition(".")
    is_table = isinstance(holder, dict)
    held = holder.get(name) if is_table else getattr(holder, name, None)
    if inner:
        _set(held, inner, value)
    elif is_table:
        holder[name] = _like(held, value)
    else:
        try:
            setattr(holder, name, _like(held, value))
        except (AttributeError, TypeError):
            object.__setattr__(holder, name, _like(held, value))


def _like(original: Any, value: Any) -> Any:
    """Return what a row says as the object that the program gave: a record, a path, a time."""
    if isinstance(original, argparse.Namespace) and isinstance(value, dict):
        vars(original).update(value)
        return original
    if isinstance(original, list | tuple) and isinstance(value, list) and original:
        return type(original)(_like(original[0], each) for each in value)
    if type(original) in JSON or isinstance(value, type(original)):
        return value
    try:
        return TypeAdapter(type(original)).validate_python(value)
    except PydanticSchemaGenerationError:  # of a class that no row can make
        return value
