"""An episode with clients that Langfuse and Weave have patched; prints its histories."""

from __future__ import annotations

import json
import sys

from langfuse.openai import OpenAI
from scripted_engine import Engine
from trajectories import Trajectory, histories
from weave.integrations.openai.openai_sdk import get_openai_patcher

from art_adapt.hooks import recorded
from art_adapt.recording import rollout

USER = [{"role": "user", "content": "Delft?"}]


def main() -> None:
    trajectory = Trajectory()
    with (
        Engine() as production,
        rollout(trajectory, base_url=sys.argv[1], api_key="k", model="policy"),
    ):
        client = OpenAI(base_url=production.base_url, api_key="k")
        recorded(client.chat.completions.create)(
            model="m", messages=USER, name="turn", metadata={"session": "s"}
        )
        get_openai_patcher().attempt_patch()
        recorded(client.chat.completions.create)(model="m", messages=USER)
        assert production.log == []
    print(json.dumps(histories(trajectory)))


if __name__ == "__main__":
    main()
