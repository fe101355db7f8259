"""The table of completion calls: true of the installed libraries, and readable without them."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from agent_files import art_adapt as run_art_adapt

import art_adapt.survey
from art_adapt.calls import (
    CHAT,
    KINDS,
    LITELLM,
    RESPONSES,
    TEXT,
    Api,
    CallKind,
)
from art_adapt.code.syntax import Syntax
from art_adapt.source import Source
from art_adapt.survey.calls.completion_calls import FoundCall, find_completion_calls
from art_adapt.survey.survey import survey

FOLDER = Path(art_adapt.survey.__file__).parent


def found_in(text: str) -> list[FoundCall]:
    source = Source(Path("/nowhere/agent.py"), dedent(text).encode())
    return list(find_completion_calls(Syntax.of(source)))


@pytest.mark.parametrize(
    "kind", [CHAT, RESPONSES, TEXT], ids=lambda kind: str(kind.api)
)
def test_resource_classes_have_the_methods(kind: CallKind) -> None:
    for path in kind.resource_classes:
        module, _, name = path.rpartition(".")
        resource = getattr(importlib.import_module(module), name)
        for method in kind.methods:
            assert method.needs or callable(getattr(resource, method.name))


def test_litellm_has_the_functions() -> None:
    litellm = pytest.importorskip("litellm")
    for method in LITELLM.methods:
        assert callable(getattr(litellm, method.name))
        assert callable(getattr(litellm.Router, method.name))


def test_the_table_needs_no_library() -> None:
    code = (
        "import sys, art_adapt.calls as apis\n"
        "print({'libcst', 'typer', 'rich', 'openai', 'litellm', 'art'} & set(sys.modules))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"


# A package of the survey imports only from those before it, and from model.py.
PACKAGES = (
    "side_effects",
    "calls",
    "inputs",
    "candidates",
    "making",
)


def imported_in_the_survey() -> dict[str, set[str]]:
    """The modules of the survey, each with those that it imports when it is imported."""
    prefix = "art_adapt.survey."
    found = {}
    for path in FOLDER.rglob("*.py"):
        tree = ast.parse(path.read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                node.body = []
        nodes = ast.walk(tree)
        modules = {n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)}
        name = ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        found[name] = {m.removeprefix(prefix) for m in modules if prefix in m}
    return found


def test_the_survey_has_no_import_circles() -> None:
    left = imported_in_the_survey()
    while free := [name for name, needs in left.items() if not needs & set(left)]:
        for name in free:
            del left[name]
    assert not left


def test_the_packages_of_the_survey_are_layers() -> None:
    for name, needs in imported_in_the_survey().items():
        package, _, module = name.partition(".")
        if not module:
            continue
        below = PACKAGES[: PACKAGES.index(package) + 1]
        assert {n.partition(".")[0] for n in needs} <= {*below, "model"}, name


@pytest.mark.parametrize(
    ("text", "api"),
    [
        ("c.chat.completions.create(**r)", Api.CHAT),
        ("c.beta.chat.completions.parse(**r)", Api.CHAT),
        ("c.chat.completions.with_raw_response.create(**r)", Api.CHAT),
        ("raw = c.chat.completions.with_raw_response\nraw.create(**r)", Api.CHAT),
        ("c.with_raw_response.responses.create(input=i, model=m)", Api.RESPONSES),
        ("client.responses.create(**r)", Api.RESPONSES),
        ("self.client.responses.create(**r)", Api.RESPONSES),
        ("c.responses.create(model=m, input=i)", Api.RESPONSES),
        ("import openai\nc.responses.create(**r)", Api.RESPONSES),
        ("self.db.responses.create(**r)", None),
        ("self.db.responses.create(form=f)", None),
        ("client.responses.create(form=f)", None),
        ("import openai\nc.completions.create(prompt=p)", Api.TEXT),
        ("c.completions.create(prompt=p)", None),
        ("c.create(response_model=A, messages=m)", Api.CHAT),
        ("c.create(response_model=A, input=i)", Api.RESPONSES),
        ("import instructor\nc.create(response_model=A)", Api.CHAT),
        ("c.create(response_model=A)", None),
        ("c.create(messages=m)", None),
        ("import litellm\nlitellm.acompletion(**r)", Api.LITELLM),
        ("import litellm as l\nl.Router().completion(**r)", None),
        (
            "import litellm as l\nrouter = l.Router()\nrouter.completion(**r)",
            Api.LITELLM,
        ),
        ("import litellm\nself.llm.completion(**r)", None),
    ],
)
def test_what_counts_as_a_completion_call(text: str, api: Api | None) -> None:
    assert [call.api for call in found_in(text)] == ([api] if api else [])
    if api is not None:
        assert Source(Path("agent.py"), text.encode()).mentions_model


@pytest.mark.parametrize(
    "call",
    [
        "litellm.completion('m', messages)",
        "litellm.completion('m', messages=messages)",
        "partial(litellm.completion, 'm', messages)",
        "partial(litellm.completion, model='m', messages=messages)",
    ],
)
def test_arguments_are_read_by_position_too(call: str) -> None:
    (found,) = found_in(f"import litellm\n{call}\n")
    assert found.model is not None and ast.unparse(found.model) == "'m'"
    assert found.messages is not None and ast.unparse(found.messages) == "messages"


def test_unpacked_arguments_are_not_read() -> None:
    (found,) = found_in("import litellm\nlitellm.completion(*given)\n")
    assert found.model is None and found.messages is None


@pytest.mark.parametrize(
    "url",
    ["https://host/v1/chat/completions", "/v1/responses", "http://h/v1/completions/"],
)
def test_raw_http_is_recognised_for_every_api(url: str) -> None:
    text = f"import requests\nrequests.post({url!r})\n"
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert [o.what for o in found.files[0].obstacles] == ["a completion over raw HTTP"]


def test_every_row_can_be_told_from_the_bytes() -> None:
    assert all(kind.words and kind.methods for kind in KINDS)


@pytest.mark.parametrize(
    "part",
    [
        '{"type": "image_url", "image_url": {"url": url}}',
        '{"type": "input_image", "image_url": url}',
        '{"image_url": {"url": url}, "type": "image_url"}',
        'dict(type="image_url", image_url={"url": url})',
        'Part(type="input_audio", input_audio=sound)',
    ],
)
def test_parts_that_are_no_text_are_said_beforehand(part: str) -> None:
    text = f"def show(url):\n    return [{part}]\n"
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    (obstacle,) = found.files[0].obstacles
    assert obstacle.what.startswith("a message with ") and not obstacle.calls_model


def test_other_types_are_no_media() -> None:
    text = 'SCHEMA = {"type": "file", "image_url": {"type": "string"}}\n'
    found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
    assert not found.files[0].obstacles


EXPORTED = """\
get_ipython().run_line_magic('load_ext', 'autoreload')
{guard}get_ipython().system('pip install -q openai')
from openai import OpenAI
client = OpenAI()


def answer(question):
    messages = [dict(role="user", content=question)]
    return client.chat.completions.create(model="m", messages=messages)
"""


def test_what_only_ipython_has_is_named_with_its_lines() -> None:
    for guard, lines in (("", "lines 1, 2"), ("if 'x' in dir(): ", "line 1")):
        text = EXPORTED.format(guard=guard)
        found = survey([Source(Path("/nowhere/agent.py"), text.encode())])
        (obstacle,) = found.obstacles
        assert obstacle.what == "get_ipython()" and obstacle.instead.endswith(
            f"delete {lines} (numbered without hooks), then adapt it again"
        )


def test_a_cell_that_is_kept_as_text_is_not_to_be_deleted(tmp_path: Path) -> None:
    """nbconvert keeps a cell under %%time so: deleting the line would delete the function."""
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\nclient = OpenAI()\n\n"
        "get_ipython().run_cell_magic('time', '', 'def ask(question):\\n    return 1\\n')\n"
        "print(client.chat.completions.create(model='m', messages=[]))\n"
    )
    done = run_art_adapt("--yes", "--isolated", "agent.py", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 2
    assert "agent.py:5" in said and "kept as text" in said and "delete" not in said


def test_what_ends_each_import_is_the_first_next_step(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "from openai import OpenAI\n\nget_ipython().system('ls')\n\n\ndef ask(question: str) -> str:\n"
        "    messages = [{'role': 'user', 'content': question}]\n"
        "    reply = OpenAI().chat.completions.create(model='m', messages=messages)\n"
        "    return reply.choices[0].message.content\n"
    )
    said = run_art_adapt(
        "--yes", "--isolated", "agent.py", cwd=tmp_path
    ).stdout.decode()
    first, _, then = said.partition("\nNext: ")
    assert (
        "\nFirst: agent.py:3: get_ipython() exists only in a notebook" in first and then
    )
