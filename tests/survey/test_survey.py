"""What the survey says of an agent: roles, conversations, loops, tools, effects, packages, entry points."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from art_adapt.source import Source, read_source
from art_adapt.survey.calls.roles import Role
from art_adapt.survey.model import CompletionCall, FileSurvey, Survey
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.survey import survey


def of(text: str) -> Survey:
    return survey([Source(Path("/nowhere/agent.py"), dedent(text).encode())])


def call_in(text: str) -> CompletionCall:
    (call,) = of(text).calls
    return call


def files(folder: Path, **texts: str) -> Survey:
    """Write the modules of a project (``a__b`` is ``a/b.py``) and survey the first."""
    paths = []
    for name, text in texts.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        if path.name == "init.py":
            path = path.with_name("__init__.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        paths.append(path)
    return survey([read_source(paths[0])])


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("def ask(c):\n    c.chat.completions.create(model='m')", Role.POLICY),
        (
            "def ask(c):\n    c.chat.completions.create(model=JUDGE_MODEL)",
            Role.AUXILIARY,
        ),
        (
            "def ask(judge):\n    judge.chat.completions.create(model='m')",
            Role.AUXILIARY,
        ),
        ("def summarise(c):\n    c.chat.completions.create(model='m')", Role.POLICY),
        (
            "def ask(c):\n    c.chat.completions.create(model='m')  # art: auxiliary",
            Role.AUXILIARY,
        ),
    ],
)
def test_roles(text: str, role: Role) -> None:
    assert call_in(text).role is role


def test_a_side_job_on_another_model_is_auxiliary() -> None:
    found = of(
        """
        def run(c):
            c.chat.completions.create(model="gpt-4o")

        def summarize(c):
            c.chat.completions.create(model="gpt-4o-mini")

        def plan(c):
            c.chat.completions.create(model="gpt-4o")
        """
    )
    assert [(call.function, call.role) for call in found.calls] == [
        ("run", Role.POLICY),
        ("summarize", Role.AUXILIARY),
        ("plan", Role.POLICY),
    ]


@pytest.mark.parametrize(
    ("body", "conversation"),
    [
        ("ms = []\n    c.chat.completions.create(messages=ms)", "the local list ms"),
        ("c.chat.completions.create(messages=messages)", "the parameter messages"),
        ("c.chat.completions.create(messages=LOG)", "the module-level list LOG"),
        ("c.chat.completions.create(messages=self.log)", "the attribute self.log"),
        (
            "c.chat.completions.create(messages=[1] + messages)",
            "put together for each call",
        ),
        ("c.chat.completions.create(messages=[{}])", "written in the call"),
        (
            "c.chat.completions.create(messages=build())",
            "made by a call for each request",
        ),
        ("c.chat.completions.create(**request)", "in **arguments"),
    ],
)
def test_conversations(body: str, conversation: str) -> None:
    assert (
        call_in(f"LOG = []\ndef run(self, c, messages):\n    {body}\n").conversation
        == conversation
    )


@pytest.mark.parametrize(
    ("loop", "limit"),
    [
        ("for turn in range(8)", "8"),
        ("for turn in range(1, MOST + 1)", "MOST"),
        ("while True", None),
        ("while turns < self.most", "self.most"),
    ],
)
def test_loops_are_found_in_the_callers_too(loop: str, limit: str | None) -> None:
    call = call_in(
        f"""
        class Agent:
            def _ask(self):
                return self.client.chat.completions.create(messages=self.log)

            def run(self, tasks):
                {loop}:
                    self._ask()
        """
    )
    assert call.loop is not None
    assert (call.loop.header, call.loop.turn_limit) == (loop, limit)


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("TOOLS[call.function.name](1)", "looked up in TOOLS"),
        ("name = call.function.name; f = tools.get(name)", "looked up in tools"),
        ("getattr(self, call.function.name)()", "an attribute of self"),
        ("ok = call.function.name == 'search'", "chosen by comparing the name"),
        ("run_tool(call.function.name, 1)", "handed to run_tool"),
        ("print(call.function.name)", None),
    ],
)
def test_tool_execution(line: str, how: str | None) -> None:
    found = of(
        f"def run(self, c, call):\n    c.chat.completions.create()\n    {line}\n"
    )
    execution = found.files[0].tool_execution
    assert (execution.how if execution else None) == how


def test_effects() -> None:
    found = of(
        """
        import requests, time, subprocess, random
        LOG = []

        def run(c):
            LOG.append(input())
            open("out", "w")
            open("in")
            requests.get("x")
            time.time()
            subprocess.run("x")
            c.chat.completions.create(messages=LOG)
        """
    )
    assert sorted((e.harm, e.place.line) for e in found.files[0].effects) == sorted(
        [
            (Harm.ASKS, 6),
            (Harm.SHARED, 6),
            (Harm.WRITES, 7),
            (Harm.NETWORK, 9),
            (Harm.CLOCK, 10),
            (Harm.PROCESS, 11),
        ]
    )


def test_calls_in_imported_files_count_if_they_can_be_reached(tmp_path: Path) -> None:
    found = files(
        tmp_path,
        agent="from middle import step\n\ndef run(task):\n    return step(task)\n",
        middle="import llm\n\ndef step(task):\n    return llm.Model().ask(task)\n",
        llm="""
        class Model:
            def ask(self, task):
                return self.client.chat.completions.create(messages=[task])

        def unrelated(client):
            return client.chat.completions.create(messages=[])
        """,
    )
    assert [
        (f.source.path.name, [c.function for c in f.calls]) for f in found.files
    ] == [("agent.py", []), ("llm.py", ["Model.ask"])]
    assert found.entry_points[0].name == "run"


@pytest.mark.parametrize(
    ("modules", "package", "relative"),
    [
        ({"agent": "import openai\n"}, "", False),
        ({"pkg__agent": "from .llm import x\n", "pkg__init": ""}, "pkg", True),
        ({"pkg__agent": "import openai\n", "pkg__init": ""}, "pkg", False),
        (
            {"pkg__agent": "import tools\n", "pkg__init": "", "pkg__tools": ""},
            "",
            False,
        ),
        (
            {"pkg__agent": "import openai\n", "pkg__loop": "from .agent import x\n"},
            "pkg",
            False,
        ),
        (
            {"pkg__agent": "import openai\n", "main": "from pkg.agent import x\n"},
            "pkg",
            False,
        ),
        ({"pkg__agent": "from pkg.tools import x\n", "pkg__tools": ""}, "pkg", False),
        (
            {"top__sub__agent": "from top.tools import x\n", "top__tools": ""},
            "top.sub",
            False,
        ),
        # A module named like the standard library's makes no folder of scripts.
        (
            {"pkg__agent": "import json\n", "pkg__json": "", "pkg__init": ""},
            "pkg",
            False,
        ),
        # A package may have a module of its own name.
        *(
            ({"pkg__agent": text, "pkg__pkg": "x = 1\n", "pkg__init": ""}, "pkg", False)
            for text in (
                "from pkg import x\n",
                "import pkg\n",
                "from pkg.pkg import x\n",
            )
        ),
        # One that imports either way runs either way: python pkg/agent.py, too.
        *(
            ({"pkg__agent": text, "pkg__tools": ""}, "pkg", False)
            for text in (
                "try:\n    from .tools import x\nexcept ImportError:\n    from tools import x\n",
                "try:\n    from tools import x\nexcept ImportError:\n    from .tools import x\n",
                "if __package__:\n    from .tools import x\nelse:\n    from tools import x\n",
                "def late():\n    from .tools import x\n",
                "if TYPE_CHECKING:\n    from .tools import x\n",
            )
        ),
        (
            {
                "my-folder__agent": "try:\n    from .a import x\nexcept ImportError: ...\n"
            },
            "",
            False,
        ),
        # The folder around a package may have an __init__.py, and a part of it none.
        (
            {"repo__app__agent": "from app.tools import x\n", "repo__app__tools": ""}
            | {"repo__init": "", "repo__app__init": ""},
            "app",
            False,
        ),
        (
            {"app__llm__openai__agent": "import openai\nfrom app.api import x\n"}
            | {"app__api": "", "app__llm__openai__init": ""},
            "app.llm.openai",
            False,
        ),
        # Folders that are called like a library are no packages for that.
        ({"openai__agent": "from openai import OpenAI\n"}, "", False),
        ({"mcp__my-server__agent": "from mcp.client import x\n"}, "", False),
        ({"pkg__sub__agent": "import openai\n", "pkg__init": ""}, "pkg.sub", False),
        (
            {
                "pkg__agent": 'if __name__ == "__main__":\n    import tools\n',
                "pkg__init": "",
                "pkg__tools": "",
            },
            "pkg",
            False,
        ),
    ],
)
def test_packages_are_told_from_scripts(
    tmp_path: Path, modules: dict[str, str], package: str, relative: bool
) -> None:
    """It decides how the hooks are imported; a wrong guess would break the agent in production."""
    (file,) = files(tmp_path, **modules).files
    assert isinstance(file, FileSurvey)
    place = file.hooks_places[0]
    only_relatively = place.prefix == "." and place.otherwise is None
    assert (file.package, only_relatively) == (package, relative)


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (
            "def call_llm(c, m):\n    return c.chat.completions.create(messages=m)\ndef run(c, task):\n    return call_llm(c, [task])\ndef main():\n    run(1, 2)\n",
            "run",
        ),
        (
            "class Agent:\n    def _step(self):\n        return self.c.chat.completions.create()\n    def solve(self, task):\n        while True:\n            self._step()\n",
            "Agent.solve",
        ),
        (
            "@app.command()\ndef chat(q):\n    return answer(q)\ndef answer(q):\n    return c.chat.completions.create(messages=[q])\n",
            "answer",
        ),
    ],
)
def test_the_likeliest_entry_point_comes_first(text: str, entry: str) -> None:
    assert of(text).entry_points[0].name == entry


@pytest.mark.parametrize(
    "body",
    [
        "def run(task):\n    with ProcessPoolExecutor() as pool:\n        return pool.submit(ask, task).result()\n",
        "def run(task):\n    pool = multiprocessing.Pool()\n    return pool.apply_async(ask, (task,)).get()\n",
        "class Agent:\n    def start(self):\n        self.pool = ProcessPoolExecutor()\n\n"
        "    def submit(self, task):\n        return self.pool.submit(ask, task)\n\n"
        "    def run(self, task):\n        self.start()\n        return self.submit(task).result()\n",
    ],
)
def test_a_process_keeps_no_context(body: str) -> None:
    found = of(
        "import multiprocessing\nfrom concurrent.futures import ProcessPoolExecutor\n"
        "from openai import OpenAI\n\n\ndef ask(task):\n"
        "    messages = [{'role': 'user', 'content': task}]\n"
        f"    return OpenAI().chat.completions.create(model='m', messages=messages)\n\n\n{body}"
    )
    assert not any(file.threads for file in found.files)
    assert "another process" in [each.what for each in found.obstacles]


@pytest.mark.parametrize(
    "body",
    [
        "    with ThreadPoolExecutor() as pool:\n        return list(pool.map(ask, tasks))\n",
        "    threads = [threading.Thread(target=ask, args=(each,)) for each in tasks]\n    for each in threads:\n        each.start()\n",
    ],
)
def test_a_thread_between_the_episode_and_its_calls_keeps_the_context(
    body: str, tmp_path: Path
) -> None:
    """Its file is neither the one that the user named nor one with a completion call."""
    found = files(
        tmp_path,
        main="from workers import run_all\n\n\ndef solve(task: str):\n"
        "    return run_all([task, f'not {task}'])\n",
        workers="import threading\nfrom concurrent.futures import ThreadPoolExecutor\n\n"
        f"from model import ask\n\n\ndef run_all(tasks):\n{body}",
        model="def ask(task):\n    from openai import OpenAI\n\n"
        "    messages = [{'role': 'user', 'content': task}]\n"
        "    return OpenAI().chat.completions.create(model='m', messages=messages)\n",
    )
    between = next(f for f in found.files if f.source.path.name == "workers.py")
    assert between.edited and len(between.threads) == 1
