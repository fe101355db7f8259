"""List the names that ART exports: those of 0.5.18 and of 0.5.23 together.

``tests/rules/test_harm.py`` compares them with the ART that is installed.
"""

# What a train module that art-adapt writes imports: some of it makes objects of ART.
TRAIN_HELPERS = "art_adapt.training"
MAKES = {
    f"{TRAIN_HELPERS}.make_model": "art.TrainableModel",
    f"{TRAIN_HELPERS}.make_backend": "art.Backend",
}
REWARDS = frozenset({f"{TRAIN_HELPERS}.scored", f"{TRAIN_HELPERS}.ruler"})

# Of the package: attributes and submodules.
_ART = """
    Backend LoRAConfig LocalServingUnavailableError LocalTrainResult
    MegatronRuntimeConfig MegatronTopologyConfig Messages MessagesAndChoices
    MetricDefinition Model PIPELINE_RL_DASHBOARD_DEFAULT_METRICS
    PIPELINE_RL_METRIC_DEFINITIONS PIPELINE_RL_SCORE_METRICS PipelineAutotuneConfig
    PipelineRuntimeConfig ServerlessBackend ServerlessTrainResult Tools TrainConfig
    TrainResult TrainSFTConfig TrainableModel Trajectory TrajectoryGroup
    adapter_leases api_costs auto_trajectory backend batches capture_auto_trajectory
    capture_yielded_trajectory cli conf costs current_trajectory dev distributed
    errors gather gather_trajectories gather_trajectory_groups
    get_megatron_runtime_config get_tokenizer guided_completion
    init_megatron_runtime_config langgraph load_dotenv local loss mcp megatron
    metrics metrics_taxonomy model no_capture openai os
    patch_preprocess_mask_arguments pipeline_trainer pipeline_tuner preprocessing
    retry rewards runtime_diagnostics serverless serving_capabilities skills
    suppress_litellm_serialization_warnings tau_bench tensorize test tinker
    tinker_native token_prefix tokenize tokenizer trainer_rank trajectories
    trajectory trajectory_group trajectory_group_batches transformers types unsloth
    utils vllm_route_transport vllm_runtime weight_transfer yield_trajectory
"""

# Of art.Model and art.TrainableModel, pydantic's included.
_MODEL = """
    activate_metrics_context backend base_model base_path config construct copy
    cost_calculator delete_checkpoints dict entity from_orm get_inference_name
    get_step id inference_api_key inference_base_url inference_model_name json
    litellm_completion_params log lora_config merge_state metrics_builder
    model_computed_fields model_config model_construct model_copy model_dump
    model_dump_json model_extra model_fields model_fields_set model_json_schema
    model_parametrized_name model_post_init model_rebuild model_validate
    model_validate_json model_validate_strings name openai_client overwrite_state
    parse_file parse_obj parse_raw project read_state register report_metrics run_id
    run_name safe_model_dump schema schema_json set_cost_calculator train_sft
    trainable update_forward_refs update_wandb_config validate write_state
"""

ART = frozenset(_ART.split())
MODEL = frozenset(_MODEL.split())
# Of packages in ART: what they export, and the modules in them.
PACKAGES = {
    "art.rewards": frozenset({"ruler", "ruler_score_group"}),
    "art.langgraph": frozenset(
        {"init_chat_model", "wrap_rollout", "llm_wrapper", "logging", "message_utils"}
    ),
    "art.serverless": frozenset({"ServerlessBackend", "backend", "client"}),
}
# Of LocalBackend and ServerlessBackend.
BACKEND = frozenset(
    {
        "adapter_lease",
        "adapter_retention_lease",
        "exact_adapter_lease",
        "close",
        "delete",
    }
    | {"automatic_gpu_cost_per_hour_usd", "collect_train_step_vllm_metrics", "register"}
    | {"create_train_step_vllm_metrics_collector", "logs_sft_metrics_remotely", "train"}
    | {"prune_model_adapters", "supports_automatic_train_step_metrics"}
)
