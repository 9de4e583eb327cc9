// Adds on the host with std::transform, and copies back.
#include <algorithm>
#include <functional>
#include <vector>

#include "parallel/bf16_gradients.h"

namespace rankbox {

void bf16_gradients(Comm& dist, const TensorOf<BFloat16>& gradient, int micro_batch,
                    int micro_batches, Tensor& main_gradient) {
  const std::vector<BFloat16> more = to_host(gradient);
  std::vector<float> sum(more.size());
  if (micro_batch > 0) sum = to_host(main_gradient);
  std::transform(more.begin(), more.end(), sum.begin(), sum.begin(), std::plus<float>());
  copy(main_gradient, from_host(sum));
  if (micro_batch + 1 < micro_batches) return;
  const Request request = dist.all_reduce_async(main_gradient, ReduceOp::AVG);
  dist.wait(request);
}

}  // namespace rankbox
