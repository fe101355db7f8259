"""The history is edited after sampling, so training sees a context that was never sent

ART trains on the list as it is at the end of the episode. If a message is rewritten, inserted
or removed after the model saw the list, or a sampled text is stripped in place, the context is
one that the model never saw, and the sampled logprobs belong to another prompt.

Only append. If an agent must rewrite its context, start a new history.

Evidence: art 0.5.18, preprocessing/tokenize.py:331-480 (one sequence per history, rendered
from the list).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from art_adapt.code.containers import copied
from art_adapt.code.nodes import (
    Function,
    argument_of,
    attribute_of,
    bound_names,
    dotted,
    given_to,
    keyword,
    last_name,
    receiver,
    targets_of,
)
from art_adapt.rules.code import Code, Kind, Value
from art_adapt.rules.code.annotated import annotation
from art_adapt.rules.code.copies import ITEMS
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.words import EDITS_LIST

RULE = Rule("ART206", "edited-history", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory()
    for _ in range(3):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages())
        choice = response.choices[0]
        choice.message.content = choice.message.content.strip()  # <-
        choice.message.tool_calls = None  # <-
        trajectory.messages_and_choices.append(choice)
        trajectory.messages_and_choices[0] = {"role": "system", "content": "Go on."}  # <-
        trajectory.messages_and_choices[0]["content"] += "!"  # <-
        trajectory.messages_and_choices.insert(1, {"role": "user", "content": "Hm"})  # <-
        del trajectory.messages_and_choices[1]  # <-
    return trajectory
""",
    """\
import art

def keep_short(episode: art.Trajectory, most: int) -> None:
    while len(episode.messages_and_choices) > most:
        del episode.messages_and_choices[1:3]  # <-

async def rollout(client, model):
    trajectory = art.Trajectory()
    for _ in range(3):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages())
        trajectory.messages_and_choices.append(response.choices[0])
        keep_short(trajectory, 7)
    return trajectory
""",
    """\
import art

def keep_last(trajectory: art.Trajectory) -> None:
    kept = trajectory.messages_and_choices
    if len(kept) > 9:
        trajectory.messages_and_choices = [kept[0], *kept[-8:]]  # <-

async def rollout(client, model):
    trajectory = art.Trajectory()
    for _ in range(30):
        response = await client.chat.completions.create(model="m", messages=trajectory.messages())
        trajectory.messages_and_choices.append(response.choices[0])
        keep_last(trajectory)
    return trajectory
""",
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory()
    for _ in range(30):
        head, tail = trajectory.messages_and_choices[:1], trajectory.messages_and_choices[-6:]
        trajectory.messages_and_choices = head + tail  # <-
        response = await client.chat.completions.create(model="m", messages=trajectory.messages())
        trajectory.messages_and_choices.append(response.choices[0])
    return trajectory
""",
    """\
import art
from openai.types.chat.chat_completion import Choice

def repair(choice: Choice) -> None:
    for call in choice.message.tool_calls or []:
        function = call.function
        function.arguments = function.arguments.replace("'", '"')  # <-

def answered(call):
    call.function.arguments = call.function.arguments.strip()  # <-
    return run(call)

async def rollout(client, model):
    trajectory = art.Trajectory(tools=TOOLS)
    response = await client.chat.completions.create(
        model="m", messages=trajectory.messages(), tools=TOOLS
    )
    choice = response.choices[0]
    repair(choice)
    replies = [answered(call) for call in choice.message.tool_calls or []]
    for at, call in enumerate(choice.message.tool_calls or []):
        call.function.name = call.function.name.strip()  # <-
    trajectory.messages_and_choices.append(choice)
    return trajectory
""",
    """\
import art

class Episode:
    def __init__(self, client, question, summarize):
        self.client, self.summarize = client, summarize
        self.trajectory = art.Trajectory(
            messages_and_choices=[{"role": "system", "content": "Help."}, question]
        )

    async def make_room(self):
        view = self.trajectory.messages()
        if len(view) > 40:
            digest = await self.summarize(view[2:])
            head = self.trajectory.messages_and_choices[:2]
            self.trajectory.messages_and_choices = [*head, {"role": "user", "content": digest}]  # <-

    async def play(self, policy):
        for _ in range(9):
            await self.make_room()
            done = await self.client.chat.completions.create(
                model=policy, messages=self.trajectory.messages()
            )
            self.trajectory.messages_and_choices.append(done.choices[0])
""",
)
GOOD = (
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory()
    response = await client.chat.completions.create(model="m", messages=trajectory.messages())
    choice = response.choices[0]
    trajectory.messages_and_choices.append(choice)
    message = choice.message.model_copy(deep=True)
    message.content = message.content.strip()
    for call in message.tool_calls or []:
        call.function.arguments = call.function.arguments.strip()
    return trajectory
""",
    """\
import art

async def begins_short(client, model, few):
    trajectory = art.Trajectory(messages_and_choices=few)
    trajectory.messages_and_choices = trajectory.messages_and_choices[-6:]
    response = await client.chat.completions.create(model="m", messages=trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])
    other = art.Trajectory()
    other.messages_and_choices = trajectory.messages_and_choices[:1]
    shown = response.choices[0].model_copy(deep=True)
    shown.message.content = shown.message.content.strip("`")
    trajectory.messages_and_choices = trajectory.messages_and_choices[:]
    trajectory.messages_and_choices = trajectory.messages_and_choices[:-1]
    turns = len(trajectory.messages_and_choices[1:])
    trajectory.messages_and_choices = [*trajectory.messages_and_choices, told(turns)]
    return trajectory
""",
    """\
import art

async def rollout(client, model):
    trajectory = art.Trajectory()
    trajectory.messages_and_choices.insert(0, {"role": "system", "content": "Be brief."})
    response = await client.chat.completions.create(model="m", messages=trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])
    text = response.choices[0].message.content.strip()
    message = response.choices[0].message
    if not message.tool_calls:
        message.tool_calls = None
    return trajectory
""",
    """\
import art, copy

def begin(episode: art.Trajectory) -> art.Trajectory:
    episode.messages_and_choices.insert(0, {"role": "system", "content": "Be brief."})
    return episode

async def rollout(client, model, fresh):
    plan = await client.chat.completions.create(model="m", messages=[{"role": "user"}])
    trajectory = fresh(plan)
    begin(trajectory)
    response = await client.chat.completions.create(model="m", messages=trajectory.messages())
    trajectory.messages_and_choices.append(response.choices[0])
    print(begin(copy.deepcopy(trajectory)))
    return trajectory
""",
)
MESSAGE = (
    "the trajectory is edited after the model saw it, so it trains on a context that was "
    "never sent; only append"
)
EDITED_MESSAGE = (
    "the sampled message is edited, so what it says no longer matches its tokens; keep the "
    "edited text elsewhere"
)
EDITED = ("content", "tool_calls")
OF_A_CALL = ("arguments", "name")


def check(code: Code) -> Iterator[Found]:
    for node in code.syntax.nodes:
        for target in targets_of(node):
            if not isinstance(target, ast.Subscript | ast.Attribute):
                continue
            is_item = _is_item(code, target)
            if not is_item and not _is_sampled_text(code, target):
                continue
            given = getattr(node, "value", None)
            is_part = isinstance(target, ast.Attribute)  # and no item of the list
            if is_part and given is not None and _is_for_none(code, target, given):
                continue
            if is_item and _after_sampling(code, node):
                yield found(target, MESSAGE)
            elif (
                not isinstance(node, ast.Delete)
                and _is_sampled_text(code, target)
                and not code.sampled.is_for_another_model(node)
                and not code.sampled.by_another_model(target)
            ):
                yield found(target, EDITED_MESSAGE)
        if _cuts(node, code) and _after_sampling(code, node):
            yield found(node, MESSAGE)
    for call in code.calls:
        if (
            dotted(call.func) in ("setattr", "delattr")
            and len(call.args) > 1
            and code.constant(call.args[1]) in EDITED
            and code.sampled.kind(call.args[0]) is Kind.MESSAGE
            and not code.sampled.by_another_model(call.args[0])
        ):
            yield found(call, EDITED_MESSAGE)
    for call, items in code.method_calls(*EDITS_LIST):
        last = receiver(call, "pop") and not call.args
        edits = not last and code.trajectories.is_items(items)
        if edits and _after_sampling(code, call):
            yield found(call, MESSAGE)


def _cuts(node: ast.AST, code: Code) -> TypeGuard[ast.Assign]:
    """Return whether a trajectory loses messages in front, which a model never saw others without.

    Or behind its first ones, where others follow instead: a summary.
    """
    if not isinstance(node, ast.Assign) or not isinstance(
        node.targets[0], ast.Attribute
    ):
        return False
    items = node.targets[0]
    if not code.trajectories.is_items(items):
        return False
    own = ast.unparse(items)
    parts = list(_parts(code, node.value))
    cut = [
        part.slice
        for part in parts
        if isinstance(part, ast.Subscript)
        and isinstance(part.slice, ast.Slice)
        and own in map(ast.unparse, (part.value, *_assigned(code, part.value)))
    ]
    in_front = any(e.lower is not None and ast.unparse(e.lower) != "0" for e in cut)
    return in_front or (
        len(parts) > len(cut) == 1 and isinstance(cut[0].upper, ast.Constant)
    )


def _assigned(code: Code, value: ast.expr) -> list[ast.expr]:
    """Return what a name stands for: ``kept = trajectory.messages_and_choices``."""
    return code.syntax.values_of(value) if isinstance(value, ast.Name) else []


def _parts(code: Code, value: ast.expr) -> Iterator[ast.expr]:
    """Yield what a new list is put together of: ``head + tail``, ``[first, *tail]``."""
    match value:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from (*_parts(code, left), *_parts(code, right))
        case ast.List(elts=elements):
            for each in elements:
                if isinstance(each, ast.Starred):
                    yield from _parts(code, each.value)
                else:
                    yield each
        case ast.Call(func=ast.Name("list"), args=[given]):
            yield from _parts(code, given)
        case ast.Name():
            for each in code.syntax.values_of(value):
                yield from [] if isinstance(each, ast.Name) else _parts(code, each)
        case _:
            yield value


def _is_for_none(code: Code, target: ast.expr, given: ast.expr) -> bool:
    """Return whether nothing is written where nothing was: ``if not m.content: m.content = ""``.

    Tool calls that the model made are something.
    """
    asked = ast.dump(target).replace("Store()", "Load()")
    if isinstance(given, ast.BoolOp) and ast.dump(given.values[0]) == asked:
        return True  # m.content = m.content or ""
    if code.constant(given) not in (None, "") and not _is_empty(given):
        return False
    calls = isinstance(target, ast.Attribute) and target.attr == "tool_calls"
    inner: ast.AST = target
    for outer in code.syntax.ancestors(target):
        if isinstance(outer, ast.If) and inner in outer.body:
            match outer.test:
                case (
                    ast.UnaryOp(op=ast.Not(), operand=value)
                    | ast.Compare(left=value, ops=[ast.Is() | ast.Eq()])
                ):
                    if ast.dump(value) == asked:
                        return True
        elif isinstance(outer, ast.If) and ast.dump(outer.test) == asked:
            return True  # the else of: if m.tool_calls
        inner = outer
    return not calls


def _is_empty(given: ast.expr) -> bool:
    return isinstance(given, ast.List | ast.Tuple) and not given.elts


def _is_item(code: Code, target: ast.expr) -> bool:
    """Return whether it is ``x.messages_and_choices[i]`` or a part of that."""
    is_items = code.trajectories.is_items
    while isinstance(target, ast.Subscript | ast.Attribute):
        if isinstance(target, ast.Subscript) and is_items(target.value):
            return not _is_end(target.slice)
        target = target.value
    return False


def _is_end(at: ast.expr) -> bool:
    """Return whether a slice begins at the end, as in ``items[len(items):]``."""
    return (
        isinstance(at, ast.Slice)
        and at.upper is None
        and isinstance(at.lower, ast.Call)
        and dotted(at.lower.func) == "len"
    )


def _is_sampled_text(code: Code, target: ast.expr) -> bool:
    if not isinstance(target, ast.Attribute) or _is_copied(code, target.value):
        return False
    if target.attr in OF_A_CALL:
        return _is_function_of_call(code, target.value)
    return target.attr in EDITED and (
        code.sampled.kind(target.value) is Kind.MESSAGE
        or _is_message_of_item(code, target.value)
    )


def _is_copied(code: Code, holder: ast.expr) -> bool:
    """Return whether what is edited is a copy: ``message = choice.message.model_copy()``.

    Or a part of one that is deep.
    """
    if any(copied(made) for made in _made(code, holder)):
        return True
    while isinstance(holder, ast.Attribute | ast.Subscript):
        holder = holder.value
        if any(copied(made) and _is_deep(made) for made in _made(code, holder)):
            return True
    return False


def _made(code: Code, holder: ast.expr) -> list[ast.Call]:
    return [e for e in code.syntax.values_of(holder) if isinstance(e, ast.Call)]


def _is_deep(copy: ast.Call) -> bool:
    deep = keyword(copy, "deep")
    return last_name(copy.func) == "deepcopy" or (
        isinstance(deep, ast.Constant) and deep.value is True
    )


def _is_function_of_call(code: Code, function: ast.expr) -> bool:
    """Return whether it is ``call.function`` of a sampled tool call that a loop goes through."""
    written = [function, *code.syntax.values_of(function)]
    calls = {
        each.value.id
        for each in written
        if isinstance(each, ast.Attribute)
        and each.attr == "function"
        and isinstance(each.value, ast.Name)
    }
    helper = code.function_of(function)
    if helper is not None and not calls.isdisjoint(helper.given):
        return _is_given_a_call(code, helper, calls)
    return any(_is_sampled_call(code, function, name) for name in calls)


def _is_given_a_call(code: Code, helper: Function, names: set[str]) -> bool:
    """Return whether all callers of a function give it a sampled tool call under one of some names."""
    calls = code.flow.functions.calls_of(code.syntax, helper)
    given = [
        argument_of(call, name, helper.positional)
        for call in calls
        for name in names.intersection(helper.given)
    ]
    return bool(given) and all(
        isinstance(each, ast.Name) and _is_sampled_call(code, each, each.id)
        for each in given
    )


def _is_sampled_call(code: Code, near: ast.expr, name: str) -> bool:
    """Return whether a loop around an expression goes through sampled tool calls by a name."""
    return any(
        isinstance(loop, ast.For | ast.comprehension)
        and name in bound_names([loop.target])
        and code.sampled.are_tool_calls(loop.iter)
        and not any(_is_copied(code, message) for message in _holders(loop.iter))
        and _comes_from_sampling(code, loop)
        for outer in code.syntax.ancestors(near)
        for loop in (outer, *getattr(outer, "generators", ()))
    )


def _holders(calls: ast.AST) -> Iterator[ast.expr]:
    """Yield the message whose tool calls an expression is."""
    for part in ast.walk(calls):
        if isinstance(part, ast.Attribute) and part.attr == "tool_calls":
            yield part.value


def _comes_from_sampling(code: Code, loop: ast.For | ast.comprehension) -> bool:
    """Return whether the calls that a loop goes through are a sampled message's."""
    return any(
        code.sampled.kind(message := value.of(part)) is Kind.MESSAGE
        or _is_annotated(code, message)
        for value in code.values(loop.iter)
        for part in _holders(value.node)
    )


def _is_annotated(code: Code, message: Value) -> bool:
    """Return whether a message is one by its annotation, or that of the choice that has it."""
    read = attribute_of(message.node)
    holder = message if read is None else message.of(read[0])
    kind = annotation(code.flow, holder).strip("'\"").rpartition(".")[2]
    return kind == ("ChatCompletionMessage" if read is None else "Choice")


def _is_message_of_item(code: Code, message: ast.expr) -> bool:
    """Return whether it is ``item.message`` of an item, which is a Choice then."""
    return (
        isinstance(message, ast.Attribute)
        and message.attr == "message"
        and all(
            isinstance(value.node, ast.Subscript)
            and code.trajectories.is_items(value.node.value)
            for value in code.values(message.value)
        )
    )


def _after_sampling(code: Code, node: ast.AST) -> bool:
    """Return whether the policy was asked since the trajectory was made.

    A function that copies its list into an additional history may start over. What is edited
    in a helper, which neither makes a trajectory nor asks, is edited where that is called.
    """
    owner = code.syntax.owner(node)
    line = getattr(node, "lineno", 0)
    if any(
        isinstance(inner, ast.Attribute) and inner.attr == "additional_histories"
        for inner in code.syntax.owned_by(owner)
    ):
        return False
    new = code.trajectories.new
    made = [call.lineno for call in new if code.syntax.owner(call) == owner]
    since = max((at for at in made if at <= line), default=0)
    looped = code.syntax.enclosing_loop(node)
    anew = looped is not None and any(code.blocks.within(c, looped) for c in new)
    asking = [call.callee for call in code.completions.of_policy]
    asking += [call.func for call in code.recording_calls]
    asked = [callee for callee in asking if code.syntax.owner(callee) == owner]
    helper = code.function_of(node)
    if helper is not None and not made and not asked:
        calls = code.flow.functions.calls_of(code.syntax, helper)
        others = [call for call in calls if code.syntax.owner(call) != owner]
        return any(
            _after_sampling(code, call) and _is_given_what_grows(code, call)
            for call in others
        )
    for callee in asked:
        if since <= callee.lineno < line:
            return True
        if looped is not None and not anew and code.blocks.within(callee, looped):
            return True
    return False


def _is_given_what_grows(code: Code, call: ast.Call) -> bool:
    """Return whether a call is given the trajectory to which completions were added before it."""
    owner = code.syntax.owner(call)
    looped = code.syntax.enclosing_loop(call)
    grown = [
        put.by.func.value.value
        for put in code.trajectories.puts
        if isinstance(put.by, ast.Call)
        and isinstance(put.by.func, ast.Attribute)
        and isinstance(put.by.func.value, ast.Attribute)
        and code.syntax.owner(put.by) == owner
        and (
            put.by.lineno < call.lineno
            or (looped is not None and code.blocks.within(put.by, looped))
        )
    ]
    if (dotted(call.func) or "").startswith("self.") and any(
        (dotted(each) or "").startswith("self.") for each in grown
    ):
        return True
    given = [
        # its list alone may be handed on
        each.value if isinstance(each, ast.Attribute) and each.attr == ITEMS else each
        for each in given_to(call)
    ]
    return any(_is_same(code, one, other) for one in given for other in grown)


def _is_same(code: Code, one: ast.expr, other: ast.expr) -> bool:
    """Return whether two names stand for one object: that of one definition, or a parameter."""
    if dotted(one) is None or dotted(one) != dotted(other):
        return False

    def made(name: ast.expr) -> set[ast.expr]:
        nodes = {value.node for value in code.values(name)}
        return {node for node in nodes if not isinstance(node, ast.Name)}

    return made(one) == made(other)
