// The gradient as a tensor of floats; sums of tensors, and a division after the all-reduce.
#include "compute/cast.h"
#include "parallel/bf16_gradients.h"

namespace rankbox {

void bf16_gradients(Comm& dist, const TensorOf<BFloat16>& gradient, int micro_batch,
                    int micro_batches, Tensor& main_gradient) {
  Tensor wide(gradient.shape());
  cast(gradient, wide);
  if (micro_batch == 0) copy(main_gradient, zeros(main_gradient.shape()));
  main_gradient += wide;
  if (micro_batch + 1 < micro_batches) return;
  dist.all_reduce(main_gradient, ReduceOp::SUM);
  main_gradient *= 1.0F / static_cast<float>(dist.world_size());
}

}  // namespace rankbox
