"""What the model in training was asked: under which name, how, and by whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.seen import Finding, Seen


def inference_name(seen: Seen) -> Iterator[Finding]:
    wrong = Counter(
        str(e.request.get("model")) for e in seen.log if e.is_policy and e.status == 404
    )
    if wrong:
        name, count = wrong.most_common(1)[0]
        yield seen.finding(
            "inference name",
            f"{count} requests asked for the model {name!r}, which is not served "
            f"(now: {seen.notes.names[-1]!r})",
            "take model.get_inference_name() once in each rollout: the name changes "
            "with every step",
            r"model=(?!model\.get_inference_name).*",
            r"get_inference_name",
        )


def judge(seen: Seen) -> Iterator[Finding]:
    asked = [e for e in seen.log if e.is_policy and is_judgement(e.request)]
    if asked:
        yield seen.finding(
            "judge",
            f"RULER's judge was the model in training ({len(asked)} times)",
            "name another model: a policy that judges itself learns to praise itself",
            r"JUDGE_MODEL",
            r"judge_model",
        )


def temperature(seen: Seen) -> Iterator[Finding]:
    odd = Counter(
        e.request.get("temperature")
        for e in seen.policy
        if e.request.get("temperature") not in (None, 1, 1.0)
    )
    if odd:
        value, count = odd.most_common(1)[0]
        yield seen.finding(
            "temperature",
            f"{count} completions were sampled with temperature {value}: "
            + (
                "equal episodes have equal rewards, and nothing is learned"
                if value == 0
                else "ART trains on logprobs at temperature 1"
            ),
            "sample with temperature 1 while training: rollout(..., temperature=1.0)",
            r"TEMPERATURE\s*=",
            r"temperature",
        )
