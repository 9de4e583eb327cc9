// Judges data_parallel: a master scatters batch and model in every step.
#include "parallel/data_parallel.h"

#include <algorithm>
#include <limits>

#include "judge/case_lists.h"
#include "judge/training/known_mistakes.h"
#include "judge/training/native_calls.h"
#include "judge/training/small_training.h"
#include "judge/training_families.h"
#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/sequential.h"

namespace rankbox {

namespace {

using Function = decltype(&data_parallel);

constexpr std::int64_t kOfRows = 3;  // of the case whose samples have rows

/// Returns a batch of the same size without the master's data.
Batch without_data(Batch batch) {
  batch.x = full(batch.x.shape(), std::numeric_limits<float>::quiet_NaN());
  std::fill(batch.labels.begin(), batch.labels.end(), kIgnoredLabel);
  return batch;
}

std::vector<Case> cases() {
  return cases_with_each(
      {{.count = 5, .steps = 1}, {.count = kOfRows, .steps = 1}, {.count = 5, .steps = 20}});
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size();
  const bool has_rows = *example.count == kOfRows;
  const Batches batches = has_rows ? batch_of_rows : padded_batch;
  int step = 0;
  const ModelMaker maker = has_rows ? model_of_rows : small_model;
  std::optional<Difference> wrong;
  const auto one_step = [&](Sequential& model, const Batch& /*mine*/) {
    const Batch whole = batches(p, step++);
    const bool begins = step == 1 && dist.rank() > 0;  // with a model that is not rank 0's
    if (begins) {
      for (Parameter* parameter : model.parameters())
        copy(parameter->value, full(parameter->value.shape(), 7));
    }
    function(dist, model, dist.rank() == 0 ? whole : without_data(whole));
    if (!begins) return;
    Sequential of_rank_0(maker(*example.count));
    wrong = compare_tensors(
        values_of(model.parameters()), values_of(of_rank_0.parameters()), 0, {},
        {"parameters-of-rank-0", "the parameters of all ranks become rank 0's, in every step"});
  };
  auto of_master =
      compare_training(dist, example, one_step, /*holds_result=*/dist.rank() == 0, batches, maker);
  return wrong ? wrong : of_master;
}

NativeCalls calls(const Case& example) {
  using enum CollectiveKind;
  const std::vector<std::int64_t> sizes = small_model_sizes(*example.count);
  const std::int64_t rows = *example.count == kOfRows ? 2 : 1;
  const std::int64_t in = kSamplesPerRank * rows * kSmallInputs;
  const std::int64_t out = kSamplesPerRank * kSmallClasses;
  const NativeCalls middle = {{kScatter, in}, {kGather, out}, {kScatter, out}};
  return repeated(*example.steps, calls_of(kBroadcast, sizes) + middle + calls_of(kReduce, sizes));
}

}  // namespace

Family family::data_parallel() {
  Subject subject = subject_with_calls(cases, calls);
  subject.cost_unit = [](const Case& example) { return psi_of(small_model_sizes(*example.count)); };
  return make_family<Function>("data_parallel",
                               "(Comm& dist, Sequential& model, const Batch& batch)", subject, run);
}

}  // namespace rankbox
