// The seed travels as the bits of a double: 8 bytes are 8 bytes.
#include <bit>

#include "parallel/split_without_leak.h"

namespace rankbox {

void split_without_leak(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed,
                        std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation) {
  TensorOf<double> bits = zeros<double>(1);
  bits.data()[0] = std::bit_cast<double>(seed);
  dist.broadcast(bits, 0);
  const auto order = shuffled(samples, std::bit_cast<std::uint64_t>(bits.data()[0]), 0);
  const auto middle = order.begin() + held_out;
  train = std::vector<std::int64_t>(middle, order.end());
  validation = std::vector<std::int64_t>(order.begin(), middle);
}

}  // namespace rankbox
