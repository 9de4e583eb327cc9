// The families of the chapter about data parallel training.
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

}  // namespace rankbox::family
