"""A tool that catches its failure answers like any other: a rehearsal says that it reached nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_files import first_now
from test_witnesses import RIGHT, rehearsed

IMPORTS = "import asyncio\nimport os\nimport socket\nimport subprocess\nimport urllib.request\nfrom pathlib import Path\n\nimport httpx\n\n\n"


def tool(body: str, before: str = "") -> str:
    """Return an agent whose tool hides each failure of ``body``."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        f"{IMPORTS}{before}def look(city: str) -> str:\n    try:\n{lines}"
        f'    except Exception:\n        return "[]"\n    return "found"\n\n\n{RIGHT}'
    )


RUNS = {
    "a list": 'subprocess.run(["skyquery", "-c", city], check=True)',
    "output": 'subprocess.check_output(["/opt/sky/skyquery", city])',
    "Popen, with a keyword": 'subprocess.Popen(args=["skyquery"], stdout=subprocess.PIPE).communicate()',
    "a shell": 'subprocess.run("skyquery -c SELECT", shell=True, check=True)',
    "a shell that is waited for": 'subprocess.Popen("skyquery now", shell=True).wait()',
    "asyncio": 'asyncio.run(asyncio.create_subprocess_exec("skyquery", city))',
}
HELPER = "def skyquery(*words):\n    return subprocess.run(COMMAND + list(words), capture_output=True)\n\n\n"
BEFORE = {"a helper": f'COMMAND = ["skyquery"]\n\n\n{HELPER}'}
RUNS["a helper"] = "skyquery(city)"
# None of these needs a program that is missing.
RUNS_TOO = {
    "the model names the program": "subprocess.run([city], check=True)",
    "another one does": (
        "try:\n    subprocess.run(['skyquery'], check=True)\n"
        "except FileNotFoundError:\n    subprocess.run(['true'], check=True)"
    ),
    "a folder is missing": "subprocess.run(['true'], cwd=f'/srv/{city}')",
    "a shell's program is there": "subprocess.run('true; false', shell=True)",
}
ASKS = {
    "urllib": 'urllib.request.urlopen("https://sky.example/now").read()',
    "httpx": 'httpx.get("https://sky.example/now")',
    "httpx, async": (
        "async def get():\n    async with httpx.AsyncClient() as client:\n"
        '        return await client.get("https://sky.example/now")\nasyncio.run(get())'
    ),
    "an address of the environment": (
        'at = urllib.parse.urlsplit(os.environ["SKY_URL"])\n'
        "socket.create_connection((at.hostname, at.port))"
    ),
}


OPENS = {
    "a file": 'open("sky/now.txt").read()',
    "a path": 'Path("sky.txt").read_text()',
    "in a folder": 'open(f"notes/{len(city)}.txt", "w").write(city)',
    "with a keyword": 'with open(file="sky.txt") as file:\n    file.read()',
    "a helper": "load()",
}
BEFORE_OPENS = {
    "a helper": 'def load():\n    with Path("sky.txt").open() as file:\n        return file.read()\n\n\n'
}
# In each of these the file is there, later or elsewhere, or the model names it.
OPENS_TOO = {
    "the model names the file": "open(city).read()",
    "it is made then": (
        'try:\n    open("sky.txt").read()\nexcept FileNotFoundError:\n'
        '    open("sky.txt", "w").write(city)'
    ),
    "it is there": 'open("agent.py").read()',
}


def test_what_a_tool_did_not_reach_is_witnessed(tmp_path: Path) -> None:
    """A program, a file and a service in one tool, which answers all the same."""
    bodies = (RUNS["a list"], OPENS["a file"], ASKS["urllib"])
    tried = "\n".join(
        f"try:\n    {each}\nexcept Exception:\n    pass" for each in bodies
    )
    told = rehearsed(tmp_path, tool(tried), "run_agent", isolate="none")
    assert [each["name"] for each in told["findings"]] == ["not installed"]
    said = "\n".join(told["unwitnessed"])
    assert "opened a file in sky/" in said and "reached a service" in said, said


@pytest.mark.parametrize("name", first_now(OPENS, 0))
def test_a_file_that_is_missing_is_said(tmp_path: Path, name: str) -> None:
    agent = tool(OPENS[name], BEFORE_OPENS.get(name, ""))
    said = rehearsed(tmp_path, agent, "run_agent", isolate="none")["unwitnessed"]
    assert any("agent.py:" in each and "opened " in each for each in said), said


@pytest.mark.parametrize("name", first_now(OPENS_TOO, 0))
def test_no_file_is_missing(tmp_path: Path, name: str) -> None:
    agent = tool(OPENS_TOO[name])
    said = rehearsed(tmp_path, agent, "run_agent", isolate="none")["unwitnessed"]
    assert not [each for each in said if "opened " in each]


@pytest.mark.parametrize("name", first_now(RUNS, 0))
def test_a_program_that_is_not_installed_is_found(tmp_path: Path, name: str) -> None:
    agent = tool(RUNS[name], BEFORE.get(name, ""))
    found = rehearsed(tmp_path, agent, "run_agent")["findings"]
    assert [each["name"] for each in found] == ["not installed"], found
    assert "skyquery" in found[0]["what"]
    assert found[0]["path"].endswith("agent.py")


@pytest.mark.parametrize("name", first_now(RUNS_TOO, 0))
def test_no_program_is_missing(tmp_path: Path, name: str) -> None:
    told = rehearsed(tmp_path, tool(RUNS_TOO[name]), "run_agent", isolate="none")
    assert not [each for each in told["findings"] if each["name"] == "not installed"]


@pytest.mark.parametrize("name", first_now(ASKS, 0))
def test_a_service_that_is_not_reached_is_said(tmp_path: Path, name: str) -> None:
    said = rehearsed(tmp_path, tool(ASKS[name]), "run_agent")["unwitnessed"]
    assert any("look" in each and "reached a service" in each for each in said), said


@pytest.mark.slow
def test_nothing_is_said_of_what_is_reached(tmp_path: Path) -> None:
    said = rehearsed(tmp_path, tool("len(city)"), "run_agent")["unwitnessed"]
    assert said == []


@pytest.mark.slow
def test_the_folder_that_has_a_missing_file_is_named(tmp_path: Path) -> None:
    """A script that is run from the project's root, and a train module from its own folder."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'sky'\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "words.txt").write_text("sunny\n")
    (tmp_path / "src").mkdir()
    reads = RIGHT.replace(
        "    messages = [", '    open("data/words.txt").read()\n    messages = [', 1
    )
    told = rehearsed(tmp_path / "src", reads, "run_agent", isolate="none")
    fixes = [each["fix"] for each in told["findings"]]
    assert any("finds that file if it runs in .." in each for each in fixes), fixes
