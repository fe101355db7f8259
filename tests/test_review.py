"""A reviewer reads each change with its reason, and what is left to decide."""

from __future__ import annotations

import html
import html.parser
import re
import subprocess
import sys
from pathlib import Path

import pytest
from agent_files import AGENTS, NAMES, agent_file, art_adapt, copy_of

from art_adapt.source import read_source

VOID = {"meta", "rect", "path", "br"}


def review(name: str, format_: str, tmp_path: Path, *options: str) -> str:
    folder = copy_of(name, tmp_path)
    agent = agent_file(folder).relative_to(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*.py")}
    done = art_adapt(
        "--isolated", "--diff", "--format", format_, *options, agent, cwd=folder
    )
    assert done.returncode == 1, done.stderr.decode()
    assert {path: path.read_bytes() for path in folder.rglob("*.py")} == before
    return done.stdout.decode()


def patch(name: str, tmp_path: Path) -> list[str]:
    """Return the changed lines of the agent's own files."""
    folder = tmp_path / name
    agent = agent_file(folder).relative_to(folder)
    said = art_adapt("--isolated", "--diff", agent, cwd=folder).stdout.decode(
        read_source(folder / agent).encoding
    )
    own = [part for part in said.split("diff --git ")[1:] if "\nnew file" not in part]
    lines = [line for part in own for line in part.splitlines()]
    return [x for x in lines if re.match(r"[+-](?!\+\+ |-- )", x)]


@pytest.mark.parametrize("name", NAMES)
def test_a_comment_has_every_changed_line_and_why(name: str, tmp_path: Path) -> None:
    said = review(name, "markdown", tmp_path)
    fences = re.findall(r"^(`{3,})diff\n(.*?)^\1$", said, re.MULTILINE | re.DOTALL)
    shown = [
        line
        for _, text in fences
        for line in text.splitlines()
        if line.startswith(("+", "-"))
    ]
    assert shown == patch(name, tmp_path)
    for part in said.split("diff\n")[:-1]:
        assert part.rstrip("`\n").rpartition("\n\n")[2].startswith("* "), part[-300:]
    assert "<summary><code>" in said and "### Try it" in said
    # The summary line of a generated file is all that is seen of it.
    opened = re.sub(r"<details>.*?</details>", "", said, flags=re.DOTALL)
    assert "def episode(" not in opened


def test_questions_that_only_a_person_can_answer(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    (folder / "scenarios.jsonl").unlink()
    options = ("--isolated", "--diff", "--format", "markdown")
    said = art_adapt(*options, "agent.py", cwd=folder).stdout.decode()
    assert "* [ ] Which scenarios do you train on? `scenarios.jsonl`" in said
    assert "art-adapt rehearse agent_train.py" in said


NOTEBOOK = """\
from openai import OpenAI

client = OpenAI()
messages = [{"role": "user", "content": "How many?"}]
print(client.chat.completions.create(model="m", messages=messages))


def ask(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    for _ in range(5):
        message = client.chat.completions.create(model="m", messages=messages).choices[0].message
        messages.append(message)
        messages.append({"role": "user", "content": "Are you sure?"})
    return message.content
"""


def test_a_call_that_no_episode_reaches_is_not_called_trained(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(NOTEBOOK)
    done = art_adapt(
        "--isolated", "--diff", "--format", "markdown", "agent.py", cwd=tmp_path
    )
    lines = done.stdout.decode().splitlines()
    (cell,) = [each for each in lines if each.startswith("* Line 5:")]
    (turn,) = [each for each in lines if each.startswith("* Line 11:")]
    assert cell.endswith("No call path leads from the entry point to it.")
    assert "samples the turns that are trained" in turn


def test_a_train_module_that_stays_is_a_question(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    with (folder / "agent_train.py").open("a") as file:
        file.write("STEPS = 9\n")
    options = ("--isolated", "--diff", "--format", "markdown", "--max-steps", "3")
    said = art_adapt(*options, "agent.py", cwd=folder).stdout.decode()
    assert "* [ ] `agent_train.py` has been edited and stays as it is" in said


def test_markup_in_code_stays_text(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        'def run(client, task):\n    """```<b>&"""\n'
        "    r = client.chat.completions.create(model='m', messages=[task])\n"
        "    return r.choices[0].message.content + '<script>```'\n"
    )
    for format_ in ("markdown", "html"):
        done = art_adapt(
            "--isolated", "--diff", "--format", format_, "agent.py", cwd=tmp_path
        )
        said = done.stdout.decode()
        if format_ == "html":
            assert "<script>" not in said
        else:
            assert "````diff" in said


def test_the_agents_source_cannot_write_into_the_comment(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(
        "def run(client, task):\n"
        "    r = client.chat.completions.create(model='m', messages=[task])\n"
        "    if not r:\n        return r.x or '` <!-- @openai <img src=http://evil>'\n"
        "    \x0c\n    return r.choices[0].message.content\n"
    )
    options = ("--isolated", "--diff", "--entry", "run", "--format")
    said = art_adapt(*options, "markdown", "__main__.py", cwd=tmp_path).stdout.decode()
    assert said.startswith("## art-adapt: \\_\\_main\\_\\_.py\n")
    # But for what is escaped, and what is code.
    shown = re.sub(r"\\.", "", said.partition("### Generated")[0])
    plain = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", shown, flags=re.DOTALL)
    assert "<" not in plain and "@openai" not in plain
    assert "* Line 6: `r.choices[0].message.content` is the answer" in said
    page = art_adapt(*options, "html", "__main__.py", cwd=tmp_path).stdout.decode()
    assert "<img" not in page and "<td class=line>6</td>" in page


class Tags(html.parser.HTMLParser):
    """Check that tags close in order, and that nothing is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {"src", "href"} & {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_both_sides(name: str, tmp_path: Path) -> None:
    said = review(name, "html", tmp_path)
    tags = Tags()
    tags.feed(said)
    assert tags.open == []
    assert "name=viewport" in said
    cells = re.findall(
        r'<td class=line>(\d+)</td><td class="(old|new)">(.*?)</td>', said
    )
    changed = [f"{'-+'[kind == 'new']}{html.unescape(text)}" for _, kind, text in cells]
    assert sorted(changed) == sorted(patch(name, tmp_path))
    files = [
        read_source(each).text.splitlines() for each in (tmp_path / name).rglob("*.py")
    ]
    for number, kind, text in cells:
        line = html.unescape(text)
        assert kind == "new" or any(
            line in file[int(number) - 1 :][:1] for file in files
        )


def test_formats_are_for_diffs(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("")
    done = art_adapt("--format", "html", "agent.py", cwd=tmp_path)
    assert done.returncode == 2 and b"use it with --diff" in done.stderr


def test_a_patch_comes_before_its_summary(tmp_path: Path) -> None:
    agent = AGENTS / "support_loop" / "agent.py"
    done = subprocess.run(
        [sys.executable, "-m", "art_adapt", "--isolated", "--diff", str(agent)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
    )
    said = done.stdout.decode()
    assert said.index("+++ b/") < said.index("Found") and said.rstrip().endswith(")")


def test_a_comment_is_never_longer_than_github_takes(tmp_path: Path) -> None:
    calls = "".join(
        f"\n\ndef ask_{n}(question):\n"
        '    messages = [{"role": "user", "content": question}]\n'
        "    while True:\n"
        "        reply = client.chat.completions.create(model='m', messages=messages)\n"
        "        if 'done' in reply.choices[0].message.content:\n"
        "            return reply.choices[0].message.content\n"
        for n in range(150)
    )
    head = "from openai import OpenAI\n\nclient = OpenAI()\n"
    (tmp_path / "agent.py").write_text(head + calls)
    options = ("--isolated", "--diff", "--format", "markdown", "--entry", "ask_0")
    said = art_adapt(*options, "agent.py", cwd=tmp_path).stdout.decode()
    assert 50_000 < len(said) <= 65_536
    shown = said.count("```diff")
    left_out = re.search(r"(\d+) more changes are not shown", said)
    assert left_out is not None and shown + int(left_out[1]) >= 150
    assert "### Try it" in said and "agent_train.py" in said
    if "### Open questions" in said:
        assert said.index("### Open questions") < said.index("### Found")
