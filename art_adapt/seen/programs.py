"""Tell from runs which program calls what runs an episode, and what a scenario says in it."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from art_adapt.code.nodes import last_name
from art_adapt.code.syntax import MODULE_LEVEL, Syntax
from art_adapt.recipe.fields import paths_of, scenario_fields, to_fill_in
from art_adapt.secret_texts import HIDDEN
from art_adapt.seen.choice import with_entry
from art_adapt.seen.decision import Seen
from art_adapt.seen.episodes import SeenFunction, is_of_test
from art_adapt.seen.notes import Call, FunctionKey, Run
from art_adapt.settings import Options
from art_adapt.survey.model import (
    EntryPoint,
    Given,
    Parameter,
    Program,
    Survey,
    Terminal,
)

TAKES_VALUE = ("-W", "-X", "--check-hash-based-pycs")  # options of python's


def with_program(survey: Survey, seen: Seen | None, options: Options) -> Survey:
    """Let each episode start the program that was seen, where that is asked for, or safer.

    The program makes what reading cannot tell how to make, and does what it did before.
    """
    is_refused = options.start == "agent" or options.single_turn
    if seen is None or seen.function is None or is_refused:
        return survey
    function = seen.function
    return with_entry(
        survey, function.key, lambda entry: _started(entry, function, survey, options)
    )


def _started(
    entry: EntryPoint, seen: SeenFunction, survey: Survey, options: Options
) -> EntryPoint:
    program = program_of(entry, seen, survey)
    if program is None:
        return entry
    made = tuple(each.name for each in to_fill_in(entry))
    ran = tuple(f"{name}()" for name in dict.fromkeys(_ran_before(entry, seen, survey)))
    is_needed = options.start == "program" or made or ran
    if program.given and not is_needed:
        return entry
    typed = Terminal(asks=False, reads_arguments=True) if program.arguments else None
    program = replace(program, makes=made, runs=ran)
    return replace(entry, program=program, terminal=typed)


def program_of(entry: EntryPoint, seen: SeenFunction, survey: Survey) -> Program | None:
    """Return the program that calls an entry point; None: no run shows one that can be started.

    A server waits for a request, of which its program has none; a test sends it itself. A forked
    process is no program of its own.
    """
    if entry.terminal is not None:  # it is one itself
        return None
    differs = _differ(seen)
    for each in seen.calls:
        run, call = each.run, each.call
        around = [*run.outward(call.around)]
        is_tested = any(is_of_test(*each.key) for each in around)
        pairs = pairwise((call, *around))
        is_served = any(_is_called_back(*pair, survey) for pair in pairs)
        command = _command(run)
        if not (around and command) or (is_served and not is_tested):
            continue
        assert run.folder is not None
        given = _given(entry, run, call)
        if not (given or (differs and not scenario_fields(entry))):
            continue
        typed = tuple(line for at, line in run.lines if at <= call.began)
        until = _named(call.key, run.folder)
        main = _length_of_main(command) if differs else len(command)
        return Program(run.folder, command[:main], typed, until, given, command[main:])
    return None


def _differ(seen: SeenFunction) -> bool:
    """True if one program had command lines that differ in more than what episodes were told.

    Each may have made its agent otherwise: of another file, say. Of one run nobody knows.
    """
    commands = [_command(each.run) for each in seen.calls]
    common = set[str].intersection(*map(set, commands))
    told = [
        json.dumps([note.get("value") for note in each.call.given.values()])
        for each in seen.calls
    ]
    programs = {command[: _length_of_main(command)] for command in commands}
    if len(programs) > 1 or () in programs:
        return False
    return not all(
        word in common or json.dumps(word)[1:-1] in given
        for command, given in zip(commands, told, strict=True)
        for word in command
    )


def _is_called_back(call: Call, around: Call, survey: Survey) -> bool:
    """True if a library calls a function when something happens, as a server its handlers.

    It began in a thread or on an event loop, and what is around it does not name it. An
    executor or a task is handed the function, and a command of click's begins on the stack.
    """
    if call.direct:
        return False
    called = survey.syntax_of(call.path)
    function = None if called is None else called.functions.get(call.key[1])
    is_async = function is not None and isinstance(function.node, ast.AsyncFunctionDef)
    if call.site is not None and not is_async:
        return False
    syntax = survey.syntax_of(around.path)
    owner = MODULE_LEVEL if around.function == MODULE_LEVEL else around.key[1]
    return syntax is None or all(
        call.name != last_name(node)
        for node in syntax.owned_by(owner)
        if isinstance(node, ast.Name | ast.Attribute)
    )


def _ran_before(entry: EntryPoint, seen: SeenFunction, survey: Survey) -> Iterator[str]:
    """Yield the functions that ran before an episode for what they do, and that none would repeat.

    The functions around it called them, or a library did, as pytest its fixtures.
    """
    first = seen.calls[0]
    owner = first.run.owner(first.call)
    own = {call.key[1] for call in (owner.calls if owner is not None else ())}
    repeated = own | set(_called_by(entry)) | {seen.key[1]}
    for around in first.run.outward(first.call.around):
        imported = _imported(around, entry, survey)
        for site in around.effects:
            name = site.function.rpartition(".")[2]
            is_known = not repeated.isdisjoint((site.function, name))
            is_again = imported is not None and not _is_guarded(imported, site.line)
            if not (is_known or is_again or name.startswith("test_")):
                yield site.function


def _called_by(entry: EntryPoint) -> Iterator[str]:
    """Yield the names of what episode() calls, or statements of the project in it."""
    yield from (each.name for each in (*entry.setup, *entry.cleanup))
    made = [part.made for part in entry.parts if part.made is not None]
    for construction in (*entry.before, *made):
        for text in (construction.value, *(s.text for s in construction.statements)):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call):
                    yield last_name(node.func)


def _imported(around: Call, entry: EntryPoint, survey: Survey) -> Syntax | None:
    """Return the module that a call is of, if it is one that every episode imports."""
    if around.function != MODULE_LEVEL:
        return None
    is_home = os.path.realpath(entry.home) == str(around.path)
    return survey.syntax_of(around.path) if is_home else None


def _is_guarded(syntax: Syntax, line: int) -> bool:
    """True if a line is below ``if __name__ == "__main__":``."""
    return any(
        syntax.is_guarded(node)
        for node in syntax.nodes
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or 0)
    )


def _command(run: Run) -> tuple[str, ...]:
    """Return what followed ``python``, without its own options; () if no file or module did."""
    folder = run.folder
    words = [] if folder is None else [_from(folder, each) for each in run.program]
    while words and words[0].startswith("-") and words[0] != "-m":
        if words[0] == "-c" or not words[0].strip("-"):
            return ()
        del words[: 1 + (words[0] in TAKES_VALUE)]
    if folder is None or not words or any(HIDDEN in each for each in words):
        return ()
    if words[0] == "-m":
        return tuple(words)
    main, *arguments = words
    file = (folder / main).absolute()
    if file.parent.name in ("bin", "Scripts") and file.suffix in ("", ".exe"):
        return (file.stem, *arguments)  # as a package installs it
    return (Path(os.path.relpath(file, folder)).as_posix(), *arguments)


def _from(folder: Path, word: str) -> str:
    """Return a word of a command, with a path below a folder as it reads from there."""
    path = Path(word)
    is_below = path.is_absolute() and path.is_relative_to(folder)
    return path.relative_to(folder).as_posix() if is_below else word


def _length_of_main(command: Sequence[str]) -> int:
    """Return how many words of a command name the program: ``-m shop.desk`` are two."""
    return 1 + (command[:1] == ("-m",))


def _named(key: FunctionKey, folder: Path) -> str:
    path, function = key
    return f"{Path(os.path.relpath(path, folder)).as_posix()}:{function}"


def _given(entry: EntryPoint, run: Run, call: Call) -> tuple[Given, ...]:
    """Return what each field of a scenario takes the place of; () if a call is not known."""
    assert run.folder is not None
    found: dict[str, tuple[str, str]] = {}
    for key, parameters in _told(entry, run, call):
        named = "" if key == call.key else _named(key, run.folder)
        for each in parameters:
            for path, part in paths_of(each):
                found.setdefault(part.name, (named, path))
    fields = scenario_fields(entry)
    if any(each.of not in found for each in fields):
        return ()
    return tuple(Given(*found[each.of], each.name) for each in fields)


def _told(
    entry: EntryPoint, run: Run, call: Call
) -> Iterator[tuple[FunctionKey, Sequence[Parameter]]]:
    """Yield the calls that an episode is told something in, the one that runs it first."""
    yield call.key, entry.parameters
    owner = run.owner(call)
    if owner is None:
        return
    if owner.init is not None:
        yield owner.init.key, entry.constructor
    for setup in entry.setup:
        if (key := _key(setup.name, owner.calls)) is not None:
            yield key, setup.parameters
    whole = entry.instance
    if whole is not None and whole.made is not None:
        name = whole.made.value.rpartition(".")[2]
        made = _key(name, owner.returned)
        if made is None and owner.init is not None:
            made = owner.init.key
        if made is not None:
            yield made, whole.fields or ()


def _key(name: str, calls: Iterable[Call]) -> FunctionKey | None:
    return next((call.key for call in calls if call.name == name), None)
