"""Runs one episode of the agent and records it on the model in training."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypedDict, TypeVar

import art
import openai
import pydantic
from art.utils.retry import retry

from art_adapt.recording import EndpointError, RecordingError, Rollout, rollout
from art_adapt.recording.listening import Listener
from art_adapt.recording.recorder import Recorder
from art_adapt.recording.state import EpisodeOver, active
from art_adapt.training.threads import in_thread, own_place
from art_adapt.training.time_limits import OutOfTime, within

S = TypeVar("S")


# The metrics of an episode in which nothing happened: doctor tries a reward on it.
NOTHING_HAPPENED = dict.fromkeys(
    (
        "turns",
        "tool_calls",
        "tool_errors",
        "answered",
        "truncated",
        "timed_out",
        "failed",
        "tokens_in",
        "tokens_out",
    ),
    0.0,
)


class Trajectory(art.Trajectory):
    """An episode, with the answer that the agent ended it with (None: it gave none).

    ``scenario`` is what it started from. ``returned`` is what episode() returned, which may
    hold more than the answer: its sources, a status. ART stores none of it.
    """

    final_answer: Any = None
    scenario: Any = None
    returned: Any = pydantic.Field(default=None, exclude=True)


class PolicyEndpoint(TypedDict):
    """Where the model in training is served, as arguments of an OpenAI client."""

    base_url: str
    api_key: str


def policy_endpoint() -> PolicyEndpoint:
    """Return the endpoint of the rollout that runs here, for agents that take a client.

    Any client will do: in a rollout its recorded calls go to the model in training.

    Raises:
        RecordingError: no rollout is active in this task or thread.
    """
    current: Rollout | Listener | None = active.get()
    if current is None:
        raise RecordingError("policy_endpoint() was called outside a rollout")
    if isinstance(current, Listener):
        return own_endpoint()
    return {"base_url": current.base_url, "api_key": current.api_key}


def own_endpoint() -> PolicyEndpoint:
    """Return the endpoint that the environment names, as the SDK finds it.

    That is the production model's. An agent whose side jobs ask over the client that it is
    given needs it: the model in training does not answer under other names.
    """
    client = openai.OpenAI()
    return {"base_url": str(client.base_url), "api_key": client.api_key}


def last_said() -> str | None:
    """Return what the model said last in the episode that runs here.

    It is the answer of an agent that neither returns nor stores one. None where the model
    said nothing, or wanted a tool to be called: the agent has ended before an answer. Of
    several conversations, as a planner's and a worker's, it is what any of them ended with.

    Raises:
        RecordingError: no rollout is active in this task or thread.
    """
    current: Recorder | None = active.get()
    if current is None:
        raise RecordingError("last_said() was called outside a rollout")
    message = getattr(current.said_last, "message", None)
    if message is None or message.tool_calls:
        return None
    return message.content or None


ENDED = "the episode was ended: "  # in an episode's logs, before where it was


class Unfinished(SystemExit):
    """The train module still lacks something that only its author knows."""


def fill_in(what: str) -> Any:
    """Stand in ``episode()`` for an object that art-adapt could not find out how to make.

    Raises:
        Unfinished: always; it ends the run, with the place and ``what`` is to be filled in.
    """
    caller = sys._getframe(1)
    raise Unfinished(
        f"{caller.f_code.co_filename}:{caller.f_lineno}: fill in {what}: replace "
        "training.fill_in(...) with code that creates it for an episode"
    )


@retry(exceptions=(EndpointError,))
async def record(
    model: art.Model[Any],
    scenario: S,
    episode: Callable[[S], Any],
    *,
    temperature: float = 1.0,
    max_tokens: int | None = None,
    timeout: float | None = None,
    agent_rewards: bool = False,
    every_client: bool = False,
    auxiliary: Sequence[str] = (),
    strict: bool = True,
) -> Trajectory:
    """Run ``episode(scenario)`` once, sync (in a thread) or async, and record it.

    What the episode returns is its answer, unless ``final_answer(...)`` has marked one; of
    an object without ``__str__`` or ``__repr__`` it is what the model said last.
    An error of the agent ends the episode, and so does the end of its time: what it did
    until then counts. An error of the endpoint says nothing about the model: the
    episode is tried again, three times in all.

    Args:
        model: an ART model that is registered with a backend, or has an endpoint. An
            ``art.Model`` without one stands for the production model: the agent asks it
            through its own client, as it does without a rollout.
        scenario: what the episode starts from.
        episode: runs the agent.
        temperature: replaces the agent's own sampling. ART trains on logprobs at 1.
        max_tokens: of one completion, at most; the agent may ask for fewer.
        timeout: of the episode, in seconds. In its place the agent's own timeouts and
            retries of model calls do not count.
        agent_rewards: the agent sets the reward itself, with ``reward(...)``.
        every_client: record what any client of the openai SDK asks, with or without a
            hook: for agents whose framework makes the client.
        auxiliary: functions and models: what is asked by these without a hook, or of
            these in any way, stays where it is asked, unrecorded.
        strict: a completion that is asked for without a hook, by anything else, is an
            error; else a warning.

    Raises:
        EndpointError: the endpoint failed three times; no low reward, but no episode.
        RecordingError: a completion would have been lost, the agent never called the
            model, or it was to set a reward and did not.
    """
    trajectory = Trajectory(scenario=scenario)
    opened: Recorder
    if not model.trainable and model.inference_base_url is None:
        trajectory.metadata["policy"] = model.name
        opened = Listener(trajectory, every_client=every_client, auxiliary=auxiliary)
    elif model.inference_base_url is None or model.inference_api_key is None:
        raise RecordingError(f"{model.name} is registered with no backend")
    else:
        served = model.get_inference_name()  # of one step, for the whole episode
        # ART's own client would send them (0.5.23, model.py, openai_client).
        config: Any = getattr(model, "_internal_config", None) or {}
        trajectory.metadata["policy"] = served
        opened = rollout(
            trajectory,
            base_url=model.inference_base_url,
            api_key=model.inference_api_key,
            model=served,
            temperature=temperature,
            max_tokens=max_tokens,
            timeout=timeout,
            every_client=every_client,
            auxiliary=auxiliary,
            strict=strict,
            template=config.get("chat_template_kwargs"),
        )
    failure: BaseException | None = None
    began = time.monotonic()
    with opened as recording:
        try:
            # An agent may append to a list that it is given, which is no other episode's.
            started = copy.deepcopy(scenario)
            returned = await within(timeout, _run(episode, started))
            trajectory.returned = returned
            if returned is not None and not recording.answered:
                recording.set_final_answer(returned)
            _make_readable(recording)
        except (RecordingError, Unfinished):
            raise
        except (OutOfTime, EpisodeOver) as error:
            failure = error
            trajectory.log(f"{ENDED}{error}")
        except BaseExceptionGroup as errors:  # a task group wraps what ends it
            over = errors.subgroup(EpisodeOver)
            if over is None and not isinstance(errors, Exception):
                raise
            failure = errors if over is None else _innermost(over)
            said = f"the agent raised {_with_place(errors)}"
            trajectory.log(said if over is None else f"{ENDED}{failure}")
        except (Exception, SystemExit) as error:  # as agents with a command line do
            failure = error
            trajectory.log(f"the agent raised {_with_place(error)}")
    was_ended = isinstance(failure, OutOfTime | EpisodeOver)
    _raise_if_lost(recording, failure, agent_rewards)
    # Of each episode: ART averages a metric over those that have it (0.5.23, model.py, log).
    trajectory.metrics |= {
        "failed": failure is not None and not was_ended,
        "turns": recording.calls,
        "tool_calls": recording.tool_calls,
        "tool_errors": recording.tool_errors,
        "answered": recording.answered,
        "truncated": recording.truncated,
        # Code that blocks its loop can't be ended, and was too late all the same.
        "timed_out": timeout is not None and time.monotonic() - began >= timeout,
        "tokens_in": recording.prompt_tokens,
        "tokens_out": recording.completion_tokens,
    }
    if isinstance(recording, Listener):
        trajectory.metadata["asked"] = ", ".join(sorted(recording.models))
    trajectory.finish()
    return trajectory


async def _run(episode: Callable[[S], Any], scenario: S) -> Any:
    if inspect.iscoroutinefunction(episode):
        return await episode(scenario)
    returned = await in_thread(functools.partial(episode, scenario))
    if inspect.isgenerator(returned) or inspect.isasyncgen(returned):
        raise RecordingError(
            "episode() is a generator: consume it to its end, then return the answer"
        )
    return await returned if inspect.isawaitable(returned) else returned


def _make_readable(recording: Recorder) -> None:
    """Put what the model said last in the place of an answer that has no text of its own.

    A judge would read the object's address, or all of a completion with its token ids.
    """
    kind: Any = type(recording.answer)
    has_text = (
        kind.__repr__ is not object.__repr__ or kind.__str__ is not object.__str__
    )
    if has_text and not isinstance(recording.answer, openai.BaseModel):
        return
    said = last_said()
    if said is not None:
        recording.set_final_answer(said)
        recording.trajectory.log(
            f"the answer is the last message of the model, because a {kind.__name__} is not text"
        )


def _raise_if_lost(
    recording: Recorder, failure: BaseException | None, agent_rewards: bool
) -> None:
    """Raise if the episode says nothing about the model: it is no episode then."""
    if recording.infrastructure_error is not None:
        endpoint = recording.infrastructure_error
        raise EndpointError(repr(endpoint)) from endpoint
    why = ""
    if isinstance(failure, OutOfTime | EpisodeOver):
        why = f": {failure}"
    elif failure is not None:
        why = f": it raised {_with_place(failure)}"
    elif recording.answered:
        why = f": it answered {repr(recording.answer)[:200]} by itself"
    if not recording.calls:
        raise RecordingError(f"the agent never called the model{why}") from failure
    if agent_rewards and not recording.rewarded:
        why = why or ", because it ended too early"
        raise RecordingError(f"the agent set no reward{why}") from failure


def _innermost(error: BaseException) -> BaseException:
    """Return the first exception in groups of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _with_place(error: BaseException) -> str:
    """Name the error and its last line in code that is not installed: the agent's."""
    frames = traceback.extract_tb(error.__traceback__)
    place = own_place(frames) or f"{frames[-1].filename}:{frames[-1].lineno}"
    said = repr(error)
    if isinstance(error, OSError):  # whose repr leaves out the file
        said = f"{type(error).__name__}: {error}"
    return f"{said} ({place})"
