"""Answer a moderation as one that finds nothing: a guard lets the episode go on."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

# openai 3.3, types/moderation.py (Categories, by the names of the API)
CATEGORIES = (
    *("harassment", "harassment/threatening", "hate", "hate/threatening", "illicit"),
    *("illicit/violent", "self-harm", "self-harm/instructions", "self-harm/intent"),
    *("sexual", "sexual/minors", "violence", "violence/graphic"),
)


def moderations(request: Json) -> Json:
    """Return the response to the body of ``POST /moderations``, a result for each input."""
    given = request.get("input")
    texts = given if isinstance(given, list) else [given]
    number = sum(isinstance(each, str) for each in texts)
    result = {
        "flagged": False,
        "categories": dict.fromkeys(CATEGORIES, False),
        "category_scores": dict.fromkeys(CATEGORIES, 0.0),
        "category_applied_input_types": {name: ["text"] for name in CATEGORIES},
    }
    return {
        "id": "modr-scripted",
        "model": request.get("model") or "omni-moderation-latest",
        "results": [result] * max(1, number),
    }
