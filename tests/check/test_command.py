"""Run ``art-adapt check`` as a user does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from agent_files import AGENTS, art_adapt, copy_of

BAD = """\
import art

async def rollout(client, model: art.TrainableModel, messages):
    trajectory = art.Trajectory(messages_and_choices=messages)
    response = await client.chat.completions.create(
        model=model.name, messages=messages, temperature=0
    )
    trajectory.messages_and_choices.append(response.choices[0].message)
    return trajectory
"""
FOUND = ["ART401", "ART201", "ART511"]  # worst first


def check(
    *arguments: str | Path, cwd: Path, stdin: bytes = b""
) -> tuple[int, str, str]:
    done = art_adapt("check", *arguments, cwd=cwd, stdin=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "good.py").write_text("import os\n")
    return tmp_path


def test_what_is_found_is_said_with_its_place_and_consequence(folder: Path) -> None:
    code, said, _ = check(".", cwd=folder)
    assert code == 1
    lines = said.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == FOUND
    assert lines[0].startswith("bad.py:6:58: ART401 at temperature 0")
    assert lines[-1] == (
        "Found 3: 2 trains garbage, 1 ends or wastes a run; 2 fixable with --fix."
    )


def test_nothing_found_says_how_much_was_looked_at(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("import art\n")
    (tmp_path / "other.py").write_text("import os\n")
    code, said, _ = check(".", cwd=tmp_path)
    assert code == 0 and said == (
        "Nothing found in 1 file with ART code; 1 file without it. "
        "Calls of other packages are not followed.\n"
    )
    said = check("other.py", cwd=tmp_path)[1]
    assert said == "Nothing to check: no ART code in 1 file.\n"


def test_text_shows_the_line(folder: Path) -> None:
    _, said, _ = check("--output-format", "text", "bad.py", cwd=folder)
    assert said.startswith("Trains garbage\n\nbad.py:6:58: ART401")
    assert "6 |         model=model.name, messages=messages, temperature=0\n" in said
    assert "\nEnds or wastes a run\n" in said


def test_machines_can_read_it(folder: Path) -> None:
    as_json = json.loads(check("--output-format", "json", ".", cwd=folder)[1])
    assert [each["code"] for each in as_json] == FOUND
    assert as_json[0]["severity"] == "trains garbage" and as_json[0]["line"] == 6
    log = json.loads(check("--output-format", "sarif", ".", cwd=folder)[1])
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert rules == set(FOUND) == {result["ruleId"] for result in run["results"]}
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "bad.py"
    region = {"startLine": 6, "startColumn": 58, "endLine": 6, "endColumn": 59}
    assert place["region"] == region
    assert run["results"][0]["level"] == "error"
    for rule in run["tool"]["driver"]["rules"]:
        assert rule["fullDescription"]["text"] != rule["shortDescription"]["text"]
        assert rule["helpUri"].endswith(f"/docs/rules/{rule['id']}.md")
    marks = [each["partialFingerprints"] for each in run["results"]]
    (folder / "bad.py").write_text(f"# one line more\n{BAD}")
    again = json.loads(check("--output-format", "sarif", ".", cwd=folder)[1])
    results = again["runs"][0]["results"]
    assert [each["partialFingerprints"] for each in results] == marks
    (folder / "bad.py").write_text(BAD)
    said = check("--output-format", "github", ".", cwd=folder)[1].splitlines()
    assert said[0].startswith(
        "::error title=ART401 zero-temperature,"
        "file=bad.py,line=6,endLine=6,col=58,endColumn=59::at temperature 0"
    )


def test_the_report_goes_to_a_file(folder: Path) -> None:
    code, said, _ = check(".", "--output-file", "report.txt", cwd=folder)
    assert (code, said) == (1, "") and "ART401" in (folder / "report.txt").read_text()


def test_statistics(folder: Path) -> None:
    _, said, _ = check(".", "--statistics", cwd=folder)
    assert "    1  ART201  message-not-choice  (trains garbage)\n" in said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--select", "ART2"], ["ART201"]),
        (["--select", "zero-temperature,ART511"], ["ART401", "ART511"]),
        (["--ignore", "ART4", "--ignore", "ART511"], ["ART201"]),
        (["--select", "ALL", "--ignore", "ART401"], ["ART201", "ART511"]),
    ],
)
def test_rules_are_chosen(
    arguments: list[str], expected: list[str], folder: Path
) -> None:
    said = check(".", "--output-format", "json", *arguments, cwd=folder)[1]
    assert [each["code"] for each in json.loads(said)] == expected


def test_the_configuration_chooses_too(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.art-adapt.check]\nselect = ["ART2"]\nexclude = ["vendored/*.py"]\n'
    )
    (folder / "vendored").mkdir()
    (folder / "vendored" / "bad.py").write_text(BAD)
    said = check(".", "--output-format", "json", cwd=folder)[1]
    assert [(each["path"], each["code"]) for each in json.loads(said)] == [
        ("bad.py", "ART201")
    ]
    assert art_adapt("--diff", "bad.py", cwd=folder).returncode in (0, 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--select", "ART999"], "no such rule: 'ART999'"),
        (["nowhere"], "nowhere: no such file or folder"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], said: str, folder: Path
) -> None:
    code, output, complaint = check(*arguments, cwd=folder)
    assert (code, output) == (2, "") and said in complaint


def test_a_broken_configuration_is_said(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.art-adapt.check]\nselekt = []\n")
    code, _, complaint = check(".", cwd=folder)
    assert code == 2 and "unknown key 'selekt'" in complaint


def test_ignores_and_those_that_ignore_nothing(folder: Path) -> None:
    file = folder / "bad.py"
    file.write_text(
        BAD.replace("temperature=0", "temperature=0  # art: ignore[ART401, ART511]")
        .replace(
            "append(response.choices[0].message)",
            "append(response.choices[0].message)  # art: ignore",
        )
        .replace("return trajectory", "return trajectory  # art: ignore[ART201]")
        + 'TEXT = "# art: ignore"\n'
    )
    said = check(".", "--output-format", "json", cwd=folder)[1]
    assert [(each["code"], each["line"]) for each in json.loads(said)] == [
        ("ART001", 9)
    ]


def test_gitignored_files_are_left_out(folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".gitignore").write_text("generated/\n")
    (folder / "generated").mkdir()
    (folder / "generated" / "worse.py").write_text(BAD)
    said = check(".", cwd=folder)[1]
    assert "worse.py" not in said and "bad.py" in said
    assert "worse.py" in check("generated/worse.py", cwd=folder)[1]


def test_unreadable_files_are_never_clean(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import art\ndef f(:\n")
    (tmp_path / "binary.py").write_bytes(b"import art\n\0")
    code, said, _ = check(".", cwd=tmp_path)
    assert code == 1 and said.count("ART000") == 2
    assert "broken.py:2:7: ART000 syntax error" in said


def test_fixes_are_shown_then_made_then_done(folder: Path) -> None:
    before = (folder / "bad.py").read_bytes()
    code, diff, _ = check("--diff", ".", cwd=folder)
    assert code == 1 and (folder / "bad.py").read_bytes() == before
    assert "+    trajectory.messages_and_choices.append(response.choices[0])\n" in diff
    applied = folder / "applied"
    applied.mkdir()
    (applied / "bad.py").write_bytes(before)
    subprocess.run(["git", "apply"], input=diff.encode(), cwd=applied, check=True)
    code, said, told = check("--fix", ".", cwd=folder)
    assert (applied / "bad.py").read_bytes() == (folder / "bad.py").read_bytes()
    assert "fixed 2 in bad.py" in told
    assert code == 1 and "ART401" in said and "ART201" not in said
    once = (folder / "bad.py").read_bytes()
    check("--fix", ".", cwd=folder)
    assert (folder / "bad.py").read_bytes() == once
    assert check("--diff", ".", cwd=folder)[:2] == (0, "")


def test_fixes_keep_line_endings_and_encoding(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\n# Café\n" + BAD
    data = text.replace("\n", "\r\n").encode("latin-1")
    (tmp_path / "bad.py").write_bytes(data)
    check("--fix", "bad.py", cwd=tmp_path)
    after = (tmp_path / "bad.py").read_bytes()
    assert after == data.replace(b"[0].message)", b"[0])").replace(
        b"model.name", b"model.get_inference_name()"
    )


def test_standard_input(tmp_path: Path) -> None:
    code, said, _ = check(
        "-", "--stdin-filename", "agent.py", cwd=tmp_path, stdin=BAD.encode()
    )
    assert code == 1 and said.startswith("agent.py:6:")
    code, fixed, said = check("-", "--fix", cwd=tmp_path, stdin=BAD.encode())
    assert "choices[0].message)" not in fixed and "ART401" in said and code == 1


def test_explain(tmp_path: Path) -> None:
    for name in ("ART201", "message-not-choice"):
        done = art_adapt("explain", name, cwd=tmp_path)
        assert done.returncode == 0 and b"carry the tokens" in done.stdout
    listed = art_adapt("explain", cwd=tmp_path).stdout.decode()
    assert "ART514  old-api" in listed
    wrong = art_adapt("explain", "ART999", cwd=tmp_path)
    assert wrong.returncode == 2 and b"no such rule" in wrong.stderr


def test_the_fixtures_are_clean_and_so_is_what_is_written(tmp_path: Path) -> None:
    code, said, _ = check(AGENTS, cwd=tmp_path)
    assert code == 0, said
    folder = copy_of("support_loop", tmp_path)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    code, said, _ = check(".", "--select", "ALL", cwd=folder)
    assert code == 0, said
    recorder = folder / "art_recording.py"
    recorder.write_bytes(recorder.read_bytes() + b"\n# noqa: a comment is no edit\n")
    assert check(".", cwd=folder)[0] == 0
    recorder.write_bytes(recorder.read_bytes() + b"\nMINE = 1\n")
    code, said, _ = check(".", cwd=folder)
    assert code == 1 and "art_recording.py:1:1: ART103" in said


def test_nothing_slow_is_imported_unless_it_is_needed(folder: Path) -> None:
    (folder / "bad.py").unlink()
    for arguments, forbidden in (
        (
            ["check", "."],
            (
                "libcst",
                "rich",
                "art_adapt.rules.code",
                "art_adapt.code.syntax",
            ),
        ),
        (["check", "--select", "ART2", "."], ("libcst", "art", "openai")),
    ):
        program = (
            "import sys; sys.argv = ['art-adapt', *sys.argv[1:]]\n"
            "from art_adapt.__main__ import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            f"assert not {set(forbidden)!r} & set(sys.modules), sys.modules.keys()"
        )
        command = [sys.executable, "-c", program, *arguments]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def test_fixes_of_other_encodings_hit_what_they_mean(tmp_path: Path) -> None:
    text = BAD.replace(
        "    trajectory.messages_and_choices.append(response.choices[0].message)\n",
        '    x = "éééééééé"; trajectory.messages_and_choices.append(response.choices[0].message)'
        "  # a long comment\n",
    )
    data = ("# -*- coding: latin-1 -*-\n" + text).encode("latin-1")
    (tmp_path / "bad.py").write_bytes(data)
    said = check("--output-format", "json", "bad.py", cwd=tmp_path)[1]
    column = next(e["column"] for e in json.loads(said) if e["code"] == "ART201")
    assert text.splitlines()[7][column - 1 :].startswith("response.choices[0].message)")
    _, _, told = check("--fix", "bad.py", cwd=tmp_path)
    assert "fixed 2 in bad.py" in told
    after = (tmp_path / "bad.py").read_bytes()
    assert after == data.replace(b"[0].message)", b"[0])").replace(
        b"model.name", b"model.get_inference_name()"
    )


def test_no_fix_takes_a_comment_with_it(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "from art import (\n    LocalBackend,  # why\n    TrainableModel,\n)\n"
    )
    assert check("--diff", ".", cwd=tmp_path)[:2] == (0, "")
    assert "fixable" not in check(".", cwd=tmp_path)[1]


@pytest.mark.parametrize(
    ("comment", "ignored"),
    [
        ("# art: ignore", True),
        ("# art:  ignore[ART401,ART2]", True),
        ("# noqa # art: ignore [zero-temperature]", True),
        ("# art: ignore[ART402]", False),
        ("# art: ignore[]", False),
        ("# art: ignore[ART401: why]", False),
        ("# art: ignored upstream?", False),
        ("# art: ignore-file", False),
    ],
)
@pytest.mark.parametrize("line", [5, 6, 7])
def test_ignore_comments(
    comment: str, ignored: bool, line: int, tmp_path: Path
) -> None:
    """A comment applies from any line of the statement."""
    lines = BAD.splitlines()
    lines[line - 1] += f"  {comment}"
    (tmp_path / "bad.py").write_text("\n".join(lines))
    said = check(".", "--select", "ART401", cwd=tmp_path)[1]
    assert ("ART401" not in said) == ignored


def test_standard_input_is_reported_like_a_file(folder: Path) -> None:
    arguments = ("-", "--stdin-filename", "good.py")
    code, said, _ = check(*arguments, cwd=folder, stdin=BAD.encode())
    assert code == 1 and said.startswith("good.py:6:58: ART401")
    code, said, _ = check(
        *arguments, "--statistics", "--exit-zero", cwd=folder, stdin=BAD.encode()
    )
    assert code == 0 and "zero-temperature" in said
    check(*arguments, "--output-file", "out.txt", cwd=folder, stdin=BAD.encode())
    assert "ART401" in (folder / "out.txt").read_text()


def test_files_are_left_out(folder: Path) -> None:
    (folder / "vendored").mkdir()
    (folder / "vendored" / "bad.py").write_text(BAD)
    left_out = ("--exclude", "vendored", "--exclude", "bad.py,x.py")
    assert check(".", *left_out[:2], cwd=folder)[1].count("ART401") == 1
    assert check(".", *left_out, cwd=folder)[0] == 0


def test_a_rule_is_explained(folder: Path) -> None:
    code, said, _ = check("--explain", "ART401", cwd=folder)
    assert code == 0 and said.startswith("# ART401: zero-temperature")
    assert said == art_adapt("explain", "ART401", cwd=folder).stdout.decode()
    assert check("--explain", "ART999", cwd=folder)[0] == 2


def test_colours_are_for_terminals(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = check(".", cwd=folder)[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = check(".", cwd=folder)[1]
    assert "\x1b[31m" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
    assert "\x1b" not in check(".", "--output-format", "json", cwd=folder)[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert check(".", cwd=folder)[1] == plain


def test_a_binary_file_is_not_clean(tmp_path: Path) -> None:
    (tmp_path / "compiled.py").write_bytes(b"\0\1\2")
    code, said, _ = check(".", cwd=tmp_path)
    assert code == 1 and "ART000 a binary file" in said


def test_exported_notebooks_are_read_like_notebooks(tmp_path: Path) -> None:
    lines = ["!pip install openpipe-art", "%cd /content", "await go()", BAD]
    (tmp_path / "colab.py").write_text("\n".join(lines))
    said = check(".", cwd=tmp_path)[1]
    found = re.findall(r"colab\.py:(\d+):\d+: (ART\d+)", said)
    assert found == [("9", "ART401"), ("11", "ART201"), ("9", "ART511")]
    assert "fixable" not in said  # it does not compile, so it is not written
    (tmp_path / "colab.py").write_text(f"!pip install x\n{BAD}\nthis is no Python")
    assert "ART000" in check(".", cwd=tmp_path)[1]


def test_helpers_of_the_project_are_followed(tmp_path: Path) -> None:
    (tmp_path / "shaping.py").write_text(
        "import random\n\ndef shaped(x):\n    return x + random.random() / 10\n"
    )
    (tmp_path / "rollout.py").write_text(
        "import art\nfrom shaping import shaped\n\n"
        "async def rollout(client, model, messages):\n"
        "    trajectory = art.Trajectory(messages_and_choices=messages)\n"
        "    trajectory.reward = shaped(await play(trajectory))\n"
        "    return trajectory\n"
    )
    said = check("rollout.py", cwd=tmp_path)[1]
    assert said.startswith("rollout.py:6:25: ART303")
    (tmp_path / "shaping.py").write_text("def shaped(x):\n    return x / 10\n")
    assert check("rollout.py", cwd=tmp_path)[0] == 0  # nothing is remembered


BY_FILE = """
[tool.art-adapt.check]
extend-select = ["ART507"]
per-file-ignores = { "old/*.py" = ["ART4", "ART511", "message-not-choice"], "notes.py" = ["ALL"] }
"""


def test_rules_are_left_out_in_some_files(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(BY_FILE)
    for place in ("old", "new"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "rollout.py").write_text(BAD)
    (tmp_path / "notes.py").write_text(BAD)
    said = check(".", cwd=tmp_path)[1]
    assert "new/rollout.py" in said
    assert "old/rollout.py" not in said and "notes.py" not in said
    inside = check("rollout.py", cwd=tmp_path / "old")[1]
    assert inside.startswith("Nothing found")
    assert (
        "ART201"
        in check("-", "--stdin-filename", "new/x.py", cwd=tmp_path, stdin=BAD.encode())[
            1
        ]
    )
    assert (
        "ART201"
        not in check(
            "-", "--stdin-filename", "old/x.py", cwd=tmp_path, stdin=BAD.encode()
        )[1]
    )


def test_rules_are_added_to_those_of_the_default(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(UNTIDY)
    assert "ART507" not in check(".", cwd=tmp_path)[1]
    assert (
        "ART507" in check(".", "--extend-select", "unclosed-backend", cwd=tmp_path)[1]
    )
    (tmp_path / "pyproject.toml").write_text(BY_FILE)
    assert "ART507" in check(".", cwd=tmp_path)[1]


UNTIDY = """\
import art
from art.local import LocalBackend


async def main(model):
    backend = LocalBackend()
    await model.register(backend)
"""


def test_a_baseline_is_written_in_one_step(folder: Path) -> None:
    before = check(".", cwd=folder)[1]
    assert "ART" in before
    (folder / "more.py").write_bytes(
        b"import art\r\n\r\nasync def rollout(client, model, messages):\r\n"
        b"    trajectory = art.Trajectory(messages_and_choices=messages)  # art: ignore[ART302]\r\n"
        b"    response = await client.chat.completions.create(\r\n"
        b"        model='m', messages=messages, temperature=0\r\n    )\r\n"
        b"    trajectory.messages_and_choices.append(response.choices[0].message)\r\n"
        b"    return trajectory\r\n"
    )
    status, said, told = check(".", "--add-ignore", cwd=folder)
    assert (status, said) == (0, "") and "ignored 2 in more.py" in told
    assert check(".", "--ignore", "ART001", cwd=folder)[0] == 0
    more = (folder / "more.py").read_bytes()
    assert b"    )  # art: ignore[ART401]\r\n" in more
    assert b".message)  # art: ignore[ART201]\r\n" in more
    assert (
        check(".", "--add-ignore", "--ignore", "ART001", cwd=folder)[2]
        == "nothing to ignore\n"
    )
    assert (folder / "more.py").read_bytes() == more


def test_a_comment_that_is_there_gets_the_new_code(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(
        UNTIDY.replace("Backend()\n", "Backend()  # why # art: ignore[ART999]\n")
    )
    check(".", "--select", "ART507", "--add-ignore", cwd=tmp_path)
    assert (
        "Backend()  # why # art: ignore[ART507, ART999]\n"
        in (tmp_path / "x.py").read_text()
    )


def test_what_somebody_has_to_look_at_is_fixed_on_demand(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(JUDGED)
    said = check("train.py", cwd=tmp_path)[1]
    assert "1 with --unsafe-fixes" in said
    assert check("train.py", "--fix", cwd=tmp_path)[0] == 1
    assert (tmp_path / "train.py").read_text() == JUDGED
    shown = check("train.py", "--unsafe-fixes", "--diff", cwd=tmp_path)
    assert (
        shown[0] == 1
        and '+                "openai/o3", swallow_exceptions=True,' in shown[1]
    )
    check("train.py", "--unsafe-fixes", cwd=tmp_path)
    assert (
        '"openai/o3", swallow_exceptions=True,\n' in (tmp_path / "train.py").read_text()
    )


JUDGED = """\
import art
from art.rewards import ruler_score_group


async def train(model, backend, scenarios):
    for step in range(await model.get_step(), 50):
        groups = await art.gather_trajectory_groups([], max_exceptions=8)
        judged = []
        for group in groups:
            scored = await ruler_score_group(
                group,
                "openai/o3",
            )
            if scored is not None:
                judged.append(scored)
        await backend.train(model, judged)
"""


def test_reports_for_gitlab_junit_and_reviewdog(folder: Path) -> None:
    found = json.loads(check(".", "--output-format", "json", cwd=folder)[1])
    issues = json.loads(check(".", "--output-format", "gitlab", cwd=folder)[1])
    assert [i["location"]["positions"]["begin"]["line"] for i in issues] == [
        f["line"] for f in found
    ]
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert {i["severity"] for i in issues} <= {
        "info",
        "minor",
        "major",
        "critical",
        "blocker",
    }
    said = json.loads(check(".", "--output-format", "rdjson", cwd=folder)[1])
    assert [d["code"]["value"] for d in said["diagnostics"]] == [
        f["code"] for f in found
    ]
    suites = ElementTree.fromstring(
        check(".", "--output-format", "junit", cwd=folder)[1]
    )
    assert len(suites.findall("./testsuite/testcase/failure")) == len(found)
    empty = folder / "empty"
    empty.mkdir()
    clean = ElementTree.fromstring(
        check("empty", "--output-format", "junit", cwd=folder)[1]
    )
    assert (
        clean.find("./testsuite/testcase") is not None
        and clean.find(".//failure") is None
    )
    assert json.loads(check("empty", "--output-format", "gitlab", cwd=folder)[1]) == []


def test_what_is_read_while_others_are_gone_through(tmp_path: Path) -> None:
    """Asking which objects a project makes reads further files of it, in the middle."""
    for name, text in PACKAGE.items():
        (tmp_path / f"{name}.py").write_text(text)
    status, said, _ = check("main.py", cwd=tmp_path)
    assert status == 0, said
    assert said.startswith("Nothing found in 1 file with ART code")


PACKAGE = {
    "main": """\
import art
from agents import Agent


class Runner:
    def __init__(self, agent):
        self.agent = agent

    async def rollout(self, model, scenario):
        trajectory = art.Trajectory(messages_and_choices=[])
        await self.agent.answer(trajectory, scenario)
        return trajectory


def make():
    return Runner(Agent())
""",
    "agents": """\
from bases import Base
from tools import Search


class Agent(Base):
    def __init__(self):
        self.search = Search()
""",
    "bases": """\
from stores import Store


class Base:
    def __init__(self):
        self.store = Store()

    async def answer(self, trajectory, scenario):
        trajectory.messages_and_choices.append({"role": "user", "content": self.store.get(scenario)})
""",
    "stores": "class Store:\n    def get(self, key):\n        return key\n",
    "tools": "from stores import Store\n\n\nclass Search:\n    store = Store()\n",
}


def test_odd_neighbours_end_nothing(tmp_path: Path) -> None:
    (tmp_path / "rollout.py").write_text(BAD)
    (tmp_path / "folder.py").mkdir()
    (tmp_path / ".#rollout.py").symlink_to("nowhere")
    (tmp_path / "dangling.py").symlink_to("nowhere")
    status, said, _ = check("rollout.py", cwd=tmp_path)
    assert status == 1 and "ART201" in said


def test_a_baseline_is_shown_before_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "rollout.py").write_text(BAD)
    status, said, _ = check(".", "--add-ignore", "--diff", cwd=tmp_path)
    assert status == 1 and "+" in said and "# art: ignore[" in said
    assert (tmp_path / "rollout.py").read_text() == BAD
    assert check(".", "--add-ignore", "--fix", cwd=tmp_path)[0] == 2


def test_odd_folders_end_nothing(folder: Path) -> None:
    """Check beside an empty submodule, and files that are nested without end."""
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")
    other = folder.parent / "other"
    other.mkdir()
    for command, cwd in (
        ((*git, "init", "-q"), other),
        ((*git, "commit", "-q", "--allow-empty", "-m", "x"), other),
        ((*git, "init", "-q"), folder),
        (
            (
                *(*git, "-c", "protocol.file.allow=always"),
                *("submodule", "--quiet", "add", str(other), "sub"),
            ),
            folder,
        ),
        ((*git, "submodule", "--quiet", "deinit", "-f", "sub"), folder),
    ):
        subprocess.run(command, cwd=cwd, check=True, capture_output=True)
    deep = "[" * 100_000
    (folder / "deep.ipynb").write_text(
        f'{{"cells": {deep} "import art messages_and_choices"'
    )
    (folder / "odd.ipynb").write_text('{"cells": [3, "art"]}')
    code, said, complaint = check(".", cwd=folder)
    assert code == 1 and "ART401" in said and not complaint
    assert said.count("ART000") == 2 and "deep.ipynb" in said and "odd.ipynb" in said
    (folder / "pyproject.toml").write_text(f"x = {'[' * 5_000}")
    code, _, complaint = check(".", cwd=folder)
    assert code == 2 and "pyproject.toml: not valid TOML" in complaint


def test_a_name_that_is_no_text_is_shown(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text(BAD)
    for form in ("text", "json", "sarif", "github"):
        code, said, complaint = check(
            ".", "--output-format", form, "--output-file", "report", cwd=tmp_path
        )
        assert (code, said, complaint) == (1, "", "")
    log = json.loads(check(".", "--output-format", "sarif", cwd=tmp_path)[1])
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "caf%E9.py"


def test_what_goes_round_is_read_to_the_end(tmp_path: Path) -> None:
    """Check mappings made from themselves, and helpers that call each other."""
    doubled = "".join(f"    d{n + 1} = {{**d{n}, **d{n}}}\n" for n in range(40))
    branches = "".join(f"    if n.k == {k}: return h(n.c{k})\n" for k in range(40))
    (tmp_path / "bad.py").write_text(
        f"{BAD}\n\ndef h(n):\n{branches}    return n\n\n\n"
        "async def again(client, model, messages, d0):\n"
        "    options = {'n': 1}\n"
        "    for turn in range(3):\n"
        "        options = {**options, 'top_p': turn}\n"
        "        options |= {'model': h(turn)}\n"
        "        await client.chat.completions.create(messages=messages, **options)\n"
        f"{doubled}"
        "    await client.chat.completions.create(messages=messages, **d40)\n"
        "    return art.Trajectory(messages_and_choices=messages, reward=h(d0))\n"
    )
    said = check("bad.py", cwd=tmp_path)[1]
    assert "ART000" not in said and "ART401" in said


def test_nothing_is_written_beside_the_files(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    check(".", cwd=folder)
    assert sorted(folder.rglob("*")) == before


def test_a_file_that_is_no_file_is_reported(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    code, said, _ = check("pipe.py", cwd=folder)
    assert code == 1 and "ART000" in said
    assert check("pipe.py", "--diff", cwd=folder)[0] == 0


@pytest.mark.parametrize(
    "content",
    [
        "tool = 3",
        "[tool.art-adapt]\ncheck = 3",
        '[tool.art-adapt]\nauxiliary = "judge"',
    ],
)
def test_odd_configurations_are_said(content: str, folder: Path) -> None:
    (folder / "pyproject.toml").write_text(content)
    code, _, complaint = check(".", cwd=folder)
    assert code == 2 and "pyproject.toml: " in complaint and "internal" not in complaint


def test_a_report_that_cannot_be_written(folder: Path) -> None:
    code, _, complaint = check(".", "--output-file", "no/such/folder", cwd=folder)
    assert (
        code == 2
        and "cannot write this file" in complaint
        and "internal" not in complaint
    )


def test_notebooks_are_read_cell_by_cell(tmp_path: Path) -> None:
    cells = [
        ("markdown", "# How to import art"),
        ("code", "%pip install openpipe-art\n!ls \\\n  -l\nimport art"),
        ("code", "%%bash\nfor x in a; do echo; done"),
        ("code", BAD.replace("import art\n\n", "")),
        ("code", "# Quiet.\n\n%%capture\nimport os"),
        ("code", "x = (7\n  % 2)"),
        ("code", "await rollout(None, model, [])  # art: ignore[ART401]"),
    ]
    content = {
        "cells": [
            {"cell_type": kind, "source": text.splitlines(keepends=True)}
            for kind, text in cells
        ]
    }
    notebook = tmp_path / "train.ipynb"
    notebook.write_text(json.dumps(content))
    code, said, _ = check(".", cwd=tmp_path)
    assert code == 1
    assert "train.ipynb:cell 4:4:58: ART401" in said
    assert "train.ipynb:cell 7:1:33: ART001" in said and "fixable" not in said
    before = notebook.read_bytes()
    check("--fix", ".", cwd=tmp_path)
    assert notebook.read_bytes() == before
    as_json = json.loads(check("--output-format", "json", ".", cwd=tmp_path)[1])
    assert (as_json[0]["cell"], as_json[0]["line"]) == (4, 4)
    notebook.write_text("{}")
    assert check(".", cwd=tmp_path)[0] == 0  # it does not mention ART
    notebook.write_text('{"art": 1}')
    code, said, _ = check(".", cwd=tmp_path)
    assert code == 1 and "ART000 not a valid notebook" in said


def test_an_agent_that_has_lost_its_hooks_is_told(tmp_path: Path) -> None:
    """It has no code for ART any more, but the train module beside it runs it."""
    folder = copy_of("support_loop", tmp_path)
    before = (folder / "agent.py").read_bytes()
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    assert check("agent.py", cwd=folder)[0] == 0
    (folder / "agent.py").write_bytes(before)
    code, said, _ = check(cwd=folder)
    assert code == 1 and "agent.py" in said and "ART101" in said, said
    (folder / "agent_train.py").unlink()
    assert check("agent.py", cwd=folder)[0] == 0


def test_an_agent_without_the_file_of_its_hooks_is_told(tmp_path: Path) -> None:
    folder = copy_of("support_loop", tmp_path)
    assert art_adapt("--isolated", "agent.py", cwd=folder).returncode == 0
    (folder / "art_recording.py").unlink()
    code, said, _ = check(cwd=folder)
    assert code == 1 and "ART103 there is no art_recording.py here" in said, said
