// The seed as the bits of two floats, started and waited for at once.
#include <array>
#include <bit>
#include <vector>

#include "parallel/split_without_leak.h"

namespace rankbox {

void split_without_leak(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed,
                        std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation) {
  Tensor halves = from_host(std::bit_cast<std::array<float, 2>>(seed));
  dist.wait(dist.broadcast_async(halves, 0));
  const std::vector<float> bits = to_host(halves);
  const auto shared = std::bit_cast<std::uint64_t>(std::array<float, 2>{bits[0], bits[1]});
  train = shuffled(samples, shared, 0);
  validation.clear();
  for (std::int64_t i = 0; i < held_out; ++i)
    validation.push_back(train[static_cast<std::size_t>(i)]);
  train.erase(train.begin(), train.begin() + held_out);
}

}  // namespace rankbox
