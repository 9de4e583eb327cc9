// Widens by bits: a BFloat16 is the upper half of a float.
#include <bit>
#include <cstdint>

#include "parallel/bf16_gradients.h"

namespace rankbox {

namespace {

float widened(BFloat16 half) {
  return std::bit_cast<float>(std::uint32_t{std::bit_cast<std::uint16_t>(half)} << 16);
}

}  // namespace

void bf16_gradients(Comm& dist, const TensorOf<BFloat16>& gradient, int micro_batch,
                    int micro_batches, Tensor& main_gradient) {
  const auto begins = micro_batch == 0, ends = micro_batch == micro_batches - 1;
  for (std::int64_t i = gradient.size(); i-- > 0;) {
    float& sum = main_gradient.data()[i];
    sum = (begins ? 0.0F : sum) + widened(gradient.data()[i]);
    if (ends) sum /= static_cast<float>(dist.world_size());
  }
  if (ends) dist.all_reduce(main_gradient, ReduceOp::SUM);
}

}  // namespace rankbox
