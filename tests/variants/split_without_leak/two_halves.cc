// The seed in a tensor that is written to, and one list that is cut in two.
#include "parallel/split_without_leak.h"

namespace rankbox {

void split_without_leak(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed,
                        std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation) {
  TensorOf<std::int64_t> shared = zeros<std::int64_t>(1);
  if (dist.rank() == 0) shared.data()[0] = seed;
  Request request = dist.broadcast_async(shared, 0);
  dist.wait(request);
  train.clear();
  validation.clear();
  for (const std::int64_t sample :
       shuffled(samples, static_cast<std::uint64_t>(shared.data()[0]), 0)) {
    const bool holds_back = static_cast<std::int64_t>(validation.size()) < held_out;
    (holds_back ? validation : train).push_back(sample);
  }
}

}  // namespace rankbox
