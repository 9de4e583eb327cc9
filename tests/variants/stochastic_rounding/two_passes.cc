// All exact values first, in a tensor; then all are rounded, with 64-bit sums of bits.
#include <bit>
#include <vector>

#include "compute/cast.h"
#include "parallel/stochastic_rounding.h"

namespace rankbox {

void stochastic_rounding(const Tensor& gradient, float learning_rate, std::uint64_t seed,
                         std::int64_t step, std::int64_t first, TensorOf<BFloat16>& weights) {
  Tensor exact(weights.shape());
  cast(weights, exact);
  Tensor scaled = clone(gradient);
  scaled *= -learning_rate;
  exact += scaled;

  std::vector<BFloat16> result;
  const Random random = Random(seed).stream(static_cast<std::uint64_t>(step));
  auto number = static_cast<std::uint64_t>(first);
  for (const float value : to_host(exact)) {
    const std::uint64_t r = random.at(number++) >> 48;
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint64_t magnitude = bits & 0x7fffffff;
    std::uint64_t sum = magnitude + r;
    if (magnitude > 0x7f800000) sum = 0x7fc00000;                       // NaN
    if (magnitude < 0x7f800000 && sum >= 0x7f800000) sum = 0x7f7f0000;  // the largest
    result.push_back(
        BFloat16::from_bits(static_cast<std::uint16_t>((sum | (bits & 0x80000000)) >> 16)));
  }
  copy(weights, from_host(result));
}

}  // namespace rankbox
