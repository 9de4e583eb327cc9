// ddp_average_gradients: the step that makes many ranks learn as one.
//
// Every rank has gone through its own part of the batch, and has the gradient of its own mean loss.
// The gradient of the mean over the whole batch is the mean of those, if the parts have equal
// sizes. (The sum would be right with a learning rate p times smaller: a mistake that goes
// unnoticed until p changes.) Afterwards every rank's optimizer takes the same step, and the models
// stay equal without being sent again.
//
//   p = 2                    rank 0             rank 1
//   before   gradient        1 4 3              3 0 (none)        two parameters
//   after                    2 2 1.5            2 2 1.5
//
// A rank whose part of the batch never went through a layer has an empty gradient for it. That
// counts as zeros (gradient_of() makes them). It must not be skipped: the other ranks wait for it.
//
// Build on dist.all_reduce, once for each parameter.
//
// Cost: the native all-reduce of every parameter, one after the other: Ψ bytes in all, but one
// latency per parameter. (ddp_buckets saves the latencies, ddp_overlap hides the rest.)
// Blocks: until all ranks have called it.
// Difficulty 1/5. Importance 5/5.
// Paper: Li et al., PyTorch Distributed: experiences on accelerating data parallel training, VLDB
// 2020, section 3.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/parameter.h"

namespace rankbox {

/// The gradients of all parameters become their means over the ranks, an empty one counting as
/// zeros, and have the shapes of the values. What is not finite shows in the mean.
/// Values are unchanged.
///
/// REQUIRES: every rank calls it with parameters of the same sizes in the same order.
/// Errors: CollectiveMismatch if the sizes differ.
void ddp_average_gradients(Comm& dist, const std::vector<Parameter*>& parameters);

}  // namespace rankbox
