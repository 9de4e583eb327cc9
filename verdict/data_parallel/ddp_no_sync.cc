// Judges ddp_no_sync: the gradient of the mean over all micro-batches of all ranks, sent once.
#include <algorithm>

#include <fmt/format.h>

#include "training/data/dataset.h"
#include "training/sequential.h"
#include "verdict/case_lists.h"
#include "verdict/checks.h"
#include "verdict/data_parallel/buckets.h"
#include "verdict/data_parallel/families.h"
#include "verdict/training/known_mistakes.h"
#include "verdict/training/native_calls.h"
#include "verdict/training/small_training.h"

namespace rankbox {

namespace {

using Function = void (*)(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches);

constexpr std::int64_t kHidden = 9;
constexpr float kBound = 3e-6f;  // the order of additions differs

int rounds_in(const Case& example) { return std::max(1, *example.steps); }

/// Splits this rank's samples into at most `number` micro-batches. One is larger than the others;
/// rank and step determine which.
std::vector<Batch> micro_batches(const Batch& whole, int number, int rank, int step) {
  const std::int64_t most = std::min<std::int64_t>(number, whole.size());
  const std::int64_t large = (rank + step) % most;
  std::vector<Batch> cut;
  for (std::int64_t i = 0, begin = 0; i < most; ++i) {
    const std::int64_t size = i == large ? whole.size() - most + 1 : 1;
    cut.push_back(micro_batch(whole, begin, begin + size));
    begin += size;
  }
  return cut;
}

std::vector<Batch> micro_batches_of(const Case& example, int rank, int step) {
  const int p = example.world_size;
  return micro_batches(part_of(small_batch(p, step), rank, p), *example.segments, rank, step);
}

/// Returns the parameters that other weights would produce from the first step's micro-batches.
/// @param weight (rank, micro-batch, number of micro-batches on the rank, size) of a micro-batch's
/// mean
template <class Weight>
std::vector<NamedTensor> gradients_with(const Case& example, Weight weight) {
  std::vector<Weighted> all;
  for (int rank = 0; rank < example.world_size; ++rank) {
    const std::vector<Batch> own = micro_batches_of(example, rank, 0);
    for (std::size_t k = 0; k < own.size(); ++k) {
      const double w = weight(rank, k, own.size(), static_cast<double>(own[k].size()));
      if (w > 0) all.push_back({own[k], w});
    }
  }
  Sequential model(small_model(*example.count));
  add_weighted_gradients(model, all);
  return gradients_of(model);
}

std::vector<Mistake> mistakes(const Case& example, int me) {
  const double p = example.world_size;
  const auto made = [=](auto weight) { return [=] { return gradients_with(example, weight); }; };
  return {
      {"that is this rank's own gradient: the others' are missing",
       made([=](int rank, std::size_t, std::size_t, double size) {
         return rank == me ? size / kSamplesPerRank : 0;
       })},
      {"those are the micro-batches' means, added up: the larger their number, the larger the "
       "step. Divide each loss by this rank's number of samples: cross_entropy's divisor",
       made([=](int, std::size_t, std::size_t, double) { return 1 / p; })},
      {"that is the mean of the micro-batches' means: samples of small ones count too much. Divide "
       "each loss by this rank's number of samples: cross_entropy's divisor",
       made([=](int, std::size_t, std::size_t n, double) {
         return 1 / p / static_cast<double>(n);
       })},
      {"that is the last micro-batch's gradient alone: gradients have to add up",
       made([=](int, std::size_t k, std::size_t n, double) { return k + 1 == n ? 1 / p : 0; })},
      {"that is the last micro-batch's part alone: gradients have to add up",
       made([=](int, std::size_t k, std::size_t n, double size) {
         return k + 1 == n ? size / kSamplesPerRank / p : 0;
       })},
      {"that is the sum of all ranks' gradients: their mean is wanted",
       made([=](int, std::size_t, std::size_t, double size) { return size / kSamplesPerRank; })},
  };
}

std::vector<Case> cases() {
  return cases_with_each({{.segments = 1, .count = kHidden, .steps = 0},
                          {.segments = 2, .count = kHidden, .steps = 0},
                          {.segments = 3, .count = kHidden, .steps = 0},
                          {.segments = 3, .count = kHidden, .steps = 20}});
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  if (*example.steps > 0) {
    int step = 0;
    return compare_training(dist, example, [&](Sequential& model, const Batch& mine) {
      function(dist, model, micro_batches(mine, *example.segments, dist.rank(), step++));
    });
  }
  Sequential model(small_model(*example.count));
  function(dist, model, micro_batches_of(example, dist.rank(), 0));

  Sequential alone(small_model(*example.count));
  add_gradients(alone, small_batch(dist.world_size(), 0));
  return compare_tensors(gradients_of(model), gradients_of(alone), kBound,
                         mistakes(example, dist.rank()),
                         "one rank has this gradient of the mean over all samples");
}

NativeCalls calls(const Case& example) {
  return repeated(rounds_in(example),
                  calls_of(CollectiveKind::kAllReduce, small_model_sizes(*example.count)));
}

std::optional<Difference> compare_schedule(const RunReport& report, const Case& example) {
  if (example.world_size == 1) return std::nullopt;
  const std::size_t once = small_model_sizes(*example.count).size();
  const std::size_t expected = once * static_cast<std::size_t>(rounds_in(example));
  const std::size_t actual = all_reduces_of(report.trace, 0).size();
  if (actual <= expected) return std::nullopt;
  return Difference{"all-reduces",
                    -1,
                    fmt::format("{}", expected),
                    fmt::format("{}", actual),
                    "gradients add up in silence and travel once, after the last micro-batch",
                    0};
}

}  // namespace

Family family::ddp_no_sync() {
  return make_family<Function>(
      "ddp_no_sync", "(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches)",
      subject_with_calls(cases, calls, {check_of(FailureKind::kCost, compare_schedule)}), run);
}

}  // namespace rankbox
