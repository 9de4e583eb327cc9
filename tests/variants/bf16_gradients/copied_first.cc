// The first micro-batch is copied, the others are added, with algorithms instead of loops.
#include <algorithm>
#include <functional>

#include "parallel/bf16_gradients.h"

namespace rankbox {

void bf16_gradients(Comm& dist, const TensorOf<BFloat16>& gradient, int micro_batch,
                    int micro_batches, Tensor& main_gradient) {
  const BFloat16* const begin = gradient.data();
  const BFloat16* const end = begin + gradient.size();
  float* const into = main_gradient.data();
  if (micro_batch == 0) {
    std::copy(begin, end, into);
  } else {
    std::transform(begin, end, into, into, std::plus<float>());
  }
  const bool is_last = micro_batches - micro_batch == 1;
  if (is_last) dist.all_reduce(Slice(main_gradient), ReduceOp::AVG);
}

}  // namespace rankbox
