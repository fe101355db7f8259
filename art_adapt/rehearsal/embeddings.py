"""Embed texts without a model: texts that share words are near each other."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from art_adapt.seen.notes import Run

Json = dict[str, Any]

DIMENSIONS = 1536  # of text-embedding-3-small and ada-002
LARGER = {"text-embedding-3-large": 3072}


# Texts that were embedded in watched runs, by their models, with the vectors as base64.
Embedded = Mapping[str, Mapping[str, str]]


def embedded_in(runs: Iterable[Run]) -> Embedded:
    """Return all texts that were embedded in watched runs, with their vectors."""
    found: dict[str, dict[str, str]] = {}
    for run in runs:
        for model, vectors in run.embedded.items():
            found.setdefault(model, {}).update(vectors)
    return found


def embeddings(request: Json, embedded: Embedded) -> Json:
    """Return the response to the body of ``POST /embeddings``.

    What was embedded in a watched run has the vector that it had there, and a text that shares
    words with some of that has the vector of the nearest: so an agent finds what it has stored.
    """
    texts, model = _texts(request), str(request.get("model"))
    seen = embedded.get(model, {})
    size = request.get("dimensions") or LARGER.get(model, DIMENSIONS)
    if (some := next(iter(seen.values()), None)) is not None:
        size = len(_floats(some))
    encode = _base64 if request.get("encoding_format") == "base64" else list
    return {
        "object": "list",
        "model": request.get("model"),
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": encode(_seen(text, seen) or _vector(text, size)),
            }
            for index, text in enumerate(texts)
        ],
        "usage": dict.fromkeys(("prompt_tokens", "total_tokens"), tokens_in(request)),
    }


def tokens_in(request: Json) -> int:
    """Count what is embedded: a word is a token, as the scripted model counts."""
    return sum(len(text.split()) for text in _texts(request))


def _texts(request: Json) -> list[str]:
    given = request.get("input") or []
    is_one = isinstance(given, str) or all(isinstance(each, int) for each in given)
    return [str(each) for each in ([given] if is_one else given)]  # or its tokens


def _seen(text: str, seen: Mapping[str, str]) -> list[float] | None:
    """Return the vector of a text in a watched run, or of the one with the most words of it."""
    if text in seen:
        return _floats(seen[text])
    words = set(text.lower().split())
    shared = {each: len(words & set(each.lower().split())) for each in seen}
    nearest = max(seen, key=lambda each: shared[each], default="")
    return _floats(seen[nearest]) if shared.get(nearest) else None


def _vector(text: str, size: int) -> list[float]:
    vector = [0.0] * size
    for word in text.lower().split() or [""]:
        vector[zlib.crc32(word.encode()) % size] += 1.0
    length = math.hypot(*vector)
    return [value / length for value in vector]


def _floats(encoded: str) -> list[float]:
    raw = base64.b64decode(encoded)
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))


def _base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
