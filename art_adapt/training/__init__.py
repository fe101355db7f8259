"""What every training run needs around its loop; a train module imports it.

Importing it loads the recorder, which the agent's hooks look for: a train module
imports it before the agent.
"""

from art_adapt.recording import for_training
from art_adapt.training.applications import ask_app
from art_adapt.training.episodes import Trajectory, fill_in, policy_endpoint, record
from art_adapt.training.isolation import isolated
from art_adapt.training.pipelines import name_policies, pipeline_sizes
from art_adapt.training.reports import (
    print_usage,
    report,
    say_lost,
    show,
    with_episodes,
)
from art_adapt.training.rewards import finite, ruler
from art_adapt.training.runs import (
    UNTIL_STOPPED,
    Run,
    make_backend,
    make_model,
    prepare,
    scenario_stream,
    stop_after_step,
)
from art_adapt.training.scenarios import Scenario, load_scenarios, split
from art_adapt.training.terminal import run_command, run_script

__all__ = [
    "UNTIL_STOPPED",
    "Run",
    "Scenario",
    "Trajectory",
    "ask_app",
    "fill_in",
    "finite",
    "for_training",
    "isolated",
    "load_scenarios",
    "make_backend",
    "make_model",
    "name_policies",
    "pipeline_sizes",
    "policy_endpoint",
    "prepare",
    "print_usage",
    "record",
    "report",
    "ruler",
    "run_command",
    "run_script",
    "say_lost",
    "scenario_stream",
    "show",
    "split",
    "stop_after_step",
    "with_episodes",
]
