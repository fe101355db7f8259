"""Which method a call enters: by the class of what it is called on, wherever that is made."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from art_adapt.rules.code import Code
from art_adapt.source import Source

CLASSES = """\
class Base:
    def ask(self):
        return 1


class Child(Base):
    pass


class Grandchild(Child):
    def other(self):
        return self.ask()


class Own(Base):
    def ask(self):
        return 2


def make(name) -> Base:
    return name()


def build():
    return Child()


class Keeper:
    def __init__(self):
        self.kept = Own()


def turn(n):
    return back(n - 1) if n else Child()


def back(n):
    return turn(n - 1) if n else Grandchild()
"""
NAMES = "Base, Child, Grandchild, Keeper, Own, back, build, make, turn"
# Programs that ask use(...), and what that may be given.
PROGRAMS = {
    "its own method": ("a = Base()\nuse(a.ask())", 1),
    "an inherited one": ("a = Child()\nuse(a.ask())", 1),
    "two classes up": ("a = Grandchild()\nuse(a.ask())", 1),
    "through another method": ("a = Grandchild()\nuse(a.other())", 1),
    "an override": ("a = Own()\nuse(a.ask())", 2),
    "by what a function returns": ("a = build()\nuse(a.ask())", 1),
    "made in the call": ("use(Child().ask())", 1),
    "by a parameter's annotation": ("def f(a: Child):\n    use(a.ask())", 1),
    "by a quoted annotation": ("def f(a: 'Own'):\n    use(a.ask())", 2),
    "by the annotation of a name": ("a: Own = x\nuse(a.ask())", 2),
    "of a branch": ("a = Child() if x else Child()\nuse(a.ask())", 1),
    "as a manager": ("with Child() as a:\n    use(a.ask())", 1),
    "the last that it was": ("a = Base()\na = Own()\nuse(a.ask())", 2),
    "in an attribute": (
        "class Holder:\n    def __init__(self):\n        self.a = Child()\n"
        "    def f(self):\n        use(self.a.ask())",
        1,
    ),
    "kept by another object": ("k = Keeper()\nuse(k.kept.ask())", 2),
    "kept by an object that is given": ("def f(k: Keeper):\n    use(k.kept.ask())", 2),
    "of two functions that return each other": ("a = turn(3)\nuse(a.ask())", 1),
    "of either function": ("a = back(3)\nuse(a.ask())", 1),
    # One of two methods: nothing is said of either.
    "by an annotation that a class below overrides": (
        "a = make(x)\nuse(a.ask())",
        None,
    ),
    "of a library's class": ("a = other.Child()\nuse(a.ask())", None),
}


def given(code: Code) -> set[object]:
    [use] = [call for call in code.calls if ast.unparse(call.func) == "use"]
    return {
        value.node.value if isinstance(value.node, ast.Constant) else None
        for value in code.values(use.args[0])
    }


@pytest.mark.parametrize("program", PROGRAMS)
def test_in_one_file(program: str) -> None:
    text, expected = PROGRAMS[program]
    assert given(Code(Source(Path("x.py"), f"{CLASSES}\n{text}\n".encode()))) == {
        expected
    }


@pytest.mark.parametrize("program", PROGRAMS)
def test_in_two_files(program: str, tmp_path: Path) -> None:
    text, expected = PROGRAMS[program]
    (tmp_path / "classes.py").write_text(CLASSES)
    source = f"from classes import {NAMES}\n\n{text}\n".encode()
    assert given(Code(Source(tmp_path / "x.py", source))) == {expected}


@pytest.mark.parametrize("program", PROGRAMS)
def test_with_the_base_in_a_third_file(program: str, tmp_path: Path) -> None:
    text, expected = PROGRAMS[program]
    base, _, rest = CLASSES.partition("class Child")
    (tmp_path / "base.py").write_text(base)
    (tmp_path / "classes.py").write_text(
        f"from base import Base\n\n\nclass Child{rest}"
    )
    source = f"from classes import {NAMES}\n\n{text}\n".encode()
    assert given(Code(Source(tmp_path / "x.py", source))) == {expected}


@pytest.mark.parametrize("program", PROGRAMS)
def test_another_question_before_it_changes_nothing(
    program: str, tmp_path: Path
) -> None:
    text, expected = PROGRAMS[program]
    (tmp_path / "classes.py").write_text(CLASSES)
    source = f"from classes import {NAMES}\n\n{text}\n\nlast = build().ask()\n".encode()
    code = Code(Source(tmp_path / "x.py", source))
    for call in reversed(code.calls):
        list(code.values(call))
    assert given(code) == {expected}
