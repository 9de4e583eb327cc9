"""The exercises, by chapter: (name, family of its judgement in //verdict)."""

EXERCISES = {
    "01_ranks_and_races": {
        "race": "race",
        "ping_pong": "ping_pong",
        "exchange": "exchange",
        "barrier_dissemination": "barrier",
    },
    "02_broadcast": {
        "broadcast_naive": "broadcast",
        "broadcast_ring": "broadcast",
        "broadcast_ring_pipelined": "broadcast",
        "broadcast_scatter_allgather": "broadcast",
        "broadcast_tree": "broadcast",
    },
    "03_reduce": {
        "reduce_naive": "reduce",
        "reduce_scatter_gather": "reduce",
        "reduce_tree": "reduce",
    },
    "04_allreduce": {
        "allreduce_butterfly": "allreduce",
        "allreduce_hierarchical": "allreduce",
        "allreduce_naive": "allreduce",
        "allreduce_rabenseifner": "allreduce",
        "allreduce_ring": "allreduce",
        "allreduce_tree": "allreduce",
    },
    "05_gather": {
        "allgather_bruck": "allgather",
        "allgather_naive": "allgather",
        "allgather_ring": "allgather",
        "allgather_tree": "allgather",
        "alltoall_pairwise": "alltoall",
        "gather_naive": "gather",
        "gather_tree": "gather",
        "reduce_scatter_ring": "reduce_scatter",
        "scatter_tree": "scatter",
    },
    "06_data_parallel": {
        "checkpoint_rank0": "checkpoint_rank0",
        "data_parallel": "data_parallel",
        "ddp_average_gradients": "ddp_average_gradients",
        "ddp_buckets": "ddp_buckets",
        "ddp_init_broadcast": "ddp_init_broadcast",
        "ddp_no_sync": "ddp_no_sync",
        "ddp_overlap": "ddp_overlap",
        "ddp_uneven_inputs": "ddp_uneven_inputs",
        "distributed_sampler": "distributed_sampler",
        "exact_metrics": "exact_metrics",
        "split_without_leak": "split_without_leak",
        "sync_batch_norm": "sync_batch_norm",
    },
    "07_mixed_precision": {
        "dynamic_loss_scaling": "dynamic_loss_scaling",
        "loss_scaling": "loss_scaling",
        "master_weights": "master_weights",
    },
    "08_pipeline_parallel": {
        "model_parallel": "pipeline",
        "pipeline_1f1b": "pipeline",
        "pipeline_data_parallel": "pipeline_data_parallel",
        "pipeline_gpipe": "pipeline",
        "pipeline_interleaved": "interleaved_pipeline",
    },
    "09_sharding": {
        "zero1": "zero1",
        "zero2": "zero2",
        "zero3": "zero3",
    },
    "10_tensor_parallel": {
        "column_linear": "column_linear",
        "conjugate_f": "conjugate",
        "conjugate_g": "conjugate",
        "parallel_attention": "parallel_attention",
        "parallel_mlp": "parallel_mlp",
        "row_linear": "row_linear",
        "sequence_parallel": "sequence_parallel",
        "vocab_parallel_cross_entropy": "vocab_parallel_cross_entropy",
    },
}

_COLLECTIVES = struct(
    contracts = "//collectives",
    families = "//verdict",
    solutions = "//solutions",
)

_TRAINING = {
    "06_data_parallel": "//verdict/data_parallel",
    "07_mixed_precision": "//verdict/mixed_precision",
    "08_pipeline_parallel": "//verdict/pipeline",
    "09_sharding": "//verdict/sharding",
    "10_tensor_parallel": "//verdict/tensor_parallel",
}

def rooms_of(chapter):
    """The packages of a chapter's contracts and families, and the library with its solutions."""
    if chapter in _TRAINING:
        return struct(
            contracts = "//parallel",
            families = _TRAINING[chapter],
            solutions = "//solutions:training",
        )
    return _COLLECTIVES

def exercise_targets():
    """The libraries of all learners' files."""
    return [
        "//exercises/%s:%s" % (chapter, name)
        for chapter, names in EXERCISES.items()
        for name in names
    ]
