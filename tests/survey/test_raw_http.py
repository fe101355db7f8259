"""Test that raw HTTP is named where it is sent, with the edit to the SDK."""

from __future__ import annotations

from pathlib import Path

import pytest

from art_adapt.errors import Refusal
from art_adapt.plan import make_plan
from art_adapt.settings import Options
from art_adapt.source import read_source

URL = "'https://openrouter.ai/api/v1/chat/completions'"
# By what they show: the file, the line that sends, what the edit has.
SENT = {
    "a literal": (
        f"import requests\ndef ask(m):\n    return requests.post({URL},\n"
        "        json={'model': 'x', 'messages': m}).json()\n",
        3,
        [
            "openai.OpenAI(base_url='https://openrouter.ai/api/v1')",
            "completion = client.chat.completions.create(model='x', messages=m)",
        ],
    ),
    "a constant, and its payload's name": (
        f"import requests\nURL = {URL}\ndef ask(m):\n"
        "    payload = {'model': 'x', 'messages': m, 'temperature': 0}\n"
        "    return requests.post(URL, json=payload).json()\n",
        5,
        ["create(model='x', messages=m, temperature=0)"],
    ),
    "a payload that grows": (
        f"import requests\nURL = {URL}\ndef ask(m, tools):\n"
        "    payload = {'model': 'x', 'messages': m}\n"
        "    if tools:\n        payload['tools'] = tools\n"
        "    return requests.post(URL, json=payload).json()\n",
        7,
        ["create(**payload)"],
    ),
    "an attribute": (
        "import requests\nclass Model:\n    def __init__(self):\n"
        f"        self._api_url = {URL}\n"
        "    def query(self, m, **kw):\n"
        "        body = {'model': 'x', 'messages': m, **kw}\n"
        "        return requests.post(self._api_url, json=body).json()\n",
        7,
        ["base_url='https://openrouter.ai/api/v1'", "create(**"],
    ),
    "an asynchronous session": (
        "import aiohttp, os\nBASE = os.environ['BASE']\n"
        "async def ask(m):\n    async with aiohttp.ClientSession() as s:\n"
        "        async with s.post(f'{BASE}/chat/completions', "
        "json=dict(model='x', messages=m),\n"
        "            headers={'Authorization': f'Bearer {KEY}'}) as r:\n"
        "            return await r.json()\n",
        5,
        [
            "openai.AsyncOpenAI(base_url=BASE, api_key=KEY)",
            "completion = await client.chat.completions.create(",
        ],
    ),
    "a base and a version": (
        "import httpx\ndef ask(host, m):\n"
        "    return httpx.post(f'{host}/v1/chat/completions', json={'messages': m})\n",
        3,
        ["base_url=f'{host}/v1'", "create(messages=m)"],
    ),
    "the standard library": (
        "import json, urllib.request\ndef ask(base, m):\n"
        "    request = urllib.request.Request(base + '/v1/responses',\n"
        "        data=json.dumps({'model': 'x', 'input': m}).encode())\n"
        "    return json.load(urllib.request.urlopen(request))\n",
        3,
        [
            "OpenAI(base_url=base + '/v1')",
            "client.responses.create(model='x', input=m)",
        ],
    ),
    "a default": (
        f"import requests\ndef ask(m, url={URL}):\n"
        "    return requests.request('POST', url, json={'messages': m})\n",
        3,
        ["create(messages=m)"],
    ),
    "from the environment": (
        "import os, requests\n"
        f"URL = os.getenv('URL', {URL})\n"
        "def ask(m):\n    return requests.post(url=URL, data={'messages': m})\n",
        4,
        ["create(messages=m)"],
    ),
}


@pytest.mark.parametrize(("source", "line", "edit"), SENT.values(), ids=list(SENT))
def test_the_call_and_its_edit(
    source: str, line: int, edit: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "agent.py"
    file.write_text(source)
    with pytest.raises(Refusal, match="a completion over raw HTTP") as refused:
        make_plan([read_source(file)], Options())
    assert refused.value.line == line
    for part in edit:
        assert part in refused.value.next_step, refused.value.next_step


def test_a_url_that_nothing_is_known_to_send(tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text(f"from mine import ask\nask({URL})\n")
    with pytest.raises(Refusal) as refused:
        make_plan([read_source(file)], Options())
    assert refused.value.line == 2
    assert refused.value.next_step.endswith("client.chat.completions.create there")


RESPONSES = (
    "import os\nimport httpx\n\n\ndef post(path, body):\n"
    "    key = os.environ['{key}']\n"
    "    return httpx.post('{base}' + path, json=body, headers={{'Authorization': key}}).json()\n\n\n"
    "def run(task: str):\n    return post('/responses', {{'model': 'm', 'input': task}})\n"
)


def test_a_path_that_a_helper_sends_is_named_where_it_stands(tmp_path: Path) -> None:
    """``/responses`` is OpenAI's where the file names OpenAI; a survey has one, too."""
    agent = tmp_path / "agent.py"
    agent.write_text(
        RESPONSES.format(key="OPENAI_API_KEY", base="https://gateway.test")
    )
    with pytest.raises(Refusal, match="over raw HTTP") as refused:
        make_plan([read_source(agent)], Options())
    assert refused.value.line == 11
    agent.write_text(RESPONSES.format(key="FORMS_KEY", base="https://forms.test"))
    with pytest.raises(Refusal, match="no completion call found"):
        make_plan([read_source(agent)], Options())
