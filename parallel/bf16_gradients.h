// bf16_gradients: gradients arrive in BFloat16, and add up in 32 bits.
//
// A BFloat16 is the upper half of a float. It has a float's range, so gradients neither vanish nor
// overflow, and need no loss scale. But it has 8 significant bits: above 256 the numbers are 2
// apart, and 256 + 1 is 256. A sum of many small gradients stops growing.
//
//   micro-batch           0      1      2      3
//   gradient            256      1      1      1      BFloat16
//   sum in BFloat16     256    256    256    256
//   main gradient       256    257    258    259      float
//
// So every weight has a gradient in 32 bits as well, its main gradient (Megatron's name). After
// each backward pass the micro-batch's gradient is widened and added to it. Nothing is sent until
// the last micro-batch. Then the main gradients are averaged over the ranks, in 32 bits, because
// that is a sum, too. The gradients of all weights are one tensor, so one all-reduce is enough.
//
// The loss of each micro-batch is already divided by the number of micro-batches: their gradients
// are summed, only those of the ranks are averaged.
//
// Build on dist.all_reduce of main_gradient, once per step.
//
// Cost: the native all-reduce of 4 bytes per element, for any number of micro-batches; and at most
// one addition per element of each micro-batch.
// Memory: 4 bytes more per weight.
// Blocks: with the last micro-batch, until all ranks have called it; before, never.
// Difficulty 1/5. Importance 4/5.
// Paper: Kalamkar et al., A study of BFLOAT16 for deep learning training, 2019.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// Adds the gradient of one micro-batch. With the last one, main_gradient becomes the mean over the
/// ranks of the sum over the micro-batches, in 32 bits. Until then its elements, but not its shape,
/// are this function's to use. What is not finite shows in the mean.
///
/// @param micro_batch 0, 1, … micro_batches - 1, one per call; then the next step begins with 0
/// @param main_gradient with micro-batch 0 it has elements of the step before, which are not needed
/// REQUIRES: every rank makes the same calls, with tensors of one size.
void bf16_gradients(Comm& dist, const TensorOf<BFloat16>& gradient, int micro_batch,
                    int micro_batches, Tensor& main_gradient);

}  // namespace rankbox
