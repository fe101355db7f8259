"""Tells which code of a project asks a model, directly or through a function."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from art_adapt.calls import Api
from art_adapt.code.call_graph import CallGraph
from art_adapt.code.classes import FunctionKey
from art_adapt.code.definitions import COMPREHENSIONS
from art_adapt.code.dependence import made_from
from art_adapt.code.nodes import (
    Function,
    dotted,
    entries,
    given_to,
    grown_list,
    last_name,
    text_of,
)
from art_adapt.code.project import Project
from art_adapt.code.syntax import LOOPS, MODULE_LEVEL, Syntax
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.survey.calls.going_on import lets_go_on
from art_adapt.survey.calls.growth import (
    Growing,
    extends,
    grown_in,
    names_in,
    only_tries_again,
    sends_answers,
)
from art_adapt.survey.calls.written import written
from art_adapt.words import CONVERSATIONS

CONVERSATION = ("messages", "input")  # the arguments of the SDK that take it


@dataclass(frozen=True)
class Asking:
    """The nodes of a project at which a model is asked.

    ``completions`` are the completion calls by their callee. ``sites`` are the names of
    functions from which a policy call can be reached, where those functions are used.
    ``growing`` are the functions that add to a list they are given, where they are used;
    ``keeping`` the methods that ask once, of an object that keeps the conversation;
    ``changing`` those that change their object.
    """

    completions: Mapping[ast.AST, FoundCall]
    sites: frozenset[ast.AST]
    growing: Growing
    keeping: frozenset[ast.AST] = frozenset()
    changing: frozenset[ast.AST] = frozenset()
    _driving: dict[ast.AST, bool] = field(default_factory=dict)
    _composing: dict[ast.AST, bool] = field(default_factory=dict)

    @staticmethod
    def of(
        calls: Iterable[FoundCall],
        graph: CallGraph,
        policy: Iterable[FunctionKey],
        growing: Growing,
        aliases: Iterable[ast.expr] = (),
    ) -> Asking:
        """``aliases``: where completion calls are made by another name."""
        reaching = graph.reaching(policy)
        leading = (
            site
            for (_, callee), nodes in graph.sites.items()
            if callee in reaching
            for site in nodes
        )
        sites = frozenset([*leading, *aliases])
        return Asking({call.callee: call for call in calls}, sites, growing)

    def seen_in(self, graph: CallGraph, policy: Iterable[FunctionKey]) -> Asking:
        """Return what asks in the files of a larger graph as well."""
        more = Asking.of(self.completions.values(), graph, policy, self.growing)
        return Asking(
            self.completions,
            self.sites | more.sites,
            self.growing,
            self.keeping,
            self.changing,
        )

    @cached_property
    def sent(self) -> frozenset[str]:
        """Return the names of the lists that completion calls send."""
        lists = (call.messages for call in self.completions.values())
        return frozenset(name for each in lists if (name := dotted(each)))

    def completes(self, node: ast.AST) -> bool:
        """True if ``node`` contains a completion call."""
        return any(inner in self.completions for inner in ast.walk(node))

    def is_site(self, node: ast.AST) -> bool:
        """True if ``node`` is what a completion call, or one that leads to one, calls."""
        return node in self.completions or node in self.sites

    def asks(self, node: ast.AST) -> bool:
        """True if ``node`` contains a completion call, or a call that leads to one."""
        return any(map(self.is_site, ast.walk(node)))

    def drives(self, syntax: Syntax, function: Function) -> bool:
        """True if a loop of the function asks again, with a conversation that it extends."""
        if function.node not in self._driving:
            loops = self.driving_loops(syntax, function.qualname)
            self._driving[function.node] = any(True for _ in loops)
        return self._driving[function.node]

    def driving_loops(self, syntax: Syntax, owner: str) -> Iterator[ast.AST]:
        """Yield the loops of a function or module that ask again, with what was said before."""
        for node in syntax.owned_by(owner):
            if (
                isinstance(node, LOOPS)
                and self.asks(node)
                and (
                    self._extends(syntax, node)
                    or lets_go_on(syntax, node, self.keeping)
                )
                and not only_tries_again(node, self.growing)
            ):
                yield node

    def composes(self, syntax: Syntax, function: Function) -> bool:
        """True if the function hands what one question gave to another function that asks.

        That is ``write(text, plan(text))``, or ``plan = make_plan(goal)`` and ``work(plan)``.
        Private ones are parts of it that nobody would take for an episode, unless they run a
        public one, which somebody would: one of both may be like that.
        """
        if function.node not in self._composing:
            self._composing[function.node] = self._hands_over(syntax, function)
        return self._composing[function.node]

    def _hands_over(self, syntax: Syntax, function: Function) -> bool:
        owner = function.qualname
        calls = {
            call
            for call in self._questions(syntax, owner)
            if not _is_private(call) or self._runs_public(syntax, call)
        }
        public = {call for call in calls if not _is_private(call)}
        return any(
            self.hands_on(syntax, owner, call, public if _is_private(call) else calls)
            for call in calls
            if not _calls_itself(function, call)
        )

    def _runs_public(self, syntax: Syntax, call: ast.Call) -> bool:
        """True if a private function of this file runs a public one that asks."""
        name = last_name(call.func)
        own = (f.qualname for f in syntax.functions.values() if f.node.name == name)
        inner = (each for one in own for each in self._questions(syntax, one))
        return any(e.func not in self.completions and not _is_private(e) for e in inner)

    def composed_at_top(self, syntax: Syntax) -> set[ast.AST]:
        """Return the functions, as a module names them, of which it hands one's result to the next."""
        calls = {c for c in self._questions(syntax, MODULE_LEVEL) if not _is_private(c)}
        return {
            each.func
            for call in calls
            for other in calls & made_from(syntax, MODULE_LEVEL, given_to(call))
            if self.hands_on(syntax, MODULE_LEVEL, call, [other])
            for each in (call, other)
        }

    def _questions(self, syntax: Syntax, owner: str) -> set[ast.Call]:
        return {
            node
            for node in syntax.owned_by(owner)
            if isinstance(node, ast.Call) and self.asks(node.func)
        }

    def hands_on(
        self,
        syntax: Syntax,
        owner: str,
        call: ast.Call,
        others: Iterable[ast.Call],
    ) -> bool:
        """True if what a call in ``owner`` is given is made of what one of ``others`` gave."""
        before = [
            other
            for other in others
            if ast.dump(other.func) != ast.dump(call.func)
            and not self._continues(syntax, call, other)
        ]
        return not made_from(syntax, owner, given_to(call)).isdisjoint(before)

    def _continues(self, syntax: Syntax, call: ast.Call, other: ast.Call) -> bool:
        """True if two completions send one conversation: by turns, or by two APIs."""
        if not {call.func, other.func} <= self.completions.keys():
            return False
        sent = [
            {
                name.id
                for each in node.keywords
                if each.arg in CONVERSATION
                for value in (each.value, *syntax.values_of(each.value))
                for name in ast.walk(value)
                if isinstance(name, ast.Name)
            }
            for node in (call, other)
        ]
        return not sent[0].isdisjoint(sent[1])

    def asks_for_each(self, syntax: Syntax, function: Function) -> bool:
        """True if the function only asks for each of some rows, as a benchmark does.

        ``[chunk async for chunk in self.run(task)]`` asks once.
        """
        if self.drives(syntax, function):
            return False
        own = [
            node for node in syntax.owned_by(function.qualname) if self.is_site(node)
        ]
        return bool(own) and all(
            self.asks_about_a_row(syntax, function, node) for node in own
        )

    def asks_about_a_row(
        self, syntax: Syntax, function: Function, site: ast.AST
    ) -> bool:
        """True if a call is made for each of some rows, and given what is made of one.

        ``for agent in agents: agent.act(state)`` takes turns instead.
        """
        call = syntax.parents.get(site)
        if not isinstance(call, ast.Call):
            return False
        made = made_from(syntax, function.qualname, given_to(call))
        names = {node.id for node in made if isinstance(node, ast.Name)}
        return any(
            _repeats(outer, site) and not names.isdisjoint(_rows(outer))
            for outer in syntax.ancestors(site)
        )

    def only_relays(self, syntax: Syntax, function: Function) -> bool:
        """True if all that the function asks is what its callers say: it has no prompt.

        That is ``ask(system, text)``, which puts its parameters into messages, and sends
        them or has them sent.
        """
        contents = [
            content
            for sent in self.sent_by(syntax, function)
            for content in written(syntax, function.qualname, sent)
        ]
        given = function.given
        return bool(contents) and all(
            isinstance(each, ast.Name) and each.id in given for each in contents
        )

    def sent_by(self, syntax: Syntax, function: Function) -> Iterator[ast.expr]:
        """Yield what a function sends as messages, or gives to what asks for it."""
        for node in syntax.owned_by(function.qualname):
            around = syntax.parents.get(node)
            if (call := self.completions.get(node)) is not None:
                if call.messages is not None:
                    yield call.messages
            elif node in self.sites and isinstance(around, ast.Call):
                yield from given_to(around)

    def _extends(self, syntax: Syntax, loop: ast.AST) -> bool:
        """True if the body of a loop adds to something that it also sends."""
        if sends_answers(loop, self.asks, self.changing):
            return True
        sent = set[str]()
        for node in ast.walk(loop):
            if isinstance(node, ast.Call) and self.asks(node):
                sent |= names_in(node)
        grown = grown_in(loop, self.growing)
        own = any(name.startswith("self.") for name in grown)
        return own or bool(extends(syntax, loop, sent, self.growing))

    def writes(self, syntax: Syntax, owner: str, value: ast.expr) -> bool:
        """True if a function writes messages into a list, with contents that may vary."""
        contents = written(syntax, owner, value)
        return any(not isinstance(content, ast.Constant) for content in contents)

    def is_given(self, syntax: Syntax, function: Function) -> frozenset[str]:
        """Return the parameters of the function that hold a conversation."""
        sent = {
            call.messages.id
            for node in syntax.owned_by(function.qualname)
            if (call := self.completions.get(node)) is not None
            and isinstance(call.messages, ast.Name)
            and call.api in (Api.CHAT, Api.LITELLM)
        }
        return (CONVERSATIONS | sent).intersection(function.parameters)

    def only_sends(self, syntax: Syntax, function: Function) -> bool:
        """True if the function is given the conversation, and only makes the call."""
        if self.drives(syntax, function):
            return False
        if self._is_given_request(syntax, function):
            return True
        given = self.is_given(syntax, function)
        return (
            bool(given)
            and not any(
                grown_list(node) in given for node in syntax.owned_by(function.qualname)
            )
            and not self._tells_a_task(syntax, function, given)
        )

    def _tells_a_task(
        self, syntax: Syntax, function: Function, given: Collection[str]
    ) -> bool:
        """True if the function sends a message of its user that another parameter says."""
        others = {*function.parameters} - {*given, "self", "cls"}
        sent = [
            call.messages
            for call in map(self.completions.get, syntax.owned_by(function.qualname))
            if call is not None and call.messages is not None
        ]
        return any(
            isinstance(node, ast.Name) and node.id in others
            for messages in sent
            if dotted(messages) not in given
            for content in written(syntax, function.qualname, messages)
            if text_of(entries(syntax.parents[content]).get("role")) == "user"
            for node in ast.walk(content)
        )

    def _is_given_request(self, syntax: Syntax, function: Function) -> bool:
        """True if all arguments of a completion call come in a parameter: ``**request``."""
        rest = function.node.args.kwarg
        given = {*function.parameters, *([rest.arg] if rest is not None else [])}
        return any(
            call is not None
            and call.messages is None
            and call.call is not None
            and any(
                argument.arg is None and dotted(argument.value) in given
                for argument in call.call.keywords
            )
            for call in map(self.completions.get, syntax.owned_by(function.qualname))
        )

    def returns_answer(self, value: ast.expr) -> bool:
        """True if ``value`` is a completion call that returns the answer itself."""
        if isinstance(value, ast.Await):
            value = value.value
        return isinstance(value, ast.Call) and any(
            call.call is value and call.returns_answer
            for call in self.completions.values()
        )


def replying_sites(
    project: Project, graph: CallGraph, asking: Asking, reaching: Iterable[FunctionKey]
) -> frozenset[ast.AST]:
    """Return where the model is asked by what returns its reply, or something made of it.

    That is a completion call, or a function's name where it is used. ``reaching``: the
    functions from which a policy call can be reached.
    """
    made_of = {}
    for path, name in reaching:
        syntax = project.files[path]
        made_of[path, name] = made_from(syntax, name, _given_back(syntax, name))
    found = set[ast.AST](asking.completions)
    left = True
    while left:
        more = [key for key, nodes in made_of.items() if not found.isdisjoint(nodes)]
        left = bool(more)
        for key in more:
            del made_of[key]
            found.update(graph.sites_of(key))
    return frozenset(found)


def _given_back(syntax: Syntax, name: str) -> Iterator[ast.expr]:
    """Yield what a function returns or yields."""
    for node in syntax.owned_by(name):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and value:
            yield value


def _is_private(call: ast.Call) -> bool:
    return last_name(call.func).startswith("_")


def _calls_itself(function: Function, call: ast.Call) -> bool:
    """True if a function tries again: it is no stage of its own."""
    name = function.node.name
    return dotted(call.func) == (f"self.{name}" if function.class_name else name)


def _repeats(outer: ast.AST, node: ast.AST) -> bool:
    """True if ``outer`` goes through rows and evaluates ``node`` for each of them."""
    if isinstance(outer, ast.For | ast.AsyncFor):
        rows = outer.iter
    elif isinstance(outer, COMPREHENSIONS):
        rows = outer.generators[0].iter
    else:
        return False
    return node not in set(ast.walk(rows))


def _rows(outer: ast.AST) -> Iterator[str]:
    """Yield the names that a loop, or a comprehension, gives to each row, not a number."""
    for_each = (
        [(outer.target, outer.iter)]
        if isinstance(outer, ast.For | ast.AsyncFor)
        else [(each.target, each.iter) for each in getattr(outer, "generators", ())]
    )
    for target, rows in for_each:
        if not (isinstance(rows, ast.Call) and dotted(rows.func) == "range"):
            yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
