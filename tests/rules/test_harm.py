"""Show in the installed ART that what the rules warn of really goes wrong.

If a test fails here after an update of ART, the rules that it names must change.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import copy
import importlib.metadata
import importlib.util
import inspect
import itertools
import json
import math
import random
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import art
import art.rewards
import httpx
import litellm.types.utils
import openai
import pydantic
import pytest
from art.dev.openai_server import get_openai_server_config
from art.metrics_taxonomy import summarize_trajectory_groups
from art_behaviour import (
    IS_0_5_18,
    USER,
    Backend,
    choice,
    fail,
    gather,
    model,
    raised,
    succeed,
    tokenizer,
    trained,
    trajectory,
)
from openai.types.chat import ChatCompletionToolMessageParam
from packaging.requirements import Requirement
from packaging.version import Version

from art_adapt import hooks_file
from art_adapt.hooks import carried, recorded
from art_adapt.recording import RecordingError, rollout
from art_adapt.recording.messages import essence
from art_adapt.rules import (
    backend_arguments,
    ignored_model_field,
    misused_batches,
    refused_api_key,
    unawaited_method,
    unknown_art_name,
    unknown_train_metric,
)
from art_adapt.rules.code.art_names import ART, BACKEND, MODEL, PACKAGES
from art_adapt.rules.target import Target, installed_art

HARM: dict[str, Callable[..., None]] = {}
Group = art.TrajectoryGroup


def shows(*codes: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def note(function: Callable[..., None]) -> Callable[..., None]:
        HARM.update(dict.fromkeys(codes, function))
        return function

    return note


def tokens(*items: Any, beside: Any = None) -> list[int]:
    """Return the number of trained tokens of each trajectory of a group.

    The first has ``items``; the second is correct.
    """
    pytest.importorskip("torch")
    right = trajectory(USER, beside or choice())
    return [count for count, _, _ in trained(trajectory(*items, reward=1.0), right)]


# ------------------------------------------------------------------------- conversation


@shows("ART201")
def test_a_message_is_not_trained() -> None:
    assert tokens(USER, choice()) == [2, 2]
    assert tokens(USER, choice().message) == [2]  # those of the correct trajectory
    assert tokens(USER, choice().message.model_dump()) == [2]
    problem = raised(lambda: tokens(USER, choice().message, USER, choice()))
    assert ("no attribute 'logprobs'" in problem) == IS_0_5_18


@shows("ART201")
def test_litellms_choice_is_no_choice() -> None:
    said = litellm.types.utils.Message(content="hi there", role="assistant")
    own = litellm.types.utils.Choices(message=said)
    problem = raised(lambda: tokens(USER, own))
    assert problem or tokens(USER, own) == [2]  # those of the correct trajectory


@shows("ART202")
def test_a_rebuilt_turn_is_not_trained_and_moves_the_mean() -> None:
    pytest.importorskip("torch")
    rebuilt = {"role": "assistant", "content": "hi there"}
    winner = trajectory(USER, rebuilt, reward=1.0)
    left = trained(winner, trajectory(USER, choice()))
    assert len(left) == 1 and left[0][2] < 0  # punished for what the winner did
    assert trained(winner, trajectory(USER, rebuilt)) == []


@shows("ART204", "ART210")
def test_without_tools_another_prompt_is_trained() -> None:
    pytest.importorskip("torch")
    tool = {"type": "function", "function": {"name": "w100", "parameters": {}}}

    def ids(tools: Any) -> list[int]:
        pair = [
            trajectory(USER, choice(), reward=float(at), tools=tools) for at in (1, 0)
        ]
        return trained(*pair)[0][1]

    assert (100 in ids([tool])) == IS_0_5_18 and 100 not in ids(None)


@shows("ART203", "ART206", "ART208", "ART213", "ART216", "ART219")
def test_the_context_of_a_choice_is_what_stands_before_it() -> None:
    pytest.importorskip("torch")

    def ids(*before: Any) -> list[int]:
        other = trajectory(USER, choice())
        return trained(trajectory(*before, choice(), reward=1.0), other)[0][1]

    said = {"role": "user", "content": "w50"}
    if IS_0_5_18:  # 0.5.23 trains on the IDs of the prompt that was sent
        assert 50 in ids(USER, said) and 50 not in ids(USER)
    else:
        assert ids(USER, said) == ids(USER)
        assert "w50" not in json.dumps(trajectory(USER, choice()).messages())


def test_a_trajectory_copies_the_list_that_it_is_made_with() -> None:
    messages: list[Any] = [USER]
    made = art.Trajectory(messages_and_choices=messages)
    messages.append(choice())
    assert made.messages_and_choices == [USER]
    made.messages_and_choices = messages  # 0.5.18 keeps one that is assigned
    messages.append(USER)
    assert len(made.messages_and_choices) == (3 if IS_0_5_18 else 2)


def test_a_shallow_copy_of_a_trajectory_has_the_same_list() -> None:
    made = trajectory(USER)
    assert made.model_copy().messages_and_choices is made.messages_and_choices
    assert copy.copy(made).messages_and_choices is made.messages_and_choices
    deep = made.model_copy(deep=True)
    assert deep.messages_and_choices is not made.messages_and_choices


@shows("ART205")
def test_one_list_for_all_rollouts_mixes_them() -> None:
    messages: list[Any] = []

    async def episode(name: str) -> art.Trajectory:
        messages.append({"role": "user", "content": name})
        await asyncio.sleep(0)
        return art.Trajectory(messages_and_choices=[*messages, choice()])

    (group,) = gather(lambda: [Group(episode(name) for name in "ab")])
    assert [len(t.messages_and_choices) for t in group] == [3, 3]  # not 2


@shows("ART215")
def test_one_trajectory_for_all_rollouts_has_the_turns_and_the_reward_of_all() -> None:
    shared = trajectory(USER)

    async def episode(reward: float) -> art.Trajectory:
        shared.messages_and_choices.append(choice())
        shared.reward = reward
        await asyncio.sleep(0)
        return shared

    (group,) = gather(lambda: [Group(episode(reward) for reward in (0.0, 1.0))])
    assert [len(t.messages_and_choices) for t in group] == [3, 3]
    assert len({t.reward for t in group}) == 1


@shows("ART217")
def test_a_message_behind_the_last_choice_changes_nothing() -> None:
    assert tokens(USER, choice(), USER) == tokens(USER, choice()) == [2, 2]


@shows("ART218")
def test_a_penalty_without_its_turn_falls_on_the_turns_before() -> None:
    pytest.importorskip("torch")
    legal, illegal = choice(ids=(11, 12)), choice(ids=(13, 14))
    right = trajectory(USER, choice(ids=(15, 16)), reward=1.0)
    left, _ = trained(trajectory(USER, legal, USER, reward=-1.0), right)
    assert left[0] == 2 and left[2] < 0  # the turn that was fine
    whole, _ = trained(trajectory(USER, legal, USER, illegal, reward=-1.0), right)
    assert whole[0] > left[0]


@shows("ART220")
def test_one_environment_for_all_rollouts_mixes_them() -> None:
    game: list[str] = []

    async def episode(name: str) -> art.Trajectory:
        game.clear()
        for _ in range(2):
            await asyncio.sleep(0)
            game.append(name)
        return art.Trajectory(metadata={"moves": ",".join(game)})

    (group,) = gather(lambda: [Group(episode(name) for name in "ab")])
    assert {each.metadata["moves"] for each in group} != {"a,a", "b,b"}


@shows("ART214")
def test_the_content_of_a_tool_message_is_a_text(tmp_path: Path) -> None:
    from art.utils.trajectory_logging import write_trajectory_groups_parquet

    told = pydantic.TypeAdapter(ChatCompletionToolMessageParam)
    message: dict[str, Any] = {"role": "tool", "tool_call_id": "c"}
    assert raised(lambda: told.validate_python(message | {"content": "{}"})) == ""
    for content in (True, 3):
        refused = message | {"content": content}
        assert "ValidationError" in raised(lambda: told.validate_python(refused))  # noqa: B023
    group = Group([trajectory(USER, choice(), message | {"content": {"found": 1}})])
    file = tmp_path / "groups.parquet"
    lost = raised(lambda: write_trajectory_groups_parquet([group], file))
    assert lost.startswith("Arrow") == IS_0_5_18


@shows("ART207")
def test_a_retry_keeps_what_failed_attempts_wrote() -> None:
    outside, attempts = art.Trajectory(), []

    @art.retry(max_attempts=3, delay=0)
    async def play() -> art.Trajectory:
        attempts.append(1)
        outside.messages_and_choices.append(USER)
        if len(attempts) < 3:
            raise RuntimeError
        return outside

    assert len(asyncio.run(play()).messages_and_choices) == 3


@shows("ART209", "ART308")
def test_undeclared_arguments_are_dropped_and_assignments_raise() -> None:
    assert art.Trajectory(messages=[USER]).messages_and_choices == []
    made = art.Trajectory(final_answer="x", rewards=1.0)
    assert not hasattr(made, "final_answer") and made.reward == 0.0
    assert "final_answer" in raised(lambda: setattr(made, "final_answer", "x"))


# ------------------------------------------------------------------------------ outcome


@shows("ART301", "ART302", "ART321", "ART401", "ART403", "ART501")
def test_equal_rewards_and_groups_of_one_train_nothing() -> None:
    pytest.importorskip("torch")
    assert art.Trajectory().reward == 0.0
    for rewards in ((0.0, 0.0), (1.0, 1.0), (1.0,)):
        assert not trained(*(trajectory(USER, choice(), reward=r) for r in rewards))


@shows("ART303")
def test_noise_becomes_a_full_advantage() -> None:
    pytest.importorskip("torch")
    noisy = [0.5 + random.Random(at).uniform(-0.001, 0.001) for at in range(4)]
    advantages = [
        advantage
        for _, _, advantage in trained(
            *(trajectory(USER, choice(), reward=r) for r in noisy)
        )
    ]
    assert max(map(abs, advantages)) > 1


@shows("ART304")
def test_a_reward_that_is_no_number_poisons_its_group() -> None:
    pytest.importorskip("torch")
    rewards = (float("nan"), 1.0, 0.0)
    results = trained(*(trajectory(USER, choice(), reward=r) for r in rewards))
    assert len(results) == 3 and all(math.isnan(result[2]) for result in results)
    made = art.Trajectory()
    problem = raised(lambda: setattr(made, "reward", None))
    assert (
        (problem == "" and made.reward is None)
        if IS_0_5_18
        else "Validation" in problem
    )


@shows("ART305", "ART310", "ART313")
def test_a_reward_for_a_failure_moves_the_mean() -> None:
    pytest.importorskip("torch")
    good = [trajectory(USER, choice(), reward=1.0) for _ in range(3)]
    assert trained(*good) == []
    (advantage, *_) = [
        result[2] for result in trained(*good, trajectory(USER, reward=-1))
    ]
    assert advantage > 0  # they are reinforced because an endpoint failed


@shows("ART311")
def test_a_turn_after_the_reward_is_trained_with_it() -> None:
    pytest.importorskip("torch")
    early = trajectory(USER, choice(), reward=1.0)
    early.messages_and_choices += [USER, choice("there", (13, 14))]
    _, ids, advantage = trained(early, trajectory(USER, choice()))[0]
    assert {13, 14} <= set(ids) and advantage > 0


@shows("ART306")
def test_a_metric_that_is_text_counts_as_a_failure() -> None:
    async def episode() -> art.Trajectory:
        made = art.Trajectory()
        made.metrics["a"] = "x"  # type: ignore[assignment]
        return made

    assert "TypeError" in raised(
        lambda: gather(lambda: [Group([episode(), succeed()])])
    )
    (group,) = gather(lambda: [Group([episode(), succeed()])], max_exceptions=8)
    assert (len(group.trajectories), len(group.exceptions)) == (2, 1)


@shows("ART307")
def test_containers_in_metadata_raise_on_0_5_18() -> None:
    problem = raised(lambda: art.Trajectory(metadata={"moves": [1]}))
    assert ("ValidationError" in problem) == IS_0_5_18


# ------------------------------------------------------------------- recording, sampling


def test_containers_in_the_metadata_of_a_group_end_a_gather_on_0_5_18() -> None:
    metadata: Any = {"tags": ["a"]}
    said = raised(lambda: gather(lambda: [Group([succeed()], metadata=metadata)]))
    assert ("validation error" in said) == IS_0_5_18


@shows("ART106")
def test_two_choices_in_a_row() -> None:
    pytest.importorskip("torch")
    two = trajectory(USER, choice(), choice(ids=(21, 22)), reward=1.0)
    sequences = trained(two, trajectory(USER, choice()))
    assert len(sequences) == (2 if IS_0_5_18 else 3)
    if IS_0_5_18:  # the first is in the context of the second
        assert {11, 21} <= set(sequences[0][1])


@shows("ART105", "ART107")
def test_a_choice_without_ids() -> None:
    pytest.importorskip("torch")
    foreign = choice()
    for name in ("prompt_token_ids", "token_ids"):
        delattr(foreign, name)
    for token in foreign.logprobs.content:  # type: ignore[union-attr]
        token.token = "word"
    problem = raised(lambda: tokens(USER, foreign))
    if IS_0_5_18:  # trained on tokens looked up in another vocabulary
        assert tokens(USER, foreign) == [2, 2]
    else:
        assert "missing vLLM prompt_token_ids" in problem


@shows("ART402", "ART404", "ART406")
def test_nothing_in_art_corrects_for_how_was_sampled() -> None:
    pytest.importorskip("torch")
    import art.loss
    import art.preprocessing.tokenize

    source = inspect.getsource(art.loss) + inspect.getsource(art.preprocessing.tokenize)
    for word in ("temperature", "top_p", "frequency_penalty", "tool_choice"):
        assert word not in source


@shows("ART101", "ART104", "ART405", "ART309", "ART102", "ART108")
def test_what_has_no_hook_is_not_recorded() -> None:
    """Only a hook leads to the model in training.

    Outside a rollout it changes nothing, and it raises in a thread that lost the rollout.
    """
    asked: list[str] = []

    def create(**_: Any) -> str:
        asked.append("production")
        return "answer"

    assert recorded(create)() == "answer" and asked == ["production"]
    episode = art.Trajectory()
    with (
        pytest.raises(RecordingError, match="lost the context"),
        rollout(episode, base_url="http://127.0.0.1:9", api_key="k", model="m"),
    ):
        create()  # no hook: it goes to production as before
        with ThreadPoolExecutor() as pool:
            lost = pool.submit(recorded(create)).exception()
            with_it = pool.submit(carried(lambda: recorded(create)())).exception()
    assert asked == ["production"] * 2 and not episode.messages_and_choices
    assert isinstance(lost, RecordingError)
    assert str(with_it) != str(
        lost
    )  # it has the rollout, but does not know this client


@shows("ART109")
def test_a_turn_without_its_tool_calls_is_another_turn() -> None:
    call = {"id": "1", "function": {"name": "look", "arguments": "{}"}}
    sampled = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert essence(sampled) == essence({**sampled, "content": ""})
    assert essence(sampled) != essence({"role": "assistant", "content": ""})


@shows("ART103")
def test_a_recorder_refuses_hooks_of_another_version(tmp_path: Path) -> None:
    hooks = hooks_file.contents().replace(b"PROTOCOL = 1", b"PROTOCOL = 0")
    path = tmp_path / "art_recording.py"
    path.write_bytes(hooks)
    other: Any = runpy.run_path(str(path))
    with pytest.raises(RecordingError, match="update the file with `art-adapt"):
        other["recorded"](print)


# --------------------------------------------------------------------------------- loop


@shows("ART502")
def test_a_group_of_several_scenarios_compares_them() -> None:
    pytest.importorskip("torch")
    easy, hard = (trajectory(USER, choice(), reward=r) for r in (1.0, 0.0))
    assert [result[2] > 0 for result in trained(easy, hard)] == [True, False]


@shows("ART503")
def test_groups_that_are_awaited_early_are_gone_without_an_error() -> None:
    async def unawaited() -> Any:
        return Group([succeed(), succeed()])

    assert gather(lambda: [unawaited()], max_exceptions=8) == []
    assert gather(lambda: [Group([art.Trajectory()])], max_exceptions=8) == []
    assert "await" in raised(lambda: gather(lambda: [Group([art.Trajectory()])]))


@shows("ART504", "ART516", "ART518", "ART319")
def test_rulers_scores_are_on_a_new_group(monkeypatch: pytest.MonkeyPatch) -> None:
    ruler = sys.modules["art.rewards.ruler"]

    async def judge(messages: list[Any], **_: Any) -> list[Any]:
        return [
            ruler.TrajectoryScore(trajectory_id=str(at + 1), explanation="", score=0.5)
            for at in range(len(messages))
        ]

    monkeypatch.setattr(ruler, "ruler", judge)

    class Episode(art.Trajectory):
        final_answer: str | None = None

    pair = [Episode(reward=0.7, final_answer="x") for _ in range(2)]
    for each in pair:
        each.messages_and_choices.extend([USER, choice()])
    group = Group([*pair, ValueError("lost")])
    scored = asyncio.run(art.rewards.ruler_score_group(group))
    assert [t.reward for t in group] == [0.7, 0.7]
    assert [t.reward for t in scored] == [0.5, 0.5]
    assert {getattr(t, "final_answer", None) for t in scored} == {None}
    assert group.exceptions and not Group(group.trajectories).exceptions


@shows("ART528")
def test_a_group_that_could_not_be_judged_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no judge")

    monkeypatch.setattr(sys.modules["art.rewards.ruler"], "ruler", fails)
    group = Group([trajectory(USER, choice()), trajectory(USER, choice())])
    scored = asyncio.run(
        art.rewards.ruler_score_group(group, "openai/x", swallow_exceptions=True)
    )
    assert scored is None
    assert "NoneType" in raised(
        lambda: summarize_trajectory_groups([scored])
    )  # in train


@shows("ART517")
def test_ruler_refuses_histories() -> None:
    history = art.trajectories.History if IS_0_5_18 else art.trajectories.LegacyHistory
    made = trajectory(USER, choice())
    made.additional_histories.append(history(messages_and_choices=[USER]))
    score = art.rewards.ruler_score_group
    problem = raised(lambda: asyncio.run(score(Group([made]), swallow_exceptions=True)))
    assert "Additional histories" in problem


@shows("ART505", "ART506")
def test_one_exception_is_one() -> None:
    assert "boom" in raised(lambda: gather(lambda: [Group([succeed(), fail()])]))
    two = raised(lambda: gather(lambda: [Group([fail(), fail()])], max_exceptions=1.0))
    assert "boom" in two
    assert gather(lambda: [Group([succeed(), fail()])], max_exceptions=0.5)


@shows("ART533")
def test_what_models_and_backends_do_is_awaited() -> None:
    from art.serverless import ServerlessBackend

    for name in unawaited_method.OF_MODEL:
        method = getattr(art.TrainableModel, name, None)
        assert method is None or inspect.iscoroutinefunction(method), name
    for name in unawaited_method.OF_BACKEND:
        method = getattr(ServerlessBackend, name, None)
        assert method is None or inspect.iscoroutinefunction(method), name


@shows("ART507", "ART508")
def test_close_is_a_coroutine() -> None:
    from art.serverless import ServerlessBackend

    backends = [ServerlessBackend]
    if "torch" in sys.modules or pytest.importorskip("torch"):
        from art.local import LocalBackend

        backends.append(LocalBackend)
    for backend in backends:
        assert inspect.iscoroutinefunction(backend.close)


@shows("ART509")
def test_steps_begin_where_they_are_told_to() -> None:
    def steps(**options: Any) -> list[int]:
        batches = art.utils.iterate_dataset(
            list(range(6)), groups_per_step=2, use_tqdm=False, **options
        )
        return [batch.step for batch in batches]

    assert steps() == [0, 1, 2] and steps(initial_step=2) == [2]


@shows("ART544")
def test_the_first_step_of_adam_is_as_large_as_the_learning_rate() -> None:
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.tensor([0.02]))  # as in a layer of a large model
    optimizer = torch.optim.AdamW([weight], lr=0.5)
    (weight * 1e-3).sum().backward()
    optimizer.step()
    assert abs(weight.item() - 0.02) > 0.4


@shows("ART546")
@pytest.mark.skipif(not IS_0_5_18, reason="0.5.23 trains with a backend of its own")
def test_a_pipeline_drops_what_is_no_group() -> None:
    pytest.importorskip("torch")
    from art.pipeline_trainer import PipelineTrainer, make_group_rollout_fn

    class Counting(Backend):
        steps = 0

        async def train(self, *_: Any, **__: Any) -> Any:
            self.steps, self.step = self.steps + 1, self.step + 1
            return SimpleNamespace(step=self.step, metrics={}, checkpoint_path=None)

    rewards = itertools.count()

    async def solve(*_: Any) -> art.Trajectory:
        return trajectory(USER, choice(), reward=float(next(rewards)))

    async def steps(rollout: Any) -> int:
        policy, backend = model(), Counting()
        await policy.register(backend)
        sizes = {"num_rollout_workers": 1, "min_batch_size": 1, "max_batch_size": 1}
        await PipelineTrainer(
            policy, backend, rollout, [1, 2], None, **sizes, eval_at_start=False
        ).train(handle_signals=False)
        return backend.steps

    assert asyncio.run(steps(solve)) == 0
    assert asyncio.run(steps(make_group_rollout_fn(solve, n=2))) == 2


@shows("ART549")
def test_logging_goes_through_the_groups() -> None:
    async def left() -> tuple[int, int]:
        policy, backend = model(), Backend()
        await policy.register(backend)
        made = [Group([trajectory(USER, choice(), reward=1.0)]) for _ in range(3)]
        lazy = (each for each in made)
        await policy.log(lazy, split="train", step=1)  # type: ignore[arg-type]
        again = [*made]
        await policy.log(again, split="train", step=2)
        return len([*lazy]), len(again)

    assert asyncio.run(left()) == (0, 3)


@shows("ART510", "ART545")
def test_the_best_checkpoint_needs_its_metric() -> None:
    async def kept(*arguments: str) -> list[int] | None:
        policy, backend = model(), Backend()
        await policy.register(backend)
        folder = Path(policy._get_output_dir())
        folder.mkdir(parents=True)
        rows = [{"step": 1, "train/reward": 0.5}, {"step": 4, "train/reward": 0.1}]
        (folder / "history.jsonl").write_text("\n".join(map(json.dumps, rows)))
        backend.step = 4
        await policy.delete_checkpoints(*arguments)
        return backend.kept

    assert asyncio.run(kept()) == [4]  # the best step, 1, is deleted
    assert asyncio.run(kept("train/reward")) == [1, 4]


@shows("ART511")
def test_names_of_the_policy() -> None:
    async def names() -> tuple[str, str, str]:
        policy, backend = model(), Backend()
        await policy.register(backend)
        backend.step += 1
        return policy.name, policy.inference_model_name, policy.get_inference_name()

    assert asyncio.run(names()) == ("agent", "agent@3", "agent@4")


@shows("ART512")
def test_a_blocking_rollout_blocks_them_all() -> None:
    def at_once(wait: Callable[[], Any]) -> int:
        """Return the largest number of episodes that ran at the same time."""
        active, most = 0, 0

        async def episode() -> art.Trajectory:
            nonlocal active, most
            active += 1
            most = max(most, active)
            if (waiting := wait()) is not None:
                await waiting
            active -= 1
            return art.Trajectory()

        gather(lambda: [Group(episode() for _ in range(20))])
        return most

    assert at_once(lambda: time.sleep(0.001)) == 1
    assert at_once(lambda: asyncio.sleep(0.001)) == 20


@shows("ART513")
def test_local_backends_spawn_their_processes() -> None:
    program = "import mp_actors.move, multiprocessing; print(multiprocessing.get_start_method())"
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "spawn"


@shows("ART514")
def test_models_have_no_train() -> None:
    problem = raised(lambda: model().train([], config=art.TrainConfig()))
    assert "has no attribute 'train'" in problem


@shows("ART515")
def test_a_train_config_drops_what_it_does_not_know() -> None:
    assert not hasattr(art.TrainConfig(beta=0.01), "beta")  # type: ignore[call-arg]
    assert set(art.TrainConfig.model_fields) == accepted("TrainConfig")


def accepted(name: str) -> frozenset[str]:
    """Return what the rule believes that the installed ART accepts."""
    old, new = backend_arguments.ACCEPTED[name]
    is_old = Target(art=installed_art()).is_before(backend_arguments.NEWER)
    return old if is_old else new


@shows("ART515")
def test_backends_take_what_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    from art.serverless import ServerlessBackend

    parameters = inspect.signature(ServerlessBackend.train).parameters
    assert set(parameters) - {"self"} == accepted("ServerlessBackend")
    pytest.importorskip("torch")
    from art.local import LocalBackend

    parameters = inspect.signature(LocalBackend.train).parameters
    assert set(parameters) - {"self"} == accepted("LocalBackend")


@shows("ART211")
def test_a_trajectory_of_dicts_is_dropped_but_counts_in_the_mean() -> None:
    pytest.importorskip("torch")
    written = trajectory(USER, {"role": "assistant", "content": "hi there"}, reward=1.0)
    left = trained(written, trajectory(USER, choice()))
    assert len(left) == 1 and left[0][2] < 0


@pytest.mark.skipif(not IS_0_5_18, reason="0.5.23 has no capture_auto_trajectory")
def test_an_executor_hides_requests_from_a_capture() -> None:
    answer = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice().model_dump(mode="json")],
    }
    body = json.dumps(answer).encode()

    def served(_: httpx.Request) -> httpx.Response:
        kind = {"content-type": "application/json"}
        return httpx.Response(200, headers=kind, stream=httpx.ByteStream(body))

    transport = httpx.MockTransport(served)
    client = openai.OpenAI(
        api_key="-",
        base_url="http://x/v1",
        http_client=httpx.Client(transport=transport),
    )

    def ask() -> None:
        client.chat.completions.create(model="m", messages=[USER])

    async def in_executor() -> None:
        await asyncio.get_running_loop().run_in_executor(None, ask)

    def captured(episode: Callable[[], Any]) -> int:
        made = asyncio.run(art.capture_auto_trajectory(episode()))
        return len(made.messages_and_choices)

    assert captured(in_executor) == 0
    assert captured(lambda: asyncio.to_thread(ask)) == 2


def test_a_chat_model_of_art_keeps_the_log_of_its_rollout() -> None:
    origin = Path(art.__file__).parent / "langgraph" / "llm_wrapper.py"
    _, _, maker = origin.read_text().partition("def init_chat_model")
    assert 'config["logger"]' in maker.partition("class ")[0]
    assert "self.logger.log(" in maker


@shows("ART212", "ART312")
def test_wrap_rollout_fills_the_trajectory_after_the_function() -> None:
    wrapper = importlib.util.find_spec("art.langgraph.llm_wrapper")
    assert wrapper is not None and wrapper.origin is not None
    source = Path(wrapper.origin).read_text()
    _, _, body = source.partition("def wrap_rollout")
    run, fill = body.index("await fn("), body.index("create_messages_from_logs(")
    assert body.count("add_thread(", 0, run) == 1 and run < fill  # one log, read once


@shows("ART522")
def test_packages_in_art_have_these_names_and_no_others() -> None:
    for package, names in PACKAGES.items():
        folder = Path(art.__file__).parent / package.partition(".")[2]
        (tree,) = [ast.parse((folder / "__init__.py").read_text())]
        exported = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        modules = {each.stem for each in folder.glob("*.py")} - {"__init__"}
        assert exported | modules <= names, package


@shows("ART522")
def test_backends_have_these_methods() -> None:
    from art.serverless import ServerlessBackend

    backends = [ServerlessBackend]
    if "torch" in sys.modules or importlib.util.find_spec("torch"):
        from art.local import LocalBackend

        backends.append(LocalBackend)
    for backend in backends:
        assert {n for n in vars(backend) if not n.startswith("_")} <= BACKEND


@shows("ART534")
def test_a_request_does_not_raise_what_parse_does() -> None:
    from openai.resources.chat.completions import AsyncCompletions

    assert "LengthFinishReasonError" not in inspect.getsource(AsyncCompletions.create)
    assert not issubclass(openai.APITimeoutError, OSError)  # as those of requests are


@shows("ART535")
def test_a_step_that_fails_raises_and_leaves_the_model_as_it_was(
    tmp_path: Path,
) -> None:
    pytest.importorskip("torch")
    from art.local import LocalBackend

    class OutOfMemory(LocalBackend):
        async def _train_model(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("CUDA out of memory")
            yield

    async def steps() -> list[str]:
        backend = OutOfMemory(path=str(tmp_path))
        said = []
        for _ in range(2):
            group = Group([trajectory(USER, choice(), reward=1.0), trajectory(USER)])
            with pytest.raises(RuntimeError) as failure:
                await backend.train(model(), [group], learning_rate=1e-5)
            said.append(str(failure.value))
        return said

    assert asyncio.run(steps()) == ["CUDA out of memory"] * 2


@shows("ART532")
def test_a_judge_that_fails_raises_unless_it_is_told_not_to() -> None:
    given = inspect.signature(art.rewards.ruler_score_group).parameters
    assert given["swallow_exceptions"].default is False


@shows("ART522")
def test_these_names_are_not_there() -> None:
    assert not hasattr(art, "train") and not hasattr(art, "register_model")
    assert not hasattr(art.TrainableModel, "generate")
    public = {name for name in dir(art) if not name.startswith("_")}
    assert public <= ART
    fields = set(art.TrainableModel.model_fields)
    names = {n for n in dir(art.TrainableModel) if not n.startswith("_")} | fields
    assert names <= MODEL
    assert not hasattr(model(), "_api")
    later = unknown_art_name.LATER
    program = (
        "import art, operator\n"
        "for name in " + repr([each.removeprefix("art.") for each in later]) + ":\n"
        "    try:\n        operator.attrgetter(name)(art)\n"
        "    except AttributeError:\n        continue\n"
        "    print(name)\n"
    )
    asked = [sys.executable, "-c", program]
    assert not subprocess.run(asked, capture_output=True, check=True, text=True).stdout


@shows("ART523")
def test_batches_are_objects_and_their_generator_is_plain() -> None:
    from art.utils import iterate_dataset

    batches = iterate_dataset([1, 2], groups_per_step=2, use_tqdm=False)
    batch = next(iter(batches))
    assert (batch.items in ([1, 2], [2, 1])) and batch.step == 0
    assert not hasattr(batch, "__iter__") and not hasattr(batch, "__len__")
    assert not hasattr(batches, "__aiter__")
    assert "len()" in raised(lambda: next(iterate_dataset(iter([1]))))  # type: ignore[arg-type]
    assert "batch_size" in raised(lambda: iterate_dataset([1], batch_size=2))  # type: ignore[call-arg]
    parameters = inspect.signature(iterate_dataset).parameters
    assert set(parameters) == set(misused_batches.ARGUMENTS)


@shows("ART524")
def test_await_outside_a_function_does_not_compile() -> None:
    with pytest.raises(SyntaxError, match="outside function"):
        compile("await register()", "train.py", "exec")


@shows("ART525")
def test_a_rollout_without_a_trajectory_fails() -> None:
    async def nothing() -> Any:
        return None

    def groups() -> Any:
        return [Group(nothing() for _ in range(2))]

    assert raised(lambda: gather(groups))
    left = gather(groups, max_exceptions=9)
    assert all(not group.trajectories for group in left)


@shows("ART526")
def test_the_client_is_async_and_its_maker_is_not() -> None:
    assert not inspect.iscoroutinefunction(art.TrainableModel.openai_client)
    made = openai.AsyncOpenAI(api_key="none").chat.completions.create(
        model="m", messages=[]
    )
    assert inspect.isawaitable(made)
    made.close()


@shows("ART527")
def test_a_backend_keeps_everything_below_its_path() -> None:
    from art.utils.output_dirs import get_default_art_path, get_model_dir

    assert Path(get_default_art_path()).name == ".art"
    kept = get_model_dir(model(), "/tmp/gone")
    assert kept.startswith("/tmp/gone/")


@shows("ART519")
def test_a_run_name_is_asked_for() -> None:
    options = {"name": "a", "project": "p", "base_model": "b"}
    problem = raised(lambda: art.TrainableModel(**options))
    assert (problem == "") if IS_0_5_18 else ("run_name" in problem)
    assert art.TrainableModel(run_name="r", **options).name == "a"


@shows("ART317")
def test_a_function_is_no_tool_of_a_trajectory() -> None:
    with pytest.raises(ValueError, match=r"tools\.0"):
        art.Trajectory(messages_and_choices=[], tools=[trajectory])
    schema = {"type": "function", "function": {"name": "look", "parameters": {}}}
    art.Trajectory(messages_and_choices=[], tools=[schema])


@shows("ART539")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_recursion_limit_is_twice_the_turns() -> None:
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.prebuilt import create_react_agent

    asked = 0

    def replies() -> Any:
        nonlocal asked
        while True:
            asked += 1
            call = {"name": "look", "args": {"city": "Rome"}, "id": str(asked)}
            yield AIMessage("", tool_calls=[call])

    class Model(GenericFakeChatModel):
        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

    @tool
    def look(city: str) -> str:
        """Look at a city."""
        return "sunny"

    agent = create_react_agent(Model(messages=replies()), [look])
    for limit, turns in ((20, 10), (2 * 20 + 1, 21)):
        asked = 0
        with contextlib.suppress(Exception):  # some versions raise, others give up
            agent.invoke({"messages": [("user", "Hi")]}, {"recursion_limit": limit})
        assert asked == turns


@shows("ART110")
def test_the_chat_model_of_art_asks_the_policys_endpoint_whatever_is_named() -> None:
    wrapper = Path(art.__file__).parent / "langgraph" / "llm_wrapper.py"
    (made,) = (
        node
        for node in ast.parse(wrapper.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name == "init_chat_model"
    )
    read = {
        n.id for each in made.body for n in ast.walk(each) if isinstance(n, ast.Name)
    }
    if IS_0_5_18:
        assert not read & {"model", "kwargs"}
    text = ast.unparse(made)
    assert "config['base_url']" in text or "art_config['base_url']" in text


@shows("ART111")
def test_a_wrapped_rollout_gets_what_the_models_of_art_have_logged() -> None:
    """And nothing else: its trajectory is made of the log alone."""
    wrapper = Path(art.__file__).parent / "langgraph" / "llm_wrapper.py"
    tree = ast.parse(wrapper.read_text())
    (wrapping,) = (n for n in tree.body if getattr(n, "name", "") == "wrap_rollout")
    returned = [
        ast.unparse(n.value)
        for n in ast.walk(wrapping)
        if isinstance(n, ast.Return) and n.value
    ]
    assert any(each.startswith("create_messages_from_logs(log") for each in returned)
    (reading,) = (
        n for n in tree.body if getattr(n, "name", "") == "create_messages_from_logs"
    )
    assert ".load_logs()" in ast.unparse(reading)
    (model,) = (n for n in tree.body if getattr(n, "name", "") == "LoggingLLM")
    assert "self.logger.log(" in ast.unparse(model)


@shows("ART547")
def test_the_chat_model_of_art_is_made_where_a_rollout_runs() -> None:
    wrapper = Path(art.__file__).parent / "langgraph" / "llm_wrapper.py"
    tree = ast.parse(wrapper.read_text())
    defined = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    wrapping = defined["wrap_rollout"].args
    assert [each.arg for each in wrapping.args] == ["model", "fn"]
    assert not wrapping.defaults
    variable = re.search(
        r"CURRENT_CONFIG\b[^=]*= *(.*ContextVar\(.*)", wrapper.read_text()
    )
    assert variable is not None and "default" not in variable[1]
    assert "CURRENT_CONFIG.get()" in ast.unparse(defined["init_chat_model"])


@shows("ART548")
def test_gathered_trajectories_have_the_exceptions_among_them() -> None:
    async def gathered() -> Any:
        rollouts = [succeed(), fail()]
        return await art.gather_trajectories(rollouts, max_exceptions=1)

    one, other = asyncio.run(gathered())
    assert isinstance(one, art.Trajectory) and isinstance(other, RuntimeError)


@shows("ART407")
def test_training_is_not_told_the_template_of_a_request() -> None:
    pytest.importorskip("torch")
    from art.preprocessing import tokenize

    for each in (tokenize.tokenize_trajectory, tokenize.tokenize_trajectory_groups):
        assert "chat_template" not in inspect.signature(each).parameters
    assert "chat_template" not in art.Trajectory.model_fields


@shows("ART529")
def test_methods_without_parentheses_are_of_no_use() -> None:
    with pytest.raises(TypeError):
        trajectory().messages[-1]  # type: ignore[index]
    with pytest.raises(TypeError):
        json.dumps({"model": model().get_inference_name})


@shows("ART530")
def test_a_failure_ends_a_gather_and_a_group_survives_it() -> None:
    async def by_hand() -> list[art.Trajectory]:
        return await asyncio.gather(succeed(), fail())

    with pytest.raises(RuntimeError, match="boom"):
        asyncio.run(by_hand())
    (group,) = gather(lambda: [Group([succeed(), fail()])], max_exceptions=1.0)
    assert len(group.trajectories) == len(group.exceptions) == 1


@shows("ART501")
def test_a_rollout_that_is_repeated_runs_once() -> None:
    (group,) = gather(lambda: [Group([succeed()] * 8)], max_exceptions=8)
    assert len(group.trajectories) == 1


@shows("ART314")
def test_a_copy_that_a_loop_binds_is_not_in_the_group() -> None:
    group = Group([trajectory(USER, choice(), reward=0.7)])
    for each in group:
        each = each.model_copy(update={"reward": 0.1})
        each.metrics["penalty"] = 0.6
    (kept,) = group
    assert kept.reward == 0.7 and kept.metrics["penalty"] == 0.6


@shows("ART315")
def test_callbacks_run_when_the_loop_that_made_the_groups_has_ended() -> None:
    seen: list[str] = []
    pending: list[Any] = []

    async def note(group: art.TrajectoryGroup, task: str) -> art.TrajectoryGroup:
        seen.append(task)
        return group

    async def run() -> None:
        for task in ("first", "last"):
            pending.append(Group([succeed()], metadata={"task": task}))
        await art.gather_trajectory_groups(
            pending, pbar_desc=None, after_each=lambda group: note(group, task)
        )

    asyncio.run(run())
    assert seen == ["last", "last"]


@shows("ART316")
def test_a_group_that_a_callback_drops_moves_the_others_up() -> None:
    async def keep(group: art.TrajectoryGroup) -> art.TrajectoryGroup | None:
        return None if group.metadata["task"] == 1 else group

    made = gather(
        lambda: [Group([succeed()], metadata={"task": at}) for at in (1, 2, 3)],
        after_each=keep,
    )
    assert [group.metadata["task"] for group in made] == [2, 3]


@shows("ART536")
def test_a_callback_must_be_a_coroutine_and_give_the_group_back() -> None:
    async def nothing(group: art.TrajectoryGroup) -> None:
        group.metadata["seen"] = True

    assert gather(lambda: [Group([succeed()])], after_each=nothing) == []
    problem = raised(
        lambda: gather(lambda: [Group([succeed()])], after_each=lambda group: group)
    )
    assert problem.startswith("TypeError")


@shows("ART537")
def test_leaving_its_block_closes_a_backend() -> None:
    pytest.importorskip("torch")
    from art.local import LocalBackend

    assert "self.close()" in inspect.getsource(LocalBackend.__aexit__)
    assert "_services" in inspect.getsource(LocalBackend.close)


@shows("ART538")
def test_a_resumed_run_skips_batches_of_whatever_order_it_is_given() -> None:
    from art.utils import iterate_dataset

    def trained(rows: list[int], first: int) -> list[int]:
        batches = iterate_dataset(
            rows, groups_per_step=2, initial_step=first, use_tqdm=False
        )
        return [row for batch in batches for row in batch.items]

    rows = list(range(8))
    before = trained(rows, 0)[:4]  # two steps, then the run is stopped
    assert sorted(before + trained(rows, 2)) == rows
    assert sorted(before + trained(rows[::-1], 2)) != rows


@shows("ART531")
def test_a_fork_copies_files_that_the_engine_does_not_look_at() -> None:
    pytest.importorskip("torch")
    from art.local import LocalBackend

    fork = inspect.getsource(LocalBackend._experimental_fork_checkpoint)
    assert "copytree" in fork
    assert "_services" not in fork


def test_every_rule_has_its_harm_shown() -> None:
    from art_adapt.rules import rules

    assert {each.rule.code for each in rules()} == set(HARM)


@shows("ART520")
def test_art_0_5_18_takes_an_openai_and_a_polars_that_break_it() -> None:
    """Which openai is installed depends on the day; each release shows its part."""
    asked = [Requirement(each) for each in importlib.metadata.requires("openpipe-art")]
    takes = {each.name: each.specifier for each in asked if each.marker is None}
    assert takes["openai"].contains("3.0.0") == IS_0_5_18
    assert takes["polars"].contains("2.0.0")

    async def ask() -> None:
        trained_model = model()
        await trained_model.register(Backend())
        completions = trained_model.openai_client().chat.completions
        await completions.create(model="m", messages=[USER])

    installed = Version(openai.__version__)
    raises = IS_0_5_18 and installed >= Version("3.14.1")
    assert raised(lambda: asyncio.run(ask())).startswith("TypeError") == raises
    # what auto_trajectory patches is httpx, and openai 3 asks through httpx2
    asks_through_httpx = issubclass(openai.DefaultHttpxClient, httpx.Client)
    assert asks_through_httpx == (installed < Version("3"))


@shows("ART520")
def test_art_0_5_18_averages_all_columns_to_find_the_best_step() -> None:
    """Polars 2 refuses to average columns of text: "`mean` operation not supported"."""
    source = inspect.getsource(art.TrainableModel.delete_checkpoints)
    assert ('.group_by("step")\n' in source) and (".mean()\n" in source) == IS_0_5_18


@shows("ART521")
def test_a_generator_loses_its_exceptions() -> None:
    failures = [art.Trajectory(), RuntimeError("boom")]
    assert len(Group(each for each in failures).exceptions) == (not IS_0_5_18)
    assert len(Group(list(failures)).exceptions) == 1


@shows("ART557")
def test_a_model_of_a_new_name_has_no_checkpoint(tmp_path: Path) -> None:
    from art.utils.get_model_step import get_step_from_dir
    from art.utils.output_dirs import get_model_dir, get_step_checkpoint_dir

    one, other = model(), model()
    setattr(other, "name" if IS_0_5_18 else "run_name", "another")
    folders = [get_model_dir(each, f"{tmp_path}") for each in (one, other)]
    Path(get_step_checkpoint_dir(folders[0], 7)).mkdir(parents=True)
    Path(folders[1]).mkdir(parents=True)
    assert [get_step_from_dir(each) for each in folders] == [7, 0]


@shows("ART540")
def test_a_model_drops_arguments_that_it_does_not_have() -> None:
    given = {"learning_rate": 2e-5, "internal_config": {"engine_args": {"x": 1}}}
    options = {"name": "m", "project": "p", "base_model": "b"}
    if not IS_0_5_18:
        options["run_name"] = "m"
    made: Any = art.TrainableModel(**options, **given)
    assert made._internal_config is None and not hasattr(made, "learning_rate")
    known = {*inspect.signature(art.TrainableModel.__init__).parameters}
    known |= {*art.TrainableModel.model_fields}
    assert known - {"self", "kwargs"} <= ignored_model_field.FIELDS


@shows("ART550")
def test_a_config_is_checked_and_read_when_a_model_is_registered() -> None:
    from art.dev.validate import validate_dedicated_config

    def refused(**config: Any) -> str:
        return raised(lambda: validate_dedicated_config(config))

    assert refused(trainer_gpu_ids=[0], inference_gpu_ids=[1]) == ""
    assert "both be set" in refused(trainer_gpu_ids=[0])
    assert "overlap" in refused(trainer_gpu_ids=[0, 1], inference_gpu_ids=[1])
    assert "no longer supported" in refused(init_args={"fast_inference": True})
    assert bool(refused(trainer_gpu_ids=[1], inference_gpu_ids=[0])) == IS_0_5_18
    # The service is made of the config once, if there is none for the model yet.
    pytest.importorskip("torch")
    from art.local import LocalBackend

    source = inspect.getsource(LocalBackend._get_service)
    assert source.index("not in self._services") < source.rindex("_internal_config")


@shows("ART551")
def test_the_folder_of_a_checkpoint_has_four_digits() -> None:
    from art.utils.output_dirs import get_step_checkpoint_dir

    assert get_step_checkpoint_dir(".art/p/models/m", 12) == (
        ".art/p/models/m/checkpoints/0012"
    )


@shows("ART552")
def test_each_batch_of_train_sft_takes_a_rate_of_the_list(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    from art.local import LocalBackend
    from art.local import backend as local

    own = LocalBackend(path=str(tmp_path))
    monkeypatch.setattr(local, "_tokenizer_cache_key", lambda *_: "own")
    own._tokenizers["own"] = tokenizer()
    monkeypatch.setattr(
        "art.utils.model_config.get_instruction_response_parts",
        lambda *_: ("<|user|>", "<|assistant|>"),
    )

    async def train(rates: list[float]) -> None:
        config = art.TrainSFTConfig(learning_rate=rates, batch_size=1)
        turns = [USER, {"role": "assistant", "content": "hi"}]
        async for _ in own._train_sft(model(), [trajectory(*turns)], config, {}):
            pass

    # One batch, no rate: what stops a later batch if the list is too short.
    problem = raised(lambda: asyncio.run(train([])))
    assert problem.startswith(("RuntimeError", "IndexError")), problem


@shows("ART553")
def test_models_of_one_name_have_one_folder() -> None:
    from art.utils.output_dirs import get_model_dir

    one, other = model(), model()
    assert get_model_dir(one, "x") == get_model_dir(other, "x")


@shows("ART540")
def test_what_is_rented_reads_no_configuration_of_an_engine() -> None:
    serverless = Path(art.__file__).parent / "serverless"
    read = "".join(file.read_text() for file in serverless.rglob("*.py"))
    assert "class ServerlessBackend" in read and "_internal_config" not in read


@shows("ART554")
def test_the_metrics_of_a_step_have_the_names_that_are_charted() -> None:
    source = (Path(art.__file__).parent / "unsloth/train.py").read_text()
    named = next(
        ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == "_UPSTREAM_TRAIN_METRIC_KEYS"
    )
    assert named.items() >= unknown_train_metric.NAMES.items()
    charted = {name for name in named.values() if name.startswith("loss/")}
    assert charted == {*unknown_train_metric.NAMES.values()}


@shows("ART555")
def test_a_backend_that_is_told_of_a_model_tells_it_no_address() -> None:
    whole = model()
    asyncio.run(whole.register(Backend()))
    assert whole._backend is not None and whole.inference_base_url
    assert raised(model().openai_client)
    for name in ("local", "serverless"):
        source = (Path(art.__file__).parent / name / "backend.py").read_text()
        (register,) = (
            each
            for backend in ast.parse(source).body
            if isinstance(backend, ast.ClassDef) and backend.name.endswith("Backend")
            for each in backend.body
            if isinstance(each, ast.AsyncFunctionDef) and each.name == "register"
        )
        assert "inference_" not in ast.unparse(register)
        assert "_backend =" not in ast.unparse(register)


@shows("ART541")
def test_groups_are_gathered_once() -> None:
    groups = [Group([succeed()]), Group([succeed()])]
    assert len(gather(lambda: groups)) == 2
    assert raised(lambda: gather(lambda: groups)).startswith("RuntimeError")
    problem = raised(lambda: gather(lambda: groups, max_exceptions=9))
    assert "cannot reuse already awaited coroutine" in problem


@shows("ART542")
def test_log_takes_groups_for_validation() -> None:
    assert inspect.signature(art.Model.log).parameters["split"].default == "val"


@shows("ART543")
def test_metrics_that_are_assigned_are_not_merged() -> None:
    async def timed() -> art.Trajectory:
        trajectory = art.Trajectory()
        async with trajectory.track_duration("llm"):
            pass
        trajectory.metrics = {"won": 1}
        return trajectory

    assert set(asyncio.run(timed()).metrics) == {"won"}


@shows("ART318")
def test_a_metric_called_exceptions_uses_up_what_is_allowed() -> None:
    async def counts() -> art.Trajectory:
        return art.Trajectory(metrics={"exceptions": 3})

    async def fails_once() -> art.Trajectory:
        await asyncio.sleep(0.01)
        raise ValueError("once")

    def groups(first: Any) -> list[Any]:
        return [Group([first()]), Group([fails_once()])]

    assert not raised(lambda: gather(lambda: groups(succeed), max_exceptions=2))
    problem = raised(lambda: gather(lambda: groups(counts), max_exceptions=2))
    assert "once" in problem


@shows("ART556")
def test_the_server_of_a_model_has_a_key() -> None:
    served = get_openai_server_config("name", "base", "/log")
    assert served["server_args"].get("api_key") == refused_api_key.OF_LOCAL
    source = (Path(art.__file__).parent / "local/backend.py").read_text()
    assert f'.get("api_key") or "{refused_api_key.OF_LOCAL}"' in source


@shows("ART221")
def test_a_default_of_a_rollout_is_one_for_all() -> None:
    async def episode(name: str, notes: list[str] = []) -> art.Trajectory:  # noqa: B006
        seen = len(notes)
        notes.append(name)
        return art.Trajectory(metadata={"seen": seen})

    (group,) = gather(lambda: [Group(episode(name) for name in "abc")])
    assert sorted(each.metadata["seen"] for each in group) == [0, 1, 2]


@shows("ART320")
def test_an_episode_that_divides_by_zero_leaves_its_group() -> None:
    async def episode(named: list[str]) -> art.Trajectory:
        return art.Trajectory(reward=1 / len(named))

    (group,) = gather(
        lambda: [Group(episode(named) for named in ([], ["a"], ["a", "b"]))],
        max_exceptions=3,
    )
    assert sorted(each.reward for each in group) == [0.5, 1.0]


@shows("ART322")
def test_an_answer_that_is_copied_is_trained_like_one_that_is_found() -> None:
    said = choice("4")
    told = {"role": "user", "content": '{"task": "2 + 2", "answer": "4"}'}
    assert tokens(told, said) == tokens(USER, said)
