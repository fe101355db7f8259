"""Follow calls into a module of the project that an object keeps in an attribute."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from art_adapt.source import read_source
from art_adapt.survey.side_effects.harm import Harm
from art_adapt.survey.survey import survey

# How a device keeps the module that looks at its screen.
WAYS = {
    "a property that imports it": """
        class Device:
            def __init__(self):
                self._module = None

            @property
            def module(self):
                if self._module is None:
                    from kinds import adb

                    self._module = adb
                return self._module
        """,
    "an attribute": """
        from kinds import adb

        class Device:
            def __init__(self):
                self.module = adb
        """,
    "one of two": """
        import kinds.adb as adb
        from kinds import ios

        class Device:
            def __init__(self, kind="adb"):
                self.module = adb if kind == "adb" else ios
        """,
    "what a function returns": """
        def load(kind):
            from kinds import adb
            return adb

        class Device:
            def __init__(self, kind="adb"):
                self.module = load(kind)
        """,
    "a name": """
        from kinds import adb

        class Device:
            def __init__(self):
                found = adb
                self.module = found
        """,
}
AGENT = """
from openai import OpenAI

client = OpenAI()


{device}

device = Device()


def answer(text: str) -> str:
    shot = device.module.screen()
    reply = client.chat.completions.create(
        model="m", messages=[{{"role": "user", "content": f"{{shot!r}}{{text}}"}}]
    )
    return reply.choices[0].message.content
"""


@pytest.mark.parametrize("way", WAYS)
def test_what_a_kept_module_does_is_found(tmp_path: Path, way: str) -> None:
    (tmp_path / "kinds").mkdir()
    (tmp_path / "kinds" / "__init__.py").touch()
    (tmp_path / "kinds" / "ios.py").write_text("def screen():\n    return b''\n")
    (tmp_path / "kinds" / "adb.py").write_text(
        "import subprocess\n\n\ndef screen():\n    return subprocess.run(['adb']).stdout\n"
    )
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT.format(device=dedent(WAYS[way])))
    found = survey([read_source(agent)]).effects(Harm.PROCESS)
    assert [(each.place.path.name, each.place.line) for each in found] == [
        ("adb.py", 5)
    ]
