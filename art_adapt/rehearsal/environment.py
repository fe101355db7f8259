"""Makes the environment in which a train module is rehearsed.

The user's keys stay outside. An agent that insists on a key gets a placeholder: what it
asks with it goes to the scripted model or nowhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from art_adapt.errors import Refusal
from art_adapt.rehearsal.scripted_model import PRODUCTION_KEY
from art_adapt.source import read_source
from art_adapt.survey.project import Project
from art_adapt.survey.syntax import Syntax

SECRET = (
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSW",
    "_PASS",
    "_PAT",
    "CREDENTIAL",
    "DATABASE_URL",
    "_DSN",
)
NOWHERE = "http://127.0.0.1:9"
# os.environ["X"] raises without X; "X_API_KEY" anywhere is likely to be read.
REQUIRED = re.compile(r"environ\[\s*[\"'](\w+(?:KEY|TOKEN|SECRET|PASSWORD))[\"']")
API_KEY = re.compile(r"[\"']((?:[A-Z][A-Z0-9_]*_)?API_?KEY)[\"']")
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
AZURE = ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION")


def environment(url: str, train_module: Path) -> dict[str, str]:
    """Return the variables of the train module's process.

    Args:
        url: of the scripted model.
        train_module: its files and those of its agent are searched for the keys they
            read.
    """
    files = files_of(train_module)
    kept = _without_secrets(os.environ)
    placeholders = dict.fromkeys(keys_read(files), PRODUCTION_KEY)
    if _is_on_azure(files):
        placeholders |= {
            "AZURE_OPENAI_API_KEY": PRODUCTION_KEY,
            "AZURE_OPENAI_ENDPOINT": url.removesuffix("/v1"),
            "OPENAI_API_VERSION": os.environ.get("OPENAI_API_VERSION", "2024-10-21"),
        }
    return {
        **kept,
        **placeholders,
        "OPENAI_BASE_URL": url,
        "OPENAI_API_BASE": url,
        "OPENAI_API_KEY": PRODUCTION_KEY,
        "WANDB_API_KEY": PRODUCTION_KEY,
        "WANDB_MODE": "disabled",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "HF_HUB_OFFLINE": "1",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
        "TQDM_DISABLE": "1",
    }


def keys_read(files: Iterable[Syntax]) -> Iterator[str]:
    """The variables with keys that files read, or the libraries they use."""
    for file in files:
        text = file.source.text
        yield from REQUIRED.findall(text)
        yield from (n for n in API_KEY.findall(text) if n not in AZURE)
        for library, name in READ_BY_LIBRARY.items():
            if file.imports_module(library) is not None:
                yield name


def _is_on_azure(files: Iterable[Syntax]) -> bool:
    """Whether Azure is the only place where the files ask a model."""
    texts = [file.source.text for file in files]
    plain = re.compile(r"[\"']OPENAI_API_KEY[\"']|\b(?:Async)?OpenAI\(")
    return any("AzureOpenAI" in text for text in texts) and not any(
        plain.search(text) for text in texts
    )


def _without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in variables.items()
        if not any(word in name.upper() for word in SECRET)
        and not name.lower().endswith("_proxy")
        and name not in AZURE
    }


def files_of(train_module: Path) -> list[Syntax]:
    """The train module, its agent, and the files that they import."""
    agent = train_module.with_name(f"{train_module.stem.removesuffix('_train')}.py")
    sources = []
    for path in dict.fromkeys((train_module, agent)):
        try:
            sources.append(read_source(path))
        except Refusal:
            continue  # whoever runs it will see what is wrong with it
    return list(Project.of(sources, {}).files.values())
