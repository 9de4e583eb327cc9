#include "judge/training/native_calls.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/checks.h"
#include "sim/clock/native_cost.h"

namespace rankbox {

namespace {

/// Returns rank 0's calls. All ranks took part in the same ones.
NativeCalls calls_in(const Trace& trace) {
  NativeCalls all;
  for (const Event& event : trace.ranks.front()) {
    if (event.kind == EventKind::kCollective && moves_data(event.collective))
      all.push_back({event.collective, event.bytes / kElementBytes});
  }
  return all;
}

std::string in_words(const NativeCalls& all, std::size_t i) {
  return i < all.size() ? fmt::format("{} of {} elements", name_of(all[i].kind), all[i].elements)
                        : "no more";
}

Hint hint_for(const NativeCalls& expected, const NativeCalls& actual) {
  const auto count = [](const NativeCalls& all, CollectiveKind kind) {
    return std::count_if(all.begin(), all.end(),
                         [=](const NativeCall& call) { return call.kind == kind; });
  };
  const auto surplus = [&](CollectiveKind kind) {
    return count(actual, kind) > count(expected, kind);
  };
  using enum CollectiveKind;
  if (surplus(kAllReduce) && count(expected, kAllReduce) == 0)
    return {"half-of-an-all-reduce",
            "an all-reduce is a reduce-scatter and an all-gather: which half is needed here?"};
  for (const CollectiveKind kind : {kAllGather, kGather, kBroadcast, kScatter, kAllToAll}) {
    if (surplus(kind))
      return {
          "nothing-to-gather",
          "nothing has to be gathered or handed out here: the ranks' shares are added up later"};
  }
  if (!surplus(kAllReduce)) return {};
  return {"needless-sum",
          "one too many: values that all ranks have, or that one rank alone uses, need no sum"};
}

std::optional<Difference> compare_calls(const NativeCalls& expected, const Trace& trace) {
  if (trace.ranks.size() == 1) return std::nullopt;  // one rank need not communicate
  const NativeCalls actual = calls_in(trace);
  if (expected == actual) return std::nullopt;
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
  const auto i = static_cast<std::size_t>(e - expected.begin());
  return Difference{
      fmt::format("collective {}", i + 1), -1, in_words(expected, i), in_words(actual, i),
      hint_for(expected, actual),          0};
}

}  // namespace

NativeCalls calls_of(CollectiveKind kind, const std::vector<std::int64_t>& sizes) {
  NativeCalls calls;
  for (const std::int64_t size : sizes) calls.push_back({kind, size});
  return calls;
}

NativeCalls operator+(NativeCalls a, const NativeCalls& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

NativeCalls repeated(int times, const NativeCalls& calls) {
  NativeCalls all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), calls.begin(), calls.end());
  return all;
}

Cost cost_of(const NativeCalls& calls, int world_size) {
  const Cluster cluster;
  Cost sum;
  for (const NativeCall& call : calls) {
    const auto bytes = static_cast<double>(call.elements * kElementBytes);
    const Cost one =
        cost::native_cost(call.kind, world_size, bytes, cluster.link(true), cluster.gamma);
    sum = {sum.steps + one.steps, sum.bytes + one.bytes, sum.reduced + one.reduced};
  }
  return sum;
}

Subject subject_with_calls(std::function<std::vector<Case>()> cases,
                           const std::function<NativeCalls(const Case& example)>& calls,
                           std::vector<RunCheck> checks) {
  return {.cases = std::move(cases),
          .cost = [=](const Case& example) { return cost_of(calls(example), example.world_size); },
          .checks = std::move(checks),
          .natives = Natives::kCollectives};
}

RunCheck check_of_calls(std::function<NativeCalls(const Case& example)> calls) {
  return check_of(FailureKind::kCost,
                  [calls = std::move(calls)](const RunReport& report, const Case& example) {
                    return compare_calls(calls(example), report.trace);
                  });
}

}  // namespace rankbox
