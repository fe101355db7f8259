"""A flag for each option of the table in ``art_adapt.settings``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from art_adapt.settings import SETTINGS, Options, Origin, Setting


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give ``command`` the flags of all options, in place of its ``**given``."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    flags = [_parameter(setting) for setting in SETTINGS]
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*own, *flags]
    )
    return command


def _parameter(setting: Setting) -> inspect.Parameter:
    """Return the parameter that Typer makes the flag from; None or False: it was not given."""
    if setting.kind is bool:
        kind: Any = bool
    else:
        kind = (list[str] if setting.kind is tuple else setting.kind) | None
    return inspect.Parameter(
        setting.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if setting.kind is bool else None,
        annotation=Annotated[kind, typer.Option(setting.flag, help=setting.help)],
    )


def options_from(given: Mapping[str, Any]) -> Options:
    """Return the options that were given as flags; the others have their defaults."""
    said: dict[str, Any] = {}
    for setting in SETTINGS:
        value = given[setting.name]
        if value in (None, []) or value is False:
            continue
        if setting.kind is bool:
            value = not setting.default
        said[setting.name] = (
            tuple(value) if setting.kind is tuple else setting.meant(value)
        )
    return Options(**said, origins=dict.fromkeys(said, Origin.FLAG))
