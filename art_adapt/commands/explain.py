"""``art-adapt explain``: its argument and exit codes."""

from __future__ import annotations

from typing import Annotated

import typer

from art_adapt.commands import command_app
from art_adapt.errors import Refusal

app = command_app()


@app.command()
def explain(
    rule: Annotated[
        str | None,
        typer.Argument(help="A rule's code or name; without it, all rules are listed."),
    ] = None,
) -> None:
    """Say what a rule finds, why it harms training, and what to write instead."""
    from art_adapt.check.own_rules import OWN
    from art_adapt.report.rules import rule_list, rule_page
    from art_adapt.rules import rules

    if rule is None:
        print(rule_list())
        return
    for each in rules():
        if rule.upper() == each.rule.code or rule == each.rule.name:
            print(rule_page(each))
            return
    for own, text in OWN.items():
        if rule.upper() == own.code or rule == own.name:
            print(f"# {own.code}: {own.name}\n\n{text.capitalize()}.")
            return
    raise Refusal(
        f"there is no rule {rule!r}", next_step="art-adapt explain lists them"
    )
