// ddp_no_sync: a large batch in small pieces, and one synchronization for all of them.
//
// A batch that does not fit into a rank's memory is processed in micro-batches: forward and
// backward of one, then of the next, while gradients add up in the parameters (backward adds, it
// does not overwrite). Only the final gradients must be the same on all ranks, so they are sent
// only after the last backward. (PyTorch's DDP sends them in every backward, except inside
// no_sync().)
//
//   rank 0   forward backward | forward backward | forward backward | all-reduce
//   rank 1   forward backward | forward backward | forward backward | all-reduce
//
// The result should be the gradient of the mean over all samples. The micro-batches' own means do
// not give it: the sum of three of them makes the learning rate three times as large, and in their
// average, samples of small micro-batches count more than others. So each loss is the sum over the
// micro-batch divided by this rank's number of samples in all of them, which is what
// cross_entropy's divisor is for.
//
//   p = 1                       losses    mean     sum / 4
//   micro-batch 0               4 2 3     3        9/4
//   micro-batch 1               7         7        7/4
//   wrong: 3 + 7, or (3+7)/2 = 5                   right: 9/4 + 7/4 = 4 = (4+2+3+7)/4
//
// Build on ddp_average_gradients, once.
//
// Cost: the native all-reduce of every parameter, one after the other, for any number of
// micro-batches.
// Memory: what one micro-batch saves for its backward, not the whole batch.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 3/5.
// Paper: Li et al., PyTorch Distributed: experiences on accelerating data parallel training, VLDB
// 2020, section 3.2.4.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/data/dataset.h"
#include "training/sequential.h"

namespace rankbox {

/// Every parameter's gradient becomes that of the mean loss (cross-entropy) over the samples of all
/// micro-batches of all ranks. Values are unchanged.
///
/// @param micro_batches of this rank, in training mode, without padding; none is empty. Their
/// number and their sizes may differ from rank to rank
/// REQUIRES: every rank has as many samples in all, at least one; gradients are empty or zero.
void ddp_no_sync(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches);

}  // namespace rankbox
