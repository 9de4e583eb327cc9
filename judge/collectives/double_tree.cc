// Judging allreduce_double_tree: the sums, and the time, which is a bound.
//
// Which ranks are parent and child is fixed; the rule "double_tree" judges that. The schedule is
// free, so its time has a bound: 4(s + 2D) messages one after another, D = ⌊log2 p⌋, and D
// additions. The clock of the judge's machine has no latency, so an addition takes as long as a
// message, and nothing hides an idle link. With many segments, lost turns outgrow the margin.
#include <fmt/format.h>

#include "collectives/allreduce_double_tree.h"
#include "collectives/topology.h"
#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/collectives/families.h"
#include "judge/collectives/reductions.h"
#include "judge/compare.h"
#include "judge/noted_result.h"
#include "judge/salt.h"

namespace rankbox {

namespace {

using DoubleTree = decltype(&allreduce_double_tree);

constexpr int kFewSegments[] = {1, 2, 3, 8};
constexpr std::int64_t kLongCount = 1000;

Cluster machine_without_latency() {
  Cluster cluster;
  cluster.name = "no latency";
  cluster.within_node.alpha = cluster.between_nodes.alpha = 0;
  return cluster;
}

std::vector<Case> double_tree_cases() {
  const auto many = static_cast<int>(drawn("tree segments", 33, 29, 40));
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
      add(world_size, count, kFewSegments[turn % std::size(kFewSegments)]);
    add(world_size, kLongCount, kFewSegments[1 + turn % 3]);
    add(world_size, kLongCount, many);
  }
  return all;
}

/// Many ranks, and many segments.
std::vector<Case> far_cases() {
  Case many_ranks = far_case();
  many_ranks.segments = kFewSegments[1];
  many_ranks.op = ReduceOp::SUM;
  return {many_ranks,
          {.world_size = 3, .segments = far_segments(), .count = far_count(), .op = ReduceOp::AVG}};
}

std::optional<Difference> run_double_tree(DoubleTree function, Comm& dist, const Case& example) {
  Tensor tensor = reduction_input(example, dist.rank());
  const Shape shape = tensor.shape();
  function(dist, tensor, *example.op, *example.segments);
  note_result(tensor);
  return compare_reduction("tensor", tensor, 0, shape, example);
}

/// Fewer and larger messages than `segments` asks for may still be fast enough.
std::optional<Difference> compare_sizes(const RunReport& report, std::int64_t largest) {
  for (int rank = 0; rank < std::ssize(report.trace.ranks); ++rank) {
    for (const Event& event : report.trace.ranks[static_cast<std::size_t>(rank)]) {
      if (event.kind != EventKind::kSend || event.bytes <= largest) continue;
      return Difference{
          "bytes of a message",
          -1,
          fmt::format("at most {}, a segment of a half", largest),
          fmt::format("{}", event.bytes),
          {"one-segment-a-message", "cut each half into `segments` segments, a message each"},
          rank};
    }
  }
  return std::nullopt;
}

/// Empty messages take no time on this machine.
std::optional<Difference> compare_number_of_messages(const RunReport& report, const Case& example) {
  const std::int64_t edges = 2 * std::int64_t{example.world_size - 1};
  return compare_number("the number of messages", report.messages, 2 * edges * *example.segments,
                        {"one-segment-a-message",
                         "each segment, an empty one, too, goes up and down its tree, as a message "
                         "on each edge"});
}

std::optional<Difference> compare_time(const RunReport& report, const Case& example) {
  const Cluster machine = machine_without_latency();
  const int segments = *example.segments;
  const std::int64_t half = (*example.count + 1) / 2;
  const std::int64_t elements = (half + segments - 1) / segments;  // of the largest message
  if (auto wrong = compare_sizes(report, elements * kElementBytes)) return wrong;
  const auto bytes = static_cast<double>(elements * kElementBytes);
  const double message = bytes * machine.within_node.beta;
  const double addition = bytes * machine.gamma;
  const int depth = floor_log2(example.world_size);
  const double allowed = 4 * (segments + 2 * depth) * message + depth * addition;
  if (report.virtual_seconds <= allowed * (1 + 1e-9))
    return compare_number_of_messages(report, example);
  const bool sends_too_much = report.cost.bytes > allowed / machine.within_node.beta;
  const Hint hint =
      sends_too_much
          ? Hint("several-segments-in-flight",
                 "each tree carries half of the tensor, a segment a message, several of them in "
                 "flight, and messages of left and right children take turns")
          : Hint("next-before-adding", "start the next messages before you add what has arrived");
  return Difference{"time without latency",
                    -1,
                    fmt::format("at most {:.4g} µs, the time of {} messages", allowed * 1e6,
                                4 * (segments + 2 * depth) + depth),
                    fmt::format("{:.4g} µs", report.virtual_seconds * 1e6),
                    hint,
                    0};
}

RunCheck time_check() {
  RunCheck check = check_of(FailureKind::kCost, compare_time);
  check.promise = "at most 4(s + 2⌊log2 p⌋) messages one after another, additions behind them";
  return check;
}

}  // namespace

Family family::double_tree() {
  const Subject subject = {.cases = double_tree_cases,
                           .far_cases = far_cases,
                           .checks = {time_check()},
                           .cluster = machine_without_latency()};
  return {"double_tree",
          "(Comm& dist, Tensor& tensor, ReduceOp op, int segments)",
          [=](AnyFunction function, std::string_view /*cost*/) {
            return with_function<DoubleTree>(subject, run_double_tree, function);
          },
          {"allreduce_double_tree"}};
}

}  // namespace rankbox
