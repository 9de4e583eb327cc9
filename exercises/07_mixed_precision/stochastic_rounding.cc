#include "parallel/stochastic_rounding.h"

#include <bit>

namespace rankbox {

void stochastic_rounding(const Tensor& gradient, float learning_rate, std::uint64_t seed,
                         std::int64_t step, std::int64_t first, TensorOf<BFloat16>& weights) {
  // TODO: the exact value is a float; std::bit_cast<std::uint32_t>(exact) are its bits, and
  // BFloat16::from_bits(upper_half) makes a weight. Which two kinds of values need care?
  throw NotImplemented("stochastic_rounding");
}

}  // namespace rankbox
