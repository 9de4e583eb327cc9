#include "parallel/bf16_gradients.h"

#include "compute/for_each.h"

namespace rankbox {

void bf16_gradients(Comm& dist, const TensorOf<BFloat16>& gradient, int micro_batch,
                    int micro_batches, Tensor& main_gradient) {
  const BFloat16* const from = gradient.data();
  float* const sum = main_gradient.data();
  const bool is_first = micro_batch == 0;
  for_each(gradient.size(), [=] RANKBOX_PORTABLE(std::int64_t i) {
    const float wide = from[i];
    sum[i] = is_first ? wide : sum[i] + wide;
  });
  if (micro_batch + 1 == micro_batches) dist.all_reduce(main_gradient, ReduceOp::AVG);
}

}  // namespace rankbox
