"""What a run has shown of calls is in the call graph, where the code does not say it."""

from pathlib import Path

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.project import Project
from art_adapt.code.session import Session, Shown
from art_adapt.source import read_source

AGENT = """
def plan(text):
    return text

def take(made, order):
    first = made.plan(order)
    print(made.plan(first))
    return made.plan(first)
"""


def test_each_line_that_a_run_has_shown_is_a_call(tmp_path: Path) -> None:
    file, other = tmp_path / "agent.py", tmp_path / "other.py"
    file.write_text(AGENT)
    take, plan = (file, "take"), (file, "plan")
    unread = (other, "ask")  # Nobody has read its file.
    calls = frozenset(
        {(take, plan, 8), (take, plan, 6), (take, plan, 7), (take, unread, 6)}
    )
    session = Session(shown=Shown(calls=calls))
    graph = CallGraph.of(Project.of([read_source(file)], {}, session=session))
    assert graph.certain[take] == {plan}
    assert [node.lineno for node in graph.sites[take, plan]] == [6, 7, 8]
