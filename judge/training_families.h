// The families of the chapters about training, from 6 on.
#pragma once

#include "judge/families.h"

namespace rankbox::family {

Family distributed_sampler();
Family ddp_init_broadcast();
Family ddp_average_gradients();
Family ddp_buckets();
Family ddp_no_sync();
Family ddp_overlap();
Family ddp_uneven_inputs();
Family split_without_leak();
Family data_parallel();
Family sync_batch_norm();
Family checkpoint_rank0();
Family exact_metrics();

Family bf16_gradients();
Family master_weights();
Family loss_scaling();
Family dynamic_loss_scaling();
Family stochastic_rounding();

Family pipeline();
Family interleaved_pipeline();
Family pipeline_data_parallel();
Family recompute();

Family zero1();
Family zero2();
Family zero3();
Family fsdp_prefetch();
Family hsdp();
Family reshard();
Family clip_global_norm();

Family conjugate_f();
Family conjugate_g();
Family column_linear();
Family row_linear();
Family parallel_mlp();
Family parallel_attention();
Family vocab_parallel_cross_entropy();
Family dropout_seeds();
Family sequence_parallel();

Family alltoallv();
Family expert_parallel_layer();
Family load_balance_loss();
Family moe_dispatch_combine();
Family moe_zero_tokens();

Family ring_attention();
Family ulysses();
Family ring_attention_causal_zigzag();
Family ring_attention_backward();

}  // namespace rankbox::family
