"""Answer in the form that a prompt asks for in words, where no schema says it.

Five forms are known: fields between markers, as DSPy asks for them; JSON, by an example in
the prompt; actions in text, as ReAct agents read them; an answer that a prompt shows with a
placeholder, as ``VERDICT: <pass|fail>``, ``<answer>...</answer>`` or ``\\boxed{}``; and one of
several words, as ``Answer only 'yes' or 'no'``.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from typing import Any

from art_adapt.conversation_signs import text_of
from art_adapt.rehearsal.schemas import value_of
from art_adapt.words import INSTRUCT

Json = dict[str, Any]
Words = Callable[[], str]

FIELD = re.compile(
    r"`(\[\[ ## )?(?P<name>\w+)( ## \]\])?`"
    r"(?: \(must be formatted as a valid Python (?P<type>[^`]+?)\))?(?=[,.]|$)"
)
ASKS_FOR_JSON = re.compile(
    r"\b(respond|repl(y|ies)|answer|output|return|write|produce|generate|format|only|valid)"
    r"\b([^\n]{0,80}\bjson\b|[^`]{0,80}```json\b)"
    r"|\bjson\b[^\n]{0,40}\b(only|format|object|array|list)\b",
    re.IGNORECASE,
)
ACTION = re.compile(r"^[ \t>*-]*Action[ \t]*:[ \t]*(.*)$", re.MULTILINE)
TOOL_NAMES = re.compile(r"\bone of:?\s*\[?([\w, '\"`-]+)\]?")
ANSWER = re.compile(r"^[ \t>*-]*((?:Final )?Answer)[ \t]*:", re.MULTILINE)
LABELLED = re.compile(
    r"\b([A-Za-z][\w ]{0,24})\**:\**[ \t]*[<\[]([^<>\[\]\n@]{1,80})[>\]]"
)
TAGGED = re.compile(
    r"<([A-Za-z]\w{0,30})>[ \t]*(\.{3}|…|(?:your|the|an?|\[)[^<>\n]{0,40}|[A-Z_ |]{0,40})[ \t]*</\1>"
    r"|<([A-Za-z]\w{0,30})>(?: ?and ?</\3>)? tags?\b"
)
DENIED = re.compile(r"\b(never|not|no|without|n't)\b[^.\n]{0,40}$", re.IGNORECASE)
LITERALS: dict[str, Any] = {"null": None, "true": True, "false": False}
PYTHON = ("None", "True", "False")
# A string, or what stands in the place of a value: {"move": n}, {"owner": name or null}.
WORDS = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|:\s*(?P<words>[A-Za-z_][^\"'{}\[\],:\n]*?)(?=\s*[,}\]\n])"
)
ALTERNATIVES = re.compile(r"\||\bor\b|_or_")  # of an example: yes|no, true_or_false
# Quoted words, or YES or NO; an agent that only reads these asks until it gets one.
QUOTED = r"[\"'`*\u201c\u2018]{1,2}([\w][\w -]{0,23})[\"'`*\u201d\u2019]{1,2}"
BARE = r"[A-Za-z][\w-]{0,23}"
CHOSEN = re.compile(
    r"\b(?i:answer|respond|reply|return|output|say|write)\b[^.\n]{0,60}?"
    rf"(?P<words>{QUOTED}(?:,? (?:or|and) |, ?|/){QUOTED}(?:,? (?:or |and )?{QUOTED})*"
    r"|\b(?:(?i:yes|true)|[A-Z]{2,12}),? or (?:(?i:no|false)|[A-Z]{2,12})\b"
    rf"|(?<=: ){BARE}(?:, {BARE})*,? or {BARE}(?=[.;\n]|$))",
)
BOXED = "\\boxed{"
OBSERVATIONS = 3  # after which an agent that acts in text gets its answer


def prompted_answer(request: Json, random: Random, words: Words) -> str | None:
    """Return an answer in the form that a request's prompt describes, if it does.

    ``words`` makes a text.
    """
    messages = [m for m in request.get("messages") or () if isinstance(m, dict)]
    asked = [m for m in messages if m.get("role") in (*INSTRUCT, "user")]
    texts = [text_of(message) for message in asked]
    form = request.get("response_format")
    asks = isinstance(form, dict) and form.get("type") == "json_object"
    forms: list[Callable[..., str | None]] = [_fields, partial(_json, asks=asks)]
    for made in forms if asks else [*forms, _action, _placed, _chosen]:
        if (answer := made(texts, random, words)) is not None:
            return answer
    return None


# ------------------------------------------------------------------------------- fields


def _fields(texts: Sequence[str], random: Random, words: Words) -> str | None:
    """Answer DSPy's adapters (3.4.1, adapters/chat_adapter.py and json_adapter.py)."""
    last = texts[-1] if texts else ""
    _, found, instruction = last.rpartition("Respond with ")
    asks = instruction.startswith(("the corresponding output", "a JSON object in the"))
    if not found or not asks:
        return None
    values = {
        match["name"]: _of_type(match["type"] or "str", random, words)
        for match in FIELD.finditer(instruction)
        if match["name"] != "completed"
    }
    if instruction.startswith("a JSON"):
        return json.dumps(values)
    spelled = (
        f"[[ ## {name} ## ]]\n{each if isinstance(each, str) else json.dumps(each)}"
        for name, each in values.items()
    )
    return "\n\n".join([*spelled, "[[ ## completed ## ]]"])


def _of_type(annotation: str, random: Random, words: Words) -> Any:
    """Make a value of a type as Python spells it."""
    if annotation.startswith("Literal["):
        return random.choice(ast.literal_eval(f"[{annotation[8:-1]}]"))
    made: dict[str, Callable[[], Any]] = {
        "int": lambda: random.randint(0, 10),
        "float": lambda: round(random.random(), 2),
        "bool": lambda: random.random() < 0.5,
        "list": lambda: [words()],
        "dict": dict,
    }
    return made.get(annotation.partition("[")[0], words)()


# --------------------------------------------------------------------------------- JSON


def _json(
    texts: Sequence[str], random: Random, words: Words, *, asks: bool = False
) -> str | None:
    """Answer with JSON like the prompt's last example, where it ``asks`` for JSON.

    A JSON schema asks for it by itself, and for what it describes.
    """
    for text in (*texts[-1:], *texts[:1]):  # else the system's prompt
        examples = list(_examples(text))
        schemas = [each for each in examples if _is_schema(each)]
        if schemas:
            return json.dumps(value_of(schemas[-1], random, schemas[-1]))
        if examples and (asks or ASKS_FOR_JSON.search(text) is not None):
            return json.dumps(_like(examples[-1], random, words))
    return None


def _is_schema(value: Any) -> bool:
    """True if an object is a JSON schema of one, as ``Model.model_json_schema()`` prints it."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("properties"), dict)
        and ("title" in value or "$defs" in value)
    )


def _examples(text: str) -> Iterator[Any]:
    """Yield the objects and arrays in a text that can be read as JSON."""
    at = 0
    while (start := re.compile(r"[{\[]").search(text, at)) is not None:
        end = _closing(text, start.start())
        value = _read(text[start.start() : end]) if end else None
        if value:
            yield value
        at = end if value and end else start.end()


def _closing(text: str, start: int) -> int | None:
    """Return where the bracket at ``start`` has been closed."""
    depth = 0
    for match in re.compile(r'"(?:[^"\\\n]|\\.)*"|[][{}]').finditer(text, start):
        depth += (match[0] in "{[") - (match[0] in "}]")
        if depth == 0:
            return match.end()
    return None


def _read(text: str) -> Any:
    """Read JSON as prompts spell it, with placeholders, comments and dots; else None."""
    if "{{" in text:  # of a template that nobody has filled in
        text = text.replace("{{", "{").replace("}}", "}")
    # Python reads dots, too. Of what is listed, several come back.
    text = re.sub(r"([:,\[]\s*)\[\s*(\.\.\.|…)\s*\]", r'\1["words", "words"]', text)
    for spelled in (text, _completed(text)):
        for read in (json.loads, ast.literal_eval):
            try:
                value = read(spelled)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(value, dict) and all(isinstance(key, str) for key in value):
                return value
            if (
                isinstance(value, list)
                and value
                and not isinstance(value[0], int | float)
            ):
                return value
    return None


def _completed(text: str) -> str:
    """Return a text in which words and dots in the place of values are values."""
    for old, new in (
        (r"(?m)[ \t]+(//|#)[^\n\"]*$", ""),
        (r"<([^<>\n\"\\]*)>(?=\s*[,}\]])", r'"\1"'),
        (r",?\s*(\.\.\.|…)\s*(?=[}\]])", ""),
        (r",(?=\s*[}\]])", ""),
    ):
        text = re.sub(old, new, text)
    return WORDS.sub(_value, text)


def _value(match: re.Match[str]) -> str:
    """Return what stands for a value; a string stays as it is."""
    words = match["words"]
    if words is None or words in LITERALS or words in PYTHON:
        return match[0]
    is_number = re.match(r"([A-Za-z_]|(num(ber)?|int(eger)?)\b.*)$", words)
    return f": {1 if is_number else json.dumps(words)}"


def _like(example: Any, random: Random, words: Words) -> Any:
    """Make a value like an example: of the same types, and one of its alternatives."""
    if isinstance(example, dict):
        return {key: _like(value, random, words) for key, value in example.items()}
    if isinstance(example, list):
        return [_like(each, random, words) for each in example]
    if isinstance(example, bool):
        return random.random() < 0.5
    if isinstance(example, int):
        return random.randint(0, max(10, example))
    if isinstance(example, float):
        return round(random.uniform(0, max(1.0, example)), 2)
    if isinstance(example, str):
        options = [each.strip(" \"'") for each in ALTERNATIVES.split(example)]
        if {*example.split("/")} <= LITERALS.keys():
            options = example.split("/")
        chosen = random.choice(options)
        is_choice = len(options) > 1 and all(options)
        return LITERALS.get(chosen, chosen) if is_choice else words()
    return None


# -------------------------------------------------------------------------------- ReAct


def _action(texts: Sequence[str], random: Random, words: Words) -> str | None:
    """Answer with an action or an end, where the prompt describes both in text."""
    described = next((text for text in texts if ACTION.search(text)), None)
    label = ANSWER.search(described) if described is not None else None
    if described is None or label is None:
        return None
    seen = sum(text.count("Observation:") for text in texts) - described.count(
        "Observation:"
    )
    if seen >= OBSERVATIONS or random.random() < 0.4:
        return f"Thought: {words()}\n{label[1]}: {words()}"
    if "Action Input:" in described:
        names = TOOL_NAMES.search(described)
        tools = re.findall(r"[\w-]+", names[1]) if names is not None else []
        tool = random.choice(tools) if tools else words()
        return f"Thought: {words()}\nAction: {tool}\nAction Input: {words()}"
    examples = [each for each in ACTION.findall(described) if re.match(r"\w", each)]
    action = random.choice(examples) if examples else words()
    return f"Thought: {words()}\nAction: {action}"


# ------------------------------------------------------------------------- placeholders


def _placed(texts: Sequence[str], random: Random, words: Words) -> str | None:
    """Answer with what a prompt shows in the place of an answer: after labels, in tags, boxed."""
    for text in (*texts[-1:], *texts[:1]):
        shown = [
            (match[1].strip(), match[2])
            for match in LABELLED.finditer(text)
            if "://" not in match[2]
        ]
        if shown:
            lines = (f"{label}: {_for(place, random, words)}" for label, place in shown)
            return "\n".join([words(), *dict.fromkeys(lines)])
        tags = {
            match[1] or match[3]: match[2] or ""
            for match in TAGGED.finditer(text)
            if not DENIED.search(text[: match.start()][-60:])
        }
        if tags:
            parts = (f"<{t}>{_for(p, random, words)}</{t}>" for t, p in tags.items())
            return "\n".join([words(), *parts])
        at = text.find(BOXED)
        if at >= 0 and not DENIED.search(text[:at][-60:]):
            return f"{words()} {BOXED}{random.randint(0, 100)}}}"
    return None


def _chosen(texts: Sequence[str], random: Random, words: Words) -> str | None:
    """Answer with one of the words that the last prompt which lists some allows."""
    for text in reversed(texts):
        if (listed := CHOSEN.search(text)) is not None:
            said: list[str] = re.findall(QUOTED, listed["words"])
            return random.choice(said or re.split(r",? or |, ", listed["words"]))
    return None


def _for(place: str, random: Random, words: Words) -> str:
    """Return what may stand in a place: one of its alternatives, a number of its range, or words."""
    options = [each.strip(" \"'") for each in re.split(r"[|/]|\bor\b", place)]
    if len(options) > 1 and all(options):
        return random.choice(options)
    span = re.search(r"(\d+(?:\.\d+)?)\s*(?:-|to|and|\u2013)\s*(\d+(?:\.\d+)?)", place)
    if span is not None:
        low, high = sorted((float(span[1]), float(span[2])))
        is_whole = "." not in span[0]
        value = (
            random.randint(int(low), int(high))
            if is_whole
            else random.uniform(low, high)
        )
        return str(value if is_whole else round(value, 2))
    return words()
