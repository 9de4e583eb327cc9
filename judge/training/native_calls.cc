#include "judge/training/native_calls.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "judge/checks.h"
#include "sim/clock/native_cost.h"

namespace rankbox {

namespace {

/// A rank's calls, and their events. All ranks took part in the same ones.
struct Recorded {
  NativeCalls calls;
  std::vector<const Event*> events;
};

Recorded calls_in(const Trace& trace, int rank) {
  Recorded all;
  for (const Event& event : trace.ranks[static_cast<std::size_t>(rank)]) {
    if (event.kind != EventKind::kCollective || !moves_data(event.collective)) continue;
    all.calls.push_back({event.collective, event.bytes / kElementBytes});
    all.events.push_back(&event);
  }
  return all;
}

/// Returns the first call that is not the expected one; their number if all are.
std::size_t first_other(const NativeCalls& expected, const NativeCalls& actual) {
  const auto end = std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
  return static_cast<std::size_t>(end.second - actual.begin());
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
  const auto elements = [](const NativeCalls& all, CollectiveKind kind) {
    std::int64_t sum = 0;
    for (const NativeCall& call : all) sum += call.kind == kind ? call.elements : 0;
    return sum;
  };
  using enum CollectiveKind;
  for (const NativeCall& call : expected) {
    const CollectiveKind kind = call.kind;
    if (!surplus(kind) || elements(actual, kind) != elements(expected, kind)) continue;
    return many_calls(count(actual, kind), count(expected, kind), kind, elements(actual, kind));
  }
  if (surplus(kAllReduce) && count(expected, kAllReduce) == 0) {
    if (count(expected, kReduce) > 0)
      return {"reduce-is-enough", "an all-reduce gives the sum to all ranks: one alone needs it"};
    return {"half-of-an-all-reduce",
            "an all-reduce is a reduce-scatter and an all-gather: which half is needed here?"};
  }
  if (surplus(kReduce) && surplus(kBroadcast) && count(expected, kAllReduce) > 0)
    return {"reduce-and-broadcast",
            "a reduce and a broadcast are an all-reduce, through one rank's links"};
  for (const CollectiveKind kind : {kAllGather, kGather, kBroadcast, kScatter, kAllToAll}) {
    if (surplus(kind) && count(expected, kind) == 0)
      return {"nothing-to-gather", "nothing has to be gathered or handed out here"};
  }
  if (!surplus(kAllReduce)) return {};
  return {"needless-sum",
          "one too many: values that all ranks have, or that one rank alone uses, need no sum"};
}

std::optional<Difference> compare_calls(const NativeCalls& expected, const Trace& trace, int rank) {
  if (trace.ranks.size() == 1) return std::nullopt;  // one rank need not communicate
  const auto [actual, events] = calls_in(trace, rank);
  if (expected == actual) return std::nullopt;
  const std::size_t i = first_other(expected, actual);
  Difference difference{
      fmt::format("collective {}", i + 1), -1, in_words(expected, i), in_words(actual, i),
      hint_for(expected, actual),          0};
  if (i < events.size()) difference.call = events[i];
  return difference;
}

Culprit culprit_in(const NativeCalls& expected, const Trace& trace, int rank) {
  if (trace.ranks.size() == 1) return {};
  const auto [actual, events] = calls_in(trace, rank);
  if (expected == actual) return {};
  // The order is free here: the first call of which there are too many.
  NativeCalls left = expected;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto found = std::ranges::find(left, actual[i]);
    if (found == left.end()) return {events[i], hint_for(expected, actual)};
    left.erase(found);
  }
  return {nullptr, hint_for(expected, actual)};
}

}  // namespace

Hint many_calls(std::int64_t actual, std::int64_t expected, CollectiveKind kind,
                std::int64_t elements) {
  return {"many-small-calls",
          fmt::format("{} calls of {} where {} would do: {}", actual, name_of(kind), expected,
                      actual == elements ? "one for each element?" : "a part of it in each?")};
}

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
    auto bytes = static_cast<double>(call.elements * kElementBytes);
    // As an all_to_all of equal pieces, of which a rank keeps one.
    if (call.kind == CollectiveKind::kAllToAllV && world_size > 1)
      bytes *= static_cast<double>(world_size) / (world_size - 1);
    const Cost one =
        cost::native_cost(call.kind, world_size, bytes, cluster.link(true), cluster.gamma);
    sum = {sum.steps + one.steps, sum.bytes + one.bytes, sum.reduced + one.reduced};
  }
  return sum;
}

Subject subject_with_calls(std::function<std::vector<Case>()> cases, const CallsOf& calls,
                           std::vector<RunCheck> checks) {
  return {.cases = std::move(cases),
          .cost = [=](const Case& example) { return cost_of(calls(example), example.world_size); },
          .cost_unit = [](const Case&) { return CostUnit(); },
          .culprit = [=](const Trace& trace, int rank,
                         const Case& example) { return culprit_in(calls(example), trace, rank); },
          .checks = std::move(checks),
          .natives = Natives::kCollectives};
}

Subject subject_with_calls(std::function<std::vector<Case>()> cases, const CallsOfRank& calls,
                           std::vector<RunCheck> checks) {
  const CallsOf largest = [=](const Case& example) {
    NativeCalls all = calls(example, 0);
    for (int rank = 1; rank < example.world_size; ++rank) {
      const NativeCalls others = calls(example, rank);
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i].elements = std::max(all[i].elements, others[i].elements);
    }
    return all;
  };
  Subject subject = subject_with_calls(std::move(cases), largest, std::move(checks));
  subject.culprit = [=](const Trace& trace, int rank, const Case& example) {
    return culprit_in(calls(example, rank), trace, rank);
  };
  return subject;
}

CostUnit psi_of(const std::vector<std::int64_t>& sizes) {
  const std::int64_t elements = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  const std::int64_t bytes = elements * kElementBytes;
  return {"Ψ", static_cast<double>(bytes),
          fmt::format("Ψ = {} bytes, {} parameters", bytes, elements)};
}

RunCheck check_of_calls(CallsOf calls) {
  return check_of(FailureKind::kCost,
                  [calls = std::move(calls)](const RunReport& report, const Case& example) {
                    return compare_calls(calls(example), report.trace, 0);
                  });
}

RunCheck check_of_calls(CallsOfRank calls) {
  return check_of(FailureKind::kCost,
                  [calls = std::move(calls)](const RunReport& report,
                                             const Case& example) -> std::optional<Difference> {
                    for (int rank = 0; rank < example.world_size; ++rank) {
                      auto difference = compare_calls(calls(example, rank), report.trace, rank);
                      if (!difference) continue;
                      difference->rank = rank;
                      return difference;
                    }
                    return std::nullopt;
                  });
}

}  // namespace rankbox
