"""The messages that are sent are not all recorded, so the trained conversation has gaps

The loop sends a list of its own and appends tool outputs or the user's turns only to that
list. The trajectory has the choices, but not everything the model read before them: training
uses a conversation with gaps.

Send ``trajectory.messages()``, or append to both lists.

Evidence: art 0.5.18, preprocessing/tokenize.py:331-480 (the context of a Choice is what
precedes it on the trajectory).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from art_adapt.code.nodes import called_name, dotted, keyword, names_in, receiver
from art_adapt.code.reaching import goes_on
from art_adapt.rules.code import Code, Value
from art_adapt.rules.rule import Found, Rule, Severity, found
from art_adapt.survey.calls.completion_calls import FoundCall
from art_adapt.words import CUTS_CONVERSATION, EDITS_LIST, GROWS_LIST

RULE = Rule("ART203", "other-list-sent", Severity.GARBAGE)
BAD = (
    """\
import art

async def rollout(client, model, question):
    messages = [{"role": "user", "content": question}]
    trajectory = art.Trajectory(messages_and_choices=list(messages))
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=messages)  # <-
        trajectory.messages_and_choices.append(response.choices[0])
        messages.append(response.choices[0].message)
        messages.append({"role": "user", "content": "Go on."})
    return trajectory
""",
    """\
import art, json

async def rollout(client, model, question):
    prompt = [{"role": "user", "content": question}]
    trajectory = art.Trajectory(messages_and_choices=prompt)
    for attempt in range(3):
        response = await client.chat.completions.create(model="m", messages=prompt)  # <-
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        try:
            answer = json.loads(choice.message.content)
            break
        except ValueError:
            continue
    return trajectory
""",
    """\
import art

async def rollout(client, model, s):
    trajectory = art.Trajectory(messages_and_choices=[s.asked], tools=TOOLS)
    sent = [s.asked]
    while True:
        response = await client.chat.completions.create(
            model="m", messages=sent, tools=TOOLS  # <-
        )
        choice = response.choices[0]
        trajectory.messages_and_choices.append(choice)
        sent.append(choice.message)
        if not choice.message.tool_calls:
            return trajectory
        sent += [
            {"role": "tool", "tool_call_id": each.id, "content": run(each)}
            for each in choice.message.tool_calls
        ]
""",
    """\
import art

class Game:
    KEEP = 4

    def __init__(self, model, opening):
        self.model = model
        self.traj = art.Trajectory(messages_and_choices=[opening])

    @property
    def context(self):
        head, *tail = self.traj.messages()
        return [head, *tail[-self.KEEP:]]

    async def play(self):
        for _ in range(9):
            response = await self.model.openai_client().chat.completions.create(
                model=self.model.get_inference_name(), messages=self.context  # <-
            )
            self.traj.messages_and_choices.append(response.choices[0])
            self.traj.messages_and_choices.append({"role": "user", "content": "Go on."})
        return self.traj
""",
    """\
import art

class Agent:
    def __init__(self, model, retriever):
        self.model, self.retriever = model, retriever

    def augmented(self, messages):
        first, *rest = messages
        found = self.retriever.top(rest[-1]["content"])
        return [{**first, "content": f"{first['content']} {found}"}, *rest]

    async def complete(self, messages):
        reply = await self.model.openai_client().chat.completions.create(
            model=self.model.get_inference_name(),
            messages=self.augmented(messages),  # <-
        )
        return reply.choices[0]

    async def rollout(self, question):
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}]
        choice = await self.complete(messages)
        return art.Trajectory(messages_and_choices=[*messages, choice], reward=len(question))
""",
)
GOOD = (
    """\
import art

async def ask(model, prompt):
    messages = [{"role": "user", "content": prompt}]
    reply = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    return reply.choices[0]

async def rollout(model: art.TrainableModel, text: str) -> art.Trajectory:
    choice = await ask(model, text)
    asked = {"role": "user", "content": text}  # the same, by another name
    return art.Trajectory(messages_and_choices=[asked, choice], reward=float(len(text)))
""",
    """\
import art

def asked(messages, found):
    first, *rest = messages
    return [{**first, "content": f"{first['content']} {found}"}, *rest]

async def rollout(model, question, retriever):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}]
    messages = asked(messages, retriever.top(question))
    reply = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=messages
    )
    return art.Trajectory(messages_and_choices=[*messages, reply.choices[0]], reward=1.0)
""",
    """\
import art, openai

async def rollout(client, model, question):
    prompt = [{"role": "user", "content": question}]
    trajectory = art.Trajectory(messages_and_choices=prompt)
    for attempt in range(3):
        try:
            response = await client.chat.completions.create(model="m", messages=prompt)
            trajectory.messages_and_choices.append(response.choices[0])
            break
        except openai.APITimeoutError:
            continue
    return trajectory
""",
    """\
import art

async def rollout(client, model, question):
    messages = [{"role": "user", "content": question}]
    trajectory = art.Trajectory(messages_and_choices=list(messages))
    for _ in range(5):
        response = await client.chat.completions.create(model="m", messages=messages)
        trajectory.messages_and_choices.append(response.choices[0])
        messages.append(response.choices[0].message)
        extra = {"role": "user", "content": "Go on."}
        messages.append(extra)
        trajectory.messages_and_choices.append(extra)
    return trajectory
""",
)

DEQUES = ("deque", "collections.deque")


def check(code: Code) -> Iterator[Found]:
    for call in code.completions.of_policy:
        sent = code.completions.argument(call, "messages")
        if call.recorded or sent is None:
            continue
        kinds = (_cut(code, each) for each in sent.written)
        what = next(filter(None, kinds), "") or _fresh_each_turn(code, call)
        if not what and _is_changed_copy(code, call):
            what = "a message is changed before it is sent"
        if what:
            yield found(
                sent.at,
                f"{what}, but the trajectory has all of its messages: training uses a "
                "prompt that was never sent; send trajectory.messages()",
            )
        elif call.messages is not None and _has_gaps(code, call):
            yield found(
                call.messages,
                f"{dotted(call.messages)} gets messages that the trajectory does not, so "
                "training uses a conversation with gaps; append to both, or send "
                "trajectory.messages()",
            )


def _is_changed_copy(code: Code, call: FoundCall) -> bool:
    """Return whether a message is sent with another content than the recorded one of which it is a copy.

    That is ``{**first, "content": ...}``. Only where every message is written out that the
    trajectory is made of: the copy is none of them.
    """
    for put in code.trajectories.puts:
        if put.by not in code.trajectories.new or not isinstance(put.by, ast.Call):
            continue
        made = code.contents.given(put.by, "messages_and_choices")
        recorded = None if made is None else _written_out(code, made)
        if recorded is None or not code.sampled.is_choice(put.value):
            continue
        for source in code.sampled.sourced(put.value):
            if source is None or source.node is not call.call:
                continue
            sent = code.completions.argument(call, "messages", source.place)
            for each in () if sent is None else sent.written:
                if any(
                    isinstance(message.node, ast.Dict)
                    and message.node not in recorded
                    and {None, "content"} <= set(_keys(message.node))
                    for element in code.contents.elements(each)
                    for message in code.values(element)
                ):
                    return True
    return False


def _keys(display: ast.Dict) -> Iterator[object]:
    """Yield the keys of a mapping that are written out; None for what it is a copy of."""
    for key in display.keys:
        yield key.value if isinstance(key, ast.Constant) else key


def _written_out(code: Code, messages: ast.expr) -> set[ast.AST] | None:
    """Return the messages of a list, without sampled ones; None if one cannot be seen."""
    found: set[ast.AST] = set()
    for element in code.contents.elements(messages):
        if code.sampled.sources(element) - {None}:
            continue
        values = code.values(element)
        if not all(isinstance(value.node, ast.Dict) for value in values):
            return None
        found.update(value.node for value in values)
    return found


def _is_record(code: Code, value: Value) -> bool:
    """Return whether it is a trajectory's messages, all of them."""
    node = value.node
    if isinstance(node, ast.ListComp) and len(node.generators) == 1:
        each = node.generators[0]  # of each message, as a dict
        return not each.ifs and _is_of_record(code, value.of(each.iter))
    if (trajectory := receiver(node, "messages")) is not None:
        return code.trajectories.is_one(trajectory)
    return isinstance(node, ast.Attribute) and node.attr == "messages_and_choices"


def _is_of_record(code: Code, value: Value) -> bool:
    return any(_is_record(code, each) for each in code.values(value))


def _cut(code: Code, messages: Value) -> str:
    """Return how a request leaves out or adds to the messages of the trajectory."""
    for value in code.values(messages):
        node = value.node
        if isinstance(node, ast.Subscript) and _is_part(code, value, node):
            return "only a part of the messages is sent"
        if isinstance(node, ast.BinOp | ast.List):
            what = _put_together(code, value)
            if what:
                return what
        if isinstance(node, ast.ListComp) and _is_filtered(code, value, node):
            return "the messages that are sent are filtered or changed"
        if (
            isinstance(node, ast.Call)
            and dotted(node.func) in DEQUES
            and keyword(node, "maxlen") is not None
            and _is_recorded(code)
        ):
            return "only the last messages are sent"
        if (
            isinstance(node, ast.Call)
            and CUTS_CONVERSATION.search(dotted(node.func) or "")
            and any(_is_of_record(code, value.of(each)) for each in node.args)
        ):
            return f"{dotted(node.func)} leaves out messages"
    return _edited_by_helper(code, messages) or _edited_here(code, messages)


def _is_recorded(code: Code) -> bool:
    """Return whether the file records choices one after another, outside of a constructor."""
    return any(
        code.sampled.is_choice(put.value)
        for put in code.trajectories.puts
        if put.by not in code.trajectories.new
    )


def _is_part(code: Code, value: Value, node: ast.Subscript) -> bool:
    cut = node.slice
    return (
        isinstance(cut, ast.Slice)
        and (cut.lower is not None or cut.upper is not None)
        and not (cut.upper is None and code.constant(cut.lower) == 0)
        and (
            _is_of_record(code, value.of(node.value))
            or _is_rest(code, value.of(node.value))
        )
    )


def _is_rest(code: Code, value: Value) -> bool:
    """Return whether it is ``rest`` of ``first, *rest = trajectory.messages()``."""
    return any(
        isinstance(each.node, ast.Subscript)
        and isinstance(each.node.slice, ast.Constant)
        and each.node.slice.value is ...
        and _is_of_record(code, each.of(each.node.value))
        for each in code.values(value)
    )


def _put_together(code: Code, value: Value) -> str:
    """Return how a list that is put together differs from the trajectory."""
    node = value.node
    for side in node.elts if isinstance(node, ast.List) else ():
        if isinstance(side, ast.Starred):
            what = _cut(code, value.of(side.value))
            if what:
                return what
    parts = list(code.contents.elements(value))
    whole = cut = False
    extra: list[Value] = []
    for part in parts:
        node = part.node
        if not isinstance(node, ast.Starred):
            if isinstance(node, ast.Subscript) and _is_of_record(
                code, part.of(node.value)
            ):
                cut = True
            else:
                extra.append(part)
            continue
        inner = part.of(node.value)
        if isinstance(node.value, ast.Subscript) and _is_part(code, inner, node.value):
            cut = True
        elif _is_record(code, inner):
            whole = True
    if cut:
        return "only a part of the messages is sent"
    added = [
        made
        for each in extra
        for made in code.values(each)
        if isinstance(made.node, ast.Dict)
    ]
    if whole and added and not any(_is_put(code, each) for each in added):
        return "a message is sent that is not on the trajectory"
    return ""


def _is_put(code: Code, message: Value) -> bool:
    """Return whether the same message is also put on a trajectory."""
    texts = {
        ast.dump(value.node)
        for put in code.trajectories.puts
        for value in code.values(put.value)
    }
    return ast.dump(message.node) in texts


def _is_filtered(code: Code, value: Value, node: ast.ListComp) -> bool:
    of = node.generators[0]
    if len(node.generators) != 1 or not _is_of_record(code, value.of(of.iter)):
        return False
    same = isinstance(node.elt, ast.Name) and dotted(node.elt) == dotted(of.target)
    return bool(of.ifs) or (isinstance(node.elt, ast.Dict) and not same)


def _edited_by_helper(code: Code, messages: Value) -> str:
    """Return how a helper edits its copy of the trajectory's messages."""
    body = code.entered(messages)
    if body is None:
        return ""
    for returned in body.returns():
        name = dotted(returned.node)
        if name is None or not _is_of_record(code, returned):
            continue
        if any(_edits(node, name) for node in body.nodes):
            return f"{body.function.qualname} edits the messages that are sent"
        if _is_fresh(code, returned) and _is_added(code, returned, name, body.nodes):
            return f"{body.function.qualname} adds a message to those that are sent"
    return ""


def _edited_here(code: Code, messages: Value) -> str:
    """Return how the function edits the copy that ``trajectory.messages()`` makes."""
    name = dotted(messages.node)
    if not isinstance(messages.node, ast.Name) or name is None:
        return ""
    if not _is_fresh(code, messages):
        return ""
    nodes = list(messages.syntax.owned_by(messages.syntax.owner(messages.node)))
    if any(_edits(node, name) for node in nodes):
        return "the messages that are sent are edited"
    if _is_added(code, messages, name, nodes):
        return "a message is sent that is not on the trajectory"
    return ""


def _is_fresh(code: Code, messages: Value) -> bool:
    """Return whether it certainly is a list that ``trajectory.messages()`` has made."""
    return all(
        isinstance(value.node, ast.Call) and _is_record(code, value)
        for value in code.values(messages)
    )


def _is_added(code: Code, messages: Value, name: str, nodes: Iterable[ast.AST]) -> bool:
    """Return whether the function adds to a copy, before it is sent, what is nowhere put."""
    if any(name in names_in(put.by) for put in code.trajectories.written):
        return False  # the copy itself is put, or a part of it
    for node in nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("append", "extend")
            and dotted(node.func.value) == name
            and node.args
            and node.lineno < messages.node.lineno
        ):
            given: ast.expr = node.args[0]
            if node.func.attr == "append":
                given = ast.copy_location(ast.List([given], ast.Load()), given)
                messages.syntax.adopt(given, node)
            added = [
                made
                for each in code.contents.elements(messages.of(given))
                for made in code.values(each)
            ]
            if added and not any(
                not isinstance(made.node, ast.Dict) or _is_put(code, made)
                for made in added
            ):
                return True
    return False


def _edits(node: ast.AST, name: str) -> bool:
    """Return whether it changes a list otherwise than at its end."""
    if isinstance(node, ast.Subscript):
        return not isinstance(node.ctx, ast.Load) and dotted(node.value) == name
    return dotted(receiver(node, *EDITS_LIST)) == name


def _fresh_each_turn(code: Code, call: FoundCall) -> str:
    """Return a text if each turn's request is new, but all are put on one trajectory."""
    loop = code.syntax.enclosing_loop(call.callee)
    if loop is None or call.messages is None:
        return ""
    if any(code.blocks.within(new, loop) for new in code.trajectories.new):
        return ""
    sent = list(code.contents.elements(call.messages))
    made = [each.node for each in code.values(call.messages)]
    fresh = (
        all(isinstance(each, ast.List) for each in made)
        and (
            all(code.blocks.within(each, loop) for each in made)
            or _stays_as_it_is(code, call.messages, loop)
        )
        and bool(sent)
        and all(isinstance(each.node, ast.Dict) for each in sent)
    )
    recorded = any(
        (code.blocks.within(put.by, loop) or code.blocks.within(put.value.node, loop))
        and call.call in code.sampled.behind(put.value)
        and not _is_last(code, put.by)
        for put in code.trajectories.puts
    )
    return "each turn is sent without the turns before it" if fresh and recorded else ""


def _stays_as_it_is(code: Code, messages: ast.expr, loop: ast.AST) -> bool:
    """Return whether a list is made before a loop, in which nothing else gets hold of it."""
    inside = [
        node
        for node in ast.walk(loop)
        if isinstance(node, ast.Name) and node.id == dotted(messages)
    ]
    return isinstance(messages, ast.Name) and inside == [messages]


def _is_last(code: Code, put: ast.AST) -> bool:
    """Return whether the loop around a statement ends in any case after it."""
    return not goes_on(code.blocks.after(code.blocks.statement(put)))


def _has_gaps(code: Code, call: FoundCall) -> bool:
    """Return whether a list of its own gets messages that the trajectory does not."""
    loop = code.syntax.enclosing_loop(call.callee)
    name = dotted(call.messages) if call.messages is not None else None
    if loop is None or name is None or "." in name or call.messages is None:
        return False
    if code.trajectories.is_items(call.messages) or code.trajectories.extends_items:
        return False
    inside = set(code.blocks.inside(loop))
    ours = [put for put in code.trajectories.puts if put.by in inside]
    if not any(code.sampled.is_choice(put.value) for put in ours):
        return False
    owner = code.syntax.owner(call.callee)
    others = [put for put in ours if not code.sampled.is_choice(put.value)]
    others += [
        put
        for put in code.trajectories.puts
        if code.syntax.owner(put.by).startswith(f"{owner}.")
    ]
    sent_only = any(
        _is_context(code, added)
        for other in inside
        for added in _added(code, other, name)
    )
    rebuilt = any(
        where == owner
        and (value in inside or code.syntax.parents.get(value) in inside)
        and not isinstance(code.syntax.parents.get(value), ast.AugAssign)
        for where, value in code.syntax.assignments.get(name, [])
    )
    return sent_only and not others and not rebuilt


def _added(code: Code, node: ast.AST, name: str) -> Iterator[Value]:
    """Yield what a method or ``+=`` adds to a named list."""
    given: ast.expr | None = None
    if isinstance(node, ast.Call) and dotted(receiver(node, *GROWS_LIST)) == name:
        given = node.args[-1] if node.args else None
        if given is not None and called_name(node) != "extend":
            yield code.flow.here(given)
            return
    elif isinstance(node, ast.AugAssign) and dotted(node.target) == name:
        given = node.value
    if given is not None:
        yield from code.contents.elements(given)


def _is_context(code: Code, value: Value) -> bool:
    """Return whether it is a message that the model did not write."""
    roles = {code.constant(each) for each in code.contents.item(value, "role").values}
    return bool(roles) and roles <= {"user", "tool", "system"}
