"""What is known of the calls of libraries: how they get in the way of replaying."""

from __future__ import annotations

import re

from art_adapt.survey.side_effects.harm import Harm

BY_NAME = {
    "getpass.getpass": Harm.ASKS,
    "typer.prompt": Harm.ASKS,
    "typer.confirm": Harm.ASKS,
    "click.prompt": Harm.ASKS,
    "click.confirm": Harm.ASKS,
    "prompt_toolkit.prompt": Harm.ASKS,
    "prompt_toolkit.shortcuts.prompt": Harm.ASKS,
    "rich.prompt.Prompt.ask": Harm.ASKS,
    "rich.prompt.Confirm.ask": Harm.ASKS,
    "rich.prompt.IntPrompt.ask": Harm.ASKS,
    "rich.prompt.FloatPrompt.ask": Harm.ASKS,
    "sys.stdin.read": Harm.ASKS,
    "sys.stdin.readline": Harm.ASKS,
    "sys.stdin.readlines": Harm.ASKS,
    "click.getchar": Harm.ASKS,
    "click.pause": Harm.ASKS,
    "time.time": Harm.CLOCK,
    "datetime.now": Harm.CLOCK,
    "datetime.datetime.now": Harm.CLOCK,
    "datetime.utcnow": Harm.CLOCK,
    "datetime.date.today": Harm.CLOCK,
    "date.today": Harm.CLOCK,
    "os.remove": Harm.WRITES,
    "os.unlink": Harm.WRITES,
    "os.rename": Harm.WRITES,
    "os.mkdir": Harm.WRITES,
    "os.makedirs": Harm.WRITES,
    "os.replace": Harm.WRITES,
    "os.rmdir": Harm.WRITES,
    "os.removedirs": Harm.WRITES,
    "os.symlink": Harm.WRITES,
    "os.link": Harm.WRITES,
    "numpy.save": Harm.WRITES,
    "numpy.savez": Harm.WRITES,
    "numpy.savetxt": Harm.WRITES,
    "shutil.rmtree": Harm.WRITES,
    "shutil.move": Harm.WRITES,
    "shutil.copy": Harm.WRITES,
    "shutil.copy2": Harm.WRITES,
    "shutil.copyfile": Harm.WRITES,
    "shutil.copytree": Harm.WRITES,
    "signal.signal": Harm.MAIN,
    "os.system": Harm.PROCESS,
    "os.popen": Harm.PROCESS,
    "os.kill": Harm.PROCESS,
    "os.killpg": Harm.PROCESS,
    "os.fork": Harm.PROCESS,
    "os.execv": Harm.PROCESS,
    "os.execvp": Harm.PROCESS,
    "os.posix_spawn": Harm.PROCESS,
    "os.startfile": Harm.PROCESS,
    "pty.spawn": Harm.PROCESS,
    "multiprocessing.Pool": Harm.PROCESS,
    "asyncio.create_subprocess_exec": Harm.PROCESS,
    "asyncio.create_subprocess_shell": Harm.PROCESS,
    "mcp.client.stdio.stdio_client": Harm.PROCESS,
    "mcp.stdio_client": Harm.PROCESS,
    "mcp.StdioServerParameters": Harm.PROCESS,
    "multiprocessing.Process": Harm.PROCESS,
    "concurrent.futures.ProcessPoolExecutor": Harm.PROCESS,
    "webbrowser.open": Harm.PROCESS,
    "urllib.request.urlopen": Harm.NETWORK,
    "urllib.request.urlretrieve": Harm.NETWORK,
    "http.client.HTTPConnection": Harm.NETWORK,
    "http.client.HTTPSConnection": Harm.NETWORK,
    "asyncio.open_connection": Harm.NETWORK,
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
    "InquirerPy": Harm.ASKS,
    "random": Harm.CLOCK,
    **dict.fromkeys(
        (  # HTTP, sockets, browsers
            *("urllib3", "websockets", "websocket"),
            *("smtplib", "imaplib", "ftplib", "paramiko", "fastmcp"),
            *("selenium", "playwright", "browser_use"),
            # databases and stores that are servers
            *("redis", "pymongo", "psycopg", "psycopg2", "asyncpg", "sqlalchemy"),
            *("clickhouse_connect", "elasticsearch", "qdrant_client", "weaviate"),
            *("neo4j", "pinecone", "pymysql", "mysql", "aiomysql", "motor", "supabase"),
            *("snowflake", "cassandra", "firebase_admin", "pika", "kafka", "nats"),
            # other machines
            *("asyncssh", "fabric", "kubernetes", "e2b", "e2b_code_interpreter"),
            # public and paid services
            *("boto3", "botocore", "googleapiclient", "praw", "tweepy", "slack_sdk"),
            *("tavily", "serpapi", "duckduckgo_search", "ddgs", "exa_py", "wikipedia"),
            *("yfinance", "arxiv", "stripe", "twilio", "feedparser", "googlesearch"),
            *("firecrawl", "crawl4ai", "newsapi", "notion_client", "github", "gitlab"),
            *("jira", "telegram", "discord", "gspread", "ccxt", "replicate"),
        ),
        Harm.NETWORK,
    ),
}
# Of these libraries only what opens a connection, or is made to; the rest describes.
CONNECTS = {
    "sqlalchemy": frozenset(
        {
            "create_engine",
            "create_async_engine",
            "Session",
            "AsyncSession",
            "sessionmaker",
        }
        | {"async_sessionmaker", "scoped_session"}
    )
}
# Modules of a library that only describe what is asked of it: ``models.Filter``.
DESCRIBES = frozenset({"models", "types", "schemas", "enums", "exceptions", "errors"})
# Methods of a session with an MCP server.
MCP_CALLS = frozenset({"call_tool", "read_resource", "get_prompt"})
# Classes of any SDK that start an MCP server, or talk to one.
MCP_CLASSES = (
    (
        re.compile(r"Stdio(Server)?(Parameters|Params|Transport|ServerParameters)?$"),
        Harm.PROCESS,
    ),
    (
        re.compile(r"(Sse|SSE|Streamable(Http|HTTP))(Transport|Params|Parameters)?$"),
        Harm.NETWORK,
    ),
)
# What a Django model's manager and its objects do to the database.
DJANGO = re.compile(
    r"\.objects(\.\w+\(?\)?)*\.a?(create|get_or_create|update_or_create|bulk_create|bulk_update|update|delete)$"
)
DJANGO_OBJECT = frozenset({"save", "asave", "delete", "adelete"})
MCP_NETWORK = ("sse_client", "streamablehttp_client", "streamable_http_client")
HARMLESS = ("Exception", "Error", "Timeout", "Random", "PIPE", "DEVNULL", "STDOUT")
WRITING_METHODS = {
    "write_text": Harm.WRITES,
    "write_bytes": Harm.WRITES,
    "unlink": Harm.WRITES,
    "touch": Harm.WRITES,
    # Methods of a collection of pymongo 4, which an agent may be handed.
    **dict.fromkeys(
        (
            *("insert_one", "insert_many", "update_one", "update_many", "replace_one"),
            *("delete_one", "delete_many", "bulk_write", "find_one_and_update"),
            *("find_one_and_replace", "find_one_and_delete"),
        ),
        Harm.NETWORK,
    ),
    "rmtree": Harm.WRITES,
    "mkdir": Harm.WRITES,
    "rmdir": Harm.WRITES,
    "symlink_to": Harm.WRITES,
    "hardlink_to": Harm.WRITES,
    "to_pickle": Harm.WRITES,
    "to_feather": Harm.WRITES,
    "to_sql": Harm.NETWORK,
    "extractall": Harm.WRITES,
    "commit": Harm.COMMITS,
    "to_csv": Harm.WRITES,
    "to_excel": Harm.WRITES,
    "to_parquet": Harm.WRITES,
    "savefig": Harm.WRITES,
}
# Methods of a web socket that wait for what somebody sends.
RECEIVES = ("receive_text", "receive_json")
# Generators of numpy that a seed makes the same each time.
SEEDED = ("seed", "default_rng", "RandomState", "SeedSequence")
# What runs for as long as a server or a bot does, where a module's object is told to.
RUNS_ON = frozenset(
    {
        "run",
        "run_until_complete",
        "run_forever",
        "run_polling",
        "infinity_polling",
        "start_polling",
        "polling",
    }
    | {"serve", "serve_forever", "mainloop", "launch"}
)
# Classes whose objects run on once they are started.
STARTED = frozenset({"SocketModeHandler", "AsyncSocketModeHandler"})
# Functions that run a program to its end.
RUNNERS = frozenset({"asyncio.run", "anyio.run", "trio.run", "uvicorn.run"})
# What else the OpenAI client does: it is paid for, or kept (openai 2.54, resources/).
OTHER_RESOURCES = re.compile(
    r"(^|\.)(images|audio\.(speech|transcriptions|translations)|videos|conversations|files"
    r"|vector_stores(\.files)?|uploads|batches|containers|models|fine_tuning\.jobs)"
    r"\.(create|generate|edit|list|retrieve|content|update|delete|upload|upload_and_poll)$"
)
# What of an HTTP library makes a client, whose methods send requests.
HTTP_CLIENTS = frozenset({"Session", "Client", "AsyncClient", "ClientSession"})
# What calls a function that it is handed at once, or soon.
RUN_AT_ONCE = frozenset(
    {
        "to_thread",
        "run",
        "map",
        "submit",
        "run_in_executor",
        "call_soon",
        "apply",
        "Timer",
    }
)
# Methods that wait for somebody at a terminal, with the class of their objects.
ASKING_METHODS = {
    "prompt": "PromptSession",
    "prompt_async": "PromptSession",
    "input": "Console",
}
ASKS_IN_A_WINDOW = re.compile(r"tkinter\.\w+\.ask|.*\bQMessageBox\.question$|easygui\.")
# Of these only what sends a request, or is made to send some.
HTTP = ("requests", "httpx", "aiohttp")
SENDS = HTTP_CLIENTS | {
    *("get", "post", "put", "patch", "delete", "head", "options", "request", "stream")
}
# Methods that tell a service something; of a search it may keep nothing.
TELLS_SERVICE = frozenset(
    {"post", "put", "patch", "delete", "sendmail", "send_message"}
)
# Tools of the Responses API that its provider runs (openai 2.54, types/responses/tool.py).
HOSTED = frozenset(
    {"web_search", "file_search", "code_interpreter", "computer_use", "mcp"}
    | {"image_generation", "web_search_2025_08_26"}
)
# Libraries that compute, print or ask models: nothing of them outlives an episode.
HARMLESS_LIBRARIES = frozenset(
    """
    PIL anthropic anyio art art_adapt art_recording attr attrs backoff bs4 click
    cohere colorama colorlog dateutil dotenv fastapi flask groq html2text httpcore
    httpx instructor jinja2 json5 json_repair jsonref jsonschema langfuse langsmith lark
    litellm logfire loguru lxml markdown markdownify matplotlib mcp mistralai msgspec
    nest_asyncio networkx nltk numpy ollama openai opentelemetry orjson pandas polars
    prompt_toolkit pydantic pydantic_core pydantic_settings pygments pytz rapidfuzz regex
    requests rich ruamel scipy sentence_transformers sklearn sniffio starlette streamlit
    structlog sympy tabulate tenacity termcolor tiktoken tokenizers toml tomli tomllib
    tomlkit tqdm transformers typer typing_extensions ujson uvicorn weave yaml
    """.split()  # noqa: SIM905
)
