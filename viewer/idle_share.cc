#include "viewer/idle_share.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rankbox {
namespace {

/// Returns the length of the union.
double covered(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  double length = 0;
  double until = 0;
  for (const Span& span : spans) {
    length += std::max(0.0, span.end - std::max(span.begin, until));
    until = std::max(until, span.end);
  }
  return length;
}

}  // namespace

std::vector<double> idle_shares(const Trace& trace, const Replay& replay) {
  double end = 0;
  for (const double clock : replay.clocks) end = std::max(end, clock);
  std::vector<double> shares;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    std::vector<Span> busy;
    for (std::size_t i = 0; i < trace.ranks[rank].size(); ++i) {
      const Span& span = replay.spans[rank][i];
      if (trace.ranks[rank][i].kind != EventKind::kWait && span.end > span.begin)
        busy.push_back({span.begin, std::min(span.end, end)});
    }
    shares.push_back(end > 0 ? std::clamp(1 - covered(std::move(busy)) / end, 0.0, 1.0) : 0);
  }
  return shares;
}

}  // namespace rankbox
