"""Find the completion calls of the policy, and the arguments they are given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from art_adapt.closed_models import CLOSED
from art_adapt.code.command_line import usual_constant
from art_adapt.code.nodes import first_argument, keyword, last_name, root_object
from art_adapt.code.syntax import Syntax
from art_adapt.rules.code.file import File
from art_adapt.rules.code.trajectories import Trajectories
from art_adapt.rules.code.values import Body, Place, Value, constant
from art_adapt.survey.calls.completion_calls import FoundCall, find_completion_calls
from art_adapt.survey.calls.roles import Role, stated_role

# What a rollout asks ART's models for.
OF_ART = ("openai_client", "get_inference_name", "inference_model_name", "name")
NAMING = OF_ART[1:]
# A name that a backend of ART serves a model under: name@step, wandb-artifact:///...
SERVED = re.compile(r"@|://|^wandb")


def _base_url(client: Value) -> Value | None:
    """Return the URL that a client is made with."""
    assert isinstance(client.node, ast.Call)
    given = keyword(client.node, "base_url")
    return None if given is None else client.of(given)


def _is_public(url: object) -> bool:
    """Return whether a URL names a host of the internet, and no machine of one's own."""
    host = (urlsplit(url).hostname or "") if isinstance(url, str) else ""
    return "." in host and not host.replace(".", "").isdecimal()


def _takes_params(call: FoundCall) -> bool:
    """Return whether a call is given ``**model.litellm_completion_params()``."""
    given = call.call.keywords if call.call is not None else ()
    return any(
        each.arg is None
        and isinstance(each.value, ast.Call)
        and last_name(each.value.func) == "litellm_completion_params"
        for each in given
    )


def is_api_model(name: object) -> bool:
    """Return whether it names a model behind an API, which nobody trains with ART."""
    return isinstance(name, str) and CLOSED.match(name) is not None


@dataclass(frozen=True)
class Argument:
    """An argument of a request: what it may be, and the expression to report."""

    at: ast.expr
    values: tuple[Value, ...]
    written: tuple[Value, ...]  # before they are followed

    @property
    def constants(self) -> frozenset[object]:
        """Return the constants that it may be; ``...`` is any other value."""
        return frozenset(map(constant, self.values))

    @property
    def constant(self) -> object:
        """Return the constant that it certainly is, else ``...``."""
        return next(iter(self.constants)) if len(self.constants) == 1 else ...

    @property
    def usual(self) -> object:
        """Return the constant that it is where nobody says otherwise, else ``...``."""
        found = {usual_constant(each.syntax, each.node) for each in self.values}
        return found.pop() if len(found) == 1 else ...


@dataclass(frozen=True)
class Completions:
    """The completion calls of a file."""

    file: File
    trajectories: Trajectories
    _elsewhere: dict[Syntax, tuple[FoundCall, ...]] = field(
        default_factory=dict, init=False
    )

    @cached_property
    def calls(self) -> tuple[FoundCall, ...]:
        return tuple(find_completion_calls(self.file.syntax))

    def of_file(self, syntax: Syntax) -> tuple[FoundCall, ...]:
        """Return the completion calls of this file, or of another one of the project."""
        if syntax is self.file.syntax:
            return self.calls
        if syntax not in self._elsewhere:
            self._elsewhere[syntax] = tuple(find_completion_calls(syntax))
        return self._elsewhere[syntax]

    @cached_property
    def by_call(self) -> dict[ast.AST, FoundCall]:
        """Return the completion calls by their ``ast.Call``."""
        return {call.call: call for call in self.calls if call.call is not None}

    @cached_property
    def of_policy(self) -> tuple[FoundCall, ...]:
        """Policy calls: those of an episode, and recorded ones of an adapted file."""
        return tuple(
            call
            for call in self.calls
            if call.call is not None
            and (call.recorded or self._is_of_episode(call))
            and self.may_be_trained(call)
        )

    def _is_of_episode(self, call: FoundCall) -> bool:
        """Return whether a call is a rollout's, or of a helper that asks the same model."""
        if self.trajectories.in_rollout(call.callee):
            return True
        return self.trajectories.in_episode(call.callee) and self._may_be_arts(call)

    def _may_be_arts(self, call: FoundCall) -> bool:
        """Return whether the client or the model of a call is ART's, or given by who calls."""
        if _takes_params(call):
            return True
        given = self.argument(call, "model")
        values = () if given is None else given.values
        return any(
            isinstance(node, ast.Attribute) and node.attr in OF_ART
            for root in (call.client, *(value.node for value in values))
            for value in self.file.values(root)
            for node in ast.walk(value.node)
        ) or any(
            isinstance(value.node, ast.Name) and constant(value) is ...
            for value in values
        )

    @property
    def chat_models(self) -> Iterator[tuple[ast.Call, str | None]]:
        """Yield the calls of ``art.langgraph.init_chat_model``, with the model of an API they name."""
        for call in self.file.art_calls("init_chat_model"):
            name = self.file.constant(first_argument(call, "model"))
            is_other = isinstance(name, str) and is_api_model(name.replace(":", "/"))
            yield call, str(name) if is_other else None

    @cached_property
    def asking(self) -> frozenset[str]:
        """Return functions of this file that ask the policy, themselves or through others."""
        own = {call.function for call in self.of_policy}
        return self.file.flow.functions.leading_to(self.file.syntax, own)

    def asks(self, node: ast.AST) -> bool:
        """Return whether a call asks the policy, itself or in a function of this file."""
        if not isinstance(node, ast.Call):
            return False
        if node in self.file.recording_calls:
            return True
        if any(call.call is node for call in self.of_policy):
            return True
        body = self.file.entered(node)
        if body is not None and body.place.syntax is self.file.syntax:
            return body.function.qualname in self.asking
        return any(map(self.may_be_trained, self._made_in(body)))

    def asks_another(self, node: ast.AST) -> bool:
        """Return whether a call asks a model that is not trained, itself or in a function.

        That is a judge's request, or ``await grade(answer)`` of a function that makes one.
        """
        if not isinstance(node, ast.Call):
            return False
        if (call := self.by_call.get(node)) is not None:
            return not (self.may_be_trained(call) and call in self.of_policy)
        made = self._made_in(self.file.entered(node))
        return bool(made) and not any(
            self.may_be_trained(each) and self._may_be_arts(each) for each in made
        )

    def _made_in(self, body: Body | None) -> list[FoundCall]:
        """Return the completion calls of a function that is entered."""
        if body is None:
            return []
        inside = set(body.nodes)
        return [c for c in self.of_file(body.place.syntax) if c.callee in inside]

    def may_be_trained(self, call: FoundCall) -> bool:
        """Return whether it may be a policy call: no side job, no model of an API."""
        return (
            not any(map(is_api_model, self.models(call)))
            and not self.is_at_an_api(call)
            and stated_role(call, self.calls)[0] is Role.POLICY
        )

    def is_at_an_api(self, call: FoundCall) -> bool:
        """Return whether a call certainly asks a service: a host that is written here.

        Its model is written as well, under a name that no backend of ART serves.
        """
        names = self.models(call)
        clients = self.file.values(root_object(call.client))
        return (
            bool(clients)
            and all(isinstance(n, str) and not SERVED.search(n) for n in names)
            and all(
                isinstance(each.node, ast.Call)
                and (each.syntax.qualified(each.node.func) or "").startswith("openai.")
                and _is_public(self.file.constant(_base_url(each)))
                for each in clients
            )
        )

    def is_arts(self, call: FoundCall) -> bool:
        """Return whether a call certainly asks a model of ART, by its client or name."""
        if _takes_params(call):
            return True
        given = self.argument(call, "model")
        values = () if given is None else given.values
        return any(
            isinstance(node, ast.Attribute) and node.attr in OF_ART[:2]
            for each in (*self.file.values(call.client), *values)
            for node in ast.walk(each.node)
        )

    def is_elsewhere(self, call: FoundCall, place: Place) -> bool:
        """Return whether a call certainly asks no model of ART.

        Its client is made with nothing of ART, and the environment names its model.
        """
        given = self.argument(call, "model", place)
        clients = self.file.values(Value(root_object(call.client), place))
        if given is None or not clients:
            return False
        made = all(
            isinstance(each.node, ast.Call)
            and (each.syntax.qualified(each.node.func) or "").startswith("openai.")
            and not any(
                (
                    isinstance(node, ast.Name)
                    and constant(each.of(node)) is ...
                    and each.syntax.is_local(node.id, each.syntax.owner(node))
                )
                or (isinstance(node, ast.Attribute) and "inference" in node.attr)
                for argument in (*each.node.args, *each.node.keywords)
                for node in ast.walk(argument)
            )
            for each in clients
        )
        return made and all(
            ast.unparse(each.node).startswith(("os.environ", "os.getenv"))
            for each in given.values
        )

    def models(self, call: FoundCall, place: Place | None = None) -> frozenset[object]:
        """Return the names that the model of a call may have; ``...`` is any other."""
        given = self.argument(call, "model", place)
        if given is None:
            return frozenset({...})
        values = (v for each in given.written for v in self.file.local.values(each))
        return frozenset(map(self._name, values))

    def _name(self, value: Value) -> object:
        """Return the name that a model of a request has: of an ``art.Model``, its own."""
        read = value.node.func if isinstance(value.node, ast.Call) else value.node
        if isinstance(read, ast.Attribute) and read.attr in NAMING:
            made = self.file.local.values(value.of(read.value))
            call = made[0].node if len(made) == 1 else None
            if (
                isinstance(call, ast.Call)
                and made[0].syntax.qualified(call.func) == "art.Model"
            ):
                own = keyword(call, "inference_model_name") or keyword(call, "name")
                return ... if own is None else self.file.constant(made[0].of(own))
        return constant(value)

    def argument(
        self, call: FoundCall, name: str, place: Place | None = None
    ) -> Argument | None:
        """Return an argument of the request.

        It is also found in ``extra_body`` and ``**options``. ``place``: through which calls
        of the project's functions the request is reached.
        """
        if call.call is None:
            return None
        place = place or Place(call.syntax)
        value = keyword(call.call, name)
        if value is None and name == "model":
            value = call.model
        if value is not None:
            written = Value(value, place)
            return Argument(value, self.file.values(written), (written,))
        for argument in call.call.keywords:
            if argument.arg not in (None, "extra_body"):
                continue
            given = Value(argument.value, place)
            bodies = self.file.contents.item(given, "extra_body").values
            for mapping in (given, *(bodies if argument.arg is None else ())):
                item = self.file.contents.item(mapping, name)
                if item.values:
                    entries = item.written or item.values
                    here = self.file.has(entries[0]) and len(entries) == 1
                    at = entries[0].node if here else argument.value
                    return Argument(at, item.values, entries)
        return None

    def sampled_with(self, name: str) -> Iterator[tuple[ast.expr, object]]:
        """Yield an argument of each policy call, with its value if that is constant."""
        for _, given in self.sampling(name):
            yield given.at, given.constant

    def sampling(self, name: str) -> Iterator[tuple[ast.expr, Argument]]:
        """Yield what each policy call asks by, and an argument of it.

        Recorded calls are left out: in a rollout, the train module sets their sampling.
        What no rollout of the file asks is a probe or an evaluation.
        """
        for call in self.of_policy:
            given = self.argument(call, name)
            if given is not None and not call.recorded and not self._is_apart(call):
                yield call.callee, given

    @cached_property
    def _in_rollouts(self) -> frozenset[str]:
        """Return the functions that make trajectories, and those that they call."""
        functions = self.file.flow.functions
        return functions.run_by(self.file.syntax, self.trajectories.makers)

    def _is_apart(self, call: FoundCall) -> bool:
        """Return whether a function asks that the file calls, and no rollout of the file does."""
        syntax = self.file.syntax
        owner = syntax.owner(call.callee)
        functions = [
            syntax.functions[name]
            for name in (owner, *syntax.functions_around(owner))
            if name in syntax.functions
        ]
        calls = [
            each
            for function in functions
            for each in self.file.flow.functions.calls_of(syntax, function)
        ]
        asking = {owner, *map(syntax.owner, calls)}
        return bool(calls and self._in_rollouts) and self._in_rollouts.isdisjoint(
            asking
        )
