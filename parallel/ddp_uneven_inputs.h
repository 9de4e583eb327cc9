// ddp_uneven_inputs: some ranks run out of data, and all continue together.
//
// Files differ in size, so ranks may have different numbers of batches, and batches different
// numbers of samples. A rank that stops when its own data ends leaves the others waiting in an
// all-reduce forever. So before every step all ranks add up how many samples they have for it. As
// long as there are any, every rank takes the step; a rank without samples adds zeros. If the sum
// is 0, all ranks are done, and all of them know it.
//
//   p = 3             step 0       step 1       step 2
//   rank 0            3 samples    1 sample     -
//   rank 1            -            -            -
//   rank 2            2 samples    2 samples    1 sample
//   together          5            3            1            0: done
//
// The gradient of a step is that of the mean over all its samples: in step 0 each counts 1/5. A
// mean over ranks would give a sample of rank 0 the weight 1/3 · 1/3, and one of rank 2 1/3 · 1/2.
// Sums can be added, so divide each rank's loss by the total number of samples (cross_entropy's
// divisor), and add up gradients.
//
// Every rank's optimizer takes every step, on the same gradient: with momentum, parameters change
// even on a rank without samples. So the models stay equal, and equal to that of one rank with all
// the data.
//
// Build on dist.all_reduce: per step, one of the count (8 bytes: a double or a std::int64_t), and
// one of each parameter.
//
// Cost: in every step the native all-reduce of 8 bytes and that of every parameter, one after the
// other; at the end one of 8 bytes. The rank with the most batches decides the number of steps.
// Blocks: until all ranks have reached the same step.
// Difficulty 3/5. Importance 3/5.
// Paper: Li et al., PyTorch Distributed: experiences on accelerating data parallel training, VLDB
// 2020. Join (torch.distributed.algorithms) solves the same problem differently: it divides by the
// initial world size or by the ranks that still have data, and a rank that is done gets the final
// model by broadcast.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/data/dataset.h"
#include "training/optimizer.h"
#include "training/sequential.h"

namespace rankbox {

/// Trains until no rank has a batch left: step i learns from the i-th batches of all ranks that
/// have one, and takes the optimizer's step along the gradient of the mean loss (cross-entropy)
/// over their samples, in training mode.
///
/// @param optimizer of the model's parameters
/// @param batches of this rank, possibly none; no batch is empty or has padding
/// REQUIRES: every rank calls it with the same model and optimizer in the same state; gradients are
/// empty or zero.
void ddp_uneven_inputs(Comm& dist, Sequential& model, Optimizer& optimizer,
                       const std::vector<Batch>& batches);

}  // namespace rankbox
