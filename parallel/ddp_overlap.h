// ddp_overlap: gradients are sent while backward continues.
//
// The gradients of the last layers are ready first. They are not needed before the optimizer's
// step, and the network is idle while layers compute. So the all-reduce of a bucket starts as soon
// as the last of its gradients is ready, and is waited for only after backward.
//
//   compute   | fc4 | fc3 | fc2 | fc1 |
//   network         | bucket 0 | bucket 1 | bucket 2 |
//                                     |<- exposed -->|
//
// The network takes one bucket after the other. Bucket i is ready after the backward of the layer
// of its last gradient; its all-reduce is complete at
//
//   finish_i = max(ready_i, finish_{i-1}) + allreduce(bucket_i)
//
// What comes after the last backward is exposed: it makes the step longer. At least the last bucket
// is exposed, since its gradients are ready last. A large bucket cannot be hidden, and small ones
// have a latency each.
//
// Buckets are those of ddp_buckets: from the last parameter to the first, each as large as
// bucket_bytes allows. Sizes are known in advance, so plan which gradient is a bucket's last one:
// to notice it when the next one no longer fits would be too late.
//
// A tensor in flight must stay alive and unchanged until its request has been waited for: each
// bucket needs its own tensor.
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
/// the gradients that backward computes.
///
/// @param dy the derivative of this rank's loss by the model's output; taken: move it
/// @param saved what forward left; empty afterwards
/// REQUIRES: every rank calls it with a model of the same layers and the same bucket_bytes >= 1;
/// gradients are empty or zero.
/// Errors: CollectiveMismatch if the buckets differ.
void ddp_overlap(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::int64_t bucket_bytes);

}  // namespace rankbox
