"""Runs art-adapt over the agents of ../shared/corpus, and each one that can run offline
before and after.

python tests/corpus/agents.py --sources DIR --python PYTHON [--out DIR] [ID ...]

PYTHON has what the drivers need (../shared/corpus/requirements.txt). For every agent:
is it adapted or explained; do the hooks come off byte for byte; is adapting idempotent.
For every runnable one, with the same driver and scripted server:

* outside a rollout, are the requests the same bodies and the result the same;
* inside one, is every completion that the server gave on the trajectory once, behind the messages that were sent for
  it and with their tools, does the result stay the same, and does nothing reach the production server.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
CORPUS = REPOSITORY.parent / "shared" / "corpus"
sys.path.insert(0, str(CORPUS))

# The driver's own child, with a rollout opened around run() in which the agent talks to
# a server of its own.
INSIDE = """
import sys, os, json, importlib.util, importlib.machinery, traceback, asyncio, inspect, builtins
ent, root, base, out = sys.argv[1:5]; sys.argv = ["agent"]
sys.path[:0] = [root, os.path.dirname(ent)]
builtins.CORPUS_ROOT = root
sys.path.insert(0, os.environ["ART_ADAPT"]); import art_adapt.recording as rec; sys.path.pop(0)
import pydantic
class History(pydantic.BaseModel):
    messages_and_choices: list = []
    tools: list | None = None
class Trajectory(pydantic.BaseModel):
    messages_and_choices: list = []
    tools: list | None = None
    additional_histories: list[History] = []
    reward: float = 0.0
    metrics: dict = {}
    metadata: dict = {}
t = Trajectory()
spec = importlib.util.spec_from_file_location("entry", ent); m = importlib.util.module_from_spec(spec)
try:
    spec.loader.exec_module(m)
    for p in getattr(m, "PATHS", []): sys.path.insert(0, os.path.join(root, p))
    def call():
        with rec.rollout(t, base_url=os.environ["ART_BASE_URL"], api_key="sk-rollout", model="policy:step1"):
            r = m.run(base)
            if not inspect.iscoroutine(r): return r
            return asyncio.run(r)
    r = call()
    res = {"ok": True, "result": repr(r)[:2000]}
except SystemExit as e: res = {"ok": e.code in (0, None), "result": "SystemExit %r" % (e.code,)}
except BaseException as e: res = {"ok": False, "error": type(e).__name__ + ": " + str(e)[:500], "tb": traceback.format_exc()[-1800:]}
res["histories"] = [
    {"tools": h.tools, "items": [x if isinstance(x, dict) else {"choice": x.model_dump(mode="json")} for x in h.messages_and_choices]}
    for h in [t, *t.additional_histories]]
res["answer"] = repr(t.metadata.get("final_answer"))[:200]
json.dump(res, open(out, "w")); sys.stdout.flush(); os._exit(0)
"""


def source_root(row: dict, sources: Path) -> Path:
    kind, name = row["source"].split(":", 1)
    return sources / (
        "pypi/" + name.replace("==", "-")
        if kind == "pypi"
        else "gh/" + name.replace("/", "__")
    )


def art_adapt(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "art_adapt", *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=120,
    )


def adapt(row: dict, sources: Path, tree: Path) -> tuple[str, str]:
    """Adapt a copy of the agent's sources: ("adapted" | "explained" | "wrong", what was
    said).
    """
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(source_root(row, sources), tree, symlinks=True)
    before = {path: path.read_bytes() for path in tree.rglob("*.py")}
    done = art_adapt("--no-train-module", "--isolated", *row["paths"], cwd=tree)
    said = done.stderr.decode()
    after = {path: path.read_bytes() for path in tree.rglob("*.py")}
    if done.returncode == 2:
        if "internal error" in said or not said.strip():
            return "wrong", "crashed: " + said
        return (
            ("explained", said) if after == before else ("wrong", "refused, but wrote")
        )
    if done.returncode != 0:
        return "wrong", f"exit code {done.returncode}: {said}"
    again = art_adapt("--no-train-module", "--isolated", *row["paths"], cwd=tree)
    if (
        again.returncode
        or {path: path.read_bytes() for path in tree.rglob("*.py")} != after
    ):
        return "wrong", "not idempotent"
    undone = art_adapt("--undo", *row["paths"], cwd=tree)
    if (
        undone.returncode
        or {path: path.read_bytes() for path in tree.rglob("*.py")} != before
    ):
        return "wrong", "does not undo: " + undone.stderr.decode()
    art_adapt("--no-train-module", "--isolated", *row["paths"], cwd=tree)
    return "adapted", ""


def normal(message: dict) -> dict:
    """A message without what the SDK and the agents add or leave out freely."""
    return {
        key: value
        for key, value in message.items()
        if value not in (None, [], "")
        and key not in ("annotations", "audio", "refusal", "sender")
    }


def compare_inside(result: dict, server_log: list[dict]) -> str:
    """Whether the trajectory holds exactly what the server was asked and gave; "" if it
    does.
    """
    given: collections.Counter[str] = collections.Counter()
    by_id: dict[str, dict] = {}
    for entry in server_log:
        if entry["status"] == 200 and entry["path"].endswith("/chat/completions"):
            for choice in entry["response"]["choices"]:
                key = json.dumps(
                    [
                        entry["request"]["messages"],
                        entry["request"].get("tools"),
                        choice["message"].get("content"),
                        choice["message"].get("tool_calls"),
                        choice["message"].get("function_call"),
                    ]
                )
                given[key] += 1
                by_id[key] = entry
    found: collections.Counter[str] = collections.Counter()
    for history in result["histories"]:
        for at, item in enumerate(history["items"]):
            if "choice" not in item:
                continue
            message = item["choice"]["message"]
            prefix = [
                i["choice"]["message"] if "choice" in i else i
                for i in history["items"][:at]
            ]
            match = None
            for key, entry in by_id.items():
                request = entry["request"]
                choices = [json.loads(key)[2:]]
                same_reply = [
                    (message.get("content") or None),
                    message.get("tool_calls") or None,
                    message.get("function_call"),
                ] == [(choices[0][0] or None), choices[0][1] or None, choices[0][2]]
                if (
                    same_reply
                    and len(prefix) == len(request["messages"])
                    and found[key] < given[key]
                    and all(
                        _same(a, b)
                        for a, b in zip(prefix, request["messages"], strict=True)
                    )
                ):
                    tools = request.get("tools") or (
                        [
                            {"type": "function", "function": f}
                            for f in request["functions"]
                        ]
                        if request.get("functions")
                        else None
                    )
                    if tools == history["tools"]:
                        match = key
                        break
            if match is None:
                if item["choice"].get("cut"):
                    continue
                return f"a recorded choice matches no completion: {json.dumps(message)[:200]}"
            found[match] += 1
    lost = given - found
    return (
        ""
        if not lost
        else f"{sum(lost.values())} completions lost: {next(iter(lost))[:200]}"
    )


def _same(recorded: dict, sent: dict) -> bool:
    def plain(message: dict) -> dict:
        message = normal(message)
        if message.get("role") == "assistant":
            calls = [
                (
                    c.get("id"),
                    c["function"]["name"],
                    _arguments(c["function"]["arguments"]),
                )
                for c in message.get("tool_calls", [])
            ]
            return {"content": message.get("content"), "calls": calls}
        return message

    return plain(recorded) == plain(sent)


def _arguments(text: str) -> object:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def run_inside(row: dict, tree: Path, options: argparse.Namespace) -> str:
    import run_agent
    from scripted_server import FakeOpenAI

    driver = CORPUS / "entries" / f"{row['id']}.py"
    constants = run_agent.constants(driver)
    script = constants.get(
        "SCRIPT", [{"tool": "auto"}, {"tool": "auto"}, {"content": "done"}]
    )
    with FakeOpenAI(
        script, default=constants.get("DEFAULT", "FINAL ANSWER: 42 (request {i})")
    ) as training:
        environment = {
            "ART_BASE_URL": training.base_url,
            "ART_ADAPT": str(REPOSITORY),
            **_path(row["id"], tree),
        }
        done = run_agent.run(
            row["id"],
            options.sources,
            options.out / "trees" / row["id"] / _below(row, options),
            options.python,
            out=options.out / "inside",
            env_extra=environment,
            child=INSIDE,
        )
        log = list(training.log)
    stray = [body for body in done["bodies"] if body and "messages" in body]
    outside = json.loads((options.out / f"{row['id']}.json").read_text())
    if not done["ok"]:
        return f"inside: {done.get('error')}"
    if stray:
        return f"inside: {len(stray)} requests went to the production server"
    problem = compare_inside(done, log)
    if problem:
        return "inside: " + problem
    if outside["requests"] != len(log) + len(done["bodies"]):
        return f"inside: {len(log)} requests instead of {outside['requests']}"
    return ""


def _below(row: dict, options: argparse.Namespace) -> Path:
    """The driver's root, inside the copy of the agent's sources."""
    import run_agent

    root = Path(run_agent.constants(CORPUS / "entries" / f"{row['id']}.py")["ROOT"])
    return root.relative_to(source_root(row, Path()))


def _path(id: str, tree: Path) -> dict[str, str]:
    """Some drivers load a package's file by its path: then what lies beside it is found
    only through this.
    """
    if "spec_from_file_location" not in (CORPUS / "entries" / f"{id}.py").read_text():
        return {}
    return {
        "PYTHONPATH": os.pathsep.join(
            str(path.parent.resolve()) for path in tree.rglob("art_recording.py")
        )
    }


def run_outside(row: dict, options: argparse.Namespace) -> str:
    import run_agent

    # Both in one folder: agents put the working folder into prompts.
    before = run_agent.run(
        row["id"], options.sources, None, options.python, out=options.out / "outside"
    )
    tree = options.out / "trees" / row["id"]
    after = run_agent.run(
        row["id"],
        options.sources,
        tree / _below(row, options),
        options.python,
        out=options.out / "outside",
        env_extra=_path(row["id"], tree),
    )
    (options.out / f"{row['id']}.json").write_text(json.dumps(before))
    if before["ok"] != after["ok"] or before["bodies"] != after["bodies"]:
        racing = row["id"] in ("gh_catorch_stream", "gh_liaohaofu_04")
        if not (racing and after["ok"]):
            return f"outside: {after.get('error') or 'other requests'}"
    if (
        before.get("result") != after.get("result")
        and "0x" not in before.get("result", "")
        and not any(
            c.isdigit() and "." in before.get("result", "")
            for c in before.get("result", "")
        )
    ):
        return f"outside: result {after.get('result')!r} instead of {before.get('result')!r}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--sources", required=True, type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--out", type=Path, default=Path("/tmp/art-adapt-corpus"))
    options = parser.parse_args()
    options.sources = options.sources.resolve()
    rows = [json.loads(line) for line in (CORPUS / "dev.jsonl").open()]
    outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
    for row in rows:
        if options.ids and row["id"] not in options.ids:
            continue
        tree = options.out / "trees" / row["id"]
        outcome, said = adapt(row, options.sources, tree)
        if outcome == "adapted" and row["runnable"]:
            said = run_outside(row, options) or run_inside(row, tree, options)
            outcome = "wrong" if said else "adapted and run"
        outcomes[row["archetype"], outcome] += 1
        print(
            f"{outcome:16} {row['archetype']} {row['id']:28} {' | '.join(said.split(chr(10)))[:300]}",
            flush=True,
        )
        if outcome != "wrong" and not options.ids:
            shutil.rmtree(tree, ignore_errors=True)
    print()
    names = sorted({outcome for _, outcome in outcomes})
    print(f"| shape | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for shape in sorted({shape for shape, _ in outcomes}):
        print(
            f"| {shape} | {' | '.join(str(outcomes[shape, name]) for name in names)} |"
        )
    print(
        f"| all | {' | '.join(str(sum(n for (_, o), n in outcomes.items() if o == name)) for name in names)} |"
    )


if __name__ == "__main__":
    main()
