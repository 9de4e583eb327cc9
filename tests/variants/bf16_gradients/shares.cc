// Each rank adds its share of the mean, so the sum over the ranks is the result.
#include "parallel/bf16_gradients.h"

namespace rankbox {

void bf16_gradients(Comm& dist, const TensorOf<BFloat16>& gradient, int micro_batch,
                    int micro_batches, Tensor& main_gradient) {
  const float share = 1 / static_cast<float>(dist.world_size());
  for (std::int64_t i = 0; i < gradient.size(); ++i) {
    float& sum = main_gradient.data()[i];
    if (micro_batch == 0) sum = 0;
    sum += gradient.data()[i] * share;
  }
  if (micro_batch == micro_batches - 1) dist.wait(dist.all_reduce_async(main_gradient));
}

}  // namespace rankbox
