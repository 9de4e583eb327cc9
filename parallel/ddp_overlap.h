// ddp_overlap: gradients travel while backward goes on.
//
// The gradients of the last layers are ready first. Nobody needs them before the optimizer's step, and
// the network has nothing to do while layers compute. So the all-reduce of a bucket is started as
// soon as the last of its gradients is there, and is waited for only when backward is through.
//
//   compute   | fc4 | fc3 | fc2 | fc1 |
//   network         | bucket 0 | bucket 1 | bucket 2 |
//                                     |<- exposed -->|
//
// The network takes one bucket after the other. Bucket i is ready when backward is through with the
// layer of its last gradient; it has arrived at
//
//   finish_i = max(ready_i, finish_{i-1}) + allreduce(bucket_i)
//
// What comes after the last backward is exposed: it makes the step longer. It is at least the last
// bucket, whose gradients are ready last; a large one can not be hidden, and small ones have a
// latency each.
//
// Buckets are those of ddp_buckets: from the last parameter to the first, each as large as
// bucket_bytes allows. Sizes are known before anything is computed: which gradient is a bucket's last
// can be planned, and need not be found out from the next one's coming too late.
//
// What travels must stay where it is and be left alone until it was waited for: each bucket needs
// a tensor of its own.
//
// Build on model.layer(i).backward and dist.all_reduce_async.
//
// Cost: the native all-reduce of every bucket, one after the other; in virtual time,
// max(backward, finish_last).
// Memory: the buckets, as large as all gradients.
// Blocks: until all ranks have called it, while waiting at the end.
// Difficulty 4/5. Importance 5/5.
// Paper: Li et al., PyTorch Distributed: experiences on accelerating data parallel training, VLDB
// 2020, section 3.2.3.
#pragma once

#include <cstdint>

#include "comm/comm.h"
#include "training/sequential.h"

namespace rankbox {

/// Backward through all layers. The gradients of all parameters become the means over the ranks of
/// what backward makes of them.
///
/// @param dy the derivative of this rank's loss by the model's output; taken: move it
/// @param saved what forward left; empty afterwards
/// REQUIRES: every rank calls it with a model of the same layers and the same bucket_bytes >= 1;
/// gradients are empty or zero.
/// Errors: CollectiveMismatch if the buckets differ.
void ddp_overlap(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::int64_t bucket_bytes);

}  // namespace rankbox
