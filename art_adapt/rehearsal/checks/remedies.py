"""Say what to do about what an episode failed with."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from art_adapt.code.nodes import dotted
from art_adapt.code.project_folder import project_root
from art_adapt.code.syntax import Syntax
from art_adapt.paths import at, shown
from art_adapt.recording.unhooked import MISSED
from art_adapt.rehearsal.checks.tools import NETWORK
from art_adapt.rehearsal.environment import files_of
from art_adapt.rehearsal.observed import ANSWERED
from art_adapt.rehearsal.replies import is_judgement
from art_adapt.rehearsal.seen import Seen, offered_functions, offered_tools
from art_adapt.rehearsal.services import function_at
from art_adapt.rehearsal.surveyed import surveyed
from art_adapt.source import Place, read_source
from art_adapt.survey.model import Parameter
from art_adapt.words import CLEANS_UP

# The line of the agent that raised, which ends a failure.
PLACE = re.compile(r"\((/[^()]+\.py):(\d+)\)$")
ONLY_OPENAI = "which only OpenAI's servers have"  # of the recorder's errors
OUTSIDE = "outside its rollout while training"  # of the recorder's errors
LACKS = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
# Of what a call leaves out: ``Agent.edit() missing 1 required positional argument: 'text'``.
LACKING = re.compile(
    r"([\w.]+)\(\) missing \d+ required [\w-]+(?: \w+)? arguments?: (.+)"
)
OF_NONE = "'NoneType' object"
OWN_ERROR = "HTTPException("  # a web handler's, for whatever reason
# What code raises over values that it has, whatever the machine.
OF_THE_CODE = re.compile(
    r"(^|\braised )(\w+\.)*(Attribute|Type|Index|Name|UnboundLocal|ZeroDivision|JSONDecode)Error\b"
)
UNDEFINED = re.compile(
    r"\b(?:name|variable) '(\w+)' (?:is not defined|where it is not)"
)
MISSED_FILE = re.compile(r"No such file or directory: '([^']+)'")
# What one rollout meets where another one has made or removed a file.
OF_FILES = re.compile(r"\bFile(NotFound|Exists)Error\b|\bDirectory not empty\b")
# As training.record says it, of an episode that ended by itself.
NEVER_ASKED = "never called the model"
NEVER_CALLED = re.compile(rf"{NEVER_ASKED}(?!: it raised)")
# What to do, too, if earlier episodes left the answer, by how episodes are kept apart.
OF_EARLIER = {
    None: "; if earlier episodes left the answer, give each its own process (art-adapt --isolate "
    "process)",
    "process": "; if a file of earlier episodes holds the answer, give each a copy of the folder "
    "(art-adapt --isolate copy)",
    "copy": "; if a file outside of the project's folder holds the answer, remove it",
}


def _asked_others(seen: Seen) -> bool:
    """True if requests went to other models than the one in training, its judge apart."""
    return any(not (e.is_policy or is_judgement(e.request)) for e in seen.log)


def raised_at(failure: str) -> Place | None:
    """Return the line of the agent or the train module that raised, if a failure ends with it."""
    place = PLACE.search(failure)
    return None if place is None else Place(Path(place[1]), int(place[2]))


def whole_fix(seen: Seen, failure: str) -> str:
    """Say what to do about a failure, and what else helps if that does not."""
    fix = fix_of(seen, failure)
    if _undefined_at(failure):  # nothing else helps
        return fix
    fix += ", or change what episode() passes"
    caught = fix.startswith("catch ")
    return fix if caught else f"{fix}; catch an error that should not end an episode"


def unrequired(seen: Seen, failure: str) -> str:
    """Say which argument a tool's function requires and its schema does not; "" for none."""
    lacking = LACKING.search(failure)
    if lacking is None:
        return ""
    tool = lacking[1].rpartition(".")[2]
    missing = set(re.findall(r"'(\w+)'", lacking[2]))
    for function in offered_functions(seen):
        schema = function.get("parameters") or {}
        free = (schema.get("properties") or {}).keys() - {*schema.get("required", ())}
        if function.get("name") == tool and (names := sorted(missing & free)):
            return (
                f"the schema of {tool} does not require {' and '.join(names)}, and the function "
                "does: require it in the schema, or give the parameter a default"
            )
    return ""


def fix_of(seen: Seen, failure: str) -> str:
    """Say what to do about what an episode ended with."""
    if ONLY_OPENAI in failure:
        return "offer the model a function of your own in its place"
    if MISSED in failure:
        return "hook that call or name it in AUXILIARY, as the finding 'unhooked' says"
    if OUTSIDE in failure:
        return (
            "wrap what the agent hands to the thread, the executor or the helper that runs it: "
            "carried(function)"
        )
    if NEVER_CALLED.search(failure) and _asked_others(seen):
        return (
            "these episodes asked an auxiliary model alone: take scenarios in which the agent asks "
            "its own as well, or train both (remove that function from AUXILIARY)"
        )
    if ANSWERED in failure and not seen.log:
        return (
            "find where the agent answers without its model: a stub may return the wrong value, or "
            "a variable that it needs is missing (--env)"
        )
    if ANSWERED in failure:
        return (
            "let each episode ask its model: switch off what answers in its place (a local mode, "
            f"a cache){OF_EARLIER[seen.isolate]}{seen.or_as_watched}"
        )
    if "EOF when reading a line" in failure:
        return (
            "the agent reads what a person types: run it with training.run_command(..., "
            "inputs=scenario.inputs) in episode()"
        )
    place = raised_at(failure)
    if place is not None and place.path.resolve() == seen.path.resolve():
        line = f"change line {place.line} of the train module, which raised it"
        of_row = "correct the row that does not fit, as the error says; or "
        return f"{of_row * ('validation error' in failure)}{line}"
    if is_of_rollout(failure):
        return "mend rollout() of the train module, or what it calls; no line of the agent raised it"
    if undefined := _undefined_at(failure):
        return f"correct {undefined}, which no reply of a model can run"
    raising = _raising(failure)
    if raising in offered_tools(seen) and seen.agent.answers_tools is not None:
        return (
            f"catch what {raising} raises where the agent runs its tools ({at(seen.agent.answers_tools)}), "
            "and give the model the text of the error"
        )
    if setting := _setting(seen, failure):
        attribute, methods = setting
        return f"set {attribute} first: call {methods} of the agent in episode()"
    if (left := _left_none(seen, failure)) is not None:
        given = f", and {at(left.passed)} passes one" if left.passed else ""
        return (
            f"episode() leaves {left.name} None{given}: create it there, or name the function that "
            "makes the agent with --entry"
        )
    if OF_THE_CODE.search(failure):
        return (
            "correct that line of the agent; if it only reads replies of a certain form, supply "
            "some with --replies"
        )
    is_network = NETWORK.search(failure) and OWN_ERROR not in failure
    if is_network and not _is_the_agent(seen, raising):
        return f"rehearse with --stub {raising}, because a rehearsal reaches no network"
    needs = "provide the service, the key or the file that it needs"
    if elsewhere := in_another_folder(seen, failure):
        return elsewhere
    if OF_FILES.search(failure):
        where = "" if place is None else f"see {place.path.name}:{place.line}: "
        return (
            f"{where}provide the file"
            if seen.isolate == "copy"
            else f"{where}if rollouts share this file or folder, give each its own copy with --isolate "
            "copy; else provide the file"
        )
    if NEVER_ASKED in failure:  # what the program does before may be missing
        needs += seen.or_as_watched
    if place is not None:
        where = f"{place.path.name}:{place.line}"
        return (
            f"see {where}, which raised it: if it refuses the form of a scripted reply, supply "
            f"others with --replies; else make the agent run here: {needs}"
        )
    return f"make the agent run on this machine: {needs}"


def _undefined_at(failure: str) -> str:
    """Return the line of the agent that uses a name which nothing defines; "" of another failure.

    Code of the model's that the agent runs may use one as well: then the line does not have it.
    """
    named, place = UNDEFINED.search(failure), raised_at(failure)
    if named is None or place is None or not place.path.is_file():
        return ""
    nodes = Syntax.of(read_source(place.path)).nodes
    names = {n.id for n in nodes if isinstance(n, ast.Name) and n.lineno == place.line}
    return f"{place.path.name}:{place.line}" if named[1] in names else ""


def in_another_folder(seen: Seen, failure: str) -> str:
    """Name the folder of the project from which a relative path leads to a missed file; "" for none."""
    missed = MISSED_FILE.search(failure)
    if missed is None or Path(missed[1]).is_absolute():
        return ""
    module = seen.path.resolve()
    root = project_root(module)
    for folder in module.parents:
        if folder.is_relative_to(root) and (folder / missed[1]).exists():
            return (
                f"the agent finds that file if it runs in {shown(folder)}: watch one run from there "
                "(art-adapt capture -- COMMAND), and training starts there as well"
            )
    return ""


def _setting(seen: Seen, failure: str) -> tuple[str, str] | None:
    """Return the attribute that an object lacked, and the methods of its class that set it.

    These are neither those that clean up nor the method that missed it.
    """
    lacks = LACKS.search(failure)
    if lacks is None:
        return None
    owner, attribute = lacks.groups()
    setting = {
        where.rpartition(".")[2]
        for file in files_of(seen.path)
        for where, value in file.assignments.get(f"self.{attribute}", ())
        if where.rpartition(".")[0] == owner
        and not (isinstance(value, ast.Constant) and value.value is None)
    }
    methods = sorted(setting - {"__init__", _raising(failure), *CLEANS_UP})
    told = " or ".join(f"{name}()" for name in methods)
    return (attribute, told) if methods else None


def _left_none(seen: Seen, failure: str) -> Parameter | None:
    """Return the parameter of the agent that episodes leave None, where its use raised."""
    place, found = raised_at(failure), surveyed(seen.path)
    if OF_NONE not in failure or place is None or found is None:
        return None
    syntax = Syntax.of(read_source(place.path))
    used = {
        dotted(node)
        for node in syntax.nodes
        if isinstance(node, ast.Name | ast.Attribute) and node.lineno == place.line
    }
    for entry in found.entry_points:
        for each in (*entry.constructor, *entry.parameters):
            held = {
                target
                for target, values in syntax.assignments.items()
                if any(dotted(value) == each.name for _, value in values)
            }
            if (
                each.default == "None"
                and each.made is None
                and used & {each.name, *held}
            ):
                return each
    return None


def is_of_rollout(failure: str) -> bool:
    """True if no line of the agent raised an error of the code, but one of the train module."""
    return raised_at(failure) is None and OF_THE_CODE.search(failure) is not None


def _raising(failure: str) -> str:
    """Return the function of the agent that raised, where a failure names its line."""
    place = raised_at(failure)
    if place is None or not place.path.is_file():
        return "NAME"
    return function_at(Syntax.of(read_source(place.path)), place.line) or "NAME"


def _is_the_agent(seen: Seen, function: str) -> bool:
    """True if a function runs episodes or asks the model: a stub of it would leave nothing."""
    found = surveyed(seen.path)
    entries = {entry.called for entry in found.entry_points} if found else set()
    return function in entries | {name for name, _ in seen.agent.hooked}
