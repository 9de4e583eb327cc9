#include "verdict/data_parallel/ddp_uneven_inputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "training/sgd.h"
#include "verdict/data_parallel/buckets.h"
#include "verdict/data_parallel/parameters.h"
#include "verdict/data_parallel/small_training.h"
#include "verdict/data_parallel/suspects.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

constexpr std::int64_t kHidden = 9;
constexpr std::int64_t kCountBytes = 8;
constexpr SgdOptions kSgd = {.learning_rate = 0.2, .momentum = 0.5};

/// Rank p/2 has `most`, the next one none, those after it ever more.
int number_of_batches(int rank, int world_size, int most) {
  if (world_size == 1) return most;
  const int longest = world_size / 2;
  const int place = (rank - longest - 1 + world_size) % world_size;  // longest: world_size - 1
  return most * place / (world_size - 1);
}

/// 1 to 3 samples, different ones for all ranks and steps.
Batch batch_of(int rank, int world_size, int step) {
  const std::int64_t begin = rank * kSamplesPerRank;
  return micro_batch(small_batch(world_size, step), begin, begin + 1 + (rank + step) % 3);
}

std::vector<Batch> batches_of(int rank, const Case& example) {
  const int number = number_of_batches(rank, example.world_size, *example.segments);
  std::vector<Batch> batches;
  for (int step = 0; step < number; ++step)
    batches.push_back(batch_of(rank, example.world_size, step));
  return batches;
}

/// What there is in a step: batches and whose they are.
struct Step {
  std::vector<int> ranks;
  std::vector<Batch> batches;
  double samples = 0;
};

Step step_of(const Case& example, int step) {
  Step all;
  for (int rank = 0; rank < example.world_size; ++rank) {
    if (step >= number_of_batches(rank, example.world_size, *example.segments)) continue;
    all.ranks.push_back(rank);
    all.batches.push_back(batch_of(rank, example.world_size, step));
    all.samples += static_cast<double>(all.batches.back().size());
  }
  return all;
}

/// One rank that learns from everybody's batches.
/// @param weight (step, i) of the mean loss of the step's i-th batch
template <class Weight>
std::vector<NamedTensor> trained(const Case& example, int steps, bool zeroes, Weight weight) {
  Sequential model(small_model(*example.count));
  Sgd optimizer(model.parameters(), kSgd);
  for (int number = 0; number < steps; ++number) {
    const Step step = step_of(example, number);
    std::vector<Weighted> weighted;
    for (std::size_t i = 0; i < step.batches.size(); ++i) {
      const double w = weight(step, i);
      if (w > 0) weighted.push_back({step.batches[i], w});
    }
    if (zeroes) zero_gradients(model.parameters());
    for (Parameter* parameter : model.parameters()) gradient_of(*parameter);
    add_weighted_gradients(model, weighted);
    optimizer.step();
  }
  return values_of(model);
}

/// Every sample counts the same: the batch of all.
double share(const Step& step, std::size_t i) {
  return static_cast<double>(step.batches[i].size()) / step.samples;
}

std::vector<Suspect> suspects(const Case& example, int me) {
  const int all = *example.segments;
  const auto made = [=](int steps, bool zeroes, auto weight) {
    return [=] { return trained(example, steps, zeroes, weight); };
  };
  const double p = example.world_size;
  return {
      {"nothing was learnt here: go on until nobody has a batch left, and take every step, also "
       "where there is none",
       made(0, true, share)},
      {"that is what comes of the mean over ranks: add up gradients and samples, and divide by the "
       "samples, not by the ranks",
       made(all, true, [=](const Step&, std::size_t) { return 1 / p; })},
      {"that is the mean of the ranks' means: samples of small batches count too much. Divide by "
       "the samples of all ranks",
       made(all, true,
            [](const Step& step, std::size_t) {
              return 1 / static_cast<double>(step.batches.size());
            })},
      {"that comes of a divisor of each rank's own: sums of means. Divide by the samples of all "
       "ranks",
       made(all, true, [](const Step&, std::size_t) { return 1.0; })},
      {"that is what this rank's own batches teach: the others' are missing",
       made(all, true,
            [=](const Step& step, std::size_t i) { return step.ranks[i] == me ? 1.0 : 0.0; })},
      {"gradients of the step before are still there: set them to zero", made(all, false, share)},
  };
}

}  // namespace

std::vector<Case> DdpUnevenInputs::cases() const {
  std::vector<Case> cases;
  for (const int world_size : world_sizes()) {
    for (const int most : {1, 3, 20}) {
      Case example;
      example.world_size = world_size;
      example.segments = most;
      example.count = kHidden;
      cases.push_back(example);
    }
  }
  return cases;
}

std::optional<Difference> DdpUnevenInputs::run(Comm& dist, const Case& example) const {
  Sequential model(small_model(*example.count));
  Sgd optimizer(model.parameters(), kSgd);
  function_(dist, model, optimizer, batches_of(dist.rank(), example));
  return compare_tensors(
      values_of(model), trained(example, *example.segments, true, share), kTrainingBound,
      suspects(example, dist.rank()),
      "one rank with all samples of every step gets there; each rank's optimizer has to take every "
      "step, also where this rank has no batch");
}

Cost DdpUnevenInputs::cost(const Case& example) const {
  std::vector<std::int64_t> sizes = small_model_sizes(*example.count);
  sizes.push_back(kCountBytes / kElementBytes);
  const Cost step = native(CollectiveKind::kAllReduce, example.world_size, sizes);
  const Cost end = native(CollectiveKind::kAllReduce, example.world_size, sizes.back());
  const int n = *example.segments;
  return {n * step.steps + end.steps, n * step.bytes + end.bytes, n * step.reduced + end.reduced};
}

std::optional<Difference> DdpUnevenInputs::compare_schedule(const RunReport& report,
                                                            const Case& example) const {
  if (example.world_size == 1) return std::nullopt;
  const std::vector<std::int64_t> bytes = all_reduces_of(report.trace, 0);
  const std::size_t parameters = small_model_sizes(*example.count).size();
  const std::size_t expected = static_cast<std::size_t>(*example.segments) * (parameters + 1) + 1;
  if (bytes.size() > expected) {
    return Difference{
        "all-reduces",
        -1,
        fmt::format("{}", expected),
        fmt::format("{}", bytes.size()),
        "in every step one of the count, which also tells when all are done, and one for "
        "each parameter",
        0};
  }
  if (bytes.empty() || bytes.front() == kCountBytes) return std::nullopt;
  return Difference{
      "the first all-reduce",
      -1,
      fmt::format("{} bytes", kCountBytes),
      fmt::format("{} bytes", bytes.front()),
      "first of all ranks have to know how many samples there are: one double, or one "
      "std::int64_t",
      0};
}

}  // namespace rankbox
