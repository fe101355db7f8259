"""Embed texts without a model: texts that share words are near each other."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from typing import Any

Json = dict[str, Any]

DIMENSIONS = 1536  # of text-embedding-3-small and ada-002


def embeddings(request: Json) -> Json:
    """Return the response to the body of ``POST /embeddings``."""
    texts = _texts(request)
    size = request.get("dimensions") or DIMENSIONS
    encode = _base64 if request.get("encoding_format") == "base64" else list
    return {
        "object": "list",
        "model": request.get("model"),
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": encode(_vector(text, size)),
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


def _vector(text: str, size: int) -> list[float]:
    vector = [0.0] * size
    for word in text.lower().split() or [""]:
        vector[zlib.crc32(word.encode()) % size] += 1.0
    length = math.hypot(*vector)
    return [value / length for value in vector]


def _base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
