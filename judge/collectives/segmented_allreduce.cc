// Judging allreduce_ring_segmented: the sums, the cost of the messages, and that additions overlap
// with them.
//
// The clock of the judge's machine has no latency, so that it shows what is exposed and nothing
// else: the messages of all 2(p-1) steps take 2(p-1)/p nβ, and all that the clock shows beyond is
// time in which no message was in flight.
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "collectives/allreduce_ring_segmented.h"
#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/collectives/families.h"
#include "judge/collectives/reductions.h"
#include "judge/noted_result.h"
#include "judge/salt.h"

namespace rankbox {

namespace {

using Function = decltype(&allreduce_ring_segmented);

constexpr int kSegments[] = {1, 2, 3, 8};
constexpr int kMostRanksOfManySegments = 5;
constexpr std::int64_t kDivisible = 192;  // elements of a chunk that any of them divides

Cluster without_latency() {
  Cluster cluster;
  cluster.name = "no latency";
  cluster.within_node.alpha = cluster.between_nodes.alpha = 0;
  return cluster;
}

std::vector<Case> cases() {
  const auto many = static_cast<int>(drawn("segments", 17, 9, 40));
  std::vector<Case> all;
  std::size_t turn = 0;  // cycles through the numbers of segments and the operations
  const auto add = [&](int world_size, std::int64_t count, int segments) {
    all.push_back({.world_size = world_size,
                   .segments = segments,
                   .count = count,
                   .op = kReduceOps[turn++ % kReduceOps.size()]});
  };
  for (const int world_size : world_sizes()) {
    for (const std::int64_t count : counts(world_size))
      add(world_size, count, kSegments[turn % std::size(kSegments)]);
    // Large worlds take long: one number of segments each.
    for (const int segments : kSegments) {
      if (world_size <= 8 || segments == kSegments[world_size % std::size(kSegments)])
        add(world_size, kDivisible * world_size, segments);
    }
    if (world_size > kMostRanksOfManySegments) continue;
    all.push_back(all.back());
    all.back().segments = many;
  }
  return all;
}

/// Many ranks, and many segments.
std::vector<Case> far_cases() {
  Case many_ranks = far_case();
  many_ranks.segments = 2;
  many_ranks.op = ReduceOp::SUM;
  return {many_ranks,
          {.world_size = 3, .segments = far_segments(), .count = far_count(), .op = ReduceOp::AVG}};
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  Tensor tensor = reduction_input(example, dist.rank());
  const Shape shape = tensor.shape();
  function(dist, tensor, *example.op, *example.segments);
  note_result(tensor);
  return compare_reduction("tensor", tensor, 0, shape, example);
}

double steps_of(const Case& example) { return 2.0 * (example.world_size - 1) * *example.segments; }

/// Each segment is a message, an empty one, too.
RunCheck check_of_segments() {
  return number_check(
      [](const Case& example) {
        return 2 * std::int64_t{example.world_size} * (example.world_size - 1) * *example.segments;
      },
      {"segments-left-out", "every segment is a message, an empty one, too"}, steps_of);
}

bool has_equal_segments(const Case& example) {
  return *example.count % (example.world_size * *example.segments) == 0;
}

std::optional<Difference> compare_clock(const RunReport& report, const Case& example) {
  if (example.world_size == 1 || !has_equal_segments(example)) return std::nullopt;
  const Cluster machine = without_latency();
  const int steps = example.world_size - 1;  // of each half
  const std::int64_t chunk = *example.count / example.world_size;
  const auto chunk_bytes = static_cast<double>(chunk * kElementBytes);
  const double bytes = 2 * steps * chunk_bytes;
  if (report.cost.bytes > bytes) return std::nullopt;  // cost_check() names that mistake
  const double messages = bytes * machine.within_node.beta;
  const double segment = chunk_bytes / *example.segments * machine.gamma;  // the time to add one
  // With one segment there is nothing else to do while it is added.
  const double exposed = report.virtual_seconds - messages;
  const double allowed = *example.segments == 1 ? steps * segment : segment;
  const double rounding = 1e-9 * messages;
  if (exposed >= -rounding && exposed <= allowed + rounding) return std::nullopt;

  const auto is = [&](double seconds) { return std::abs(exposed - seconds) <= rounding; };
  Hint hint = {"start-before-adding",
               "start message k+1 before message k is added, in both halves"};
  if (is(steps * *example.segments * segment)) {
    hint = {"nothing-in-flight",
            "no message is in flight while a segment is added: start the next one before"};
  } else if (is(steps * segment)) {
    hint = {"pipeline-drains",
            "the pipeline drains at the end of every step: the next step's first segment can be in "
            "flight while the last one of this step is added"};
  }
  return Difference{"exposed additions",
                    -1,
                    fmt::format("at most {:.4g} µs", allowed * 1e6),
                    fmt::format("{:.4g} µs", exposed * 1e6),
                    hint,
                    0};
}

}  // namespace

Family family::segmented_allreduce() {
  return family_with_form<Function>(
      "segmented_allreduce", "(Comm& dist, Tensor& tensor, ReduceOp op, int segments)",
      {.cases = cases,
       .far_cases = far_cases,
       .may_cost_less = [](const Case& example) { return !has_equal_segments(example); },
       .checks = {check_of(FailureKind::kCost, compare_clock), check_of_segments()},
       .cluster = without_latency()},
      run, &Case::segments);
}

}  // namespace rankbox
