#include "verdict/data_parallel/data_parallel.h"

#include <algorithm>
#include <limits>

#include "training/cross_entropy.h"
#include "verdict/data_parallel/parameters.h"
#include "verdict/data_parallel/small_training.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

/// As large as the master's, and nothing in it.
Batch empty_hull(Batch batch) {
  std::fill_n(batch.x.data(), batch.x.size(), std::numeric_limits<float>::quiet_NaN());
  std::fill(batch.labels.begin(), batch.labels.end(), kIgnoredLabel);
  return batch;
}

Cost operator+(const Cost& a, const Cost& b) {
  return {a.steps + b.steps, a.bytes + b.bytes, a.reduced + b.reduced};
}

}  // namespace

std::vector<Case> DataParallel::cases() const {
  std::vector<Case> cases;
  for (const int world_size : world_sizes()) {
    for (const int steps : {1, 20}) {
      Case example;
      example.world_size = world_size;
      example.count = 5;
      example.steps = steps;
      cases.push_back(example);
    }
  }
  return cases;
}

std::optional<Difference> DataParallel::run(Comm& dist, const Case& example) const {
  const int p = dist.world_size();
  int step = 0;
  const auto one_step = [&](Sequential& model, const Batch& /*mine*/) {
    const Batch whole = small_batch(p, step++);
    function_(dist, model, dist.rank() == 0 ? whole : empty_hull(whole));
  };
  return compare_training(dist, example, one_step, /*holds_result=*/dist.rank() == 0);
}

Cost DataParallel::cost(const Case& example) const {
  const int p = example.world_size;
  const std::vector<std::int64_t> sizes = small_model_sizes(*example.count);
  const std::int64_t in = kSamplesPerRank * kSmallInputs;
  const std::int64_t out = kSamplesPerRank * kSmallClasses;
  const Cost step =
      native(CollectiveKind::kBroadcast, p, sizes) + native(CollectiveKind::kScatter, p, in) +
      native(CollectiveKind::kGather, p, out) + native(CollectiveKind::kScatter, p, out) +
      native(CollectiveKind::kReduce, p, sizes);
  return times(*example.steps, step);
}

}  // namespace rankbox
