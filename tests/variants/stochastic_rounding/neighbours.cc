// The two neighbours by name, and a comparison: away from zero if r reaches the distance left.
#include <cmath>
#include <cstring>

#include "parallel/stochastic_rounding.h"

namespace rankbox {

namespace {

BFloat16 rounded(float exact, std::uint64_t r) {
  if (!std::isfinite(exact)) return BFloat16(exact);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &exact, sizeof bits);
  const auto toward_zero = static_cast<std::uint16_t>(bits >> 16);
  const std::uint64_t left = 0x10000 - (bits & 0xffff);
  const auto away = BFloat16::from_bits(static_cast<std::uint16_t>(toward_zero + 1));
  if (r < left || std::isinf(float{away})) return BFloat16::from_bits(toward_zero);
  return away;
}

}  // namespace

void stochastic_rounding(const Tensor& gradient, float learning_rate, std::uint64_t seed,
                         std::int64_t step, std::int64_t first, TensorOf<BFloat16>& weights) {
  const Random of_run(seed);
  for (std::int64_t i = 0; i < weights.size(); ++i) {
    const Random of_step = of_run.stream(static_cast<std::uint64_t>(step));
    const std::uint64_t r = of_step.at(static_cast<std::uint64_t>(i + first)) / (1ull << 48);
    const float change = -learning_rate * gradient.data()[i];
    weights.data()[i] = rounded(static_cast<float>(weights.data()[i]) + change, r);
  }
}

}  // namespace rankbox
