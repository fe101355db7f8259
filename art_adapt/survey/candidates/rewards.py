"""Finds what rewards an agent computes itself."""

from __future__ import annotations

import ast

from art_adapt.code.hooks import unhooked
from art_adapt.code.nodes import Function, dotted, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.survey.model import RewardSite, Span
from art_adapt.words import REWARD


def find_rewards(syntax: Syntax, function: Function) -> tuple[RewardSite, ...]:
    """Find the rewards that ``function`` returns, names in a call or assigns."""

    def bare(value: ast.expr) -> ast.expr:
        return unhooked(syntax, value, "reward")

    found: list[ast.expr] = []
    for node in syntax.owned_by(function.qualname):
        if isinstance(node, ast.Return) and node.value is not None:
            parts = (
                node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            )
            found += [part for part in parts if is_reward(bare(part))]
        elif (
            isinstance(node, ast.keyword)
            and node.arg
            and REWARD.match(node.arg)
            and not isinstance(node.value, ast.Constant)
        ):
            found.append(node.value)
    if not found:
        for node in syntax.owned_by(function.qualname):
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and not isinstance(bare(node.value), ast.Constant | ast.Name)
            ) and is_reward(node.targets[0]):
                found.append(node.value)
    return tuple(
        RewardSite(
            syntax.place(value),
            Span.of(value),
            syntax.text(bare(value)),
            bare(value) is not value,
        )
        for value in found
    )


def only_rewards(value: ast.expr) -> bool:
    """True if a value is a reward, several, or a dict of nothing else."""
    if isinstance(value, ast.Dict) and value.values:
        return all(only_rewards(each) for each in value.values)
    name = last_name(value)
    return REWARD.match(name.removesuffix("s")) is not None


def is_reward(value: ast.expr) -> bool:
    name = dotted(value)
    return name is not None and REWARD.match(name.split(".")[-1]) is not None
