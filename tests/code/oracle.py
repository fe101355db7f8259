"""Ask jedi which function each method call of some files enters: labels for the engine.

python tests/code/oracle.py FOLDER [FOLDER ...] > sites.jsonl     (needs ``pip install jedi``)

A row is a call on an object whose method jedi knows for certain: one function or class,
defined in the same folder. ``call_sites.jsonl`` has such rows; where the engine said
otherwise, a person has looked, and ``"by": "hand"`` tells.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST_BYTES = 200_000


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    import jedi  # type: ignore[import-not-found, unused-ignore]

    project = jedi.Project(folder, added_sys_path=[str(folder)])
    for path in sorted(folder.rglob("*.py")):
        data = path.read_bytes()
        if len(data) > MOST_BYTES:
            continue
        try:
            text, tree = data.decode(), ast.parse(data)
        except (SyntaxError, UnicodeError):
            continue
        script = jedi.Script(text, path=path, project=project)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(
                node.func, ast.Attribute
            ):
                continue
            end = node.func.end_col_offset or 0
            line = node.func.end_lineno or 0
            try:
                found = script.goto(line, end - 1, follow_imports=True)
            except Exception:  # of jedi, which has nothing to say then
                continue
            known = {
                (Path(each.module_path), each.full_name, each.module_name)
                for each in found
                if each.type == "function" and each.module_path
            }
            if len(known) != 1 or len(found) != 1:
                continue
            [(defined, full_name, module)] = known
            if not defined.is_relative_to(folder) or not full_name:
                continue
            yield {
                "file": str(path.relative_to(folder)),
                "line": line,
                "column": end,
                "enters": f"{defined.relative_to(folder)}:{full_name.removeprefix(module + '.')}",
            }


def main() -> None:
    for name in sys.argv[1:]:
        folder = Path(name).resolve()
        for row in rows(folder):
            print(json.dumps({"in": folder.name, **row}), flush=True)


if __name__ == "__main__":
    main()
