"""Plays vLLM for a while: what ``--engine PYTHON`` runs, with the errors of a real one.

``fake_vllm.py -c CODE`` says that vLLM is installed; ``-m vllm... serve BASE --port N ...``
serves. FAKE_VLLM says how it goes wrong: ``rank`` refuses LoRA, ``dies`` ends at the first
completion, ``never`` does not start.
"""

from __future__ import annotations

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

HOW = Path(__file__).with_name("how").read_text() if len(sys.argv) > 2 else ""


class Handler(BaseHTTPRequestHandler):
    base = ""

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.answer(200, {"data": [{"id": self.base}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if "lora" in self.path:
            refused = HOW == "rank" and "unload" not in self.path
            self.answer(400 if refused else 200, {"error": "LoRA rank 8 is too large"})
        else:
            os._exit(3)


if sys.argv[1] == "-c":
    print(json.dumps({"vllm": "0.0.fake"}))
elif HOW == "never":
    sys.exit("RuntimeError: no platform")
else:
    Handler.base = sys.argv[sys.argv.index("serve") + 1]
    port = int(sys.argv[sys.argv.index("--port") + 1])
    HTTPServer(("127.0.0.1", port), Handler).serve_forever()
