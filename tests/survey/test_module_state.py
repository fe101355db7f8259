"""What a project sets in its modules before it runs its agent is set before all episodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_made_from_around import module_of

AGENT = """\
    from openai import OpenAI
    import settings
    from search import service

    STATE = {"limit": 2}


    class Options:
        tone = "kind"


    options = Options()


    def run_agent(question: str) -> str:
        messages = [{"role": "system", "content": f"{settings.tone} {options.tone}"}]
        messages.append({"role": "user", "content": question})
        for _ in range(STATE["limit"]):
            found = service.find(question)
            messages.append({"role": "user", "content": found})
            reply = OpenAI().chat.completions.create(model="m", messages=messages)
            messages.append(reply.choices[0].message)
        return messages[-1].content
    """
FILES = {
    "settings.py": "tone = 'kind'\n",
    "search.py": (
        "class Web:\n    pass\n\n\nclass Files:\n    def __init__(self, folder):\n"
        "        self.folder = folder\n\n\nclass Service:\n    engine = Web()\n\n"
        "    def find(self, text):\n        return str(self.engine)\n\n\nservice = Service()\n"
    ),
}
# What a main() sets, with what it imports for that.
SET = {
    "an object's attribute": (
        "from search import Files",
        "service.engine = Files('texts')",
    ),
    "a module's variable": ("import settings", "settings.tone = 'short'"),
    "through another name": ("import settings as chosen", "chosen.tone = 'short'"),
    "an object of the file": ("", "options.tone = 'short'"),
}
MAIN = """

    def main():
        STATEMENT
        print(run_agent(sys.argv[1]))


    if __name__ == "__main__":
        main()
    """


def adapted(folder: Path, imported: str, statement: str) -> str:
    """Return the train module of an agent whose ``main()`` has a statement before it runs it."""
    main = MAIN.replace("STATEMENT", statement)
    agent = f"    import sys\n    {imported}\n{AGENT}{main}"
    return module_of(folder, "agent.py", {**FILES, "agent.py": agent})


@pytest.mark.parametrize("way", SET)
def test_what_is_set_before_a_run_is_set_before_episodes(
    way: str, tmp_path: Path
) -> None:
    imported, statement = SET[way]
    module = adapted(tmp_path, imported, statement)
    before, _, episode = module.partition("def episode")
    assert f"\n{statement}\n".replace("'", '"') in before, module
    assert statement.replace("'", '"') not in episode


@pytest.mark.parametrize(
    "statement",
    [
        "settings.tone = sys.argv[2]",  # of one run
        "local = Files('texts')\n        local.folder = 'others'",  # a function's own
        "settings.tone = input()",
    ],
)
def test_what_is_of_one_run_or_of_a_function_is_not(
    statement: str, tmp_path: Path
) -> None:
    module = adapted(tmp_path, "from search import Files", statement)
    assert "settings.tone" not in module and "others" not in module, module


def test_what_a_test_sets_is_not(tmp_path: Path) -> None:
    test = (
        "import settings\nfrom agent import run_agent\n\n\n"
        "def test_it():\n    settings.tone = 'short'\n    assert run_agent('Who?')\n"
    )
    module = module_of(
        tmp_path, "agent.py", {**FILES, "agent.py": AGENT, "test_agent.py": test}
    )
    assert "settings.tone" not in module, module
