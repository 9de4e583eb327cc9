// The families of the chapters about training.
#include "judge/training_families.h"

#include "judge/families.h"

namespace rankbox {

namespace {

const bool kAdded = add_families({
    family::distributed_sampler(),
    family::ddp_init_broadcast(),
    family::ddp_average_gradients(),
    family::ddp_buckets(),
    family::ddp_no_sync(),
    family::ddp_overlap(),
    family::ddp_uneven_inputs(),
    family::split_without_leak(),
    family::data_parallel(),
    family::sync_batch_norm(),
    family::checkpoint_rank0(),
    family::exact_metrics(),

    family::bf16_gradients(),
    family::master_weights(),
    family::loss_scaling(),
    family::dynamic_loss_scaling(),
    family::stochastic_rounding(),

    family::pipeline(),
    family::interleaved_pipeline(),
    family::pipeline_data_parallel(),
    family::recompute(),

    family::zero1(),
    family::zero2(),
    family::zero3(),
    family::fsdp_prefetch(),
    family::hsdp(),
    family::reshard(),
    family::clip_global_norm(),

    family::conjugate_f(),
    family::conjugate_g(),
    family::column_linear(),
    family::row_linear(),
    family::parallel_mlp(),
    family::parallel_attention(),
    family::vocab_parallel_cross_entropy(),
    family::dropout_seeds(),
    family::sequence_parallel(),

    family::alltoallv(),
    family::expert_parallel_layer(),
    family::load_balance_loss(),
    family::moe_dispatch_combine(),
    family::moe_zero_tokens(),

    family::ring_attention(),
    family::ulysses(),
    family::ring_attention_causal_zigzag(),
    family::ring_attention_backward(),
});

}  // namespace

}  // namespace rankbox
