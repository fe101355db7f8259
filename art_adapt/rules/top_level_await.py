"""A script awaits at its top level, so Python does not start it

Only notebooks await outside a function. In a ``.py`` file the line is a SyntaxError: nothing of
the file runs.

Put it into ``async def main()`` and call ``asyncio.run(main())`` under
``if __name__ == "__main__":``.

Evidence: Python 3.11, "'await' outside function" (the parser accepts it, the compiler does not).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from art_adapt.code.syntax import MODULE_LEVEL
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART524", "top-level-await", Severity.WASTE)
BAD = (
    """\
import art

model = art.TrainableModel(name="m", project="p", base_model="b")
await model.register(backend)  # <-
""",
)
GOOD = (
    """\
import art, asyncio

async def main():
    await art.TrainableModel(name="m", project="p", base_model="b").register(backend)

asyncio.run(main())
""",
)
CELL = re.compile(r"^# (%%|In\[)", re.MULTILINE)  # of a script that is run cell by cell


def check(code: Code) -> Iterator[Found]:
    if (
        code.source.path.suffix == ".ipynb"
        or code.exported
        or CELL.search(code.source.text)
    ):
        return
    for node in code.syntax.nodes:
        if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
            outside = code.syntax.owner(node) == MODULE_LEVEL and not any(
                isinstance(each, ast.Lambda) for each in code.syntax.ancestors(node)
            )
            if outside:
                yield found(
                    node,
                    "await outside a function is a SyntaxError in a .py file: put it into "
                    "async def main(), and run that",
                )
                return  # one is enough: the file does not start
