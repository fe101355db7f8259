"""Makes the tests' own modules importable, and says how many examples are tried.

The default run leaves out what is marked ``slow`` or ``wide``, and tries few examples of each property; ``-m ""`` runs
everything and tries many. A test multiplies ``settings.default.max_examples``.
"""

import gc
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from agent_files import AUTHORITIES_BEFORE, AUTHORITY
from hypothesis import settings

# ART's mp_actors (0.5.18) patches asyncio for good when a test imports it: later tests' event
# loops would neither cancel tasks nor close generators. Train modules run in other processes.
with suppress(ImportError):
    import nest_asyncio

    nest_asyncio.apply = lambda loop=None: None

os.environ.setdefault(AUTHORITIES_BEFORE, os.environ.get("SSL_CERT_FILE", ""))
os.environ["SSL_CERT_FILE"] = AUTHORITY

settings.register_profile("few", max_examples=15)
settings.register_profile("many", max_examples=60)


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One cache for all runs of mypy: reading ART and openai takes most of a minute."""
    return f"--cache-dir={tmp_path_factory.mktemp('mypy')}"


# Files that try in many shapes, names or terminals what others show in a few. .ci/run runs
# them; the README's command must end in minutes.
WIDE = {
    "capture/test_as_watched.py",
    "capture/test_between.py",
    "capture/test_branch_that_ran.py",
    "capture/test_conversations.py",
    "capture/test_entry_elsewhere.py",
    "capture/test_inert.py",
    "capture/test_made_elsewhere.py",
    "capture/test_made_in_a_run.py",
    "capture/test_more_programs.py",
    "capture/test_next_steps.py",
    "capture/test_objects_given.py",
    "capture/test_parts_of_an_episode.py",
    "capture/test_seen.py",
    "check/test_pre_commit.py",
    "differential/test_users_tests.py",
    "doctor/test_doctor.py",
    "end_to_end/test_last_said.py",
    "end_to_end/test_layouts.py",
    "end_to_end/test_shapes.py",
    "end_to_end/test_typed_agents.py",
    "guide/test_guide.py",
    "properties/test_programs.py",
    "properties/test_whatever_is_done.py",
    "rehearsal/test_as_seen.py",
    "rehearsal/test_causes.py",
    "rehearsal/test_elsewhere.py",
    "rehearsal/test_endings.py",
    "rehearsal/test_kept.py",
    "rehearsal/test_litellm.py",
    "rehearsal/test_misbehaving.py",
    "rehearsal/test_outside.py",
    "rehearsal/test_places_of_findings.py",
    "rehearsal/test_reads_arguments.py",
    "rehearsal/test_refusing.py",
    "rehearsal/test_rehearse.py",
    "rehearsal/test_replayed.py",
    "rehearsal/test_rewards_seen.py",
    "rehearsal/test_roles.py",
    "rehearsal/test_rows.py",
    "rehearsal/test_same_row.py",
    "rehearsal/test_signs.py",
    "rehearsal/test_start.py",
    "rehearsal/test_stubs.py",
    "rehearsal/test_unreached.py",
    "rehearsal/test_without_torch.py",
    "rehearsal/test_witnesses.py",
    "survey/test_imported_as.py",
    "test_decided.py",
    "test_file_safety.py",
    "test_foreign_repositories.py",
    "test_hook_names.py",
    "test_loaded_any_way.py",
    "test_logs.py",
    "test_odd_names.py",
    "test_review.py",
    "test_small_promises.py",
    "test_undo.py",
    "train_module/test_classes_elsewhere.py",
    "train_module/test_configured.py",
    "train_module/test_factories.py",
    "train_module/test_filled.py",
    "train_module/test_options.py",
    "train_module/test_standard_types.py",
    "train_module/test_starts.py",
    "training/test_limits.py",
    "training/test_run_program.py",
}
# Of these, the files whose tests run an agent in a process of its own, or rehearse it, for
# seconds each: .ci/run tries the first of a test's shapes, .ci/thorough all.
RUN_AGENTS = {
    "capture/test_as_watched.py",
    "capture/test_between.py",
    "capture/test_branch_that_ran.py",
    "capture/test_made_elsewhere.py",
    "capture/test_made_in_a_run.py",
    "capture/test_objects_given.py",
    "capture/test_parts_of_an_episode.py",
    "capture/test_seen.py",
    "end_to_end/test_last_said.py",
    "end_to_end/test_typed_agents.py",
    "rehearsal/test_as_seen.py",
    "rehearsal/test_causes.py",
    "rehearsal/test_elsewhere.py",
    "rehearsal/test_endings.py",
    "rehearsal/test_kept.py",
    "rehearsal/test_litellm.py",
    "rehearsal/test_misbehaving.py",
    "rehearsal/test_outside.py",
    "rehearsal/test_places_of_findings.py",
    "rehearsal/test_reads_arguments.py",
    "rehearsal/test_refusing.py",
    "rehearsal/test_rehearse.py",
    "rehearsal/test_replayed.py",
    "rehearsal/test_rewards_seen.py",
    "rehearsal/test_roles.py",
    "rehearsal/test_rows.py",
    "rehearsal/test_same_row.py",
    "rehearsal/test_signs.py",
    "rehearsal/test_start.py",
    "rehearsal/test_stubs.py",
    "rehearsal/test_unreached.py",
    "rehearsal/test_witnesses.py",
    "train_module/test_classes_elsewhere.py",
    "train_module/test_standard_types.py",
}
# Of these files, what anybody should see pass.
SHOWN = {
    "test_a_comparison_that_never_holds_is_told",
    "test_a_right_agent_is_witnessed",
    "test_a_row_is_made_an_object_of_the_program_s_own_class",
    "test_arguments_fit_their_schema",
    "test_the_program_makes_the_agent_and_ends_with_the_episode",
    "test_two_at_once",
    "test_what_art_adapt_writes_passes",
}
# Each of these rehearses for eight to thirty seconds what a quicker test shows in another way:
# only .ci/thorough tries them. A name stands for all shapes of a test that begin with it.
LONGER = (
    "capture/test_next_steps.py::test_a_function_that_is_named_gets_its_rows_without_a_model",
    "capture/test_seen.py::test_a_call_that_also_asks_in_the_conversation_is_no_side_job",
    "capture/test_seen.py::test_a_choice_that_a_run_makes_is_its_agent_s",
    "capture/test_seen.py::test_a_client_of_azures_is_answered",
    "capture/test_seen.py::test_a_constructor_that_chats_is_run_as_a_command",
    "capture/test_seen.py::test_a_game_against_another_model_is_told",
    "capture/test_seen.py::test_a_key_that_a_call_is_given_otherwise_is_no_opened_one",
    "capture/test_seen.py::test_a_key_that_a_call_returned_is_opened_anew",
    "capture/test_seen.py::test_a_member_of_an_enumeration_is_its_value",
    "capture/test_seen.py::test_a_model_that_no_run_asked_is_another_way_to_run",
    "capture/test_seen.py::test_a_number_that_chance_draws_is_drawn_anew",
    "capture/test_seen.py::test_a_number_that_the_model_is_asked_about_is_a_field",
    "capture/test_seen.py::test_a_request_that_asked_another_model_is_told",
    "capture/test_seen.py::test_a_row_that_an_earlier_episode_has_begun_is_said",
    "capture/test_seen.py::test_a_scripted_run_of_a_package_below_src",
    "capture/test_seen.py::test_a_short_number_in_place_of_none_is_a_field",
    "capture/test_seen.py::test_a_task_that_looks_like_a_key_stays_the_scenarios",
    "capture/test_seen.py::test_a_text_of_a_record_in_place_of_a_default_is_a_field",
    "capture/test_seen.py::test_a_text_that_is_too_long_is_left_out",
    "capture/test_seen.py::test_a_turn_that_a_library_asks_for_is_an_episode",
    "capture/test_seen.py::test_lines_are_typed_where_another_function_chats",
    "capture/test_seen.py::test_the_client_of_the_module_openai_is_answered",
    "capture/test_seen.py::test_the_older_functions_are_called",
    "capture/test_seen.py::test_what_a_row_has_as_text_is_said",
    "capture/test_seen.py::test_what_options_take_besides_the_task_is_passed_as_in_the_run",
    "capture/test_seen.py::test_who_asked_another_model_through_a_shared_function_is_told",
    "capture/test_validated.py::test_a_pydantic_object_is_made_of_its_row[one that may be missing]",
    "differential/test_users_tests.py::test_users_tests_say_the_same",
    "doctor/test_doctor.py::test_a_serverless_run_that_could_start",
    "doctor/test_doctor.py::test_as_it_is_shown",
    "doctor/test_doctor.py::test_it_goes_on_after_an_import_that_fails",
    "guide/test_guide.py::test_what_has_been_written_can_be_rehearsed_at_once",
    "rehearsal/test_as_seen.py::test_a_row_with_a_key_for_the_reward_is_compared",
    "rehearsal/test_as_seen.py::test_rows_of_its_own_are_compared_by_tools_and_a_prompt[as in the run",
    "rehearsal/test_as_seen.py::test_the_tools_of_a_sub_agent_were_in_the_run_as_well",
    "rehearsal/test_as_seen.py::test_what_is_asked_again_after_a_reply_is_no_beginning",
    "rehearsal/test_causes.py::test_a_reward_that_raises_gets_the_remedy_that_fits",
    "rehearsal/test_elsewhere.py::test_a_model_that_an_enum_names_is_one",
    "rehearsal/test_elsewhere.py::test_the_models_of_an_isolated_episode_are_said",
    "rehearsal/test_elsewhere.py::test_the_roles_of_an_isolated_episode_are_named",
    "rehearsal/test_endings.py::test_a_reward_that_raises_is_named_at_its_place[none",
    "rehearsal/test_endings.py::test_a_reward_that_raises_is_named_at_its_place[process",
    "rehearsal/test_endings.py::test_what_was_running_is_named",
    "rehearsal/test_heard.py::test_replies_have_the_form_of_the_watched_ones[JSON of",
    "rehearsal/test_heard.py::test_replies_have_the_form_of_the_watched_ones[JSON that",
    "rehearsal/test_heard.py::test_replies_have_the_form_of_the_watched_ones[JSON]",
    "rehearsal/test_litellm.py::test_a_judge_and_a_side_job_of_other_providers_are_rehearsed",
    "rehearsal/test_litellm.py::test_a_scripted_run_answers_any_provider",
    "rehearsal/test_main_thread.py::test_an_event_loop_is_there_in_the_main_thread[process",
    "rehearsal/test_misbehaving.py::test_a_terminal_shows_how_far_it_is",
    "rehearsal/test_outside.py::test_a_new_file_elsewhere_is_said",
    "rehearsal/test_outside.py::test_new_folders_elsewhere_are_removed_however_deep",
    "rehearsal/test_places_of_findings.py::test_names_of_what_is_not_trained_are_no_finding",
    "rehearsal/test_places_of_findings.py::test_what_may_follow_from_a_finding_comes_after_it",
    "rehearsal/test_reads_arguments.py::test_so_it_is_in_a_process_of_its_own",
    "rehearsal/test_refusing.py::test_a_fallback_that_is_worth_little_is_not_said",
    "rehearsal/test_rehearse.py::test_a_metric_that_no_episode_has_is_found",
    "rehearsal/test_rehearse.py::test_a_module_beside_the_copied_project_is_named",
    "rehearsal/test_rehearse.py::test_a_rented_backend_is_rehearsed_without_its_package_or_key",
    "rehearsal/test_rehearse.py::test_a_tool_that_works_in_the_main_thread_only_is_told",
    "rehearsal/test_rehearse.py::test_its_page_shows_the_tools_that_an_episode_called",
    "rehearsal/test_rehearse.py::test_requests_for_embeddings_are_counted",
    "rehearsal/test_rehearse.py::test_side_jobs_over_the_given_client_reach_their_own_model",
    "rehearsal/test_replayed.py::test_why_no_episode_was_compared_is_said[change0",
    "rehearsal/test_roles.py::test_one_role_is_not_named",
    "rehearsal/test_roles.py::test_sides_that_one_function_asks_for_are_named",
    "rehearsal/test_rows.py::test_a_key_that_a_row_lacks_is_told_at_its_line",
    "rehearsal/test_same_row.py::test_a_task_that_was_asked_twice_is_one",
    "rehearsal/test_same_row.py::test_what_no_field_holds_is_shown",
    "rehearsal/test_signs.py::test_what_only_comes_near_is_not_found",
    "rehearsal/test_start.py::test_an_agent_runs_where_it_was_watched[True",
    "rehearsal/test_start.py::test_an_agent_that_a_test_imports_in_its_folder_runs_there",
    "rehearsal/test_start.py::test_another_agent_s_run_moves_no_training",
    "rehearsal/test_stubs.py::test_a_function_of_a_script_cannot_be_stubbed",
    "rehearsal/test_stubs.py::test_a_key_that_training_needs_is_named_where_it_is_not_set",
    "rehearsal/test_stubs.py::test_only_what_the_chosen_episode_runs_is_named",
    "rehearsal/test_stubs.py::test_what_holds_in_one_process_holds_in_each",
    "rehearsal/test_stubs.py::test_what_is_stubbed_does_not_run_in_copies",
    "rehearsal/test_without_torch.py::test_torch_is_imported_where_it_is_needed[process",
    "rehearsal/test_witnesses.py::test_a_call_that_a_helper_makes_in_a_thread_is_carried",
    "rehearsal/test_witnesses.py::test_a_form_for_the_reply_and_a_key_of_the_reward_are_no_gap",
    "rehearsal/test_witnesses.py::test_a_key_that_the_agent_takes_and_is_not_given_is_said",
    "rehearsal/test_witnesses.py::test_a_loop_that_never_went_round_again_is_said",
    "rehearsal/test_witnesses.py::test_a_task_that_chance_draws_is_the_groups_to_share",
    "rehearsal/test_witnesses.py::test_a_tool_that_takes_a_made_up_argument_apart_is_no_failure",
    "rehearsal/test_witnesses.py::test_an_answer_from_a_cache_is_no_lack_of_a_service",
    "rehearsal/test_witnesses.py::test_an_empty_answer_is_none",
    "rehearsal/test_witnesses.py::test_an_episode_that_asks_an_auxiliary_model_alone_is_told",
    "rehearsal/test_witnesses.py::test_several_models_of_an_episode_are_said",
    "rehearsal/test_witnesses.py::test_the_agent_s_own_limit_of_turns_is_no_failure",
    "rehearsal/test_witnesses.py::test_the_elements_of_one_list_are_one_scenario",
    "rehearsal/test_witnesses.py::test_what_a_lambda_of_a_function_asks_is_the_functions",
    "rehearsal/test_witnesses.py::test_what_episodes_failed_with_is_said_where_it_is_no_finding",
    "rehearsal/test_witnesses.py::test_what_no_repeated_episode_shows_is_said",
    "rehearsal/test_witnesses.py::test_what_the_train_module_s_own_code_raises_is_placed_there",
    "survey/test_listed_records.py::test_a_watched_list_becomes_rows_that_rehearse[record1",
    "survey/test_shared_helpers.py::test_what_it_asks_is_none_of_the_recorded_turns",
    "test_decided.py::test_naming_another_of_its_files_changes_nothing",
    "test_file_safety.py::test_a_kill_at_any_line[hard link",
    "test_file_safety.py::test_adapt_and_undo_at_once",
    "test_small_promises.py::test_an_import_asks_no_network[art_adapt.doctor",
    "train_module/test_factories.py::test_a_factory_makes_an_agent_that_rehearses",
    "train_module/test_starts.py::test_it_starts_as_the_project_does",
    "training/test_command_line.py::test_a_program_that_imports_training_reads_its_own_arguments",
    "training/test_start_errors.py::test_a_module_of_a_package_says_how_it_starts",
)
# Their tests take seconds each, in processes that import ART. They come first: a worker that
# gets such a file last is alone with it at the end.
LONG_FOLDERS = {
    "capture",
    "check",
    "differential",
    "doctor",
    "end_to_end",
    "guide",
    "properties",
    "rehearsal",
    "tests",  # the files beside the folders
    "train_module",
    "training",
}


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    begun: set[tuple[str, str]] = set()
    for item in items:
        name = getattr(item, "originalname", None) or item.name
        file = item.path.relative_to(tests).as_posix()
        if file in WIDE and name not in SHOWN:
            item.add_marker(pytest.mark.wide)
            if file in RUN_AGENTS and (file, name) in begun:
                item.add_marker(pytest.mark.slow)
            begun.add((file, name))
        if f"{file}::{item.name}".startswith(LONGER):
            item.add_marker(pytest.mark.slow)
    count = Counter(item.path for item in items)
    items.sort(
        key=lambda item: (
            item.path.parent.name not in LONG_FOLDERS,
            -count[item.path],
            item.path,
        )
    )


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # while ART and the tests are imported, which stay
    settings.load_profile("few" if "not slow" in config.option.markexpr else "many")


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()  # or each look for garbage goes through all of ART
