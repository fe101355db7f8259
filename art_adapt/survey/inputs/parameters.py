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
from art_adapt.code.classes import lineage, method_of
from art_adapt.code.command_line import defaults_of_click, takes_arguments
from art_adapt.code.nodes import (
    Function,
    argument_of,
    decorator_names,
    dotted,
    keyword,
    last_name,
    unquoted,
    with_defaults,
)
from art_adapt.code.object_use import is_an_object
from art_adapt.code.project import Project
from art_adapt.code.resolution import resolve
from art_adapt.code.syntax import BUILTIN, Syntax
from art_adapt.survey.inputs.clients import (
    is_of_another_library,
    serves_another_library,
)
from art_adapt.survey.inputs.slices import construction
from art_adapt.survey.inputs.supplied import BY_NAME, supplied_by_use
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
        "date",
        "datetime",
        "TypedDict",
        "ChatCompletionMessageParam",
        "ResponseInputParam",
        "ChatCompletionToolParam",
    ]
)
# Annotations that admit both what JSON holds and what it does not.
VAGUE = ("Any", "typing.Any", "object", "list", "dict", "List", "Dict", "List[Any]")
# Lists that pydantic fills with models made of what JSON holds.
LISTS = ("list", "List", "typing.List", "Sequence", "typing.Sequence")
# Calls that declare a default instead of being one: of dataclasses, pydantic, typer, and
# FastAPI.
DECLARED = ("field", "Field", "Option", "Argument", "Form", "Query", "Body")


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
    found = _parameter(project, syntax, argument, _passed_default(default), function)
    name = found.name
    found = replace(
        found,
        supplied=found.supplied
        if name in BY_NAME
        else _supplied(project, syntax, function, name),
        positional_only=argument in function.node.args.posonlyargs,
        # Called as a function, typer's would get the declaration for a value.
        declared=isinstance(default, ast.Call) and _default_of(default) is not default,
        command_line=found.default == "None"
        and takes_arguments(syntax, function, name),
        typed=isinstance(default, ast.Call)
        and last_name(default.func) == "Argument"
        and found.default in ("None", *EMPTY_TEXTS),
    )
    value = _default_of(default)
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
    coerces = _is_validated(project, syntax, class_name)
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
                default = _default_of(field.value)
                found[argument.arg] = _parameter(project, place, argument, default)
    return tuple(found.values())


def _is_coerced(project: Project, syntax: Syntax, annotation: ast.expr) -> bool:
    """True if pydantic makes what an annotation says of what JSON holds: ``list[Message]``."""
    annotation = bare(annotation)
    if not isinstance(annotation, ast.Subscript):
        return False
    found = _class_of(project, syntax, annotation.slice)
    if (dotted(annotation.value) or "") not in LISTS or found is None:
        return False
    if found in project.expanding or not _is_validated(project, *found):
        return False
    project.expanding.append(found)
    fields = fields_of(project, *found)
    project.expanding.pop()
    return fields is not None and not any(
        each.is_object and each.default is None for each in fields
    )


def _is_validated(project: Project, syntax: Syntax, class_name: str) -> bool:
    """True if pydantic makes the objects of a class."""
    return any(
        (dotted(base) or "").endswith("BaseModel")
        for place, name in lineage(project, syntax, class_name)
        for base in place.classes[name].bases
    )


def record_fields(
    project: Project, syntax: Syntax, annotation: str | None
) -> tuple[Parameter, ...] | None:
    """Return the fields of the project's record that an annotation is; None for any other."""
    if annotation is None:
        return None
    found = _class_of(project, syntax, ast.parse(annotation, mode="eval").body)
    return None if found is None else fields_of(project, *found)


def _class_of(
    project: Project, syntax: Syntax, annotation: ast.expr
) -> tuple[Syntax, str] | None:
    """Return the class of the project that an annotation is, with the file that defines it."""
    return project.class_named(syntax, dotted(bare(annotation)) or "")


def _is_record(project: Project, syntax: Syntax, class_name: str) -> bool:
    """True if a decorator or a library's base class makes a constructor of the fields."""
    definition = syntax.classes[class_name]
    bases = (dotted(base) or "" for base in definition.bases)
    return "dataclass" in decorator_names(definition) or any(
        RECORDS.search(base) and project.class_named(syntax, base) is None
        for base in bases
    )


def _default_of(value: ast.expr | None) -> ast.expr | None:
    """Return the default in ``field(default_factory=list)`` or ``Field("", max_length=9)``."""
    if not isinstance(value, ast.Call):
        return value
    if (dotted(value.func) or "").split(".")[-1] not in DECLARED:
        return value
    given = [
        k for k in value.keywords if k.arg in ("default", "default_factory", "init")
    ]
    if given:
        return ast.Name("...") if given[0].arg != "default" else given[0].value
    first = value.args[0] if value.args else None
    required = isinstance(first, ast.Constant) and first.value is ...
    return None if required else first


def _passed_default(value: ast.expr | None) -> ast.expr | None:
    """Return the default that episode() can pass or leave out; None: the scenario has to say.

    A declaration's default is passed, and can only be if it is a literal.
    """
    default = _default_of(value)
    if default is None or default is value:
        return default
    try:
        literal = ast.literal_eval(default)
    except ValueError:
        return None
    return None if literal is ... else default


def _parameter(
    project: Project,
    syntax: Syntax,
    argument: ast.arg,
    default: ast.expr | None,
    function: Function | None = None,
) -> Parameter:
    """Describe a parameter of a function, or a field of a record."""
    annotation, name = argument.annotation, argument.arg

    def used_as_object() -> bool:
        return function is not None and is_an_object(project, syntax, function, name)

    text = ast.unparse(annotation) if annotation is not None else None
    found = None
    if annotation is not None:
        found = _class_of(project, syntax, annotation)
    is_client = CLIENT_CLASS.search(text or "") is not None or (
        argument.arg in CLIENTS
        and found is None  # a class of the project is none
        and not is_of_another_library(syntax, annotation)
        and not (function and serves_another_library(syntax, function, name))
    )
    fields: tuple[Parameter, ...] | None = None
    is_task = function is not None and function.node.name != "__init__"
    if annotation is not None:
        if found is not None and found not in project.expanding:
            project.expanding.append(found)  # its fields may name it again
            fields = fields_of(project, *found)
            project.expanding.pop()
        named = OBJECTS.search(argument.arg) is not None
        is_object = fields is None and (
            (named or used_as_object())
            if dotted(bare(annotation)) in VAGUE
            else not _is_plain(project, syntax, annotation, any_of=is_task)
        )
    elif default is None or isinstance(default, ast.Constant):
        literal = isinstance(default, ast.Constant) and default.value is not None
        is_object = not literal and (
            OBJECTS.search(argument.arg) is not None or used_as_object()
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
        element = _element(project, syntax, annotation)
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
    )


def _supplied(
    project: Project, syntax: Syntax, function: Function, name: str, deepest: int = 3
) -> str:
    """Return what a parameter is for a client or a completion, here or where it is handed on."""
    role = supplied_by_use(syntax, function, name)
    if role or deepest == 0:
        return role
    roles = set()
    for read in syntax.owned_by(function.qualname):
        if not isinstance(read, ast.Name) or read.id != name:
            continue
        around = syntax.parents[read]
        call = syntax.parents[around] if isinstance(around, ast.keyword) else around
        taken = _taken_by(project, syntax, call, read)
        if taken is None:
            return ""  # it serves for something else, too
        roles.add(_supplied(project, *taken, deepest - 1))
    return roles.pop() if len(roles) == 1 else ""


def _taken_by(
    project: Project, syntax: Syntax, call: ast.AST, given: ast.Name
) -> tuple[Syntax, Function, str] | None:
    """Return the parameter of the project's function, in its file, that a call gives a name to."""
    keys = resolve(project, syntax, call.func) if isinstance(call, ast.Call) else []
    if len(keys) != 1 or not isinstance(call, ast.Call):
        return None
    place = project.files[keys[0][0]]
    function = place.functions[keys[0][1]]
    return next(
        (
            (place, function, each)
            for each in function.given
            if argument_of(call, each, function.positional) is given
        ),
        None,
    )


def _element(project: Project, syntax: Syntax, annotation: ast.expr) -> str:
    """Return the record in ``list[Clause]``, if JSON can hold all of its fields; "" for none."""
    annotation = bare(annotation)
    if not isinstance(annotation, ast.Subscript) or (
        (dotted(annotation.value) or "") not in LISTS
    ):
        return ""
    found = _class_of(project, syntax, annotation.slice)
    if found is None or found in project.expanding:
        return ""
    project.expanding.append(found)
    fields = fields_of(project, *found)
    project.expanding.pop()
    is_flat = fields and not any(
        each.is_object or each.is_client or each.fields for each in fields
    )
    return ast.unparse(unquoted(annotation.slice)) if is_flat else ""


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
        bases = [
            (dotted(b) or "").split(".")[-1] for b in found[0].classes[found[1]].bases
        ]
        return "TypedDict" in bases
    values = syntax.values_of(annotation) if annotation in syntax.parents else []
    return bool(values) and all(
        _is_plain(project, syntax, value, depth + 1) for value in values
    )
