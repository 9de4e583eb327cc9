// ddp_init_broadcast: all ranks start with the same model.
//
// Ranks that average their gradients stay equal only if they start equal. Whether each drew its own
// initial values or one of them loaded a checkpoint, rank 0's values win. Parameters are not
// everything: running statistics (batch norm's mean and variance) are part of a model too, and no
// gradient will ever make them equal. (PyTorch's DDP broadcasts rank 0's statistics again before
// every forward pass, unless broadcast_buffers is false; here once, at the start.)
//
// Before: every rank has the same layers, with its own values.
// After:  every rank has rank 0's values, in parameters and statistics. Gradients are unchanged.
//
// Build on dist.broadcast, once for each tensor.
//
// Cost: the native broadcast of every tensor, one after the other.
// Blocks: until all ranks have called it.
// Difficulty 1/5. Importance 4/5.
// Paper: Li et al., PyTorch Distributed: experiences on accelerating data parallel training, VLDB
// 2020, section 3.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/parameter.h"

namespace rankbox {

/// All values and statistics become rank 0's. Tensors keep their shapes.
///
/// REQUIRES: every rank calls it with tensors of the same sizes in the same order.
/// Errors: CollectiveMismatch if the sizes differ.
void ddp_init_broadcast(Comm& dist, const std::vector<Parameter*>& parameters,
                        const std::vector<NamedTensor*>& statistics);

}  // namespace rankbox
