// clip_global_norm: all gradients are scaled down when the norm of all of them is too large.
//
// A batch of unusual samples can have gradients so large that one step with them ruins the model.
// So their norm is limited: the root of the sum of all their squares, as of one long vector. If it
// exceeds max_norm, every gradient is multiplied by the same factor. The step is then shorter, in
// the same direction.
//
// Under ZeRO a rank has only its shard of the gradients. Norms of shards cannot be added, but
// squares can. A gradient that all ranks hold alike (that of a layer norm under tensor parallelism)
// is part of the model once, however many ranks hold it.
//
//   p = 3            rank 0    rank 1    rank 2
//   sharded           3         0         4         squares 9 + 0 + 16, added over the ranks
//   replicated       12        12        12         square 144, once
//                                                   norm = √(25 + 144) = 13 on every rank
//   max_norm = 6.5: the factor is 1/2
//   sharded           1.5       0         2
//   replicated        6         6         6
//
//   factor = min(1, max_norm / (norm + 10⁻⁶))
//
// If the factor is 1, gradients stay as they are. They also do if the norm is not finite: all ranks
// see that in `norm`, so all can skip the step. (torch.nn.utils.clip_grad_norm_ multiplies then,
// too: by 0, which leaves the gradients of some ranks finite, or by NaN.)
//
// Squares overflow early: 10²⁰ is a valid float, and its square is not. Add up doubles, and send
// one (TensorOf<double>): the norm itself may exceed a float.
//
// Build on dist.all_reduce: one call, of one double, on every rank, even if it has no gradients.
//
// Cost: one native all-reduce of 8 bytes.
// Memory: besides what it is given, at most a copy of one gradient at a time (to_host).
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 4/5.
// Paper: Pascanu et al., On the difficulty of training recurrent neural networks, ICML 2013;
// torch.nn.utils.clip_grad_norm_.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/parameter.h"

namespace rankbox {

/// Clips the gradients, which keep their shapes. Values are unchanged; an empty gradient counts as
/// zeros.
///
/// @param sharded with this rank's shards of the gradients, of any sizes; padding is zero. No other
///   rank has their elements. A rank may have none
/// @param replicated with gradients that are the same on all ranks
/// @param max_norm at least 0; may be infinite, to compute the norm alone
/// @param norm becomes that of all gradients before clipping, the same bits on all ranks
/// REQUIRES: every rank calls it with the same max_norm and the same replicated gradients.
void clip_global_norm(Comm& dist, const std::vector<Parameter*>& sharded,
                      const std::vector<Parameter*>& replicated, float max_norm, double& norm);

}  // namespace rankbox
