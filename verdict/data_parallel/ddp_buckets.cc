#include "verdict/data_parallel/ddp_buckets.h"

#include <algorithm>

#include "verdict/data_parallel/buckets.h"
#include "verdict/data_parallel/parameters.h"
#include "verdict/data_parallel/small_training.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

constexpr int kSteps = 20;
constexpr std::int64_t kHidden = 9;

/// Of six parameters. Each rule of packing, and each that people mistake it for, packs them in
/// another way, with one of the limits below.
std::vector<std::int64_t> sizes(std::int64_t count) {
  return {3 * count, 6 * count + 3, 1, 4 * count, count + 1, 5};
}

/// Every gradient alone; some together; two that fit exactly; all together.
std::vector<std::int64_t> limits(std::int64_t count) {
  return {1, 8 * (count + 1) * kElementBytes, (count + 6) * kElementBytes, 1 << 20};
}

std::vector<std::int64_t> sizes_in(const Case& example) {
  return *example.steps > 0 ? small_model_sizes(*example.count) : sizes(*example.count);
}

int rounds_in(const Case& example) { return std::max(1, *example.steps); }

}  // namespace

std::vector<Case> DdpBuckets::cases() const {
  std::vector<Case> cases;
  for (Case example : cases_by_count()) {
    const std::int64_t count = *example.count;
    const bool is_chosen = count == 1 || count == example.world_size || count >= 97;
    if (!is_chosen) continue;
    example.steps = 0;
    for (const std::int64_t limit : limits(count)) {
      example.bucket_bytes = limit;
      cases.push_back(example);
    }
  }
  for (const int world_size : world_sizes()) {
    Case example;
    example.world_size = world_size;
    example.count = kHidden;
    example.steps = kSteps;
    example.bucket_bytes = 128;
    cases.push_back(example);
  }
  return cases;
}

std::optional<Difference> DdpBuckets::run(Comm& dist, const Case& example) const {
  if (*example.steps > 0) {
    return compare_training(dist, example, [&](Sequential& model, const Batch& mine) {
      add_gradients(model, mine);
      function_(dist, model.parameters(), *example.bucket_bytes);
    });
  }
  const auto parameters = make_parameters(sizes_in(example), dist.rank(), dist.world_size());
  function_(dist, parameters.pointers, *example.bucket_bytes);
  return compare_averaged(parameters, dist.rank(), dist.world_size());
}

Cost DdpBuckets::cost(const Case& example) const {
  const auto buckets = sizes_of(packed(sizes_in(example), *example.bucket_bytes));
  return times(rounds_in(example), native(CollectiveKind::kAllReduce, example.world_size, buckets));
}

std::optional<Difference> DdpBuckets::compare_schedule(const RunReport& report,
                                                       const Case& example) const {
  return compare_buckets(report.trace, sizes_in(example), *example.bucket_bytes,
                         rounds_in(example));
}

}  // namespace rankbox
