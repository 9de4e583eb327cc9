// Judges data_parallel: a master scatters batch and model in every step.
#include "parallel/data_parallel.h"

#include <algorithm>
#include <limits>

#include "judge/case_lists.h"
#include "judge/training/native_calls.h"
#include "judge/training/small_training.h"
#include "judge/training_families.h"
#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/sequential.h"

namespace rankbox {

namespace {

using Function = decltype(&data_parallel);

/// Returns a batch of the same size without the master's data.
Batch without_data(Batch batch) {
  batch.x = full(batch.x.shape(), std::numeric_limits<float>::quiet_NaN());
  std::fill(batch.labels.begin(), batch.labels.end(), kIgnoredLabel);
  return batch;
}

std::vector<Case> cases() {
  return cases_with_each({{.count = 5, .steps = 1}, {.count = 5, .steps = 20}});
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size();
  int step = 0;
  const auto one_step = [&](Sequential& model, const Batch& /*mine*/) {
    const Batch whole = padded_batch(p, step++);
    function(dist, model, dist.rank() == 0 ? whole : without_data(whole));
  };
  return compare_training(dist, example, one_step, /*holds_result=*/dist.rank() == 0, padded_batch);
}

NativeCalls calls(const Case& example) {
  using enum CollectiveKind;
  const std::vector<std::int64_t> sizes = small_model_sizes(*example.count);
  const std::int64_t in = kSamplesPerRank * kSmallInputs;
  const std::int64_t out = kSamplesPerRank * kSmallClasses;
  const NativeCalls middle = {{kScatter, in}, {kGather, out}, {kScatter, out}};
  return repeated(*example.steps, calls_of(kBroadcast, sizes) + middle + calls_of(kReduce, sizes));
}

}  // namespace

Family family::data_parallel() {
  return make_family<Function>("data_parallel",
                               "(Comm& dist, Sequential& model, const Batch& batch)",
                               subject_with_calls(cases, calls), run);
}

}  // namespace rankbox
