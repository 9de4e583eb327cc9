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
}

_COLLECTIVES = struct(
    contracts = "//collectives",
    families = "//verdict",
    solutions = "//solutions",
)

_TRAINING = {
    "06_data_parallel": "//verdict/data_parallel",
    "07_mixed_precision": "//verdict/mixed_precision",
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
