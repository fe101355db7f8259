"""Finds side effects that make an episode hard to replay."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Collection, Iterator

from art_adapt.survey.model import Effect, Harm
from art_adapt.survey.syntax import MODULE_LEVEL, Syntax, dotted

BY_NAME = {
    "input": Harm.ASKS,
    "getpass.getpass": Harm.ASKS,
    "typer.prompt": Harm.ASKS,
    "typer.confirm": Harm.ASKS,
    "click.prompt": Harm.ASKS,
    "click.confirm": Harm.ASKS,
    "rich.prompt.Prompt.ask": Harm.ASKS,
    "rich.prompt.Confirm.ask": Harm.ASKS,
    "sys.stdin.readline": Harm.ASKS,
    "time.time": Harm.CLOCK,
    "datetime.now": Harm.CLOCK,
    "datetime.datetime.now": Harm.CLOCK,
    "datetime.utcnow": Harm.CLOCK,
    "datetime.date.today": Harm.CLOCK,
    "date.today": Harm.CLOCK,
    "os.remove": Harm.WRITES,
    "os.unlink": Harm.WRITES,
    "os.rename": Harm.WRITES,
    "os.replace": Harm.WRITES,
    "os.makedirs": Harm.WRITES,
    "os.mkdir": Harm.WRITES,
    "shutil.rmtree": Harm.WRITES,
    "shutil.move": Harm.WRITES,
    "shutil.copy": Harm.WRITES,
    "shutil.copytree": Harm.WRITES,
    "sqlite3.connect": Harm.WRITES,
    "os.system": Harm.PROCESS,
    "os.popen": Harm.PROCESS,
    "asyncio.create_subprocess_exec": Harm.PROCESS,
    "asyncio.create_subprocess_shell": Harm.PROCESS,
    "mcp.client.stdio.stdio_client": Harm.PROCESS,
    "mcp.stdio_client": Harm.PROCESS,
    "mcp.StdioServerParameters": Harm.PROCESS,
    "multiprocessing.Process": Harm.PROCESS,
    "concurrent.futures.ProcessPoolExecutor": Harm.PROCESS,
    "urllib.request.urlopen": Harm.NETWORK,
    "urllib.request.Request": Harm.NETWORK,
    "socket.create_connection": Harm.NETWORK,
    "socket.socket": Harm.NETWORK,
}
# A call of anything in these modules reaches out.
BY_MODULE = {
    "subprocess": Harm.PROCESS,
    "pexpect": Harm.PROCESS,
    "docker": Harm.PROCESS,
    "questionary": Harm.ASKS,
    "inquirer": Harm.ASKS,
    "prompt_toolkit": Harm.ASKS,
    "random": Harm.CLOCK,
    **dict.fromkeys(
        (  # HTTP, sockets, browsers
            *("requests", "httpx", "aiohttp", "urllib3", "websockets", "websocket"),
            *("smtplib", "imaplib", "ftplib", "paramiko", "fastmcp"),
            *("selenium", "playwright", "browser_use"),
            # databases and stores that are servers
            *("redis", "pymongo", "psycopg", "psycopg2", "asyncpg", "sqlalchemy"),
            *("clickhouse_connect", "elasticsearch", "qdrant_client", "weaviate"),
            *("neo4j", "pinecone"),
            # public and paid services
            *("boto3", "botocore", "googleapiclient", "praw", "tweepy", "slack_sdk"),
            *("tavily", "serpapi", "duckduckgo_search", "ddgs", "exa_py", "wikipedia"),
            *("yfinance", "arxiv", "stripe", "twilio", "anthropic", "cohere"),
        ),
        Harm.NETWORK,
    ),
}
MCP_NETWORK = ("sse_client", "streamablehttp_client", "streamable_http_client")
HARMLESS = ("Exception", "Error", "Timeout", "Random", "PIPE", "DEVNULL", "STDOUT")
WRITING_METHODS = {
    "write_text": Harm.WRITES,
    "write_bytes": Harm.WRITES,
    "unlink": Harm.WRITES,
    "rmtree": Harm.WRITES,
    "commit": Harm.WRITES,
    "to_csv": Harm.WRITES,
    "mkdir": Harm.WRITES,
}
CHANGES = {
    "append",
    "extend",
    "insert",
    "clear",
    "pop",
    "update",
    "add",
    "remove",
    "setdefault",
}


def find_effects(syntax: Syntax, functions: Collection[str]) -> Iterator[Effect]:
    """Find calls that reach outside the episode, and changes of module-level state.

    ``functions``: the qualified names of those that an episode may run.
    """
    found = _by_function(syntax)
    for name, effects in found.items():  # in source order, which a set has not
        if name in functions:
            yield from effects


@functools.lru_cache(maxsize=512)
def _by_function(syntax: Syntax) -> dict[str, list[Effect]]:
    """All effects of a file, by the function that has them."""
    found: dict[str, list[Effect]] = {}
    for node in syntax.nodes:
        effects = list(_effects_at(syntax, node))
        if effects:
            found.setdefault(syntax.owner(node), []).extend(effects)
    for owner, effect in _changed_globals(syntax):
        found.setdefault(owner, []).append(effect)
    return found


def _effects_at(syntax: Syntax, node: ast.AST) -> Iterator[Effect]:
    if isinstance(node, ast.Global):
        what = "global " + ", ".join(node.names)
        yield Effect(syntax.place(node), Harm.SHARED, what)
    elif isinstance(node, ast.Call):
        if (harm := _harm(node, syntax)) is not None:
            yield Effect(syntax.place(node), harm, syntax.text(node.func) + "()")
        for given in node.args:  # run_in_executor(None, input)
            if isinstance(given, ast.Name) and given.id == "input":
                yield Effect(syntax.place(given), Harm.ASKS, "input()")


def find_import_effects(
    syntax: Syntax, asks: Callable[[ast.AST], bool]
) -> Iterator[Effect]:
    """Find what importing the file does: it asks a model or a person, or reads argv."""
    for node in syntax.owned_by(MODULE_LEVEL):
        if not isinstance(node, ast.Call) or syntax.is_guarded(node):
            continue
        name = syntax.qualified(node.func) or ""
        reads = name.endswith(".parse_args") or _harm(node, syntax) is Harm.ASKS
        if reads or asks(node):
            what = f"{syntax.text(node.func)}()"
            yield Effect(syntax.place(node), Harm.IMPORT, what)
            return


def asks_a_person(syntax: Syntax, body: ast.AST) -> bool:
    """Whether code waits for somebody at a terminal."""
    calls = (node for node in ast.walk(body) if isinstance(node, ast.Call))
    return any(_harm(call, syntax) is Harm.ASKS for call in calls)


def reads_arguments(syntax: Syntax, node: ast.AST) -> bool:
    """Whether a node reads the command line."""
    if isinstance(node, ast.Attribute):
        return syntax.qualified(node) == "sys.argv"
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("parse_args", "parse_known_args")
        and not node.args
    )


def _harm(call: ast.Call, syntax: Syntax) -> Harm | None:
    name = syntax.qualified(call.func) or ""
    if name in BY_NAME:
        return BY_NAME[name]
    if name == "open" and _opens_for_writing(call):
        return Harm.WRITES
    top, _, rest = name.partition(".")
    if top == "mcp" and name.endswith(MCP_NETWORK):
        return Harm.NETWORK
    if (
        top in BY_MODULE
        and rest
        and not rest.endswith(HARMLESS)
        and top in {i.module.split(".")[0] for i in syntax.imports.values()}
    ):
        return BY_MODULE[top]
    if isinstance(call.func, ast.Attribute) and call.func.attr in WRITING_METHODS:
        return WRITING_METHODS[call.func.attr]
    return None


def _opens_for_writing(call: ast.Call) -> bool:
    mode = (
        call.args[1]
        if len(call.args) > 1
        else next((k.value for k in call.keywords if k.arg == "mode"), None)
    )
    return (
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and any(letter in mode.value for letter in "wax+")
    )


def _changed_globals(syntax: Syntax) -> Iterator[tuple[str, Effect]]:
    """Find module-level lists, dicts and sets that a function changes in place.

    Every rollout in the process would see the others' changes.
    """
    shared = {
        name
        for name, values in syntax.assignments.items()
        if any(where == MODULE_LEVEL and _is_mutable(value) for where, value in values)
        and "." not in name
    }
    said: set[tuple[str, str]] = set()
    for node in syntax.nodes:
        owner = syntax.owner(node)
        if owner == MODULE_LEVEL:
            continue
        name = None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in CHANGES
        ):
            name = dotted(node.func.value)
        elif isinstance(node, ast.Subscript) and isinstance(
            node.ctx, ast.Store | ast.Del
        ):
            name = dotted(node.value)
        if (
            isinstance(node, ast.expr)
            and name in shared
            and (name, owner) not in said
            and not any(where == owner for where, _ in syntax.assignments[name])
        ):
            said.add((name, owner))
            what = f"the module-level {name}, which {owner} changes"
            yield owner, Effect(syntax.place(node), Harm.SHARED, what)


def _is_mutable(value: ast.expr) -> bool:
    return isinstance(value, ast.List | ast.Dict | ast.Set) or (
        isinstance(value, ast.Call)
        and dotted(value.func)
        in ("list", "dict", "set", "defaultdict", "deque", "collections.defaultdict")
    )
