"""Reports the survey and the decisions as text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TextIO

from art_adapt.calls import Api
from art_adapt.decisions import Decisions
from art_adapt.entry_decision import option_for
from art_adapt.paths import at, shown
from art_adapt.plan import Plan
from art_adapt.printable import counted
from art_adapt.recipe.fields import scenario_fields, to_fill_in
from art_adapt.report.candidates import doubts_about
from art_adapt.report.effects import effect_lines, isolation_lines, unasked_lines
from art_adapt.report.lines import Line, write
from art_adapt.report.seen import seen_lines
from art_adapt.seen.decision import Seen
from art_adapt.settings import Options, Origin
from art_adapt.survey.calls.said import asks_another_model, models_of, where_asked
from art_adapt.survey.calls.tool_loops import MESSAGES
from art_adapt.survey.candidates.entry_points import UNSEEN
from art_adapt.survey.model import (
    CompletionCall,
    Construction,
    EntryPoint,
    Parameter,
    SetupCall,
    Survey,
)

LONGEST_SET_UP = 60  # characters of a call


def show(plan: Plan, stream: TextIO, *, found: bool = True) -> None:
    """Write the survey and the decisions of ``plan``; without ``found``, the decisions alone."""
    write(list(_lines(plan, found=found)), stream)


def _lines(plan: Plan, *, found: bool) -> Iterator[Line]:
    decisions = plan.decisions
    if found:
        yield Line(text="Found", heading=True)
        yield from found_lines(plan.survey, decisions)
        yield from (Line(*each) for each in seen_lines(plan.seen))
    if decisions.training is not None:
        yield Line()
        yield Line(text="Decided", heading=True)
        yield from _decision_lines(decisions, plan.seen)
        yield from isolation_lines(decisions)
        yield from unasked_lines(plan)
        yield from _said_lines(plan.options)
        yield from _changed_lines(plan)


def found_lines(
    survey: Survey, decisions: Decisions, *, trains: bool = False
) -> Iterator[Line]:
    """Say what the survey has found and what was decided on it.

    ``trains``: a train module comes of it, also where its options are not decided yet.
    """
    for call in (*decisions.policy, *decisions.auxiliary):
        yield from _call_lines(call, policy=call in decisions.policy)
        if call in decisions.policy and asks_another_model(call, decisions.policy):
            own = [each for each in decisions.policy if each.function == call.function]
            name = at(call.place) if len(own) > 1 else call.function
            remedy = f"--auxiliary {name} keeps it out of training"
            what = "asks a different model than the conversation"
            what += ", and no episode runs it" * (not call.in_episode)
            yield Line("", f"  {what}", remedy)
        for asker in call.beside:
            what = f"{at(asker.place)}  {asker.function} calls {call.function} with a conversation of its own"
            what += f" (model {asker.model})" * bool(asker.model)
            remedy = f"--auxiliary {asker.function} keeps it out of training"
            yield Line("", f"  {what}", remedy)
        for asker in call.asides:
            what = f"{at(asker.place)}  {asker.function}, through {call.function}"
            yield Line("auxiliary", what, asker.reason)
    models = models_of(decisions.policy, survey.said)
    if models:
        yield Line(
            "models",
            where_asked(models),
            "the replies of all that an episode asks are trained; --auxiliary MODEL keeps one's out",
        )
    yield from _tool_lines(survey)
    yield from _entry_lines(decisions, trains or decisions.training is not None)
    for site in decisions.rewards:
        yield Line("reward", at(site.place), site.expression)
    training = decisions.training
    yield from effect_lines(survey, training.isolate if training is not None else None)
    yield from _obstacle_lines(survey)


def _call_lines(call: CompletionCall, *, policy: bool) -> Iterator[Line]:
    role = "policy call" if policy else "auxiliary"
    yield Line(
        role,
        f"{at(call.place)}  {call.callee}",
        ""
        if policy and call.supported and "side job" not in call.reason
        else call.reason,
    )
    if not call.supported and policy:
        yield Line(
            "",
            "  cannot be recorded: a rollout that reaches this call stops with an error",
        )
    if call.api is Api.FRAMEWORK:
        yield Line("", "  through a framework: training records every OpenAI client")
        return
    named = call.messages and call.messages not in call.conversation.split()
    parts = [f"messages{f' {call.messages}' * bool(named)}: {call.conversation}"]
    if call.model:
        parts.append(f"model {call.model}")
    if call.tools:
        parts.append(f"tools {call.tools}")
    if call.streams:
        parts.append("streamed")
    yield Line("", "  " + ", ".join(parts))
    if call.loop is not None:
        limit = (
            f"at most {call.loop.turn_limit}{' turns' * (MESSAGES not in call.loop.turn_limit)}"
            if call.loop.turn_limit
            else "no turn limit"
        )
        yield Line(
            "", f"  in the loop {at(call.loop.place)}: {call.loop.header}", limit
        )


def _tool_lines(survey: Survey) -> Iterator[Line]:
    # Each of several providers' files leads to the one loop that runs the tools.
    executions = dict.fromkeys(file.tool_execution for file in survey.files)
    for tools in filter(None, executions):
        yield Line("tools", f"{at(tools.place)}  {tools.how}")
    for file in survey.files:
        for thread in file.threads:
            yield Line(
                "thread",
                f"{at(thread.place)}  {thread.starter}({thread.function})",
                "keeps the rollout's context",
            )


def _entry_lines(decisions: Decisions, trains: bool) -> Iterator[Line]:
    if decisions.entry is not None and decisions.entry.is_request:
        where = at(decisions.entry.place)
        yield Line("episode", f"one completion, on a request recorded at {where}")
        return
    if decisions.entry is not None:
        origin = decisions.origins.get("entry", Origin.FOUND)
        detail = "no path from here to a model call was found: rehearse to be sure"
        if decisions.entry.score > UNSEEN or decisions.entry.was_seen:
            doubts = doubts_about(decisions.entry, decisions.other_entries, origin)
            detail = "; ".join(doubts)
        yield Line(
            "entry point",
            f"{at(decisions.entry.place)}  {_signature(decisions.entry)}",
            detail,
        )
    elif decisions.other_entries:
        yield Line(
            "entry points",
            ", ".join(map(str, decisions.other_entries)),
            "equally likely",
        )
    if decisions.entry is not None:
        yield from _need_lines(decisions.entry)
    for exit_ in decisions.exits:
        yield Line("exit", f"{at(exit_.place)}  {exit_.answer}", exit_.how)
    if not decisions.exits:
        yield Line("exit", *_without_exit(decisions, trains))


def _without_exit(decisions: Decisions, trains: bool) -> tuple[str, str]:
    """Say what the answer is where no place in the agent is known to end with it."""
    entry = decisions.entry
    if entry is not None and trains:
        if entry.keeps_answer:
            last = "the last message of the model is the answer"
            return "none found", f"{last}; otherwise wrap it in final_answer(...)"
        if entry.terminal is not None:
            last = "the model's last message is the answer if it is printed, else all that is"
            return "none found", f"{last}; otherwise wrap it in final_answer(...)"
        if entry.route is not None:
            return f"the response of {entry.route.path}", ""
        if _is_unedited(decisions) and entry.returns != "None":
            return f"the return value of {entry}", ""
    missing = "trajectories will have no final_answer"
    return "none found", f"{missing}: wrap the answer in final_answer(...)"


def _is_unedited(decisions: Decisions) -> bool:
    return decisions.training is not None and decisions.training.every_client


def _how_made_whole(entry: EntryPoint, made: Construction) -> str:
    """Say how episode() gets an agent that is taken over whole."""
    if entry.runs_shared_object:
        return f"{made.value} of {at(made.place)} itself, with everything added to it"
    if made.statements:
        return f"made as in {at(made.place)}, with everything added to it"
    return f"made by {made.value}(), {at(made.place)}"


def _need_lines(entry: EntryPoint) -> Iterator[Line]:
    """Say how an episode gets what no scenario can hold, and what is called before it."""
    if (program := entry.program) is not None:
        how = "each episode starts it, and ends it after this call"
        yield Line(
            "program", program.shown, f"{how}{': ' * bool(program.why)}{program.why}"
        )
        return
    missing = to_fill_in(entry)
    fields = {field.name for field in scenario_fields(entry)}
    shown_in: dict[Path, list[Parameter]] = {}
    for parameter in entry.parts:
        made = parameter.made
        if parameter.stand_in is not None:
            read = " and ".join(parameter.stand_in)
            what = f"{parameter.name}: a stand-in for the platform's object"
            sets = f"the scenario sets {read}: " * bool(read)
            yield Line("needs", what, f"{sets}rehearse to be sure")
        elif parameter in missing:
            what = f"{parameter.name}: {parameter.annotation or 'an object'}"
            shown = (
                f"{at(parameter.passed)} passes one that cannot be copied here"
                if parameter.passed is not None
                else "no call here shows how it is made"
            )
            yield Line("needs", what, f"create it in episode(): {shown}")
        elif made is not None and parameter is entry.instance:
            what = f"{parameter.name}: {parameter.annotation}"
            yield Line("needs", what, _how_made_whole(entry, made))
        elif made is not None and parameter.is_record:
            what = f"{parameter.name}: {parameter.annotation}"
            why = (
                f"the argument in {at(parameter.passed)} cannot be copied here"
                if parameter.passed is not None
                else "no call here shows how it is made"
            )
            yield Line("needs", what, f"built as {made.value}, {at(made.place)}: {why}")
        elif made is None and parameter.passed and _stays(parameter, fields):
            default = parameter.default
            what = f"stays {default}" if default else "keeps its defaults"
            passed = f"what {at(parameter.passed)} passes cannot be copied here"
            if not entry.was_seen:
                passed += "; a run can show it (art-adapt capture)"
            yield Line("note", f"{parameter.name} {what}", passed)
        elif made is not None:
            shown_in.setdefault(made.place.path, []).append(parameter)
        elif kept := _left_at_default(parameter, fields):
            what = f"{', '.join(kept)} of {parameter.name} keep their defaults"
            yield Line("note", what, "if tasks differ in them, pass them in episode()")
    for parameters in shown_in.values():
        first = min(p.made.place for p in parameters if p.made is not None)
        names = ", ".join(dict.fromkeys(each.name for each in parameters))
        others = dict.fromkeys(place for p in parameters for place in p.otherwise)
        places = ", ".join(at(place) for place in others)
        differs = (
            f"{places} makes it in another way: if episodes need that, edit episode()"
        )
        yield Line("needs", f"{names}, made as in {at(first)}", differs * bool(others))
        later = dict.fromkeys(place for p in parameters for place in p.set_later)
        if later:
            what = f"{', '.join(map(at, later))} sets attributes of it later"
            yield Line("note", what, "left out: if episodes need it, edit episode()")
        left = dict.fromkeys(e for p in parameters if p.made for e in p.made.left_out)
        if left:
            what = f"{', '.join(map(at, left))} runs only if an option is given"
            yield Line("note", what, "left out: if episodes need it, edit episode()")
    for module in entry.registering:
        yield Line("imports", module, "it registers objects that an episode looks up")
    for parameter in entry.parameters:
        if (call := parameter.opened) is not None:
            said = f"{call.name}() returns {parameter.name}, {at(call.place)}"
            yield Line("set up", said)
    for call in entry.setup:
        after = f"{entry.cleanup[0].name}() after it" if entry.cleanup else ""
        yield Line("set up", f"{_set_up(call)}, as in {at(call.place)}", after)


def _set_up(call: SetupCall) -> str:
    """Show a call before an episode with what it is given: ``register_tool(read_file)``."""
    given = (p.made.value if p.made else p.name for p in call.parameters)
    whole = f"{call.name}({', '.join(given)})"
    one_line = "\n" not in whole and len(whole) <= LONGEST_SET_UP
    return whole if one_line else f"{call.name}(...)"


def _left_at_default(parameter: Parameter, fields: Collection[str]) -> list[str]:
    """Return the fields of a row's record that no row says: ``items`` of a claim."""
    parts = parameter.fields or ()
    names = [each.name for each in parts if each.default is not None and not each.made]
    said = any(each.name in fields for each in parts)
    return [each for each in names if each not in fields] if said else []


def _stays(parameter: Parameter, fields: Collection[str]) -> bool:
    """True if nothing has to be given for a parameter, or its object, and no row says it."""
    parts = parameter.fields or ()
    whole = bool(parts) and all(each.default is not None for each in parts)
    return parameter.name not in fields and (parameter.default is not None or whole)


def _signature(entry: EntryPoint) -> str:
    if entry.is_script:
        return "the file itself, run as a script"
    parameters = ", ".join(
        p.name + (f": {p.annotation}" if p.annotation else "") for p in entry.parameters
    )
    return f"{entry.called}({parameters})" + (
        f" -> {entry.returns}" if entry.returns else ""
    )


def _obstacle_lines(survey: Survey) -> Iterator[Line]:
    for obstacle in survey.obstacles:
        if obstacle.every_client:
            continue  # it is seen in training
        what = f"{at(obstacle.place)}  {obstacle.what}"
        yield Line("not handled", what, obstacle.instead)
    if survey.unreached and survey.calls:
        first, *more = survey.unreached
        others = f" and {len(more)} more" if more else ""
        then = "nothing read here leads to this request: if the agent makes it, name its file, too"
        yield Line("not reached", f"{at(first)}{others}", then)
    for refusal in survey.unread:
        path = shown(refusal.path) if refusal.path is not None else ""
        where = f"{path}:{refusal.line}" if refusal.line is not None else path
        then = f"it may show how the agent is used: {refusal.next_step}"
        yield Line("not read", f"{where}  {refusal.what}", then)


def _entry_name(decisions: Decisions) -> str:
    entry = decisions.entry
    if entry is not None and entry.is_request:
        return "recorded requests"
    script = entry is not None and entry.is_script
    return entry.home.name if entry is not None and script else str(entry)


def _changed_lines(plan: Plan) -> Iterator[Line]:
    for each in plan.changed:
        yield Line("changed", each.now, f"(before: {each.before})")
    if plan.forgets is not None:
        what = f"{shown(plan.forgets)} was made as a watched run showed, and no run is known here"
        then = (
            "its fields follow the code alone; run art-adapt capture first to keep them"
        )
        yield Line("changed", what, then)


def _said_lines(options: Options) -> Iterator[Line]:
    """Say what somebody has decided that has no usual value."""
    for name in ("policy", "auxiliary"):
        value, origin = getattr(options, name), options.origin(name)
        if value and origin is not Origin.DEFAULT:
            every = value if isinstance(value, tuple) else (str(value),)
            yield Line(name, ", ".join(map(_as_typed, every)), f"({origin})")


def _as_typed(call: str) -> str:
    """Return what names calls as somebody would type it here: ``agent.py:26``, or a function."""
    path, colon, line = call.rpartition(":")
    return f"{shown(Path(path))}:{line}" if colon and line.isdigit() else call


def _decision_lines(decisions: Decisions, seen: Seen | None) -> Iterator[Line]:
    training = decisions.training
    assert training is not None
    reward = training.reward or (
        "the agent's own"
        if training.agent_rewards
        else f"RULER, judged by {training.judge_model}"
    )
    for name, value in (
        ("entry", _entry_name(decisions)),
        ("reward", reward),
        ("scenarios", training.scenarios),
        ("backend", training.backend),
        ("base_model", training.base_model),
        ("project", training.project),
        ("run_name", training.run_name),
    ):
        origin = decisions.origins.get(name, Origin.DEFAULT)
        is_ruler = name == "reward" and not (training.reward or training.agent_rewards)
        if is_ruler and origin is Origin.DEFAULT:
            origin = decisions.origins.get("judge_model", origin)
        said = f"({origin})"
        if origin is Origin.SEEN and seen is not None:
            runs = counted(len(seen.runs), "run")
            said = f"(seen in {runs})"
            if seen.read is not None:
                suggested = option_for(seen.read, [*filter(None, [decisions.entry])])
                said += f"; the code alone suggests {suggested} (--entry)"
        yield Line(name.replace("_", " "), value, said)
