// Judges ddp_uneven_inputs: ranks with different numbers of batches match one rank that trains on
// all of them.
#include "parallel/ddp_uneven_inputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/data_parallel/buckets.h"
#include "judge/salt.h"
#include "judge/training/known_mistakes.h"
#include "judge/training/native_calls.h"
#include "judge/training/small_training.h"
#include "judge/training_families.h"
#include "training/data/dataset.h"
#include "training/optimizer.h"
#include "training/sequential.h"
#include "training/sgd.h"

namespace rankbox {

namespace {

using Function = decltype(&ddp_uneven_inputs);

constexpr std::int64_t kHidden = 9;
constexpr std::int64_t kCountBytes = 8;

/// Rank p/2 has `most` batches, the next rank none, and each rank after that more. A salt draws the
/// first of these ranks, and the numbers of all others.
int number_of_batches(int rank, int world_size, int most) {
  if (world_size == 1) return most;
  const auto longest =
      static_cast<int>(drawn("rank with most batches", world_size / 2, 0, world_size - 1));
  if (rank == longest) return most;
  const int place = (rank - longest - 1 + world_size) % world_size;
  return static_cast<int>(
      drawn(fmt::format("batches of rank {}", rank), most * place / (world_size - 1), 0, most));
}

/// Returns 1 to 3 samples that differ between ranks and steps.
Batch batch_of(int rank, int world_size, int step) {
  const std::int64_t begin = rank * kSamplesPerRank;
  const std::int64_t size =
      drawn(fmt::format("samples of rank {} in step {}", rank, step), 1 + (rank + step) % 3, 1, 3);
  return micro_batch(small_batch(world_size, step), begin, begin + size);
}

std::vector<Batch> batches_of(int rank, const Case& example) {
  const int number = number_of_batches(rank, example.world_size, *example.segments);
  std::vector<Batch> batches;
  for (int step = 0; step < number; ++step)
    batches.push_back(batch_of(rank, example.world_size, step));
  return batches;
}

/// In one step, layers have to know what a batch's pass says.
Model model_of(const Case& example) {
  return *example.segments == 1 ? dropping_model(*example.count) : small_model(*example.count);
}

/// The batches of a step and the rank of each.
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

/// Trains on one rank with the batches of all ranks.
/// @param weight (step, i) of the mean loss of the step's i-th batch
template <class Weight>
std::vector<NamedTensor> trained(const Case& example, int steps, bool zeroes, Weight weight) {
  Sequential model(model_of(example));
  Sgd optimizer(model.parameters(), small_sgd());
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
  return values_of(model.parameters());
}

/// Every sample has the same weight: the mean over all ranks' samples.
double share(const Step& step, std::size_t i) {
  return static_cast<double>(step.batches[i].size()) / step.samples;
}

std::vector<Mistake> mistakes(const Case& example, int me) {
  const int all = *example.segments;
  const auto made = [=](int steps, bool zeroes, auto weight) {
    return [=] { return trained(example, steps, zeroes, weight); };
  };
  const double p = example.world_size;
  return {
      {{"go-on-until-all-are-done",
        "nothing was learnt here: go on until no rank has a batch left, and take every step, also "
        "on ranks without a batch"},
       made(0, true, share)},
      {{"divide-by-samples",
        "that is what comes of the mean over ranks: add up gradients and samples, and divide by "
        "the samples, not by the ranks"},
       made(all, true, [=](const Step&, std::size_t) { return 1 / p; })},
      {{"mean-of-rank-means",
        "that is the mean of the ranks' means: samples of small batches count too much. Divide by "
        "the samples of all ranks"},
       made(all, true,
            [](const Step& step, std::size_t) {
              return 1 / static_cast<double>(step.batches.size());
            })},
      {{"own-divisor",
        "that comes of a divisor of each rank's own: sums of means. Divide by the samples of all "
        "ranks"},
       made(all, true, [](const Step&, std::size_t) { return 1.0; })},
      {{"own-batches-alone", "that is what this rank's own batches teach: the others' are missing"},
       made(all, true,
            [=](const Step& step, std::size_t i) { return step.ranks[i] == me ? 1.0 : 0.0; })},
      {{"gradients-not-zeroed", "gradients of the step before are still there: set them to zero"},
       made(all, false, share)},
  };
}

std::vector<Case> cases() {
  std::vector<Case> all = cases_with_each({{.segments = 1, .count = kHidden},
                                           {.segments = 3, .count = kHidden},
                                           {.segments = 20, .count = kHidden}});
  all.push_back({.world_size = 2, .segments = 70, .count = kHidden});
  return all;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  Sequential model(model_of(example));
  Sgd optimizer(model.parameters(), small_sgd());
  function(dist, model, optimizer, batches_of(dist.rank(), example));
  return compare_tensors(values_of(model.parameters()),
                         trained(example, *example.segments, true, share), kTrainingBound,
                         mistakes(example, dist.rank()),
                         {"every-step-on-every-rank",
                          "one rank with all samples of every step gets there; each rank's "
                          "optimizer has to take every "
                          "step, also where this rank has no batch"});
}

NativeCalls calls(const Case& example) {
  const NativeCalls count = {{CollectiveKind::kAllReduce, kCountBytes / kElementBytes}};
  const NativeCalls gradients =
      calls_of(CollectiveKind::kAllReduce, small_model_sizes(*example.count));
  return repeated(*example.segments, count + gradients) + count;
}

std::optional<Difference> compare_schedule(const RunReport& report, const Case& example) {
  if (example.world_size == 1) return std::nullopt;
  const std::vector<std::int64_t> bytes = all_reduces_of(report.trace, 0);
  const std::size_t parameters = small_model_sizes(*example.count).size();
  const std::size_t expected = static_cast<std::size_t>(*example.segments) * (parameters + 1) + 1;
  // As many bytes in more calls are another mistake, which the cost names.
  const double bound = cost_of(calls(example), example.world_size).bytes;
  if (bytes.size() > expected && report.cost.bytes > bound) {
    return Difference{
        "all-reduces",
        -1,
        fmt::format("{}", expected),
        fmt::format("{}", bytes.size()),
        {"one-count-a-step",
         "in every step one of the count, which also tells when all are done, and one for "
         "each parameter"},
        0};
  }
  if (bytes.empty() || bytes.front() == kCountBytes) return std::nullopt;
  return Difference{
      "the first all-reduce",
      -1,
      fmt::format("{} bytes", kCountBytes),
      fmt::format("{} bytes", bytes.front()),
      {"count-first",
       "first of all ranks have to know how many samples there are: one double, or one "
       "std::int64_t"},
      0};
}

}  // namespace

Family family::ddp_uneven_inputs() {
  return make_family<Function>(
      "ddp_uneven_inputs",
      "(Comm& dist, Sequential& model, Optimizer& optimizer, const std::vector<Batch>& batches)",
      subject_with_calls(cases, calls, {check_of(FailureKind::kCost, compare_schedule)}), run);
}

}  // namespace rankbox
