"""What a train module finds around it in a rehearsal: variables, a server, a package."""

from __future__ import annotations

import ast
import base64
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from openai import BadRequestError, OpenAI

from art_adapt.errors import Refusal
from art_adapt.rehearsal.environment import check_let_through, environment
from art_adapt.rehearsal.scripted_model import PRODUCTION_KEY, ScriptedModel
from art_adapt.seen.notes import Run
from art_adapt.train_file import import_name

URL = "http://127.0.0.1:9/v1"


def variables(folder: Path, agent: str) -> dict[str, str]:
    (folder / "agent.py").write_text(agent)
    (folder / "agent_train.py").write_text("from agent import run\n")
    return environment(URL, folder / "agent_train.py").variables


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("import os\nkey = os.environ['WEATHER_TOKEN']\n", "WEATHER_TOKEN"),
        ("import os\nkey = os.getenv('SEARCH_API_KEY')\n", "SEARCH_API_KEY"),
        ("from os import environ as e\nkey = e.get('A_API_KEY')\n", "A_API_KEY"),
        ("from groq import Groq\n", "GROQ_API_KEY"),
    ],
)
def test_an_agent_that_insists_on_a_key_gets_a_placeholder(
    agent: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "sk-of-the-user")
    assert variables(tmp_path, agent)[name] == PRODUCTION_KEY


@pytest.mark.parametrize(
    ("reads", "made_up"),
    [
        ("os.environ['SHOP_URL']", True),
        ("os.environ['SHOP_TOKEN']", True),
        ("read['SHOP_URL']", True),
        ("os.environ.get('SHOP_URL')", False),
        ("os.getenv('SHOP_URL', 'http://localhost')", False),
        ("os.environ.setdefault('SHOP_URL', 'http://localhost')", False),
    ],
)
def test_what_an_agent_cannot_do_without_is_made_up_and_named(
    reads: str, made_up: bool, tmp_path: Path
) -> None:
    agent = f"import os\nfrom os import environ as read\nshop = {reads}\n"
    # What is set, or only spelled in a comment, is not read.
    agent += "# os.environ['OTHER_URL']\nos.environ['MADE_URL'] = 'x'\n"
    variables(tmp_path, agent)
    found = environment(URL, tmp_path / "agent_train.py").made_up
    assert [name for name in found if name.endswith(("URL", "TOKEN"))] == (
        [reads.split("'")[1]] if made_up else []
    )


@pytest.mark.parametrize(
    ("agent", "on_azure"),
    [
        ("from openai import AzureOpenAI\nclient = AzureOpenAI()\n", True),
        ("from openai import AzureOpenAI, OpenAI\nclient = OpenAI()\n", False),
        ("import os\nfrom openai import AzureOpenAI\nos.getenv('OPENAI_API_KEY')\n", False),
        ("from openai import OpenAI\nclient = OpenAI()\n", False),
    ],
)  # fmt: skip
def test_azure_is_set_up_where_it_is_the_only_place(
    agent: str, on_azure: bool, tmp_path: Path
) -> None:
    assert ("AZURE_OPENAI_API_KEY" in variables(tmp_path, agent)) is on_azure


def test_the_users_secrets_stay_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "sk-hidden")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://sk-hidden")
    assert "sk-hidden" not in "".join(variables(tmp_path, "import openai\n").values())


def test_what_an_agent_asks_beside_the_model_is_answered() -> None:
    with ScriptedModel(0, ()) as model:
        client = OpenAI(base_url=model.url, api_key=PRODUCTION_KEY)
        first = client.responses.create(model="m", input="one")
        assert first.output_text
        again = client.responses.create(
            model="m", input="two", previous_response_id=first.id
        )
        said = [m["content"] for m in model.log[-1].request["messages"]]
        assert said == ["one", first.output_text, "two"] and again.output_text
        with client.responses.stream(model="m", input="one") as stream:
            for _ in stream:
                pass
            assert stream.get_final_response().output_text
        near, far = (
            client.embeddings.create(model="m", input=["a b c", "a b d", "x y z"]).data[
                i
            ]
            for i in (1, 2)
        )
        origin = client.embeddings.create(model="m", input="a b c").data[0].embedding
        moderated = client.moderations.create(input=["a", "b"]).results
        assert [each.flagged for each in moderated] == [False, False]
        assert not any(moderated[0].categories.model_dump().values())
        dot = [
            sum(x * y for x, y in zip(origin, each.embedding, strict=True))
            for each in (near, far)
        ]
        assert dot[0] > 0.5 > dot[1]
        with pytest.raises(BadRequestError, match="does not serve"):
            client.responses.create(model="m", input="x", background=True)


def test_a_text_has_the_vector_that_it_had_in_a_watched_run() -> None:
    """So has another one with some of its words: what the agent has stored is near."""
    vectors = {"parcels arrive on Fridays": [0.6, 0.0, 0.8], "a lamp": [0.0, 1.0, 0.0]}
    kept = {
        text: base64.b64encode(struct.pack("<3f", *vector)).decode()
        for text, vector in vectors.items()
    }
    run = Run(0.0, (), None, {}, {}, (), (), embedded={"small": kept})
    with ScriptedModel(0, (), runs=(run,)) as model:
        client = OpenAI(base_url=model.url, api_key=PRODUCTION_KEY)
        asked = [*vectors, "when do parcels arrive", "xyz"]
        found = client.embeddings.create(model="small", input=asked).data
        other = (
            client.embeddings.create(model="large", input="a lamp").data[0].embedding
        )
    same, lamp, near, far = (each.embedding for each in found)
    assert same == near == pytest.approx(vectors["parcels arrive on Fridays"])
    assert lamp == pytest.approx(vectors["a lamp"])
    assert len(far) == 3 and far not in (same, lamp) and len(other) == 1536


def test_models_beside_the_one_in_training_do_not_fail() -> None:
    with ScriptedModel(0, ()) as model:
        client = OpenAI(base_url=model.url, api_key=PRODUCTION_KEY, max_retries=0)
        for number in range(80):
            asked = [{"role": "user", "content": f"question {number}"}]
            reply = client.chat.completions.create(model="m", messages=asked)  # type: ignore[arg-type]
            assert reply.choices[0].finish_reason == "stop"


@pytest.mark.parametrize(
    ("files", "name", "root"),
    [
        ({"agent_train": "from agent import run\n", "agent": ""}, "agent_train", "."),
        # A script beside __init__.py is none of its package.
        (
            {"pkg/__init__": "", "pkg/a_train": "from a import run\n", "pkg/a": ""},
            "a_train",
            "pkg",
        ),
        (
            {"pkg/__init__": "", "pkg/a_train": "from .a import run\n", "pkg/a": ""},
            "pkg.a_train",
            ".",
        ),
        ({"pkg/a_train": "from .a import run\n", "pkg/a": ""}, "pkg.a_train", "."),
        (
            {
                "top/sub/a_train": "from .a import run\n",
                "top/sub/a": "from top.tools import x\n",
                "top/tools": "",
            },
            "top.sub.a_train",
            ".",
        ),
        (
            {
                "pkg/a_train": "from main import make\n",  # which makes the agent
                "pkg/a": "",
                "pkg/__init__": "",
                "main": "from pkg import a\n",
            },
            "pkg.a_train",
            ".",
        ),
        (
            {
                "pkg/a_train": "from a import run\n",
                "pkg/a": "",
                "pkg/__init__": "",
            },
            "a_train",
            "pkg",
        ),
        (
            {
                "pkg/sub/llm/a_train": "from .client import ask\nfrom .a import run\n",
                "pkg/sub/llm/client": "",
                "pkg/sub/llm/a": "from pkg.sub.llm.client import ask\n",
                "pkg/sub/llm/__init__": "",
                "pkg/__init__": "",
            },
            "pkg.sub.llm.a_train",
            ".",
        ),
        (
            {
                "pkg/1-a_train": "run = importlib.import_module('.1-a', __package__).run\n",
                "pkg/1-a": "",
            },
            "pkg.1-a_train",
            ".",
        ),
    ],
)
def test_a_train_module_is_imported_as_its_agent_is(
    files: dict[str, str], name: str, root: str, tmp_path: Path
) -> None:
    for file, text in files.items():
        path = tmp_path / f"{file}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (module,) = tmp_path.rglob("*_train.py")
    assert import_name(module) == ((tmp_path / root).resolve(), name)


def test_dotenv_brings_no_secret_and_no_address_back(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "DATABASE_URL=postgres://u:p@prod/db\nSERVICE_TOKEN=sk-prod\nTEAM=blue\n"
        "LET=https://through\n"
    )
    read = (
        "import os, dotenv\n"
        "from art_adapt.rehearsal.environment import keep_dotenv_out\n"
        "keep_dotenv_out(['LET'])\n"
        "from dotenv import load_dotenv\n"
        "print(dict(dotenv.dotenv_values('.env')))\n"
        "load_dotenv('.env', override=True)\n"
        "print({n: os.environ.get(n) for n in ('DATABASE_URL', 'SERVICE_TOKEN', 'TEAM', 'LET')})\n"
    )
    environment = {**os.environ, "SERVICE_TOKEN": PRODUCTION_KEY}
    done = subprocess.run(
        [sys.executable, "-c", read], cwd=tmp_path, env=environment, capture_output=True
    )
    values, loaded = map(ast.literal_eval, done.stdout.decode().splitlines())
    expected = {
        "SERVICE_TOKEN": PRODUCTION_KEY,
        "TEAM": "blue",
        "LET": "https://through",
    }
    assert values == expected
    assert loaded == {**expected, "DATABASE_URL": None}


@pytest.mark.parametrize(
    "load",
    [
        "from dotenv import load_dotenv\nload_dotenv()\n",
        "import dotenv\ndotenv.load_dotenv(override=True)\n",
        "import dotenv, os\nos.environ.update(dotenv.dotenv_values())\n",
    ],
)
def test_the_file_is_looked_for_beside_the_agent(load: str, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / ".env").write_text("TEAM=blue\nTHE_API_KEY=sk-prod\n")
    (tmp_path / "app" / "agent.py").write_text(load)
    script = tmp_path / "run.py"  # of -c, dotenv would look in the working folder
    script.write_text(
        "import os\n"
        "from art_adapt.rehearsal.environment import keep_dotenv_out\n"
        "keep_dotenv_out([])\n"
        "import app.agent\n"
        "print(os.environ['TEAM'], os.environ['THE_API_KEY'])\n"
    )
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.split() == ["blue", PRODUCTION_KEY], done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "LDAP_BIND_PW",
        "LDAP_URL",
        "HFX_DSN",
        "DB_PASSPHRASE",
        "DBPASS",
        "A_JWT",
        "PGHOST",
    ],
)
def test_names_of_secrets_and_addresses(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "prod")
    assert name not in variables(tmp_path, f"import os\nos.getenv({name!r})\n")


@pytest.mark.parametrize("name", ["MAX_TOKENS", "TOKENIZERS_PARALLELISM"])
def test_names_that_only_look_like_secrets(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "500")
    assert variables(tmp_path, f"import os\nos.environ[{name!r}]\n")[name] == "500"


@pytest.mark.parametrize(
    ("name", "said"),
    [("OPENAI_API_KEY", "sets this variable itself"), ("NO_SUCH", "is not set")],
)
def test_what_cannot_be_let_through(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=said):
        check_let_through([name], tmp_path / "agent_train.py")


HELPER = """
import os
def get_env(key):
    value = os.getenv(key)
    if not value:
        raise OSError(f"{key} is not set")
    return value
"""


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("LLM_BASE_URL", "import os\nurl = os.getenv('LLM_BASE_URL')\n"),
        ("WHERE", "import os\nc = OpenAI(base_url=os.environ['WHERE'])\n"),
        ("WHERE", "import os\nu = os.environ.get('WHERE')\nc = OpenAI(base_url=u)\n"),
        ("LLM_API_BASE", f"{HELPER}c = OpenAI(base_url=get_env('LLM_API_BASE'))\n"),
        ("WHERE", f"{HELPER}c = OpenAI(base_url=get_env('WHERE'))\n"),
        ("WHERE", f"{HELPER}class Llm:\n    def __init__(self):\n        self.url = get_env('WHERE')\n        self.client = OpenAI(base_url=self.url)\n"),
    ],
)  # fmt: skip
def test_the_models_address_is_the_rehearsals(
    name: str, agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(agent)
    (tmp_path / ".env").write_text(f"{name}=http://localhost:11434/v1\nDB_HOST=x\n")
    made = environment("http://127.0.0.1:1/v1", tmp_path / "agent_train.py")
    assert made.variables[name] == "http://127.0.0.1:1/v1"
    assert name not in made.withheld


@pytest.mark.parametrize(
    ("agent", "made_up"),
    [
        (f"{HELPER}OpenAI(api_key=get_env('SHOP_TOKEN'))\n", ("SHOP_TOKEN",)),
        (f"{HELPER}MODEL = get_env('WHICH')\nask(model=MODEL)\n", ("WHICH",)),
        ("import os\nask(model=os.environ['WHICH'])\n", ("WHICH",)),
        ("import os\nask(model=os.getenv('WHICH', 'small'))\n", ()),
        ("import os\nask(model=os.getenv('WHICH'))\n", ()),  # None is the agent's own choice
        (f"{HELPER}print(get_env('COLOUR'))\n", ()),  # its error names what it needs
        (
            "import os, sys\nkey = os.environ.get('SHOP_TOKEN')\nif key is None:\n"
            "    print('no token')\n    sys.exit(1)\n",
            ("SHOP_TOKEN",),
        ),
        ("import os\nkey = os.environ.get('SHOP_TOKEN')\nif key:\n    log(key)\n", ()),
        ("import os\nold = os.environ.get('SHOP_TOKEN')\nif old:\n    raise OSError('renamed')\n", ()),
        ("import os\nm = os.environ.get('WHICH')\nask(model=m)\nif m == 'small':\n    raise OSError('no')\n", ()),
    ],
)  # fmt: skip
def test_what_an_agent_insists_on_through_a_helper(
    agent: str, made_up: tuple[str, ...], tmp_path: Path
) -> None:
    variables(tmp_path, agent)
    assert environment(URL, tmp_path / "agent_train.py").made_up == made_up


def test_what_an_env_file_says_is_withheld_or_let_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text("import os\nhost = os.getenv('DB_HOST')\n")
    (tmp_path / ".env").write_text("DB_HOST=x\n")
    module = tmp_path / "agent_train.py"
    assert environment("", module).withheld == ("DB_HOST",)
    check_let_through(["DB_HOST"], module)
    assert environment("", module, ["DB_HOST"]).withheld == ()


@pytest.mark.parametrize(
    ("reads", "withheld"),
    [
        ("os.getenv(f'{name}_API_KEY')", True),
        ("os.environ[f'{name.upper()}_API_KEY']", True),
        ("read(f'SHOP_{name}_KEY')", True),
        ("os.getenv(f'{name}')", False),  # it could be any
        ("os.getenv(f'{name}_TOKEN')", False),
    ],
)
def test_a_name_that_is_put_together_is_withheld_by_its_fixed_part(
    reads: str, withheld: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "k")
    (tmp_path / "agent.py").write_text(
        "import os\n\n\ndef read(key):\n    return os.environ.get(key)\n\n\n"
        f"def run(name):\n    return {reads}\n"
    )
    found = environment("", tmp_path / "agent_train.py").withheld
    assert ("SHOP_API_KEY" in found) is withheld


@pytest.mark.parametrize(
    ("name", "value", "agent", "given"),
    [
        ("TEAM", "blue", "import os\nos.environ['TEAM']\n", "blue"),
        ("TEAM", "blue", "from os import getenv\ngetenv('TEAM')\n", "blue"),
        ("TEAM", "blue", f"{HELPER}get_env('TEAM')\n", "blue"),
        ("TEAM", "blue", f"{HELPER}get_env(key='TEAM')\n", "blue"),
        ("QUEUE_HOST", "prod", f"{HELPER}host = get_env\nget_env('QUEUE_HOST')\n", "http://127.0.0.1:9"),
        ("TEAM", "blue", "import openai\n", None),  # nobody reads it
        ("TEAM", "https://x:y@z", "import os\nos.environ.get('TEAM')\n", None),
        ("QUEUE_HOST", "prod", "import os\nos.environ.get('QUEUE_HOST')\n", None),
        ("DATABASE_URL", "prod", "import os\nos.getenv('DATABASE_URL')\n", None),
        ("DATABASE_URL", "prod", "import os\nos.environ['DATABASE_URL']\n", "http://127.0.0.1:9"),
        ("PYTHONUTF8", "1", "import openai\n", "1"),
        ("HF_TOKEN", "prod", "import openai\n", None),
        ("AWS_PROFILE", "prod", "import boto3\n", None),
    ],
)  # fmt: skip
def test_only_what_is_needed_and_harmless_gets_in(
    name: str,
    value: str,
    agent: str,
    given: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(name, value)
    assert variables(tmp_path, agent).get(name) == given
    let_through = environment(URL, tmp_path / "agent_train.py", [name])
    assert let_through.variables[name] == value and let_through.withheld == ()
    withheld = environment(URL, tmp_path / "agent_train.py").withheld
    assert withheld == ((name,) if given != value and name in agent else ())


SETTINGS = '''
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="SHOP_", env_file=".env", extra="ignore")
    llm_name: str
    retries: int
    search_key: SecretStr
    queue: str = Field(validation_alias="QUEUE_URL")
    style: str = "plain"
    seen: list[str] = Field(default_factory=list)

print(Settings().model_dump_json())
'''  # fmt: skip


def test_what_settings_classes_insist_on_has_a_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_SEARCH_KEY", "sk-of-the-user")
    monkeypatch.setenv("SHOP_STYLE", "terse")
    given = variables(tmp_path, SETTINGS)
    said = subprocess.run(
        [sys.executable, "agent.py"],
        cwd=tmp_path,
        env={**given, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr
    assert '"llm_name":"rehearsal","retries":1' in said.stdout
    assert '"style":"terse"' in said.stdout
    assert "sk-of-the-user" not in str(given)
    assert given["SHOP_SEARCH_KEY"] == PRODUCTION_KEY
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env.example").write_text("shop_llm_name=shown\n")
    assert variables(tmp_path, SETTINGS)["SHOP_LLM_NAME"] == "rehearsal"
    (tmp_path / ".env").write_text("shop_llm_name=from-the-file\n")
    assert "SHOP_LLM_NAME" not in variables(tmp_path, SETTINGS)
