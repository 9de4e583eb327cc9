#include "parallel/stochastic_rounding.h"

#include <bit>

#include "compute/for_each.h"

namespace rankbox {

void stochastic_rounding(const Tensor& gradient, float learning_rate, std::uint64_t seed,
                         std::int64_t step, std::int64_t first, TensorOf<BFloat16>& weights) {
  constexpr std::uint32_t kInfinity = 0x7f800000;  // an exponent of ones: infinite, or NaN
  const Random random = Random(seed).stream(static_cast<std::uint64_t>(step));
  const float* const slope = gradient.data();
  BFloat16* const weight = weights.data();
  for_each(weights.size(), [=] RANKBOX_PORTABLE(std::int64_t i) {
    const float exact = static_cast<float>(weight[i]) - learning_rate * slope[i];
    const auto bits = std::bit_cast<std::uint32_t>(exact);
    if ((bits & kInfinity) == kInfinity) {
      weight[i] = BFloat16(exact);
      return;
    }
    const auto r =
        static_cast<std::uint32_t>(random.at(static_cast<std::uint64_t>(first + i)) >> 48);
    const std::uint32_t sum = bits + r;
    const bool is_finite = (sum & kInfinity) != kInfinity;
    weight[i] = BFloat16::from_bits(static_cast<std::uint16_t>((is_finite ? sum : bits) >> 16));
  });
}

}  // namespace rankbox
