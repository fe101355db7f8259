"""Tells what only exists while a page, a request or a chat runs: no episode has it."""

from __future__ import annotations

import ast
import re

from art_adapt.code.command_line import reads_arguments, usual_value
from art_adapt.code.dependence import made_from
from art_adapt.code.given import function_given
from art_adapt.code.nodes import defaults_of, dotted, given_to, last_name
from art_adapt.code.syntax import Syntax
from art_adapt.secret_texts import SECRET
from art_adapt.survey.inputs.route_decorators import routes_of
from art_adapt.survey.side_effects.effects import asks_a_person, effects_at
from art_adapt.survey.side_effects.shared_instances import changes_itself
from art_adapt.words import MUTABLE, OF_CHANCE

DIFFERS = (*OF_CHANCE, "datetime", "numpy")  # modules that say another thing each run
PAGES = ("streamlit.", "chainlit.")
RUNNING = frozenset(
    {"streamlit.session_state", "streamlit.query_params", "chainlit.user_session"}
    | {
        f"{web}.{name}"
        for web in ("flask", "quart")
        for name in ("g", "request", "session")
    }
)
# What a page asks for, wherever it puts that: ``st.sidebar.slider("Retries")``.
WIDGET = re.compile(
    r"streamlit\.(\w+\.)*((form_submit_|download_|link_)?button|checkbox|toggle|radio|selectbox|multiselect|slider|select_slider"
    r"|text_input|text_area|number_input|date_input|time_input|file_uploader|camera_input"
    r"|color_picker|chat_input|audio_input|data_editor|pills|segmented_control|feedback)$"
)


def is_run_state(place: Syntax, node: ast.AST) -> bool:
    """True if a node is what a page, a request or a chat keeps things in, or a page's widget."""
    name = place.qualified(node) if isinstance(node, ast.expr) else None
    return name in RUNNING or bool(name and WIDGET.match(name))


def is_page_state(place: Syntax, node: ast.AST) -> bool:
    """True if a node is what a page or a chat keeps, or a page's widget."""
    name = place.qualified(node) if isinstance(node, ast.expr) else None
    return is_run_state(place, node) and (name or "").startswith(PAGES)


def is_of_a_run(place: Syntax, value: ast.expr) -> bool:
    """True if a value depends on what a page, a request or a chat keeps while it runs."""
    made_of = made_from(place, place.owner(value), [value])
    return any(is_run_state(place, node) for node in made_of)


def is_said(place: Syntax, value: ast.expr) -> bool:
    """True if a value is what a person has to say: there, in a request, on the command line.

    An option with a default is none.
    """
    made_of = made_from(place, place.owner(value), [value])
    said = (
        reads_arguments(place, node, given=True)
        or asks_a_person(place, node)
        or _is_requested(place, node)
        for node in made_of
    )
    return any(said) and all(usual_value(place, node) is None for node in made_of)


def _is_requested(place: Syntax, node: ast.AST) -> bool:
    """True if a node is what a web application's function is given of a request."""
    function = function_given(place, node) if isinstance(node, ast.Name) else None
    if function is None or not any(True for _ in routes_of(function)):
        return False
    filled_in = {name for name, _ in defaults_of(function.node)}  # Depends(open_db)
    return isinstance(node, ast.Name) and node.id not in filled_in


def is_a_row(place: Syntax, value: ast.expr) -> bool:
    """True if a value is what a loop goes through, one after the other, and no number."""
    return isinstance(value, ast.Name) and any(
        isinstance(loop, ast.For | ast.AsyncFor)
        and dotted(loop.target) == value.id
        and not (
            isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "range"
        )
        for loop in place.enclosing_loops(value)
    )


def is_secret(value: ast.expr, name: str) -> bool:
    """True if a value for ``name`` looks like a password, which is copied nowhere."""
    return SECRET.search(f"{name}: {ast.unparse(value)}") is not None


def _is_of_an_object_made_here(place: Syntax, method: ast.expr) -> bool:
    """True for ``store.load`` after ``store = Store()`` of a class whose method loads the same.

    A queue's ``next`` changes the queue, and ``draw`` leaves it to chance.
    """
    if not isinstance(method, ast.Attribute) or not isinstance(method.value, ast.Name):
        return False
    values = place.values_of(method.value)
    classes = [
        each.func.id
        for each in values
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    ]
    named = [f"{each}.{method.attr}" for each in classes if each in place.classes]
    return len(named) == len(values) > 0 and all(
        each in place.functions
        and not changes_itself(place, each)
        and not any(
            True for node in place.owned_by(each) for _ in effects_at(place, node)
        )
        for each in named
    )


def is_the_same(place: Syntax, value: ast.expr) -> bool:
    """True if a value is the same in each run of a program: it is written, or made of nothing.

    That is a text, ``TOOLS``, ``build_prompt()``, ``store.load()`` of a store that is made
    there, and an option of the command line that has a default. A container that a module
    leaves empty is filled by what runs, and what a call is given may be what the run is about.
    """
    if usual_value(place, value) is not None:
        return True
    made_of = made_from(place, place.owner(value), [value])
    calls = [node for node in made_of if isinstance(node, ast.Call)]
    own = all(
        not given_to(call)
        and (
            (
                isinstance(call.func, ast.Name)
                and call.func.id in {*place.functions, *place.imports, *place.classes}
                and (place.qualified(call.func) or "").partition(".")[0] not in DIFFERS
            )
            or _is_of_an_object_made_here(place, call.func)
        )
        for call in calls
    )
    kept = [
        each
        for node in made_of
        if isinstance(node, ast.Name)
        for each in place.values_at_top(node.id)
    ]
    return own and not any(map(_is_empty, kept))


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(args=given):
            kind = last_name(value.func)
            return kind == "defaultdict" or (kind in MUTABLE and not given)
    return False


def is_new_list(place: Syntax, value: ast.expr) -> bool:
    """True if a value is a list that is written where it is given, or in the function that gives it.

    A list that a module or a function keeps would be shared by all that get it.
    """
    owner = place.owner(value)
    if isinstance(value, ast.Name) and place.is_local(value.id, owner):
        [value, *others] = place.values_of(value) or [value]
        return not others and isinstance(value, ast.List)
    return isinstance(value, ast.List)
