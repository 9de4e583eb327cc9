// Judges ddp_buckets: gradients become their means, in the buckets that the contract requires.
#include "parallel/ddp_buckets.h"

#include <algorithm>

#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/data_parallel/buckets.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training/small_training.h"
#include "judge/training_families.h"
#include "training/parameter.h"

namespace rankbox {

namespace {

using Function = decltype(&ddp_buckets);

constexpr int kSteps = 20;
constexpr std::int64_t kHidden = 9;
constexpr std::size_t kSmall = 6;  // small parameters

/// Returns the sizes of six parameters, with many small ones between. For at least one of the
/// limits below, each packing rule and each common misreading of it gives a different packing.
std::vector<std::int64_t> sizes(std::int64_t count) {
  std::vector<std::int64_t> all = {3 * count, 6 * count + 3, 1};
  all.resize(all.size() + kSmall, 2);
  for (const std::int64_t size : {4 * count, count + 1, std::int64_t{5}}) all.push_back(size);
  return all;
}

/// Every gradient alone; some together; two that fit exactly; the same two in one byte less; all
/// together, in a limit that 32 bits do not hold, or in the largest one; one that a salt draws.
std::vector<std::int64_t> limits(std::int64_t count) {
  const std::int64_t two = (count + 6) * kElementBytes;
  std::vector<std::int64_t> all = {1, 8 * (count + 1) * kElementBytes, two, two - 1,
                                   count % 2 == 0 ? INT64_MAX : std::int64_t{1} << 40};
  if (salt() != 0) all.push_back(drawn("bucket", 0, 5, 16 * (count + 1) * kElementBytes));
  return all;
}

std::vector<std::int64_t> sizes_in(const Case& example) {
  return *example.steps > 0 ? small_model_sizes(*example.count) : sizes(*example.count);
}

int rounds_in(const Case& example) { return std::max(1, *example.steps); }

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (Case example : cases_by_count()) {
    const std::int64_t count = *example.count;
    const bool is_chosen = count == 1 || count == example.world_size || count >= 26;
    if (!is_chosen) continue;
    example.steps = 0;
    for (const std::int64_t limit : limits(count)) {
      example.bucket_bytes = limit;
      cases.push_back(example);
    }
  }
  for (const int world_size : world_sizes()) {
    cases.push_back(
        {.world_size = world_size, .count = kHidden, .steps = kSteps, .bucket_bytes = 128});
  }
  return cases;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  if (*example.steps > 0) {
    return compare_training(dist, example, [&](Sequential& model, const Batch& mine) {
      add_gradients(model, mine);
      function(dist, model.parameters(), *example.bucket_bytes);
    });
  }
  const auto parameters = make_parameters(sizes_in(example), dist.rank(), dist.world_size());
  function(dist, parameters.pointers, *example.bucket_bytes);
  return compare_averaged(parameters, dist.rank(), dist.world_size());
}

NativeCalls calls(const Case& example) {
  const auto buckets = sizes_of(packed(sizes_in(example), *example.bucket_bytes));
  return repeated(rounds_in(example), calls_of(CollectiveKind::kAllReduce, buckets));
}

std::optional<Difference> compare_schedule(const RunReport& report, const Case& example) {
  return compare_buckets(report.trace, sizes_in(example), *example.bucket_bytes,
                         rounds_in(example));
}

}  // namespace

Family family::ddp_buckets() {
  return make_family<Function>(
      "ddp_buckets",
      "(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes)",
      subject_with_calls(cases, calls, {check_of(FailureKind::kCost, compare_schedule)}), run);
}

}  // namespace rankbox
