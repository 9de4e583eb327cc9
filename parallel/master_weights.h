// master_weights: weights in 16 bits to compute with, in 32 bits to learn with.
//
// A 16-bit float has 11 significant bits: near 1.0 the numbers are 0.001 apart. An optimizer's step
// is often smaller: weight - 0.0001 is rounded back to weight in every step, and the model stands
// still although there is more to learn. So the optimizer keeps a copy in 32 bits, the master
// weights, where small steps add up. Layers compute with the master weights rounded to 16 bits.
//
//   master      1.0000      0.9999      0.9998   …   0.9990
//   weights     1.0000      1.0000      1.0000   …   0.9990      rounded from the master each time
//
// The gradient comes in 16 bits, and loss_scale times as large: most gradients are too small for 16
// bits, so the loss was multiplied by that number before backward. Widen it first, then divide: in
// 16 bits the quotient would be too small again.
//
// Cost: no messages. Memory: 4 bytes more per weight; 6 instead of 4, and still faster.
// Blocks: never.
// Difficulty 1/5. Importance 4/5.
// Paper: Micikevicius et al., Mixed precision training, ICLR 2018, section 3.1.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// One step of gradient descent: master -= learning_rate * gradient / loss_scale, in 32 bits; then
/// weights are the master's values in 16, rounded to the nearest, and infinite far beyond 65504.
/// Both keep their shapes.
///
/// REQUIRES: three tensors of one size; loss_scale > 0.
void master_weights(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                    Tensor& master, TensorOf<Float16>& weights);

}  // namespace rankbox
