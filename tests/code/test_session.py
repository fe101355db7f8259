"""Answers of the engine hold whoever asks first, and in each project that they rest on."""

import ast
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from art_adapt.code.call_graph import CallGraph
from art_adapt.code.instances import classes_of
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.session import Session
from art_adapt.code.syntax import Syntax
from art_adapt.source import Source, read_source

FIXTURES = Path(__file__).parents[2] / "fixtures" / "agents"

EACH_OTHER = {
    "functions": """
class A: ...
class B: ...
def left(n):
    return right(n - 1) if n else A()
def right(n):
    return left(n - 1) if n else B()
""",
    "names": """
class A: ...
class B: ...
def left(n):
    made = right(n - 1)
    if n: return made
    return A()
def right(n):
    other = left
    made = other(n - 1)
    return made or B()
""",
    "methods": """
class A: ...
class B: ...
class Maker:
    def left(self, n):
        return self.right(n - 1) if n else A()
    def right(self, n):
        return self.left(n - 1) if n else B()
left, right = Maker().left, Maker().right
""",
    "attributes": """
class A: ...
class B: ...
class Pair:
    def __init__(self):
        self.left = A()
        self.right = B()
    def turn(self):
        self.left = self.right
        self.right = self.left
pair = Pair()
def left(n): return pair.left
def right(n): return pair.right
""",
    "three": """
class A: ...
class B: ...
def left(n):
    return middle(n - 1)
def middle(n):
    return right(n - 1) if n else A()
def right(n):
    return left(n - 1) if n else B()
""",
}


def of_text(tmp_path: Path, text: str) -> tuple[Project, Syntax, list[ast.Call]]:
    asked = "left(1)\nright(1)\n"
    path = tmp_path / "agent.py"
    path.write_text(text + asked)
    project = Project.of([read_source(path)], {})
    syntax = project.files[path]
    last = [each for each in syntax.source.tree.body if isinstance(each, ast.Expr)]
    calls = [each.value for each in last if isinstance(each.value, ast.Call)]
    return project, syntax, calls[-2:]


@pytest.mark.parametrize("spelling", EACH_OTHER)
@pytest.mark.parametrize("first", [0, 1])
def test_what_leads_to_itself_is_found_whoever_asks_first(
    tmp_path: Path, spelling: str, first: int
) -> None:
    project, syntax, calls = of_text(tmp_path, EACH_OTHER[spelling])
    for call in (calls[first], calls[1 - first]):
        found = {name for _, name in classes_of(project, syntax, call)}
        assert found == {"A", "B"}, ast.unparse(call)


Asked = tuple[str, str, int, str]


def questions(project: Project) -> Iterator[tuple[Syntax, ast.expr]]:
    for syntax in project.files.values():
        for node in syntax.nodes:
            if isinstance(node, ast.Name | ast.Attribute | ast.Call):
                yield syntax, node


def asked(
    project: Project, order: list[tuple[Syntax, ast.expr]]
) -> dict[Asked, set[str]]:
    found: dict[Asked, set[str]] = {}
    for syntax, node in order:
        at = (
            str(syntax.source.path),
            node.lineno,
            ast.dump(node, include_attributes=True),
        )
        classes = classes_of(project, syntax, node)
        found[type(node).__name__, *at] = {
            *(f"{place.source.path.name}:{name}" for place, name in classes),
            *(f"{path.name}:{name}()" for path, name in resolve(project, syntax, node)),
        }
    return found


def agents() -> list[Path]:
    return sorted(path for path in FIXTURES.glob("*/agent.py"))


def edges(graph: CallGraph) -> dict[str, object]:
    kinds = ("certain", "possible", "mentioned", "read")
    found: dict[str, object] = {kind: getattr(graph, kind) for kind in kinds}
    return found | {"tabled": set(graph.tabled), "sites": set(graph.sites)}


@pytest.mark.parametrize("agent", agents(), ids=lambda path: path.parent.name)
def test_no_answer_depends_on_the_order_of_questions(agent: Path) -> None:
    project = Project.of([read_source(agent)], {})
    order = list(questions(project))
    first = asked(project, order)
    for seed in range(2):
        random.Random(seed).shuffle(order)
        again = Project(project.given, {}, project.files)
        assert asked(again, order) == first


@pytest.mark.parametrize("agent", agents(), ids=lambda path: path.parent.name)
def test_a_wider_project_answers_as_one_that_is_read_anew(agent: Path) -> None:
    others = [path for path in sorted(agent.parent.rglob("*.py")) if path != agent]
    narrow = Project.of([read_source(agent)], {})
    asked(narrow, list(questions(narrow)))
    CallGraph.of(narrow)
    wide = narrow.with_files(others)
    if wide is None:
        pytest.skip("the agent imports all its files")
    anew = Project(wide.given, {}, wide.files, session=Session())
    order = list(questions(wide))
    assert asked(wide, order) == asked(anew, order)
    assert edges(CallGraph.of(wide)) == edges(CallGraph.of(anew))
    assert edges(CallGraph.of(narrow)) == edges(
        CallGraph.of(Project(narrow.given, {}, narrow.files, session=Session()))
    )


def test_an_edited_file_changes_what_rests_on_it_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text("class Model:\n    def ask(self): ...\n")
    (tmp_path / "tools.py").write_text("def look(): ...\ndef run():\n    look()\n")
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import tools\nfrom models import Model\n"
        "def main():\n    Model().ask()\n    tools.run()\n"
    )
    session = Session()
    before = Project.of([read_source(agent)], {}, session)
    graph = CallGraph.of(before)
    models = tmp_path / "models.py"
    assert (models, "Model.ask") in graph.certain[agent, "main"]

    edited = Source(models, b"class Base:\n    def ask(self): ...\nModel = Base\n")
    after = Project.of([read_source(agent)], {models: edited}, session)
    kept = session.answers
    again = CallGraph.of(after)
    assert (models, "Model.ask") not in again.certain[agent, "main"]
    assert again.certain[tmp_path / "tools.py", "run"] == {
        (tmp_path / "tools.py", "look")
    }
    assert after.files[tmp_path / "tools.py"] is before.files[tmp_path / "tools.py"]
    assert kept == session.answers
    assert edges(CallGraph.of(before)) == edges(graph)
