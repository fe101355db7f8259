"""Lists the words from which the tool guesses what a name in somebody's code means, each once.

A name is the weakest evidence, so each list says what it decides, and what comes before it.
What Python, a library or a protocol calls so is no guess, and stands with what reads it, or
here where several modules do.
A pattern is searched for anywhere in a name, unless it begins with ``^``.
"""

from __future__ import annotations

import re

# What several modules read of Python

# Methods of lists, dicts and sets. What is put in, or sent, says whether the object is one.
PUTS_ONE = frozenset({"append", "insert", "add", "setdefault", "appendleft"})
PUTS_ALL = frozenset({"extend", "update"})
GROWS_LIST = ("append", "extend", "insert")
EDITS_LIST = ("insert", "clear", "pop", "remove")  # elsewhere than at its end
CHANGES_CONTAINER = (
    PUTS_ONE
    | PUTS_ALL
    | {*EDITS_LIST, "popleft", "popitem", "discard", "sort", "reverse"}
    | {"difference_update", "intersection_update", "symmetric_difference_update"}
)
# What makes a container that can be changed.
MUTABLE = frozenset(
    {"list", "dict", "set", "defaultdict", "deque", "OrderedDict", "Counter"}
)
# Modules whose functions return something else each time.
OF_CHANCE = ("uuid", "secrets", "random", "time")
# Methods that make a dict of an object, and those that make JSON of it.
DUMPS_DICT = ("model_dump", "dict", "to_dict", "_asdict")
DUMPS_TEXT = ("model_dump_json", "json")
# Empty texts, as a signature spells them.
EMPTY_TEXTS = ("''", '""')
# Methods that return a text without its ends.
STRIPS = ("strip", "rstrip", "lstrip", "removeprefix", "removesuffix")
# Functions that tell somebody something, and so do nothing else with it.
LOGS = frozenset({"log", "debug", "info", "warning"})
ONLY_SAYS = LOGS | {"print", "str", "repr"}

# Conversations

# Roles of a message that instructs the model, and which no person says.
INSTRUCT = ("system", "developer")

# What holds one: a variable, parameter, attribute or key. What a request sends comes first.
CONVERSATIONS = frozenset(
    {"messages", "msgs", "message_list", "conversation", "history", "chat_history"}
    | {"input_messages", "prompt_messages", "msg_history", "api_messages"}
)
# A function that leaves messages out; first, it has to be given those of a trajectory.
CUTS_CONVERSATION = re.compile(
    r"trim|trunc|prune|window|compact|compress|shorten|squash|clip|cut|recent|last_n"
    r"|drop|limit|fit_",
    re.I,
)
# A model's reply, read by its keys: other dicts have some of them. Attributes need less.
OF_REPLY = re.compile(r"(^|[._])(message|msg|reply)\.content$|choices\.text$")
# A message of the user with a tool's result. A message with a tool's role comes first.
OBSERVATION = re.compile(r"tool|observation|function|result", re.I)

# Models, clients and other objects

# What holds a client. Its class comes first, what is imported, and what is done with it.
CLIENTS = ("client", "openai_client", "llm_client", "oai_client", "oai")
# Arguments that name a model. A class of the project in the annotation comes first.
MODELS = ("model", "model_name", "model_id")
# Classes of libraries that ask a model. What they are given by MODELS decides.
MODEL_CLASSES = re.compile(r"^[A-Z]\w*(Chat|Model|LLM|LM|OpenAI)|^LM$")
# What the client of a service is given, and does over the network: other methods may only
# build a request. That its class is imported comes first.
# What a prompt, or the name that gets the reply, says where somebody has to type a key.
KEY_TYPED = re.compile(
    r"api[\s_-]?key|secret|token(?!s)|passw|passphrase|credential", re.I
)
CREDENTIALS = ("api_key", "token", "access_token", "api_token", "secret_key")
ASKS_SERVICE = frozenset(
    {"search", "web_search", "search_and_contents", "query", "invoke", "report"}
    | {"fetch", "extract", "crawl", "scrape", "rerank", "transcribe"}
)
# A parameter that JSON cannot hold. A precise annotation comes first, or a default.
OBJECTS = re.compile(
    r"^(client|session|logger|log|console|ui|env|engine|tokenizer|sandbox|registry|loop|db"
    r"|tool_map|tool_functions|toolset|mcp|callback|callbacks|hooks|emit|progress)$"
    r"|_(fn|func|function|functions|callback|callable|handler|factory|registry|client"
    r"|clients|session|logger|hook|manager|executor|store|provider)$|^on_[a-z]"
)
# A library's class with a constructor of the fields below it: of pydantic, SQLModel, msgspec,
# instructor, weave. That the project has no such class comes first.
RECORDS = re.compile(r"(?:Model|Object|Schema|Struct|NamedTuple)$")
# A pool of threads, by what makes it or else by its name: multiprocessing's Pool is none. In
# a file with hooks any pool will do, as long as it runs what leads to a recorded call.
THREAD_POOLS = re.compile(r"ThreadPool|(?i:executor)")
POOLS = re.compile(r"pool|executor", re.I)

# Side jobs. A comment, a flag or a run comes first, then a conversation of its own.

# A function that asks whether a model is there: a side job, and no episode.
PROBES = re.compile(
    r"health_?check|is_healthy|(?<![a-z])(?:health$|(?:ping|warm_?up|probe)(?:_|$))"
    r"|(?:test|check|verify|validate)_(?:connection|api|key|model)|is_available",
    re.I,
)
# What a call asks: models and clients are named after one job.
_SIDE = (
    "judg|grader|grading|evaluat|criti[cq]|moderat|guardrail|guard_|summari[sz]|compact"
    "|compress|condens|shrink|title|rubric|rerank"
)
# A summary may be what the agent is for: then its name says no more than that it may be one.
SIDE_MODEL = re.compile(rf"{_SIDE}|summary", re.I)
NAMED_SIDE_JOB = re.compile(_SIDE, re.I)
# The function of a call, which is named after one of many: the agent's conversation has to be
# elsewhere.
SIDE_JOB = re.compile(
    rf"{_SIDE}|auxiliar|simulat|classif|caption|describe_|memor|verif|intent"
    r"|thought|embed|extract|reflect|route_|determine_|check_|is_correct|guard|score"
    rf"|{PROBES.pattern}",
    re.I,
)
# An agent that works for another one, by what it is and not by what it does: it may be meant.
OTHERS_JOB = re.compile(r"simulat|user_?sim|judge|grader|moderator|guardrail", re.I)

# Judges and rewards. The lists differ because each is wrong at another place: VERDICT has
# what a number is called, JUDGES what gives one, MAY_JUDGE no "reward", which all files have.

REWARD = re.compile(r"^(?:total_|final_|episode_|cumulative_)?reward$", re.I)
_JUDGE = "judge|grade|score"
# A file that may score what it is not seen to score.
MAY_JUDGE = re.compile(rf"ruler|{_JUDGE}", re.I)
# A function that asks a judge. It has to await something, or to set rewards.
JUDGES = re.compile(rf"{_JUDGE}|evaluat|reward", re.I)
# What a handler sets to a number, after the code that failed tried to set it.
VERDICT = re.compile("score|reward|grade|rating|verdict|quality", re.I)
# Functions that the guide offers as a reward, and the first parameter of one; the columns
# that say what is right. Somebody chooses.
SCORES = "reward|score|grade|evaluate|exact_match|is_correct|judge"
SCORED = ("trajectory", "traj", "episode", "rollout")
EXPECTED = ("expected", "answer", "reference", "label", "target", "gold", "solution")

# Evaluations, tests and demos

# A file that only evaluates. That it trains on nothing comes first.
EVALUATION_FILE = re.compile(
    r"(^|_)(eval|evaluate|validate|benchmark|test|compare)", re.I
)
# A function that may log a validation, unless its body can be seen and does not. One that
# judges logs none; "score" may be a validation's.
LOGS_VALIDATION = re.compile(
    r"^(?!.*(ruler|judge|reward))"
    r".*(benchmark|evaluat|(^|_|\.)(eval|validation|val)(_|$))",
    re.I,
)
# A folder or file of tests, and a file where pytest looks for some: whole names. That a run
# makes the agent there comes first, also of demos. What fakes stand for, only names tell.
TESTS = re.compile(r"tests?([-_].*)?|testing|test(data|utils?)|.*_tests?|conftest")
COLLECTED = re.compile(r"test_.*|.*_test|conftest")
DEMOS = re.compile(r"(^|_)(demo|example|sample|smoke)s?(_|$)", re.I)
FAKES = re.compile(r"(^|_)_?(Fake|Stub|Dummy|Scripted)|Mock", re.I)

# Libraries of chat platforms: their clients are bots.
PLATFORMS = (
    *("telegram", "aiogram", "telebot", "pyrogram", "telethon", "discord", "disnake"),
    *("nextcord", "slack_bolt", "vkbottle", "botbuilder", "chainlit", "khl", "nonebot"),
)

# What starts an agent. A loop that drives a conversation comes first.

_MAIN = r"(_|a|async_)?main"
STARTS = re.compile(
    rf"^(test_|app$|lambda_handler"
    rf"|({_MAIN}|cli|demos?|examples?|entry(point)?|repl|interactive|serve)(?![a-z]))"
)
# A main() that has to be given something else than a command line has a task.
MAIN = re.compile(rf"^{_MAIN}$")
OF_COMMAND = frozenset({"argv", "args", "arguments", "ctx", "context", "config", "cfg"})
# What somebody typed, which is no part of an object; a configuration may be.
TYPED = ("input", "args")
# Decorators of commands, request handlers and fixtures, and functions that register them.
STARTING_DECORATORS = frozenset(
    {"command", "route", "get", "post", "put", "patch", "websocket", "callback"}
    | {"event", "message", "message_handler", "on_message", "listener", "hears", "add"}
    | {"task", "shared_task", "fixture", "tool", "property"}
)
REGISTERS_HANDLER = re.compile(r"(Handler|_handler|_route|_url_rule)$")
# A call of what these decorate returns what the function does.
PLAIN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "abstractmethod", "override", "final"}
    | {"observe", "traceable", "retry"}
)

# What runs an episode

# One feature of a candidate among many: what it does weighs more.
RUNS_EPISODE = re.compile(
    r"^(run|solve|answer|ask|chat|agent|execute|invoke|process|query|research|investigate"
    r"|complete|play|respond|reply|act|handle|generate|predict|react|work|__call__)"
    r"|_(agent|loop|task|question|query|chat|episode)$"
)
# What a rollout awaits in a ``try``. That it asks the model there comes first.
AWAITS_EPISODE = re.compile(
    r"invoke|judge|capture|episode|agent|rollout|solve|complet|chat|generat|play|\bask",
    re.I,
)
# What a wrapped rollout awaits and tries again: only what frameworks have, since other
# functions may be tried again without harm.
AWAITS_AGENT = re.compile(r"invoke|astream|agent|graph\b|_graph|chain\b", re.I)
# A parameter that is an agent's own. What is sent as a conversation comes first.
PROMPTS = re.compile(r"^(system|instructions)")
OWN_PARTS = re.compile(rf"{PROMPTS.pattern}|tools$|schemas$|dispatch")
# A method that ends what was set up. That the project sets something up comes first.
CLEANS_UP = ("cleanup", "close", "aclose", "disconnect", "shutdown", "stop", "teardown")

# Repetitions, scenarios and trajectories

_RETRY = "retr(y|ies)"
# What calls a function again after a failure: a decorator, or what a loop goes through.
RETRIES = re.compile(rf"{_RETRY}|^on_exception$", re.I)
# A function that only calls another one again; ``run_with_retry`` may be an episode.
TRIES_AGAIN = re.compile(r"^retry(_|$)")
# The header of a loop that counts attempts. A conversation that grows there overrules it.
ATTEMPTS = re.compile(rf"{_RETRY}|attempt|tries|trial|backoff", re.I)
# A number of turns, and of nothing smaller.
TURNS = re.compile(r"^(?!.*step)(.*_)?turns?(_|$)|^maxturns?$", re.I)
# Decorators that keep what a function returns, and those that let it run once.
CACHES = frozenset(
    {"cache", "lru_cache", "alru_cache", "memoize", "cached", "cache_data"}
)
ONCE = CACHES | {"once", "run_once"}
# A list of different scenarios. That it repeats one comes first.
SCENARIOS = re.compile(
    r"scenario|task|question|problem|item|prompt|example|batch|dataset|rows|samples"
    r"|inputs|cases|puzzles|tickets|queries|conversations|load|train_data|records",
    re.I,
)
NO_SCENARIOS = re.compile(
    r"seed|temperature|attempt|cop(y|ies)|repeat|index|range", re.I
)

# What holds a trajectory, or several. That the file makes it comes first.
TRAJECTORY = re.compile(r"(^|[._])traj(ectory)?$", re.I)
TRAJECTORIES = re.compile("group|trajector", re.I)
# Functions and methods that take a trajectory, or several, and leave it as it is.
LEAVES_TRAJECTORY = LOGS | (
    {"append", "add", "extend", "print", "len", "list", "tuple", "range", "sum"}
    | {"enumerate", "zip", "isinstance", "gather", "train", "TrajectoryGroup"}
)

# Tables of tools. What is assigned to one, or decorated with it, comes first.

HOLDS_TOOLS = re.compile(r"regist|tool|kit|catalog|plugin|skill|command|action", re.I)
_REGISTER = "register|attach|bind|mount"
# A function that keeps a function, and one that fills an object, which they are given.
REGISTERS = re.compile(rf"^_*({_REGISTER}|add|append)(_|$)")
FILLS_GIVEN = re.compile(
    rf"^_*({_REGISTER}|add|install|load|set_?up|configure|populate|include|fill|wire"
    r"|provide|give|equip)(_|$)"
)
# A method that adds a part to its object: ``add_message`` adds none. On an agent, so do
# FILLS_AGENT, which other classes have for other things.
FILLS_ITSELF = re.compile(
    rf"^({_REGISTER})(_|$)|^(add|append|include|extend)"
    r"(_(tool|function|agent|handler|skill|plugin|action|provider)s?)?$"
)
FILLS_AGENT = ("tool", "function", "action")
# A method that only tells people something, whatever else it is called.
ONLY_TELLS = re.compile(
    r"^(welcome|greet|print|show|display|log|info|debug|warn|echo|render)"
)
# Decorators that declare a tool: "action" may declare a step of the agent.
TOOL_DECORATORS = ("tool", "function_tool", "register_tool", "register_function")

# Calls that run requested tools. What goes back to the model as a tool's reply comes first,
# then what is looked up by the name in the request.

# A function that makes a tool's message, and keys of requests that the project parses.
TOOL_MESSAGE = re.compile(r"tool_?(message|result|response|output)$", re.I)
TOOL_NAME_KEYS = ("name", "tool", "tool_name", "action", "function")
# Where a tool's name is its own. OWN_PARTS has fewer: a parameter ``specs`` may be a task.
TOOL_DEFINITIONS = re.compile(r"(^|[._])(tools|schemas|definitions|specs|functions)$")
# What runs one, and what runs all of a message: given these, "tool" and "call" say nothing.
_RUN = "execute|invoke|run|dispatch|handle|perform"
RUNS_TOOL = re.compile(rf"tool|call|submit|{_RUN}", re.I)
RUNS_ALL_TOOLS = re.compile(rf"process|{_RUN}", re.I)
# What it is given: the name and arguments from the model, and what is not from there.
TOOL_NAMES = re.compile(r"name|tool|call|action|command", re.I)
TOOL_ARGUMENTS = re.compile(r"^(?!.*kwargs).*((?<!t)arg|input|param|payload)", re.I)
OWN_SETTINGS = re.compile("kwargs|options")
# What only spells a request or a result, asks whether a tool may run, or tells of it.
RUNS_NO_TOOL = re.compile(
    r"^_?(to_|as_|format|convert|serial|normal|extract|ensure|parse|render|map_|persist"
    r"|trunc|sanit|clean|approve|confirm|allow|check|valid|should|is_|has_)"
    r"|_to_|(^|_)(pre|before|after|permission|permit|log|emit|notify|trace)(_|$)",
    re.I,
)
NO_TOOLS = LOGS | (
    {"error", "exception", "input", "print", "append", "str", "format", "len"}
)
# What only spells a result, or waits for it.
ONLY_WRAPS = frozenset(
    {"str", "repr", "dumps", "loads", "format", "join", "wait_for", "gather", "list"}
    | {"run_until_complete", "model_dump_json", "model_dump", "truncate", "strip"}
    | {"enumerate", "zip", "map", "dict", "getattr", "to_json", "cast", "get", "result"}
    | {"isinstance", "len", "type", "items", "values", "copy", "as_completed"}
    | {"sorted", "keys"}
    | {"json", "read", "decode"}  # of a response
    | {"eval", "literal_eval", "parse_raw", "model_validate_json"}  # of arguments
)

# Answers. What holds the model's reply comes first.

# Words of what shows somebody an answer, and of what reports on a run.
SHOWS = frozenset(
    {"print", "show", "display", "say", "speak", "reply", "respond", "send", "present"}
    | {"answer", "message", "markdown", "output"}
)
REPORTS = LOGS | (
    {"error", "status", "thinking", "reasoning", "thought", "delta", "usage", "tool"}
    | {"add", "append", "save", "user", "system"}
)
# An attribute that keeps an answer. What the function returns comes first.
STORES_ANSWER = re.compile(r"answer|final_|verdict", re.I)
# Keys of a returned dict: those of an answer, if only an empty one, and of whether there is.
ANSWER_KEYS = frozenset(
    {"answer", "final_answer", "response", "reply", "result", "output"}
    | {"content", "text"}
)
SUCCESS_KEYS = ("success", "completed", "ok")
FAILURE_KEYS = ("failed", "error")
