// ddp_uneven_inputs: some ranks run out of data, and all go on together.
//
// Files differ in size, so ranks may have different numbers of batches, and batches different numbers
// of samples. A rank that stops when its own data end leaves the others waiting in an all-reduce
// forever. So before every step all ranks add up how many samples they have for it. As long as
// there is any, everybody takes the step; who has none adds zeros. If nobody has any, all are done, and
// all know.
//
//   p = 3             step 0       step 1       step 2
//   rank 0            3 samples    1 sample     -
//   rank 1            -            -            -
//   rank 2            2 samples    2 samples    1 sample
//   together          5            3            1            0: done
//
// The gradient of a step is that of the mean over all samples that there are: in step 0 each counts
// 1/5. A mean over ranks would give a sample of rank 0 the weight 1/3 · 1/3, and one of rank 2
// 1/3 · 1/2. Sums can be added, so divide each rank's loss by the number of all (cross_entropy's divisor),
// and add up gradients.
//
// Every rank's optimizer takes every step, on the same gradient: with momentum, parameters change even
// where there was nothing new to learn from. So the models stay equal, and equal to that of one rank
// which has all the data.
//
// Build on dist.all_reduce: in a step, one of the count (8 bytes: a double or a std::int64_t), and one for
// each parameter, in their order.
//
// Cost: in every step the native all-reduce of 8 bytes and that of every parameter, one after the
// other; at the end one of 8 bytes. Steps: as many as the rank with most batches has.
// Blocks: until all ranks have come to the same step.
// Difficulty 3/5. Importance 3/5.
// Paper: Li et al., PyTorch Distributed: experiences on accelerating data parallel training, VLDB
// 2020; there, Join (torch.distributed.algorithms) does this.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/data/dataset.h"
#include "training/optimizer.h"
#include "training/sequential.h"

namespace rankbox {

/// Trains until no rank has a batch left: step i learns from the i-th batches of all ranks that have
/// as many, and takes the optimizer's step along the gradient of the mean loss (cross-entropy) over
/// their samples.
///
/// @param optimizer of the model's parameters
/// @param batches of this rank, maybe none; none of them is empty, or has padding
/// REQUIRES: every rank calls it with the same model and optimizer in the same state.
void ddp_uneven_inputs(Comm& dist, Sequential& model, Optimizer& optimizer,
                       const std::vector<Batch>& batches);

}  // namespace rankbox
