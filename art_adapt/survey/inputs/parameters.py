"""Reads what an entry point takes, and tells what of it JSON can hold.

A scenario is a row of JSON. A client, a session, a function or an instance of a class is
none: it has to be made for each episode.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from art_adapt.calls import CLIENT_CLASSES
from art_adapt.code.annotations import alternatives, bare
from art_adapt.code.classes import is_enum, lineage, members_of, method_of
from art_adapt.code.click_commands import defaults_of_click
from art_adapt.code.command_line import takes_arguments
from art_adapt.code.nodes import (
    Function,
    decorator_names,
    dotted,
    keyword,
    last_name,
    unquoted,
    with_defaults,
)
from art_adapt.code.object_use import is_an_object
from art_adapt.code.project import Project
from art_adapt.code.syntax import BUILTIN, Syntax
from art_adapt.survey.inputs.annotated import VAGUE, as_shown, class_of
from art_adapt.survey.inputs.clients import (
    is_of_another_library,
    serves_another_library,
)
from art_adapt.survey.inputs.declared import default_of, passed_default
from art_adapt.survey.inputs.rebuilt import STANDARD, is_validated, rebuilt_as
from art_adapt.survey.inputs.slices import construction
from art_adapt.survey.inputs.supplied import BY_NAME, supplied_to
from art_adapt.survey.model import Parameter
from art_adapt.words import CLIENTS, EMPTY_TEXTS, OBJECTS, RECORDS

CLIENT_CLASS = re.compile(rf"\b({'|'.join(sorted(CLIENT_CLASSES))})\b")
# Names in annotations whose values JSON can hold, or a field of a scenario can be made of.
PLAIN = BUILTIN | frozenset(
    [
        "frozenset",
        "Any",
        "List",
        "Dict",
        "Tuple",
        "Set",
        "Sequence",
        "MutableSequence",
        "Mapping",
        "MutableMapping",
        "Iterable",
        "Literal",
        "Optional",
        "Union",
        "Annotated",
        "Final",
        "Path",
        "PathLike",
        "TypedDict",
        *STANDARD,
        "ChatCompletionMessageParam",
        "ResponseInputParam",
        "ChatCompletionToolParam",
    ]
)
# Lists that pydantic fills with models made of what JSON holds.
LISTS = ("list", "List", "typing.List", "Sequence", "typing.Sequence")


def parameters_of(
    project: Project, syntax: Syntax, function: Function
) -> tuple[Parameter, ...]:
    """Return the parameters of a function; those of a method without ``self``."""
    pairs = with_defaults(function.node.args)
    bound = (
        function.class_name is not None
        and "staticmethod" not in decorator_names(function.node)
    ) or _is_bound_task(function)
    of_click = dict(defaults_of_click(function))
    return tuple(
        _of_function(project, syntax, function, argument, default, of_click)
        for argument, default in pairs[1 if bound else 0 :]
    )


def _of_function(
    project: Project,
    syntax: Syntax,
    function: Function,
    argument: ast.arg,
    default: ast.expr | None,
    of_click: Mapping[str, ast.expr],
) -> Parameter:
    place, argument = as_shown(project, syntax, function, argument)
    found = _parameter(
        project, syntax, argument, passed_default(default), function, place
    )
    name = found.name
    found = replace(
        _made_again(project, place, found, argument.annotation),
        supplied=found.supplied
        if name in BY_NAME
        else supplied_to(project, syntax, function, name),
        positional_only=argument in function.node.args.posonlyargs,
        # Called as a function, typer's would get the declaration for a value.
        declared=isinstance(default, ast.Call) and default_of(default) is not default,
        command_line=found.default == "None"
        and takes_arguments(syntax, function, name),
        typed=isinstance(default, ast.Call)
        and last_name(default.func) == "Argument"
        and found.default in ("None", *EMPTY_TEXTS),
    )
    value = default_of(default)
    if name in of_click:  # what a command gets where nobody types an option
        value = of_click[name]
        if isinstance(value, ast.Constant | ast.Tuple):
            return replace(found, default=ast.unparse(value), declared=True)
    elif not found.declared or found.default is not None:
        return found
    # typer.Option(DEFAULT_PATH)
    made = (
        None
        if value is None or isinstance(value, ast.Constant)
        else construction(project, syntax, syntax, value)
    )
    if made is None:
        return found
    return replace(found, is_object=True, fields=None, made=made)


def _made_again(
    project: Project, syntax: Syntax, found: Parameter, annotation: ast.expr | None
) -> Parameter:
    """Say by what a row's value is made again for a parameter, or for a field of a record."""
    named = None if annotation is None else class_of(project, syntax, annotation)
    members = None if named is None else members_of(*named)
    rebuilt = rebuilt_as(project, syntax, annotation)
    return replace(found, rebuilt=rebuilt, members=members)


def _is_bound_task(function: Function) -> bool:
    """True if a task of Celery gets itself as its first argument, which no caller gives."""
    bind = (
        keyword(each, "bind")
        for each in function.node.decorator_list
        if isinstance(each, ast.Call)
    )
    return any(isinstance(each, ast.Constant) and each.value for each in bind)


def constructor_of(
    project: Project, syntax: Syntax, class_name: str
) -> tuple[Parameter, ...]:
    """Return the parameters of a constructor: own, inherited, or a dataclass's fields."""
    for path, qualname in method_of(project, syntax, class_name, "__init__"):
        place = project.files[path]
        own = parameters_of(project, place, place.functions[qualname])
        owner = qualname.rpartition(".")[0]
        return (*own, *_handed_up(project, place, owner, own))
    return fields_of(project, syntax, class_name) or ()


def _handed_up(
    project: Project, syntax: Syntax, owner: str, own: Sequence[Parameter]
) -> Iterator[Parameter]:
    """Yield the parameters of a base class that a constructor takes for it: ``**kwargs``.

    It hands them on by ``super().__init__(**kwargs)``, with others that it gives itself.
    """
    init = f"{owner}.__init__"
    rest = syntax.functions[init].node.args
    for call in syntax.owned_by(init):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr != "__init__" or not any(
            each.arg is None and rest.kwarg and dotted(each.value) == rest.kwarg.arg
            for each in call.keywords
        ):
            continue
        for base in lineage(project, syntax, owner)[1:2]:
            given = {each.arg for each in call.keywords} | {each.name for each in own}
            for parameter in constructor_of(project, *base):
                if parameter.name not in given:
                    yield parameter


def fields_of(
    project: Project, syntax: Syntax, class_name: str
) -> tuple[Parameter, ...] | None:
    """Return the fields of a dataclass or pydantic model; None for another class.

    Inherited ones come first.
    """
    family = lineage(project, syntax, class_name)
    if not any(_is_record(project, *each) for each in family):
        return None
    found: dict[str, Parameter] = {}
    coerces = is_validated(project, syntax, class_name)
    for place, name in reversed(family):
        for field in place.classes[name].body:
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and "ClassVar" not in ast.unparse(field.annotation)
            ):
                annotation = field.annotation
                if coerces and _is_coerced(project, place, annotation):
                    annotation = ast.parse("list[Any]", mode="eval").body
                argument = ast.arg(field.target.id, annotation)
                default = default_of(field.value)
                own = _parameter(project, place, argument, default)
                found[argument.arg] = (
                    own if coerces else _made_again(project, place, own, annotation)
                )
    return tuple(found.values())


def _is_coerced(project: Project, syntax: Syntax, annotation: ast.expr) -> bool:
    """True if pydantic makes what an annotation says of what JSON holds: ``list[Message]``."""
    element = _element_of(annotation)
    found = None if element is None else class_of(project, syntax, element)
    if found is None or not is_validated(project, *found):
        return False
    fields = _fields_within(project, found)
    return fields is not None and not any(
        each.is_object and each.default is None for each in fields
    )


def _record_listed(project: Project, syntax: Syntax, annotation: ast.expr) -> str:
    """Return the record in ``list[Clause]``, if JSON can hold all of its fields; "" for none."""
    element = _element_of(annotation)
    found = None if element is None else class_of(project, syntax, element)
    fields = None if found is None else _fields_within(project, found)
    is_flat = fields and not any(
        each.is_object or each.is_client or each.fields for each in fields
    )
    return ast.unparse(unquoted(element)) if element is not None and is_flat else ""


def _element_of(annotation: ast.expr) -> ast.expr | None:
    """Return the ``Message`` of ``list[Message]``; None for anything but a list."""
    match bare(annotation):
        case ast.Subscript(value=kind, slice=element) if dotted(kind) in LISTS:
            return element
    return None


def _fields_within(
    project: Project, record: tuple[Syntax, str]
) -> tuple[Parameter, ...] | None:
    """Return the fields of a record; None of another class, and while they are being read."""
    if record in project.expanding:  # they may name it again
        return None
    project.expanding.append(record)
    fields = fields_of(project, *record)
    project.expanding.pop()
    return fields


def record_fields(
    project: Project, syntax: Syntax, annotation: str | None
) -> tuple[Parameter, ...] | None:
    """Return the fields of the project's record that an annotation is; None for any other."""
    if annotation is None:
        return None
    found = class_of(project, syntax, ast.parse(annotation, mode="eval").body)
    return None if found is None else fields_of(project, *found)


def _is_record(project: Project, syntax: Syntax, class_name: str) -> bool:
    """True if a decorator or a library's base class makes a constructor of the fields."""
    definition = syntax.classes[class_name]
    bases = (dotted(base) or "" for base in definition.bases)
    return "dataclass" in decorator_names(definition) or any(
        RECORDS.search(base) and project.class_named(syntax, base) is None
        for base in bases
    )


def _is_offered(syntax: Syntax, function: Function, name: str) -> bool:
    """True if a function offers a parameter to a model as its tools, whatever it is called."""
    return any(
        isinstance(node, ast.keyword)
        and node.arg in ("tools", "functions")
        and dotted(node.value) == name
        for node in syntax.owned_by(function.qualname)
    )


def _parameter(
    project: Project,
    syntax: Syntax,
    argument: ast.arg,
    default: ast.expr | None,
    function: Function | None = None,
    place: Syntax | None = None,
) -> Parameter:
    """Describe a parameter of a function, or a field of a record.

    ``place``: the file that has the names of its annotation, if ``syntax`` does not.
    """
    annotation, name, place = argument.annotation, argument.arg, place or syntax

    def used_as_object() -> bool:
        return function is not None and is_an_object(project, syntax, function, name)

    text = ast.unparse(annotation) if annotation is not None else None
    found = None if annotation is None else class_of(project, place, annotation)
    is_client = CLIENT_CLASS.search(text or "") is not None or (
        argument.arg in CLIENTS
        and found is None  # a class of the project is none
        and not is_of_another_library(place, annotation)
        and not (function and serves_another_library(syntax, function, name))
    )
    fields: tuple[Parameter, ...] | None = None
    is_task = function is not None and function.node.name != "__init__"
    if annotation is not None:
        if found is not None:
            fields = _fields_within(project, found)
        named = OBJECTS.search(argument.arg) is not None
        is_object = fields is None and (
            (named or used_as_object())
            if dotted(bare(annotation)) in VAGUE
            else not _is_plain(project, place, annotation, any_of=is_task)
        )
    elif default is None or isinstance(default, ast.Constant):
        literal = isinstance(default, ast.Constant) and default.value is not None
        is_object = not literal and (
            OBJECTS.search(argument.arg) is not None
            or used_as_object()
            or (function is not None and _is_offered(syntax, function, name))
        )
    else:
        is_object = not isinstance(default, ast.List | ast.Dict | ast.Tuple | ast.Set)
    if fields is not None and any(
        each.is_object or (each.fields is not None and each.default is None)
        for each in fields
    ):
        fields, is_object = None, True
    element = ""
    # A field's record may stand in a file that the agent's does not import it from.
    if annotation is not None and default is None and function is not None:
        element = _record_listed(project, place, annotation)
    validated = ""
    if found is not None and function is not None and is_validated(project, *found):
        validated = dotted(bare(annotation)) or "" if annotation is not None else ""
    # ``model: Model`` is an object of the project, and no name.
    is_own = found is not None or (annotation is None and used_as_object())
    return Parameter(
        argument.arg,
        text,
        ast.unparse(default) if default is not None else None,
        is_client,
        is_object and not is_client and not element,
        fields,
        supplied="" if is_own else BY_NAME.get(argument.arg, ""),
        element=element,
        validated=validated,
        annotated_in=place.source.path,
    )


def _is_plain(
    project: Project,
    syntax: Syntax,
    annotation: ast.expr,
    depth: int = 0,
    *,
    any_of: bool = False,
) -> bool:
    """True if JSON can hold what the annotation admits.

    ``any_of``: of a union, one alternative is enough. A task may be given as a text; what
    configures an agent is made as an object.
    """
    annotation = bare(annotation)
    if depth > 10:  # an alias of itself
        return False
    if isinstance(annotation, ast.Constant):
        return True
    admitted = alternatives(annotation)
    if len(admitted) > 1:  # Message | str: a text will do
        enough = any if any_of else all
        return enough(_is_plain(project, syntax, e, depth + 1) for e in admitted)
    if isinstance(annotation, ast.Subscript):
        name = (dotted(annotation.value) or "").split(".")[-1]
        if name in ("Literal", "Annotated"):
            return True
        inner = annotation.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        return name in PLAIN and all(
            _is_plain(project, syntax, each, depth + 1) for each in parts
        )
    name = (dotted(annotation) or "").split(".")[-1]
    if name in PLAIN:
        return True
    found = project.class_named(syntax, dotted(annotation) or "")
    if found is not None:
        bases = map(last_name, found[0].classes[found[1]].bases)
        return "TypedDict" in bases or is_enum(*found)
    values = syntax.values_of(annotation) if annotation in syntax.parents else []
    return bool(values) and all(
        _is_plain(project, syntax, value, depth + 1) for value in values
    )
