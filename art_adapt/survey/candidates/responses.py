"""Finds the answer in what a web handler returns."""

from __future__ import annotations

import ast

from art_adapt.code.nodes import keyword, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.survey.inputs.routes import STREAMING

WEB = ("flask", "quart", "fastapi", "starlette", "django")
RESPONSES = ("jsonify", "JSONResponse", "HTMLResponse", "PlainTextResponse", "Response")
# A page around the answer, a file, another address: none is what the model said.
WITHOUT_ANSWER = ("TemplateResponse", "FileResponse", "RedirectResponse")


def body_of_response(syntax: Syntax, value: ast.expr) -> ast.expr | None:
    """Return what a web handler answers: the body in ``jsonify(body), 200``; None for an error."""
    if (
        isinstance(value, ast.Tuple)
        and len(value.elts) == 2
        and isinstance(value.elts[1], ast.Constant)
        and value.elts[1].value in range(100, 600)
    ):
        is_error = value.elts[1].value in range(400, 600)
        return None if is_error else body_of_response(syntax, value.elts[0])
    if isinstance(value, ast.Call):
        library, _, name = (syntax.qualified(value.func) or "").rpartition(".")
        if name in WITHOUT_ANSWER or last_name(value.func) in STREAMING:
            return None
        if name in RESPONSES and library.split(".")[0] in WEB:
            body = value.args[0] if value.args else keyword(value, "content")
            return None if isinstance(body, ast.Starred) else body
    return value
