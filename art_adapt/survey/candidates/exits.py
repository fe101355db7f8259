"""Finds where an episode ends with an answer."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from art_adapt.code.dependence import made_from
from art_adapt.code.hooks import unhooked
from art_adapt.code.nodes import (
    Function,
    FunctionNode,
    bound_names,
    dotted,
    entries,
    given_to,
    grown_list,
    last_name,
    names_in,
)
from art_adapt.code.project import Project
from art_adapt.code.syntax import LOOPS, Syntax
from art_adapt.survey.calls.asking import Asking
from art_adapt.survey.calls.replies import holds_reply
from art_adapt.survey.candidates.elements import (
    argument_in,
    shown_element,
    without_rewards,
)
from art_adapt.survey.candidates.no_answers import (
    is_given,
    is_no_answer,
    is_nothing,
    is_stream,
)
from art_adapt.survey.candidates.records import answers_in
from art_adapt.survey.candidates.responses import body_of_response
from art_adapt.survey.candidates.rewards import only_rewards
from art_adapt.survey.candidates.showing import shows
from art_adapt.survey.candidates.taken import is_exit_code
from art_adapt.survey.model import Exit, Span
from art_adapt.words import (
    CONVERSATIONS,
    STORES_ANSWER,
)

MEASURES = frozenset({"len", "type", "bool", "id", "isinstance", "hash", "sum"})


def find_exits(
    project: Project,
    syntax: Syntax,
    function: Function,
    asking: Asking,
) -> tuple[Exit, ...]:
    """Find the answers that ``function`` returns, or else stores, prints, or keeps."""
    returned = _alike(
        syntax,
        _from_the_model(
            each
            for each in _returned(project, syntax, function, asking)
            if not is_stream(project, syntax, each[0])
            and not is_nothing(project, syntax, each[0])
        ),
    )
    only_given = all(is_given(syntax, function, value) for value, _ in returned)
    if returned and (only_given or is_exit_code(project, syntax, function)):
        returned = []
    found = (
        list(_in_records(project, syntax, function, returned, asking))
        or list(_stored(syntax, function))
        or list(printed_answers(syntax, function.qualname, asking))
        or list(_kept(syntax, function, asking))
    )
    return tuple(found)


def _exit(
    syntax: Syntax,
    value: ast.expr,
    how: str,
    around: ast.Call | None = None,
) -> Exit:
    answer = unhooked(syntax, value, "final_answer")
    return Exit(
        syntax.place(value),
        Span.of(value),
        syntax.text(answer),
        how,
        marked=answer is not value,
        around=Span.of(around) if around is not None else None,
    )


def _returned(
    project: Project, syntax: Syntax, function: Function, asking: Asking
) -> Iterator[tuple[ast.expr, Exit]]:
    for node in syntax.owned_by(function.qualname):
        if (
            not isinstance(node, ast.Return)
            or node.value is None
            or _in_handler(syntax, node, asking)
        ):
            continue
        if is_no_answer(node.value, asking):
            continue
        said = without_rewards(node.value)
        if isinstance(said, ast.Tuple):
            said = shown_element(project, syntax, function, said, asking)
        answer = body_of_response(syntax, said)
        if answer is None or is_no_answer(answer, asking):
            continue
        if _is_unwrappable(answer) or _touches_keyword(syntax, answer):
            continue
        if only_rewards(argument_in(answer)):  # a score is no answer
            continue
        exit_ = _exit(syntax, answer, "returned")
        if isinstance(node.value, ast.Tuple) and answer in node.value.elts:
            exit_ = replace(exit_, element=node.value.elts.index(answer))
        yield answer, exit_


def _from_the_model(
    returned: Iterable[tuple[ast.expr, Exit]],
) -> list[tuple[ast.expr, Exit]]:
    """Leave out fixed words beside other answers: "awaiting_input", "".

    A sentence is for somebody to read: the episode ends with it, as an answer.
    """
    every = list(returned)
    said = [each for each in every if not _is_word(each[0])]
    return said or every


def _alike(
    syntax: Syntax, returned: list[tuple[ast.expr, Exit]]
) -> list[tuple[ast.expr, Exit]]:
    """Take the same element of each tuple: ``return "I gave up.", rows`` as well."""
    elements = {each.element for _, each in returned if each.element is not None}
    if len(elements) != 1:
        return returned
    (at,) = elements

    def alike(value: ast.expr, exit_: Exit) -> tuple[ast.expr, Exit]:
        if not isinstance(value, ast.Tuple) or len(value.elts) <= at:
            return value, exit_
        return value.elts[at], replace(
            _exit(syntax, value.elts[at], exit_.how), element=at
        )

    return [alike(*each) for each in returned]


def _is_word(value: ast.expr) -> bool:
    """True if a value is a text without a space: a status, or nothing."""
    return isinstance(value, ast.Constant) and " " not in str(value.value)


def _in_records(
    project: Project,
    syntax: Syntax,
    function: Function,
    returned: list[tuple[ast.expr, Exit]],
    asking: Asking,
) -> Iterator[Exit]:
    """Take the text for the answer where a function returns it in a record."""
    whole = [value for value, exit_ in returned if exit_.element is None]
    found = answers_in(
        project,
        syntax,
        whole,
        lambda value: _replies_in(syntax, value, asking),
        _answer_keys(syntax, function, whole, asking),
    )
    for value, exit_ in returned:
        answers = found.get(value)
        if answers is None or len(answers) > 1:
            yield exit_
        elif answers and not (
            _is_empty(answers[0]) or is_no_answer(answers[0], asking)
        ):
            inner = _exit(syntax, answers[0], "returned")
            yield replace(inner, place=exit_.place)


def _answer_keys(
    syntax: Syntax, function: Function, returned: Sequence[ast.expr], asking: Asking
) -> dict[ast.expr, str]:
    """Return, of dicts that hold the conversation, the key of the one other value of a reply.

    Nothing if that is not the same key in each of them.
    """
    conversations = asking.sent | _handed(syntax, function, asking)
    found: dict[ast.expr, list[str]] = {}
    for each in returned:
        written = entries(each) if isinstance(each, ast.Dict) else {}
        if any(dotted(value) in conversations for value in written.values()):
            found[each] = [
                key
                for key, value in written.items()
                if dotted(value) not in conversations
                and any(
                    map(
                        asking.is_site,
                        made_from(syntax, function.qualname, _unmeasured(value)),
                    )
                )
            ]
    told = {key for keys in found.values() for key in keys}
    if len(told) != 1:
        return {}
    (key,) = told
    return {each: key for each in found if key in entries(each)}


def _unmeasured(value: ast.expr) -> Iterator[ast.AST]:
    """Yield what a value is put together from, but for ``len(messages)`` and the like."""
    left: list[ast.AST] = [value]
    while left:
        node = left.pop()
        if isinstance(node, ast.Call) and last_name(node.func) in MEASURES:
            continue
        below = list(ast.iter_child_nodes(node))
        is_whole = isinstance(node, ast.Name | ast.Attribute | ast.Call) or not below
        yield from [node] if is_whole else []
        left += [] if is_whole else below


def _handed(syntax: Syntax, function: Function, asking: Asking) -> frozenset[str]:
    """Return the names of the lists that a function adds to and hands to what asks the model."""
    nodes = list(syntax.owned_by(function.qualname))
    grown = {grown_list(node) for node in nodes}
    return frozenset(
        name
        for node in nodes
        if isinstance(node, ast.Call) and node.func in asking.sites
        for value in given_to(node)
        if (name := dotted(value)) is not None and name in grown
    )


def _is_empty(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _is_unwrappable(value: ast.expr) -> bool:
    """True if a hook cannot go around the value.

    ``return a,`` and ``return *a, b`` are tuples that a call's arguments cannot replace.
    """
    if isinstance(value, ast.Yield | ast.YieldFrom):
        return True
    return isinstance(value, ast.Tuple) and (
        len(value.elts) < 2 or any(isinstance(item, ast.Starred) for item in value.elts)
    )


def _touches_keyword(syntax: Syntax, value: ast.expr) -> bool:
    """True if a hook's name would merge with the keyword before the value.

    For example ``return"text"``.
    """
    before = syntax.source.lines[value.lineno - 1].encode()[: value.col_offset]
    return before[-1:].isalnum()


def _in_handler(syntax: Syntax, node: ast.AST, asking: Asking) -> bool:
    """True if ``node`` runs only after a failure, so that its value is no answer.

    A handler that asks the model again falls back on another completion: its value is an
    answer.
    """
    for outer in syntax.ancestors(node):
        if isinstance(outer, ast.ExceptHandler):
            return not asking.asks(outer)
        if isinstance(outer, FunctionNode):
            return False
    return False


def _stored(syntax: Syntax, function: Function) -> Iterator[Exit]:
    for node in syntax.owned_by(function.qualname):
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Attribute)
        ):
            name = node.targets[0].attr
            if STORES_ANSWER.search(name) and not isinstance(node.value, ast.Constant):
                yield _exit(
                    syntax,
                    node.value,
                    f"stored in {syntax.text(node.targets[0])}",
                )


def printed_answers(syntax: Syntax, owner: str, asking: Asking) -> Iterator[Exit]:
    """Find the answers that a function, or a file at module level, shows somebody."""
    shown = [
        (node, value)
        for node in syntax.owned_by(owner)
        if isinstance(node, ast.Call)
        and shows(syntax, node)
        and not _in_handler(syntax, node, asking)
        for argument in given_to(node)
        for value in _replies_in(syntax, argument, asking)
        if not _is_piece(syntax, node, value, asking)
    ]
    left = {node: syntax.left_after(node) for node, _ in shown}
    for node, value in shown:
        loop = syntax.enclosing_loop(node)
        if loop is None or loop not in left.values() or left[node] is not None:
            yield _exit(syntax, value, "printed", node)
        # Else it is said on the way to the answer.
    for each in dict.fromkeys(left.values()):
        yield from _said_instead(syntax, each)


def _is_piece(syntax: Syntax, shown: ast.Call, value: ast.expr, asking: Asking) -> bool:
    """True if a loop shows what one call yields piece by piece, as a stream does."""
    read = [each for each in ast.walk(value) if isinstance(each, ast.Name)]
    made = (each for name in read for each in (name, *syntax.values_of(name)))
    names = {name for each in made for name in names_in(each)}
    return any(
        isinstance(loop, ast.For | ast.AsyncFor)
        and not names.isdisjoint(bound_names([loop.target]))
        and any(map(asking.asks, (loop.iter, *syntax.values_of(loop.iter))))
        for loop in syntax.enclosing_loops(shown)
    )


def _said_instead(syntax: Syntax, loop: ast.AST | None) -> Iterator[Exit]:
    """Find what the ``else`` of a loop shows, because no turn of it came to an answer.

    It ends the episode as an answer does: else one of an earlier question would stay.
    """
    for statement in loop.orelse if isinstance(loop, LOOPS) else ():
        match statement:
            case ast.Expr(value=ast.Call(args=[*_, ast.expr() as said]) as call):
                if shows(syntax, call) and not isinstance(said, ast.Starred):
                    yield _exit(syntax, said, "printed", call)


def _replies_in(syntax: Syntax, value: ast.expr, asking: Asking) -> Iterator[ast.expr]:
    """Find the model's answer in what is printed: formatted, coloured, put together."""
    if holds_reply(syntax, unhooked(syntax, value, "final_answer"), asking):
        yield value
        return
    parts: list[ast.expr] = []
    match value:
        case ast.JoinedStr():
            parts = value.values
        case ast.FormattedValue():
            parts = [value.value]
        case ast.BinOp(op=ast.Add() | ast.Mod()):
            parts = [value.left, value.right]
        case ast.Tuple():
            parts = value.elts
        case ast.Call() if last_name(value.func) not in MEASURES:
            parts = given_to(value)
    for part in parts:
        yield from _replies_in(syntax, part, asking)


def _kept(syntax: Syntax, function: Function, asking: Asking) -> Iterator[Exit]:
    """Find answers that are added to a list that no completion call sends."""
    for node in syntax.owned_by(function.qualname):
        grown = grown_list(node) if isinstance(node, ast.Call) else None
        if (
            grown is None
            or grown in asking.sent
            or grown.rpartition(".")[2] in CONVERSATIONS
        ):
            continue
        assert isinstance(node, ast.Call)
        if _in_handler(syntax, node, asking):
            continue
        for value in node.args[-1:]:
            if _is_piece(syntax, node, value, asking):
                continue
            if holds_reply(syntax, unhooked(syntax, value, "final_answer"), asking):
                yield _exit(syntax, value, f"added to {grown}", node)
