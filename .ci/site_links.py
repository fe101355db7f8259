"""Lead the site's links to files outside of docs to the repository."""

from __future__ import annotations

import re
from typing import Any

REPOSITORY = "https://github.com/OWNER/art-adapt/blob/main/"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Rewrite ``](../fixtures/...)``, as mkdocs asks for each page."""
    return re.sub(r"\]\((?:\.\./)+(?!rules/)", f"]({REPOSITORY}", markdown)
