"""Makes the environment in which a train module is rehearsed.

It is made of what a Python process needs, and of the variables that the agent's files name
and that are neither secrets nor addresses. The rest of the user's environment stays outside;
an agent that insists on a key gets a placeholder: what it asks with it goes to the scripted
model or nowhere.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import filter as matching
from itertools import islice
from pathlib import Path
from typing import Any

from art_adapt.backends import KEYS
from art_adapt.calls import DEFAULT_KEY
from art_adapt.code.nodes import last_name
from art_adapt.code.project import MOST_FILES, Project
from art_adapt.code.project_folder import project_root, python_files
from art_adapt.code.syntax import Syntax
from art_adapt.code.values import steps
from art_adapt.code.variables_read import (
    reads_default_key,
    variables_read,
    variables_required,
)
from art_adapt.errors import Refusal
from art_adapt.rehearsal.scripted_model import PRODUCTION_KEY
from art_adapt.rehearsal.settings_classes import Variable, settings_read
from art_adapt.rehearsal.surveyed import agent_of
from art_adapt.source import read_source

# What processes of Python, its packages and the machine itself go by.
NEEDED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TERM|COLUMNS|NO_COLOR"
    r"|(LC|XDG|CONDA|OMP|MKL|OPENBLAS|NUMEXPR|KMP|TORCH|CUDA|NVIDIA|HF|TRANSFORMERS"
    r"|TOKENIZERS|COVERAGE|COV|ART_ADAPT|DYLD|SSL_CERT)_\w+"
    r"|PYTHON[A-Z0-9]*|MPLCONFIGDIR|LD_LIBRARY_PATH|LD_PRELOAD|VIRTUAL_ENV"
    r"|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT"
    r"|USERPROFILE|(LOCAL)?APPDATA|PROGRAMDATA|PROGRAMFILES|NUMBER_OF_PROCESSORS"
)
# Words of names; MAX_TOKENS is none, nor is TOKENIZERS_PARALLELISM.
SECRET = re.compile(
    r"(^|_)(\w*KEYS?|TOKEN|PAT|PW|PWD|CREDENTIALS?|CREDS?|COOKIES?|AUTH|JWT|PRIVATE"
    r"|SESSION|WEBHOOK|BEARER|PEM)(_|$)|SECRET|PASSW|PASSPHRASE|PASS(_|$)|APIKEY"
)
# Where production is: its databases, queues and services.
ADDRESS = re.compile(
    r"(URL|URI|DSN|HOST|HOSTNAME|HOSTADDR|ENDPOINT|PROXY)(_|$)"
    r"|(^|_)(ADDR|ADDRESS|SERVERS?|BROKERS?|BUCKET|CONN|CONNECTION|CONNECTION_STRING)(_|$)"
)
# An env file that nothing loads: it shows which variables there are.
EXAMPLE = re.compile(r"[._-](example|sample|template)$")
# Where the model is, for clients of the openai SDK and of LiteLLM.
OF_MODEL = re.compile(r"(^|_)(BASE_URL|API_BASE)$")
# Credentials that clients find without a variable.
ELSEWHERE = {
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
    "CLOUDSDK_CONFIG": os.devnull,
    "NETRC": os.devnull,
}
NOWHERE = "http://127.0.0.1:9"
# A text like this anywhere is likely to be the name of a variable that is read.
API_KEY = re.compile(r"(?:[A-Z][A-Z0-9_]*_)?API_?KEY")
# What a library's client reads by itself, without a word in the agent's files.
READ_BY_LIBRARY = {
    "groq": "GROQ_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "mistralai": "MISTRAL_API_KEY",
    "cohere": "CO_API_KEY",
    "together": "TOGETHER_API_KEY",
    "tavily": "TAVILY_API_KEY",
    "exa_py": "EXA_API_KEY",
    "pinecone": "PINECONE_API_KEY",
}
# The arguments of clients that say where the model is.
ADDRESSES = ("base_url", "azure_endpoint")
PLACEHOLDER_MODEL = (
    "gpt-4o-mini"  # for agents that insist on a name; tokenizers know this one
)
FEWEST = 4  # characters in a row that tell which variables f"{provider}_API_KEY" reads
# What a client on Azure reads, and the arguments that it is given in its place.
AZURE_ARGUMENTS = {
    "AZURE_OPENAI_API_KEY": ("api_key", "azure_ad_token", "azure_ad_token_provider"),
    "AZURE_OPENAI_ENDPOINT": ("azure_endpoint", "base_url"),
    "OPENAI_API_VERSION": ("api_version",),
}
AZURE = tuple(AZURE_ARGUMENTS)


@dataclass(frozen=True)
class Environment:
    """The variables of a train module's process.

    ``withheld`` are those of the user's that its files read and that it is not given.
    ``made_up`` are those that its files insist on and that a placeholder stands for.
    ``reads_default_key``: a client is made without a key, and fails where OPENAI_API_KEY is unset.
    """

    variables: dict[str, str]
    withheld: tuple[str, ...]
    made_up: tuple[str, ...]
    reads_default_key: bool


def environment(
    url: str, train_module: Path, let_through: Collection[str] = ()
) -> Environment:
    """Make the environment of a train module's process.

    Args:
        url: of the scripted model.
        train_module: its files and those of its agent are searched for the variables
            they read.
        let_through: variables to pass on, whatever they hold.
    """
    project = project_of(train_module)
    files = list(project.files.values())
    read = {n for file in files for n in variables_read(project, file, file.nodes)}
    required = set(_required(project))
    addresses = {name for name in read if OF_MODEL.search(name.upper())}
    addresses |= set(_reaching(project, read, ADDRESSES))
    of_model = dict.fromkeys(addresses, url)
    settings = list(settings_read(files))
    read |= {s for v in settings for s in (v.name, v.name.upper(), v.name.lower())}
    kept, withheld = {}, []
    said = _said_in_env_files(train_module)
    there = {**said, **os.environ}
    patterns = [each for each in read if max(map(len, each.split("*"))) >= FEWEST]
    read |= {n for each in patterns if "*" in each for n in matching(there, each)}
    for name, value in there.items():
        if name in let_through or _is_harmless(name, value, read):
            if name in os.environ:
                kept[name] = value
        elif name in read and (name in os.environ or not SECRET.search(name.upper())):
            withheld.append(name)
    for_settings = _for_settings(settings, train_module)
    models = required & set(_reaching(project, read, ("model",)))
    placeholders = _placeholders(project) | dict.fromkeys(models, PLACEHOLDER_MODEL)
    placeholders |= for_settings | of_model
    if _is_on_azure(files):
        placeholders |= {
            "AZURE_OPENAI_API_KEY": PRODUCTION_KEY,
            "AZURE_OPENAI_ENDPOINT": url.removesuffix("/v1"),
            "OPENAI_API_VERSION": os.environ.get("OPENAI_API_VERSION", "2024-10-21"),
        }
    ours = _ours(url)
    variables = {**ELSEWHERE, **placeholders, **kept, **ours}
    made_up = placeholders.keys() & (required | for_settings.keys())
    made_up -= kept.keys() | ours.keys() | of_model.keys()
    return Environment(
        variables,
        tuple(sorted(set(withheld) - ours.keys() - of_model.keys())),
        tuple(sorted(made_up)),
        any(reads_default_key(node) for file in files for node in file.nodes),
    )


def _reaching(
    project: Project, read: Collection[str], arguments: Collection[str]
) -> Iterator[str]:
    """Yield the variables that arguments of calls are made from: ``base_url=get_env("WHERE")``."""
    for file in project.files.values():
        for call in file.nodes:
            given = call.keywords if isinstance(call, ast.Call) else ()
            for value in (each.value for each in given if each.arg in arguments):
                for _, each in ((file, value), *steps(project, file, value)):
                    yield from (text for text in _texts(ast.walk(each)) if text in read)


def _said_in_env_files(train_module: Path) -> dict[str, str]:
    """Return what the .env files beside the agent say, as ``dotenv`` would read it."""
    try:
        from dotenv import dotenv_values
    except ImportError:
        return {}
    folders = {Path.cwd(), train_module.parent, project_root(train_module)}
    files = [folder / ".env" for folder in folders if (folder / ".env").is_file()]
    return {k: v or "" for file in files for k, v in dotenv_values(file).items()}


def _ours(url: str) -> dict[str, str]:
    """Return the variables that a rehearsal sets itself, whatever the user has."""
    return {
        "OPENAI_BASE_URL": url,
        "OPENAI_API_BASE": url,
        "OPENAI_API_KEY": PRODUCTION_KEY,
        **dict.fromkeys(KEYS.values(), PRODUCTION_KEY),
        "WANDB_MODE": "disabled",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "HF_HUB_OFFLINE": "1",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
        "TQDM_DISABLE": "1",
    }


def check_let_through(names: Iterable[str], train_module: Path) -> None:
    """Refuse variables that cannot be let through.

    Raises:
        Refusal: a variable is set neither here nor in a .env file, or a rehearsal sets it
            itself.
    """
    said = _said_in_env_files(train_module)
    for name in names:
        if name in _ours(""):
            raise Refusal(
                f"--env {name}: a rehearsal sets this variable itself",
                why="requests that use it go to the scripted model, or nowhere",
                next_step="leave it out",
            )
        if name not in os.environ and name not in said:
            raise Refusal(
                f"--env {name}: this variable is not set, neither here nor in a .env file",
                next_step=f"set it: {name}=... art-adapt rehearse ...",
            )


def _is_harmless(name: str, value: str, read: Collection[str]) -> bool:
    upper = name.upper()
    if SECRET.search(upper) or ADDRESS.search(upper) or name in AZURE or "://" in value:
        return False
    return name in read or NEEDED.fullmatch(upper) is not None


def keep_dotenv_out(let_through: Collection[str]) -> None:
    """Let ``dotenv`` read no secret and no address from the files that it finds.

    A secret is replaced by a placeholder, an address by the rehearsal's own or left out.
    All that it offers asks ``DotEnv.dict`` for what a file says (python-dotenv 1.2, main.py);
    a function around ``load_dotenv`` would change where that looks for the file.
    """
    try:
        from dotenv.main import DotEnv
    except ImportError:
        return
    of_file: Any = DotEnv.dict

    @functools.wraps(of_file)
    def harmless(self: Any) -> dict[str, str | None]:
        given: dict[str, str | None] = {}
        for name, value in of_file(self).items():
            if name in let_through or _is_harmless(name, value or "", (name,)):
                given[name] = value
            elif name in os.environ:  # as the address of the model
                given[name] = os.environ[name]
            elif SECRET.search(name.upper()):
                given[name] = PRODUCTION_KEY
        return given

    DotEnv.dict = harmless  # type: ignore[method-assign]


def _placeholders(project: Project) -> dict[str, str]:
    """Return what stands for the keys and the addresses that files insist on."""
    found = dict.fromkeys(keys_read(project), PRODUCTION_KEY)
    for name in _required(project):
        if ADDRESS.search(name) and not SECRET.search(name):
            found[name] = NOWHERE
    return found


def _required(project: Project) -> Iterator[str]:
    for file in project.files.values():
        yield from variables_required(project, file, file.nodes)


def _for_settings(settings: Sequence[Variable], train_module: Path) -> dict[str, str]:
    """Return what stands for required settings, unless an env file says them."""
    folders = {Path.cwd(), train_module.parent, project_root(train_module)}
    said = "\n".join(
        file.read_text(encoding="utf-8", errors="replace")
        for folder in folders
        for file in folder.glob(".env*")
        if file.is_file() and not EXAMPLE.search(file.name)
    )
    found = {}
    for variable in settings:
        name = re.escape(variable.name)
        if variable.stand_in and not re.search(rf"(?im)^(export )?{name}\s*=", said):
            upper = variable.name.upper()
            is_key = SECRET.search(upper) is not None
            is_address = ADDRESS.search(upper) is not None
            found[variable.name] = (
                PRODUCTION_KEY
                if is_key
                else NOWHERE
                if is_address
                else variable.stand_in
            )
    return found


def keys_read(project: Project) -> Iterator[str]:
    """Yield the variables with keys that files read, or the libraries they use.

    A client on Azure is not made without a key, an address and a version (openai 2.x and 3.x,
    lib/azure.py).
    """
    yield from (name for name in _required(project) if SECRET.search(name))
    yield from _read_on_azure([*project.files.values()])
    for file in project.files.values():
        for text in _texts(file.nodes):
            if API_KEY.fullmatch(text) and text not in AZURE:
                yield text
        if any(map(reads_default_key, file.nodes)):
            yield DEFAULT_KEY
        for library, name in READ_BY_LIBRARY.items():
            if file.imports_module(library) is not None:
                yield name


def _read_on_azure(files: Sequence[Syntax]) -> Iterator[str]:
    """Yield the variables of clients on Azure that no call writes out itself."""
    if not _is_on_azure(files):
        return
    made = [
        node
        for file in files
        for node in file.nodes
        if isinstance(node, ast.Call) and "AzureOpenAI" in last_name(node.func)
    ]
    said = {
        keyword.arg
        for call in made
        for keyword in call.keywords
        if isinstance(keyword.value, ast.Constant)
        or (keyword.arg or "").startswith("azure_ad_token")
    }
    for name, arguments in AZURE_ARGUMENTS.items():
        if said.isdisjoint(arguments):
            yield name


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _is_on_azure(files: Sequence[Syntax]) -> bool:
    """True if Azure is the only place where the files ask a model."""
    nodes = [node for file in files for node in file.nodes]
    made = {last_name(node.func) for node in nodes if isinstance(node, ast.Call)}
    named = {node.name for node in nodes if isinstance(node, ast.alias)}
    named |= {last_name(n) for n in nodes if isinstance(n, ast.Name | ast.Attribute)}
    if made & {"OpenAI", "AsyncOpenAI"}:
        return False
    if any("OPENAI_API_KEY" in _texts(file.nodes) for file in files):
        return False
    return any("AzureOpenAI" in name for name in named)


def files_of(train_module: Path) -> list[Syntax]:
    """Return the train module, its agent, and the files that they import."""
    return list(project_of(train_module).files.values())


def project_of(train_module: Path) -> Project:
    """Read a train module, its agent, and the files that they import.

    Where there is neither, as for a driver that lies elsewhere, read what the project has.
    """
    sources = []
    with suppress(Refusal):  # whoever runs it will see what is wrong with it
        sources.append(read_source(train_module))
    agent = agent_of(train_module)
    if agent is not None and agent.path != train_module:
        sources.append(agent)
    if not sources:
        for path in islice(python_files(project_root(train_module)), MOST_FILES):
            with suppress(Refusal):
                sources.append(read_source(path))
    return Project.of(sources, {})
