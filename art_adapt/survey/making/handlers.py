"""Finds handlers of chat platforms, and what they read of the message that they get."""

from __future__ import annotations

import ast
from dataclasses import replace

from art_adapt.code.nodes import dotted
from art_adapt.code.project import Project
from art_adapt.survey.candidates.launches import is_handler
from art_adapt.survey.model import EntryPoint, Parameter

PLATFORMS = (
    *("telegram", "aiogram", "telebot", "pyrogram", "telethon", "discord", "disnake"),
    *("nextcord", "slack_bolt", "vkbottle", "botbuilder", "chainlit", "khl", "nonebot"),
)
# The attributes in which platforms keep what somebody has written.
TEXTS = ("text", "content", "clean_content", "caption", "message_text", "body")


def with_stand_ins(project: Project, entry: EntryPoint) -> EntryPoint:
    """Say of a handler's parameters, which only a platform makes, what stands for them.

    What somebody wrote is the scenario's. A handler that reads no text stays as it is: what
    its episodes differ in is not known.
    """
    syntax = project.files[entry.place.path]
    if (
        syntax.imports_module(*PLATFORMS) is None
        or not is_handler(project, entry.key)
        or entry.class_name is not None
    ):
        return entry

    def is_the_platforms(parameter: Parameter) -> bool:
        plain = parameter.annotation is not None and not parameter.is_object
        return parameter.default is None and parameter.made is None and not plain

    def texts_of(parameter: Parameter) -> tuple[str, ...]:
        start = f"{parameter.name}."
        read = (
            dotted(node) or ""
            for node in syntax.owned_by(entry.name)
            if isinstance(node, ast.Attribute) and node.attr in TEXTS
        )
        return tuple(
            dict.fromkeys(p.removeprefix(start) for p in read if p.startswith(start))
        )

    if not any(map(texts_of, entry.parameters)):
        return entry
    return replace(
        entry,
        parameters=tuple(
            replace(each, is_object=True, stand_in=texts_of(each))
            if is_the_platforms(each)
            else each
            for each in entry.parameters
        ),
    )
