"""A folder with several agents names them, and changes the files of one."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import art_adapt

AGENT = """\
from openai import OpenAI
{imports}

client = OpenAI()


def {name}(task: str) -> str:
    messages = [{{"role": "user", "content": task}}]
    while True:
        reply = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(reply)
        if not reply.tool_calls:
            return reply.content
"""
ONCE = """\
from openai import OpenAI


def {name}(task: str) -> str:
    messages = [{{"role": "user", "content": task}}]
    return OpenAI().chat.completions.create(model="m", messages=messages).choices[0].message.content
"""


def write(folder: Path, **files: str) -> None:
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def test_they_are_listed_with_their_files_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    write(
        tmp_path,
        shop=AGENT.format(name="run_shop", imports="import names"),
        desk=ONCE.format(name="run_desk"),
        trip=ONCE.format(name="run_trip"),
        names="NAMES = []\n",
    )
    done = art_adapt("-y", ".", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 2 and "several entry points: 3 functions" in said
    for place in ("shop.py:7  run_shop", "desk.py:4  run_desk", "trip.py:4  run_trip"):
        assert place in said
    assert not (tmp_path / "art_recording.py").exists()


def test_the_files_of_the_others_stay_as_they_are(tmp_path: Path) -> None:
    desk = ONCE.format(name="run_desk")
    write(
        tmp_path, shop=AGENT.format(name="run_shop", imports="import names"), desk=desk
    )
    done = art_adapt("-y", "--entry", "run_shop", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "recorded(" in (tmp_path / "shop.py").read_text()
    assert (tmp_path / "desk.py").read_text() == desk
    assert b"desk.py:5" not in done.stdout


@pytest.mark.parametrize(
    "files",
    [
        {"shop": AGENT.format(name="run_shop", imports="from desk import run_desk")},
        {
            "shop": AGENT.format(name="run_shop", imports=""),
            "main": "from desk import run_desk\nfrom shop import run_shop\n",
        },
    ],
)
def test_files_of_one_agent_are_none_apart(
    files: dict[str, str], tmp_path: Path
) -> None:
    write(tmp_path, desk=ONCE.format(name="run_desk"), **files)
    done = art_adapt("-y", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"entry       run_shop" in done.stdout
    assert "recorded(" in (tmp_path / "desk.py").read_text()


def test_a_judge_beside_an_agent_is_no_agent(tmp_path: Path) -> None:
    write(
        tmp_path,
        shop=AGENT.format(name="run_shop", imports=""),
        judge=ONCE.format(name="judge"),
    )
    assert art_adapt("-y", ".", cwd=tmp_path).returncode == 0


WEAK = """\
from openai import OpenAI


def {name}({parameters}):
    messages = [{{"role": "user", "content": {content}}}]
    print(OpenAI().chat.completions.create(model="m", messages=messages))
"""


def test_where_none_seems_an_agent_those_that_are_near_are_listed(
    tmp_path: Path,
) -> None:
    """A page that asks once, and a class that hides its loop: neither is silently the one."""
    write(
        tmp_path,
        page=WEAK.format(name="show", parameters="text", content="text"),
        core=WEAK.format(name="explain", parameters="text='a'", content="text"),
    )
    done = art_adapt("-y", ".", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 2 and "several entry points: 2 functions" in said


def test_a_name_that_several_files_have_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "from openai import OpenAI\n\nclient = OpenAI()\n\n\ndef say(text):\n"
        "    asked = [{'role': 'user', 'content': text}]\n"
        "    return client.chat.completions.create(model='m', messages=asked).choices[0].message.content\n"
    )
    for name, topic in (("cli", "topic"), ("web", "question")):
        (tmp_path / f"{name}.py").write_text(
            f"from bot import say\n\n\ndef main({topic}: str) -> str:\n"
            f"    return say(say(f'Plan {{{topic}}}'))\n"
        )
    done = art_adapt("--diff", "--entry", "main", "bot.py", cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == 2 and "several entry points: 2 functions" in said
    assert "--entry cli.py:main" in said
    done = art_adapt("--diff", "--entry", "web.py:main", "bot.py", cwd=tmp_path)
    assert done.returncode == 1 and "main(question: str)" in done.stderr.decode()
