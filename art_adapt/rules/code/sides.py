"""Tell whether a group has trajectories of several sides of one game."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import argument_of, dotted
from art_adapt.rules.code.values import Value

if TYPE_CHECKING:
    from art_adapt.rules.code import Code


def has_several_sides(code: Code, members: ast.expr) -> bool:
    """Return whether a group gets trajectories of one game that are prompted as different sides."""
    made = [
        value
        for value in code.contents.elements(members)
        if not isinstance(value.node, ast.Starred)
    ]
    prompts = [prompt for each in made if (prompt := _prompt(code, each))]
    if len(prompts) == len(made) and len(set(prompts)) > 1:
        return True
    return any(
        _is_of_a_side(code, each) for value in made for each in code.values(value)
    )


def _prompt(code: Code, trajectory: Value) -> str:
    """Spell the text that a trajectory certainly begins with."""
    texts = {
        ast.dump(content.node)
        for value in code.values(trajectory)
        for content in _first_contents(code, value)
    }
    return texts.pop() if len(texts) == 1 else ""


def _first_contents(code: Code, trajectory: Value) -> Iterator[Value]:
    made = trajectory.node
    messages = (
        code.contents.given(made, "messages_and_choices")
        if isinstance(made, ast.Call)
        else None
    )
    if messages is None:
        return
    first = next(code.contents.elements(trajectory.of(messages)), None)
    if first is not None:
        for content in code.contents.item(first, "content").values:
            if isinstance(content.node, ast.Constant | ast.JoinedStr):
                yield content


def _is_of_a_side(code: Code, value: Value) -> bool:
    """Return whether it is the trajectory of one of several players, made for each side.

    ``player.trajectory`` of ``{side: Player(side) for side in "XO"}``, whose class prompts
    with the side.
    """
    read = value.node
    if not isinstance(read, ast.Attribute):
        return False
    for player in code.values(value.of(read.value)):
        players = player.node.value if isinstance(player.node, ast.Subscript) else None
        if isinstance(players, ast.Call) and isinstance(players.func, ast.Attribute):
            players = players.func.value if players.func.attr == "values" else None
        for each in code.values(player.of(players)) if players is not None else ():
            if isinstance(each.node, ast.DictComp) and _is_made_by_side(code, each):
                return True
    return False


def _is_made_by_side(code: Code, players: Value) -> bool:
    made = players.node
    assert isinstance(made, ast.DictComp)
    loop = made.generators[0]
    sides = {ast.dump(each) for each in _sides(loop.iter)}
    call = made.value
    if len(sides) < 2 or not isinstance(call, ast.Call):
        return False
    init = players.syntax.functions.get(f"{dotted(call.func)}.__init__")
    if init is None:
        return False
    side = dotted(loop.target)
    given = [
        name
        for name in init.given
        if dotted(argument_of(call, name, init.positional) or ast.Pass()) == side
    ]
    owned = players.syntax.owned_by(init.qualname)
    new = [n for n in owned if isinstance(n, ast.Call) and n in code.trajectories.new]
    prompts = (code.contents.given(each, "messages_and_choices") for each in new)
    prompted = made_from(players.syntax, init.qualname, filter(None, prompts))
    return any(isinstance(node, ast.Name) and node.id in given for node in prompted)


def _sides(iterated: ast.expr) -> list[ast.Constant]:
    """Return the constants that a comprehension goes through: letters, or a display."""
    if isinstance(iterated, ast.Constant) and isinstance(iterated.value, str):
        return [ast.Constant(letter) for letter in iterated.value]
    if isinstance(iterated, ast.Tuple | ast.List):
        return [each for each in iterated.elts if isinstance(each, ast.Constant)]
    return []
