"""``art-adapt explain``: its argument and exit codes."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from art_adapt.commands import command_app
from art_adapt.errors import Refusal
from art_adapt.printable import printable

app = command_app()


@app.command()
def explain(
    rule: Annotated[
        str | None,
        typer.Argument(help="A rule's code or name; without it, all rules are listed."),
    ] = None,
    entry: Annotated[
        Path | None,
        typer.Option(
            help="An agent: show how each function that could run an episode was rated."
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="With --entry: as JSON.")
    ] = False,
) -> None:
    """Explain what a rule finds, why it harms training, and what to write instead.

    With ``--entry agent.py``: why one function of an agent was chosen as its episode, and
    not another.
    """
    if entry is not None:
        _explain_entry(entry, as_json=json)
        return
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
    if rule.endswith(".py"):
        raise Refusal(
            f"no such rule: {rule!r}",
            next_step=f"art-adapt explain --entry {quote(rule)} explains an agent's episode",
        )
    known = [n for each in rules() for n in (each.rule.code, each.rule.name)]
    near = get_close_matches(rule, known, 1)
    raise Refusal(
        f"no such rule: {rule!r}",
        next_step=f"did you mean {near[0]}? art-adapt explain lists the rules"
        if near
        else "run art-adapt explain to list the rules",
    )


def _explain_entry(agent: Path, *, as_json: bool) -> None:
    """Print the candidates of an agent, the likeliest first, each with its features."""
    from art_adapt.code.session import Session
    from art_adapt.discovery import named_sources
    from art_adapt.report.candidates import explained, explained_runs
    from art_adapt.report.json import candidates_as_json
    from art_adapt.seen.surveyed import seen_around
    from art_adapt.settings import Options
    from art_adapt.survey.survey import survey

    sources, session = named_sources([str(agent)]), Session()
    read = survey(sources, session=session)
    found = read.entry_points
    if not found:
        raise Refusal(
            "no function in this file reaches a policy call",
            next_step=f"run art-adapt --diff {quote(str(agent))} to see what was found",
            path=agent,
        )
    if as_json:
        print(candidates_as_json(found))
        return
    seen, _ = seen_around(read, sources, Options(), session)
    for line in (*explained(found), *explained_runs(seen)):
        print(printable(line))
