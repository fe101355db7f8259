"""What the files of a project make and derive is found by every name that imports give it."""

import ast
from pathlib import Path

import pytest

from art_adapt.code.index import constructed, derived_from
from art_adapt.code.project import Project
from art_adapt.source import read_source

CLERK = "class Clerk:\n    pass\n"
# How another file may come by the class, and what it then calls it.
IMPORTS = {
    "from impl import Clerk": "Clerk",
    "from impl import Clerk as Seller": "Seller",
    "import impl": "impl.Clerk",
    "import impl as parts": "parts.Clerk",
    "from shop import Seller": "Seller",
    "from shop import Seller as Vendor": "Vendor",
    "from shop import *": "Seller",
}


@pytest.mark.parametrize("way", IMPORTS)
@pytest.mark.parametrize("on_demand", [False, True])
def test_a_class_is_found_under_each_of_its_names(
    tmp_path: Path, way: str, on_demand: bool
) -> None:
    (tmp_path / "impl.py").write_text(CLERK)
    (tmp_path / "shop.py").write_text("from impl import Clerk as Seller\n")
    agent = tmp_path / "agent.py"
    name = IMPORTS[way]
    agent.write_text(f"{way}\n\nmade = {name}()\n\n\nclass Own({name}):\n    pass\n")
    project = Project.of([read_source(agent)], {})
    project.on_demand = on_demand
    impl = project.home(tmp_path / "impl.py")
    calls = [ast.unparse(call) for _, call in constructed(project, impl, "Clerk")]
    assert calls == [f"{name}()"]
    assert [own for _, own in derived_from(project, impl, "Clerk")] == ["Own"]


def test_a_class_of_the_same_name_is_another_one(tmp_path: Path) -> None:
    (tmp_path / "impl.py").write_text(CLERK)
    agent = tmp_path / "agent.py"
    agent.write_text(f"import impl\n\n{CLERK}\nmade = Clerk()\n")
    project = Project.of([read_source(agent)], {})
    impl = project.home(tmp_path / "impl.py")
    assert not constructed(project, impl, "Clerk")
    assert len(constructed(project, project.home(agent), "Clerk")) == 1
