"""TrainableModel has no run_name, which ART 0.5.20 and newer require

Since ART 0.5.20 ``run_name`` is required: without it the script fails at its first line. ART
0.5.18 accepts and ignores it, so the same call works on both.

Evidence: art 0.5.23, model.py:1507-1511.
"""

from __future__ import annotations

from collections.abc import Iterator

from art_adapt.code.nodes import keyword
from art_adapt.rules.code import Code
from art_adapt.rules.rule import Found, Rule, Severity, found

RULE = Rule("ART519", "missing-run-name", Severity.UNTIDY, since="0.5.20")
BAD = (
    """\
import art

model = art.TrainableModel(name="agent", project="p", base_model="Qwen/Qwen3-4B")  # <-
""",
)
GOOD = (
    """\
import art

model = art.TrainableModel(name="agent", run_name="agent-1", project="p", base_model="b")
other = art.TrainableModel(**options)
""",
)


def check(code: Code) -> Iterator[Found]:
    for call in code.art_calls("TrainableModel"):
        if keyword(call, "run_name") is None and all(k.arg for k in call.keywords):
            yield found(
                call, "ART 0.5.20 and newer require run_name= (0.5.18 ignores it)"
            )
