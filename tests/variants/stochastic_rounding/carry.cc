// Adds the lower halves, and looks at the carry; on the host.
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "parallel/stochastic_rounding.h"

namespace rankbox {

void stochastic_rounding(const Tensor& gradient, float learning_rate, std::uint64_t seed,
                         std::int64_t step, std::int64_t first, TensorOf<BFloat16>& weights) {
  const std::vector<float> slopes = to_host(gradient);
  std::vector<BFloat16> rounded = to_host(weights);
  const Random random = Random(seed).stream(static_cast<std::uint64_t>(step));
  auto number = static_cast<std::uint64_t>(first);
  auto slope = slopes.begin();
  for (BFloat16& weight : rounded) {
    const float exact = float{weight} - learning_rate * *slope++;
    const std::uint64_t r = random.at(number++) >> 48;
    if (!std::isfinite(exact)) {
      weight = BFloat16(exact);
      continue;
    }
    const auto bits = std::bit_cast<std::uint32_t>(exact);
    const bool carries = (bits & 0xffff) + r > 0xffff;
    const auto upper = static_cast<std::uint16_t>((bits >> 16) + (carries ? 1 : 0));
    const bool is_finite = (upper & 0x7f80) != 0x7f80;
    weight = BFloat16::from_bits(is_finite ? upper : static_cast<std::uint16_t>(bits >> 16));
  }
  copy(weights, from_host(rounded));
}

}  // namespace rankbox
