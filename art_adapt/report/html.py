"""Frame pages that load nothing, open offline and fit a phone."""

from __future__ import annotations

from html import escape


def html_page(title: str, style: str, body: str) -> str:
    """Return a page; ``title`` is text, ``body`` HTML."""
    return (
        "<!doctype html>\n<meta charset=utf-8>\n"
        '<meta name=viewport content="width=device-width,initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n{body}\n"
    )
