// Each sample is copied to the list to which its place in the order belongs.
#include <algorithm>
#include <iterator>
#include <vector>

#include "parallel/split_without_leak.h"

namespace rankbox {

namespace {

std::uint64_t seed_of_rank_0(Comm& dist, std::int64_t mine) {
  TensorOf<std::int64_t> seed = zeros<std::int64_t>(1);
  if (dist.rank() == 0) seed = from_host(std::vector<std::int64_t>{mine});
  dist.broadcast(seed, 0);
  return static_cast<std::uint64_t>(to_host(seed).at(0));
}

}  // namespace

void split_without_leak(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed,
                        std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation) {
  const auto order = shuffled(samples, seed_of_rank_0(dist, seed), 0);
  train.clear();
  validation.clear();
  std::int64_t place = 0;
  std::partition_copy(order.begin(), order.end(), std::back_inserter(validation),
                      std::back_inserter(train), [&](std::int64_t) { return place++ < held_out; });
}

}  // namespace rankbox
