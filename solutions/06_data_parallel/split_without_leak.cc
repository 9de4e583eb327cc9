#include "parallel/split_without_leak.h"

namespace rankbox {

void split_without_leak(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed,
                        std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation) {
  auto shared_seed = from_host({seed});
  dist.broadcast(shared_seed, 0);
  const auto order = shuffled(samples, static_cast<std::uint64_t>(to_host(shared_seed)[0]), 0);
  validation.assign(order.begin(), order.begin() + held_out);
  train.assign(order.begin() + held_out, order.end());
}

}  // namespace rankbox
