"""What every training run needs around its loop; a train module imports it.

Importing it loads the recorder, which the agent's hooks look for: a train module
imports it before the agent.
"""

import art_adapt.offline
import art_adapt.rehearsed  # noqa: F401 - before ART, which reads .env files
from art_adapt.recording import for_training
from art_adapt.scenarios.rows import RecordedRequest, Scenario, load_scenarios, split
from art_adapt.training.applications import ask_app
from art_adapt.training.begun import begin, note_settings
from art_adapt.training.episode_files import keep
from art_adapt.training.episodes import (
    Trajectory,
    fill_in,
    last_said,
    own_endpoint,
    policy_endpoint,
    record,
)
from art_adapt.training.gpu_failures import gpu_advice
from art_adapt.training.groups import costs_of, metadata_of, usable
from art_adapt.training.importing import without_runs_of
from art_adapt.training.isolation import isolated
from art_adapt.training.judging import ruler
from art_adapt.training.measuring import measure
from art_adapt.training.models import make_backend, make_model, server_settings
from art_adapt.training.pipelines import name_policies, pipeline_sizes
from art_adapt.training.programs import run_program
from art_adapt.training.progress import (
    Patience,
    Progress,
    best_step,
    is_validated,
)
from art_adapt.training.reports import report_validation
from art_adapt.training.rewards import scored
from art_adapt.training.runs import UNTIL_STOPPED, Run, Task, prepare, scenario_stream
from art_adapt.training.single_turn import complete
from art_adapt.training.slots import at_once
from art_adapt.training.stand_ins import stand_in
from art_adapt.training.start_errors import explain_start_errors
from art_adapt.training.terminal import hide_arguments, run_command, run_script
from art_adapt.training.usage import print_usage

__all__ = [
    "UNTIL_STOPPED",
    "Patience",
    "Progress",
    "RecordedRequest",
    "Run",
    "Scenario",
    "Task",
    "Trajectory",
    "ask_app",
    "at_once",
    "begin",
    "best_step",
    "complete",
    "costs_of",
    "fill_in",
    "for_training",
    "gpu_advice",
    "is_validated",
    "isolated",
    "keep",
    "last_said",
    "load_scenarios",
    "make_backend",
    "make_model",
    "measure",
    "metadata_of",
    "name_policies",
    "note_settings",
    "own_endpoint",
    "pipeline_sizes",
    "policy_endpoint",
    "prepare",
    "print_usage",
    "record",
    "report_validation",
    "ruler",
    "run_command",
    "run_program",
    "run_script",
    "scenario_stream",
    "scored",
    "server_settings",
    "split",
    "stand_in",
    "usable",
    "without_runs_of",
]

hide_arguments()
explain_start_errors()
