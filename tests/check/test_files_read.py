"""What checking a file costs does not depend on the files that it imports stand among."""

from pathlib import Path

from art_adapt.check.run import check_source
from art_adapt.check.selection import Selection
from art_adapt.code.session import Session
from art_adapt.source import read_source

ROLLOUT = """\
import art

from part0 import Part0


class Agent:
    def __init__(self, client, part):
        self.client = client
        self.part = part

    async def ask(self, messages):
        return await self.client.chat.completions.create(
            model="m", messages=messages, temperature=0
        )


async def rollout(model):
    agent = Agent(model.openai_client(), Part0())
    messages = []
    response = await agent.ask(messages)
    return art.Trajectory(messages_and_choices=[*messages, response.choices[0]])
"""
PART = """\
from part{below} import Part{below}


class Part{number}:
    def __init__(self):
        self.below = Part{below}()
"""


def test_files_that_make_something_else_are_not_read(tmp_path: Path) -> None:
    for number in range(40):
        text = PART.format(number=number, below=number + 1)
        (tmp_path / f"part{number}.py").write_text(text)
    rollout = tmp_path / "rollout.py"
    rollout.write_text(ROLLOUT)
    session = Session()
    checked = check_source(read_source(rollout), Selection(), session=session)
    assert "temperature" in checked.found[0].found.message  # its client was followed
    assert session.files <= 4  # of forty: what Part0 makes is followed no further
