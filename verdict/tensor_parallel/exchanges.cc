#include "verdict/tensor_parallel/exchanges.h"

#include <algorithm>

#include <fmt/format.h>

#include "verdict/data_parallel/parameters.h"

namespace rankbox {

namespace {

/// Those of rank 0, and all ranks took part in the same ones.
std::vector<NativeCall> exchanges_of(const Trace& trace) {
  std::vector<NativeCall> all;
  for (const Event& event : trace.ranks.front()) {
    if (event.kind == EventKind::kCollective && moves_data(event.collective))
      all.push_back({event.collective, event.bytes / kElementBytes});
  }
  return all;
}

std::string in_words(const std::vector<NativeCall>& all, std::size_t i) {
  return i < all.size() ? fmt::format("{} of {} elements", name_of(all[i].kind), all[i].elements)
                        : "no more";
}

std::string hint_for(const std::vector<NativeCall>& expected,
                     const std::vector<NativeCall>& actual) {
  const auto count = [](const std::vector<NativeCall>& all, CollectiveKind kind) {
    return std::count_if(all.begin(), all.end(),
                         [=](const NativeCall& e) { return e.kind == kind; });
  };
  const auto surplus = [&](CollectiveKind kind) {
    return count(actual, kind) > count(expected, kind);
  };
  using enum CollectiveKind;
  if (surplus(kAllReduce) && count(expected, kAllReduce) == 0)
    return "an all-reduce is a reduce-scatter and an all-gather: which half is needed here?";
  for (const CollectiveKind kind : {kAllGather, kGather, kBroadcast, kScatter, kAllToAll}) {
    if (surplus(kind))
      return "nothing has to be gathered or handed out here: what ranks hold apart is added up "
             "later";
  }
  if (surplus(kAllReduce)) {
    return "one too many: nothing has to be added up that all ranks have alike, or that a rank "
           "goes "
           "on with by itself";
  }
  return "";
}

}  // namespace

Cost SubjectOfExchanges::cost(const Case& example) const {
  Cost sum;
  for (const NativeCall& exchange : exchanges(example)) {
    const Cost one = native(exchange.kind, example.world_size, exchange.elements);
    sum = {sum.steps + one.steps, sum.bytes + one.bytes, sum.reduced + one.reduced};
  }
  return sum;
}

std::optional<Difference> SubjectOfExchanges::compare_schedule(const RunReport& report,
                                                               const Case& example) const {
  if (example.world_size == 1) return std::nullopt;  // asks nobody
  const std::vector<NativeCall> expected = exchanges(example);
  const std::vector<NativeCall> actual = exchanges_of(report.trace);
  if (expected == actual) return std::nullopt;
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
  const auto i = static_cast<std::size_t>(e - expected.begin());
  Difference difference;
  difference.what = fmt::format("collective {}", i + 1);
  difference.expected = in_words(expected, i);
  difference.actual = in_words(actual, i);
  difference.hint = hint_for(expected, actual);
  difference.rank = 0;
  return difference;
}

}  // namespace rankbox
