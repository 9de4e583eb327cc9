// loss_scaling: gradients in 16 bits that are neither too small, nor too large when added up.
//
// The smallest 16-bit float is 6 · 10⁻⁸, and many gradients are smaller: they become 0, and what
// depends on them is not learnt. So the loss is multiplied by a scale S before the backward pass.
// All gradients become S times as large, within the range of 16 bits. Before they are used, they
// are divided by S again, in 32 bits.
//
// The largest 16-bit float is 65504: gradients of that magnitude overflow when those of several
// ranks are added in 16 bits. So they are widened before they are sent.
//
//   gradient     ·S (1024)       16 bits         widened, mean over ranks, /S
//   3 · 10⁻⁸     3.07 · 10⁻⁵     3.07 · 10⁻⁵     3 · 10⁻⁸
//   (unscaled, in 16 bits: 0 or 6 · 10⁻⁸)
//
// Build on dist.all_reduce of 32-bit tensors, once for each parameter.
//
// Cost: the native all-reduce of every parameter in 32 bits, one after the other.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 4/5.
// Paper: Micikevicius et al., Mixed precision training, ICLR 2018, section 3.2.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/parameter.h"

namespace rankbox {

/// parameters[k]->gradient becomes the mean over the ranks of scaled[k] / loss_scale, in the shape
/// of the value. What is not finite shows in the mean.
///
/// @param scaled this rank's gradients, loss_scale times too large; one per parameter, of its size
/// REQUIRES: every rank calls it with the same loss_scale, a power of two that may be below 1, and
/// parameters of the same sizes; their gradients are empty or zero.
void loss_scaling(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale,
                  const std::vector<Parameter*>& parameters);

}  // namespace rankbox
