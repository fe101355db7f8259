"""What a method is called on: an object that was made, kept, handed out or put away somewhere else.

An agent asks its model through an object of its project. Where the engine does not see which
class that is, the helper seems to have no caller, and becomes the episode.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.source import read_source
from art_adapt.survey.survey import survey

LLM = """\
from openai import OpenAI


class Llm:
    _instance = None

    def __init__(self, model_name: str = None):
        self.client = OpenAI()

    def generate(self, msgs):
        made = self.client.chat.completions.create(model="m", messages=msgs)
        return made.choices[0].message.content

{methods}

class Other:
    def generate(self, msgs):
        return "x"
"""
MESSAGES = '        msgs = [{"role": "user", "content": query}]\n'
# How the class of the model's client hands out an instance of itself.
HANDED_OUT = {
    "cls()": (
        '    @classmethod\n    def get(cls):\n        return cls("x")\n',
        "Llm.get()",
        "",
    ),
    "cls stored": (
        "    @classmethod\n    def get(cls):\n        if cls._instance is None:\n            cls._instance = cls()\n        return cls._instance\n",
        "Llm.get()",
        "",
    ),
    "class stored": (
        "    @staticmethod\n    def get():\n        if Llm._instance is None:\n            Llm._instance = Llm()\n        return Llm._instance\n",
        "Llm.get()",
        "",
    ),
    "type(self)": (
        '    def copy(self):\n        return type(self)("x")\n',
        "Llm().copy()",
        "",
    ),
    "__class__": (
        '    def copy(self):\n        return self.__class__("x")\n',
        "Llm().copy()",
        "",
    ),
    "new": (
        "    @classmethod\n    def get(cls):\n        one = cls.__new__(cls)\n        one.client = OpenAI()\n        return one\n",
        "Llm.get()",
        "",
    ),
    "object.new": (
        "    @classmethod\n    def get(cls):\n        one = object.__new__(cls)\n        one.client = OpenAI()\n        return one\n",
        "Llm.get()",
        "",
    ),
    "var": (
        "    @classmethod\n    def get(cls):\n        one = cls()\n        return one\n",
        "Llm.get()",
        "",
    ),
    "with": (
        "    def __enter__(self):\n        return self\n    def __exit__(self, *a): ...\n",
        "Llm()",
        "",
    ),
    "self": ("    def using(self, x):\n        return self\n", "Llm().using(3)", ""),
    "class attr": ("", "Pool.llm", "\nclass Pool:\n    llm = Llm()\n"),
    "class attr2": ("", "Pool().llm", "\nclass Pool:\n    llm = Llm()\n"),
    "child": (
        "    @classmethod\n    def get(cls):\n        return cls()\n",
        "Child.get()",
        "\nclass Child(Llm):\n    def generate(self, msgs):\n        return super().generate(msgs)\n",
    ),
    "property": (
        "    @property\n    def same(self):\n        return self\n",
        "Llm().same",
        "",
    ),
    "partialm": (
        '    @classmethod\n    def get(cls):\n        return cls(model_name="x")\n',
        "make()",
        "\nmake = Llm.get\n",
    ),
}
# How an agent has one.
HAD = {
    "dict of instances": 'class E:\n    def __init__(self):\n        self.llms = {"a": Llm(), "b": Other()}\n    def run(self, query: str):\n{messages}        return self.llms["a"].generate(msgs)\n',
    "list loop": "class E:\n    def __init__(self):\n        self.llms = [Llm(), Llm()]\n    def run(self, query: str):\n{messages}        out = []\n        for llm in self.llms:\n            out.append(llm.generate(msgs))\n        return out\n",
    "dict.get": 'LLMS = {"a": Llm()}\nclass E:\n    def run(self, query: str):\n{messages}        return LLMS.get("a").generate(msgs)\n',
    "dict values loop": 'LLMS = {"a": Llm()}\nclass E:\n    def run(self, query: str):\n{messages}        return [each.generate(msgs) for each in LLMS.values()]\n',
    "items loop": 'LLMS = {"a": Llm()}\nclass E:\n    def run(self, query: str):\n{messages}        return {name: each.generate(msgs) for name, each in LLMS.items()}\n',
    "comprehension build": "class E:\n    def __init__(self, n: int = 2):\n        self.llms = [Llm() for _ in range(n)]\n    def run(self, query: str):\n{messages}        return [l.generate(msgs) for l in self.llms]\n",
    "append build": "class E:\n    def __init__(self, n: int = 2):\n        self.llms = []\n        for _ in range(n):\n            self.llms.append(Llm())\n    def run(self, query: str):\n{messages}        return [l.generate(msgs) for l in self.llms]\n",
    "annot list": "class E:\n    def __init__(self, llms: list[Llm]):\n        self.llms = llms\n    def run(self, query: str):\n{messages}        return [l.generate(msgs) for l in self.llms]\n",
    "annot dict": 'class E:\n    def __init__(self, llms: dict[str, Llm]):\n        self.llms = llms\n    def run(self, query: str):\n{messages}        return self.llms["x"].generate(msgs)\n',
    "zip": "class E:\n    def __init__(self, llms: list[Llm]):\n        self.llms = llms\n    def run(self, query: str):\n{messages}        return [l.generate(msgs) for l, n in zip(self.llms, range(3))]\n",
    "enumerate": "class E:\n    def __init__(self, llms: list[Llm]):\n        self.llms = llms\n    def run(self, query: str):\n{messages}        return [l.generate(msgs) for i, l in enumerate(self.llms)]\n",
    "next": "class E:\n    def __init__(self, llms: list[Llm]):\n        self.llms = llms\n    def run(self, query: str):\n{messages}        one = next(l for l in self.llms if l)\n        return one.generate(msgs)\n",
    "random": "import random\nclass E:\n    def __init__(self, llms: list[Llm]):\n        self.llms = llms\n    def run(self, query: str):\n{messages}        return random.choice(self.llms).generate(msgs)\n",
    "setattr later": "class E:\n    def __init__(self):\n        self.llm = None\n    def setup(self):\n        self.llm = Llm()\n    def run(self, query: str):\n{messages}        self.setup()\n        return self.llm.generate(msgs)\n",
    "lazy property": "class E:\n    def __init__(self):\n        self._llm = None\n    @property\n    def llm(self) -> Llm:\n        if self._llm is None:\n            self._llm = Llm()\n        return self._llm\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n",
    "global": "_llm = None\ndef get():\n    global _llm\n    if _llm is None:\n        _llm = Llm()\n    return _llm\nclass E:\n    def run(self, query: str):\n{messages}        return get().generate(msgs)\n",
    "tuple unpack": "def both():\n    return Llm(), Other()\nclass E:\n    def run(self, query: str):\n{messages}        llm, other = both()\n        return llm.generate(msgs)\n",
    "walrus": "class E:\n    def run(self, query: str):\n{messages}        if (llm := Llm()):\n            return llm.generate(msgs)\n",
    "contextmanager": "from contextlib import contextmanager\n@contextmanager\ndef opened():\n    llm = Llm()\n    yield llm\nclass E:\n    def run(self, query: str):\n{messages}        with opened() as llm:\n            return llm.generate(msgs)\n",
    "dataclass field": "from dataclasses import dataclass, field\n@dataclass\nclass Deps:\n    llm: Llm = field(default_factory=Llm)\nclass E:\n    def __init__(self):\n        self.deps = Deps()\n    def run(self, query: str):\n{messages}        return self.deps.llm.generate(msgs)\n",
    "namedtuple": "from typing import NamedTuple\nclass Deps(NamedTuple):\n    llm: Llm\nclass E:\n    def __init__(self, deps: Deps):\n        self.deps = deps\n    def run(self, query: str):\n{messages}        return self.deps.llm.generate(msgs)\n",
    "lambda factory": "make = lambda: Llm()\nclass E:\n    def run(self, query: str):\n{messages}        return make().generate(msgs)\n",
    "match": 'def make(kind):\n    match kind:\n        case "a":\n            return Llm()\n        case _:\n            return Other()\nclass E:\n    def run(self, query: str):\n{messages}        return make("a").generate(msgs)\n',
    "getattr method": 'class E:\n    def run(self, query: str):\n{messages}        return getattr(Llm(), "generate")(msgs)\n',
    "bound method var": "class E:\n    def __init__(self):\n        self.ask = Llm().generate\n    def run(self, query: str):\n{messages}        return self.ask(msgs)\n",
    "starmap registry deco": 'R = {}\ndef reg(name):\n    def deco(c):\n        R[name] = c\n        return c\n    return deco\n@reg("a")\nclass Mine(Llm):\n    pass\nclass E:\n    def run(self, query: str):\n{messages}        return R["a"]().generate(msgs)\n',
    "map call": "class E:\n    def run(self, query: str):\n{messages}        return list(map(Llm().generate, [msgs]))\n",
    "mixin": "class Mixin:\n    def ask(self, msgs):\n        return self.llm.generate(msgs)\nclass E(Mixin):\n    def __init__(self):\n        self.llm = Llm()\n    def run(self, query: str):\n{messages}        return self.ask(msgs)\n",
    "list index": "class E:\n    def __init__(self):\n        self.llms = [Llm()]\n    def run(self, query: str):\n{messages}        return self.llms[0].generate(msgs)\n",
    "pop": "class E:\n    def __init__(self):\n        self.llms = [Llm()]\n    def run(self, query: str):\n{messages}        return self.llms.pop().generate(msgs)\n",
    "setdefault": 'CACHE = {}\nclass E:\n    def run(self, query: str):\n{messages}        return CACHE.setdefault("a", Llm()).generate(msgs)\n',
    "subscript store": 'CACHE = {}\nclass E:\n    def run(self, query: str):\n{messages}        if "a" not in CACHE:\n            CACHE["a"] = Llm()\n        return CACHE["a"].generate(msgs)\n',
    "lru func": "from functools import lru_cache\n@lru_cache\ndef get():\n    return Llm()\nclass E:\n    def run(self, query: str):\n{messages}        return get().generate(msgs)\n",
    "union annot": 'class E:\n    def __init__(self, llm: "Llm | Other"):\n        self.llm = llm\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n',
    "chained builder": "class B:\n    def make(self):\n        return Llm()\nclass E:\n    def run(self, query: str):\n{messages}        return B().make().generate(msgs)\n",
    "staticmethod via inst": "class B:\n    @staticmethod\n    def make():\n        return Llm()\nclass E:\n    b = B()\n    def run(self, query: str):\n{messages}        return self.b.make().generate(msgs)\n",
    "super attr": "class Base:\n    def __init__(self):\n        self.llm = Llm()\nclass E(Base):\n    def __init__(self):\n        super().__init__()\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n",
    "nested cond": "class E:\n    def __init__(self, fast: bool = False):\n        self.llm = (Other() if fast else Llm())\n    def run(self, query: str):\n{messages}        return (self.llm or Llm()).generate(msgs)\n",
    "async for": "class E:\n    def __init__(self):\n        self.llm = Llm()\n    async def run(self, query: str):\n{messages}        import asyncio\n        return await asyncio.to_thread(self.llm.generate, msgs)\n",
    "type var": "from typing import Type\nclass E:\n    def __init__(self, cls_: Type[Llm] = Llm):\n        self.llm = cls_()\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n",
    "cached_property": "from functools import cached_property\nclass E:\n    @cached_property\n    def llm(self):\n        return Llm()\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n",
    "meta singleton": "class Meta(type):\n    _all = {}\n    def __call__(cls, *a, **k):\n        if cls not in cls._all:\n            cls._all[cls] = super().__call__(*a, **k)\n        return cls._all[cls]\nclass Mine(Llm, metaclass=Meta):\n    pass\nclass E:\n    def run(self, query: str):\n{messages}        return Mine().generate(msgs)\n",
    "alias class": "Model = Llm\nclass E:\n    def run(self, query: str):\n{messages}        return Model().generate(msgs)\n",
    "optional attr annot": "from typing import Optional\nclass E:\n    llm: Optional[Llm] = None\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n",
    "kwargs dict": "class E:\n    def __init__(self, **kw):\n        self.llm = Llm(**kw)\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n",
    "dict ctor": 'class E:\n    def __init__(self):\n        self.m = dict(a=Llm(), b=Other())\n    def run(self, query: str):\n{messages}        return self.m["a"].generate(msgs)\n',
    "dict of lists": 'class E:\n    def __init__(self):\n        self.m = {"fast": [Llm(), Llm()]}\n    def run(self, query: str):\n{messages}        return [l.generate(msgs) for l in self.m["fast"]]\n',
    "generator method": "class Pool:\n    def each(self):\n        yield Llm()\nclass E:\n    def run(self, query: str):\n{messages}        return [l.generate(msgs) for l in Pool().each()]\n",
    "__getitem__": 'class Pool:\n    def __init__(self):\n        self.all = {"a": Llm()}\n    def __getitem__(self, key):\n        return self.all[key]\nclass E:\n    def __init__(self):\n        self.pool = Pool()\n    def run(self, query: str):\n{messages}        return self.pool["a"].generate(msgs)\n',
    "__enter__": "class Session:\n    def __enter__(self):\n        return Llm()\n    def __exit__(self, *a): ...\nclass E:\n    def run(self, query: str):\n{messages}        with Session() as llm:\n            return llm.generate(msgs)\n",
    "partial class": 'from functools import partial\nmake = partial(Llm, model_name="x")\nclass E:\n    def run(self, query: str):\n{messages}        return make().generate(msgs)\n',
    "default param": "class E:\n    def __init__(self, llm=Llm()):\n        self.llm = llm\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n",
    "async ctx": "from contextlib import asynccontextmanager\nfrom typing import AsyncIterator\n@asynccontextmanager\nasync def opened() -> AsyncIterator[Llm]:\n    yield Llm()\nclass E:\n    async def run(self, query: str):\n{messages}        async with opened() as llm:\n            return llm.generate(msgs)\n",
    "nested attribute chain": "class A:\n    def __init__(self):\n        self.b = B()\nclass B:\n    def __init__(self):\n        self.llm = Llm()\nclass E:\n    def __init__(self):\n        self.a = A()\n    def run(self, query: str):\n{messages}        return self.a.b.llm.generate(msgs)\n",
    "method alias on class": "class Mine(Llm):\n    ask = Llm.generate\nclass E:\n    def run(self, query: str):\n{messages}        return Mine().ask(msgs)\n",
    "operator or": 'class E:\n    llm = None\n    def run(self, query: str, llm: "Llm | None" = None):\n{messages}        llm = llm or self.llm or Llm()\n        return llm.generate(msgs)\n',
    "try except": "class E:\n    def __init__(self):\n        try:\n            self.llm = Llm()\n        except Exception:\n            self.llm = Other()\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n",
    "global module inst": "LLM = Llm()\nclass E:\n    def run(self, query: str):\n{messages}        return LLM.generate(msgs)\n",
    "setattr": 'class E:\n    def __init__(self):\n        setattr(self, "llm", Llm())\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n',
    "nonlocal closure": 'class E:\n    def run(self, query: str):\n        llm = Llm()\n        def ask(text):\n            msgs = [{"role": "user", "content": text}]\n            return llm.generate(msgs)\n        return ask(query)\n',
    "lambda default": "class E:\n    def __init__(self, make=lambda: Llm()):\n        self.llm = make()\n    def run(self, query: str):\n{messages}        return self.llm.generate(msgs)\n",
    "importlib getattr": "import llm as module\nclass E:\n    def run(self, query: str):\n{messages}        return module.Llm().generate(msgs)\n",
    "filter": "class E:\n    def __init__(self, llms: list[Llm]):\n        self.llms = llms\n    def run(self, query: str):\n{messages}        return [x.generate(msgs) for x in filter(None, self.llms)]\n",
}


def chosen(folder: Path, llm: str, agent: str) -> str:
    (folder / "pyproject.toml").touch()
    (folder / "llm.py").write_text(llm)
    path = folder / "agent.py"
    path.write_text(f"from llm import *\n{agent}")
    return survey([read_source(path)]).entry_points[0].name


@pytest.mark.parametrize("spelling", HANDED_OUT)
def test_an_instance_that_its_class_hands_out(spelling: str, tmp_path: Path) -> None:
    methods, got, below = HANDED_OUT[spelling]
    agent = f"class E:\n    def run(self, query: str):\n{MESSAGES}        return {got}.generate(msgs)\n"
    assert chosen(tmp_path, LLM.format(methods=methods) + below, agent) == "E.run"


@pytest.mark.parametrize("spelling", HAD)
def test_an_instance_that_an_agent_has(spelling: str, tmp_path: Path) -> None:
    agent = HAD[spelling].replace("{messages}", MESSAGES)
    assert chosen(tmp_path, LLM.format(methods=""), agent) == "E.run"
