// Judges ddp_no_sync: the gradient of the mean over all micro-batches of all ranks, sent once, in
// the memory of one micro-batch.
#include "parallel/ddp_no_sync.h"

#include <algorithm>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/data_parallel/buckets.h"
#include "judge/judge.h"
#include "judge/memory_window.h"
#include "judge/training/known_mistakes.h"
#include "judge/training/native_calls.h"
#include "judge/training/small_training.h"
#include "judge/training_families.h"
#include "parallel/stage.h"
#include "training/data/dataset.h"
#include "training/sequential.h"

namespace rankbox {

namespace {

using Function = decltype(&ddp_no_sync);

constexpr std::int64_t kHidden = 9;
constexpr float kBound = 3e-6f;  // the order of additions differs

// The cases that judge memory: what a micro-batch saves exceeds bookkeeping.
constexpr std::int64_t kWide = 256;
constexpr std::int64_t kLarge = 16384;  // a micro-batch saves 1 MiB: Subject::large_cases
constexpr int kMicroBatchesOfWide = 20;
constexpr std::int64_t kSamplesOfWide = std::int64_t{16} * kMicroBatchesOfWide;
constexpr std::int64_t kBookkeeping = std::int64_t{16} << 10;

bool judges_memory(const Case& example) { return *example.count >= kWide; }

std::int64_t samples_per_rank(const Case& example) {
  return judges_memory(example) ? kSamplesOfWide : kSamplesPerRank;
}

/// Returns the batch of all ranks.
Batch batch_of(const Case& example, int step) {
  return small_batch(
      static_cast<int>(example.world_size * samples_per_rank(example) / kSamplesPerRank), step);
}

/// Layers may have to know what a micro-batch's pass says.
Model model_of(const Case& example) {
  return judges_memory(example) ? small_model(*example.count) : dropping_model(*example.count);
}

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

std::vector<Batch> own_micro_batches(const Case& example, int rank, int step) {
  const Batch mine = part_of(batch_of(example, step), rank, example.world_size);
  return judges_memory(example) ? rankbox::micro_batches_of(mine, *example.segments)
                                : micro_batches(mine, *example.segments, rank, step);
}

/// Compares with what the largest micro-batch needs. Half as much again is allowed, plus a
/// margin: not what two of them save.
std::optional<Difference> compare_memory(std::int64_t peak, const Case& example,
                                         const Batch& largest) {
  if (judges_only_values()) return std::nullopt;  // libraries hold their own memory
  Sequential alone(small_model(*example.count));
  const MemoryWindow of_one;
  add_gradients(alone, largest);
  const std::int64_t allowed = of_one.peak() * 3 / 2 + kBookkeeping;
  if (peak <= allowed) return std::nullopt;
  Difference excess{"memory held at the worst moment",
                    -1,
                    fmt::format("at most {} bytes", allowed),
                    fmt::format("{} bytes", peak),
                    {"backward-before-next-forward",
                     "go backward through a micro-batch before the next one goes forward"}};
  excess.kind = FailureKind::kMemory;
  return excess;
}

/// Returns the parameters that other weights would produce from the first step's micro-batches.
/// @param weight (rank, micro-batch, number of micro-batches on the rank, size) of a micro-batch's
/// mean
template <class Weight>
std::vector<NamedTensor> gradients_with(const Case& example, Weight weight) {
  std::vector<Weighted> all;
  for (int rank = 0; rank < example.world_size; ++rank) {
    const std::vector<Batch> own = own_micro_batches(example, rank, 0);
    for (std::size_t k = 0; k < own.size(); ++k) {
      const double w = weight(rank, k, own.size(), static_cast<double>(own[k].size()));
      if (w > 0) all.push_back({own[k], w});
    }
  }
  Sequential model(model_of(example));
  add_weighted_gradients(model, all);
  return gradients_of(model);
}

std::vector<Mistake> mistakes(const Case& example, int me) {
  const double p = example.world_size;
  const auto samples = static_cast<double>(samples_per_rank(example));
  const auto made = [=](auto weight) { return [=] { return gradients_with(example, weight); }; };
  return {
      {{"own-gradient-alone", "that is this rank's own gradient: the others' are missing"},
       made([=](int rank, std::size_t, std::size_t, double size) {
         return rank == me ? size / samples : 0;
       })},
      {{"sum-of-micro-batch-means",
        "those are the micro-batches' means, added up: the larger their number, the larger the "
        "step. Divide each loss by this rank's number of samples: cross_entropy's divisor"},
       made([=](int, std::size_t, std::size_t, double) { return 1 / p; })},
      {{"mean-of-micro-batch-means",
        "that is the mean of the micro-batches' means: samples of small ones count too much. "
        "Divide each loss by this rank's number of samples: cross_entropy's divisor"},
       made([=](int, std::size_t, std::size_t n, double) {
         return 1 / p / static_cast<double>(n);
       })},
      {{"last-micro-batch-gradient",
        "that is the last micro-batch's gradient alone: gradients have to add up"},
       made([=](int, std::size_t k, std::size_t n, double) { return k + 1 == n ? 1 / p : 0; })},
      {{"last-micro-batch-part",
        "that is the last micro-batch's part alone: gradients have to add up"},
       made([=](int, std::size_t k, std::size_t n, double size) {
         return k + 1 == n ? size / samples / p : 0;
       })},
      {{"sum-not-mean", "that is the sum of all ranks' gradients: their mean is wanted"},
       made([=](int, std::size_t, std::size_t, double size) { return size / samples; })},
  };
}

std::vector<Case> cases() {
  std::vector<Case> all = cases_with_each({{.segments = 1, .count = kHidden, .steps = 0},
                                           {.segments = 2, .count = kHidden, .steps = 0},
                                           {.segments = 3, .count = kHidden, .steps = 0}});
  for (const int world_size : world_sizes()) {
    all.push_back({.world_size = world_size,
                   .segments = 3,
                   .count = kHidden,
                   .steps = steps_of_training(world_size)});
  }
  for (const int world_size : {1, 2, 3}) {
    all.push_back(
        {.world_size = world_size, .segments = kMicroBatchesOfWide, .count = kWide, .steps = 0});
  }
  return all;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  if (*example.steps > 0) {
    int step = 0;
    return compare_training(dist, example, [&](Sequential& model, const Batch& mine) {
      function(dist, model, micro_batches(mine, *example.segments, dist.rank(), step++));
    });
  }
  Sequential model(model_of(example));
  const std::vector<Batch> mine = own_micro_batches(example, dist.rank(), 0);
  const auto peak_of_call = [&] {
    const MemoryWindow window;
    function(dist, model, mine);
    return window.peak();
  };
  const std::int64_t peak = peak_of_call();

  Sequential alone(model_of(example));
  add_gradients(alone, batch_of(example, 0));
  auto wrong = compare_tensors(
      gradients_of(model), gradients_of(alone), kBound, mistakes(example, dist.rank()),
      {"mean-over-all-samples", "one rank has this gradient of the mean over all samples"});
  if (wrong || !judges_memory(example)) return wrong;
  return compare_memory(peak, example, mine.front());
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
  // As many bytes in more calls are another mistake, which the cost names.
  if (actual <= expected || report.cost.bytes <= cost_of(calls(example), example.world_size).bytes)
    return std::nullopt;
  return Difference{"all-reduces",
                    -1,
                    fmt::format("{}", expected),
                    fmt::format("{}", actual),
                    {"send-after-last-micro-batch",
                     "gradients add up in silence and travel once, after the last micro-batch"},
                    0};
}

Subject subject() {
  Subject made = subject_with_calls(cases, calls, {check_of(FailureKind::kCost, compare_schedule)});
  made.limits_memory = true;
  made.large_cases = {
      {.world_size = 2, .segments = kMicroBatchesOfWide, .count = kLarge, .steps = 0}};
  return made;
}

}  // namespace

Family family::ddp_no_sync() {
  return make_family<Function>(
      "ddp_no_sync", "(Comm& dist, Sequential& model, const std::vector<Batch>& micro_batches)",
      subject(), run);
}

}  // namespace rankbox
