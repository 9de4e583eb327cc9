#include "verdict/cost_hints.h"

#include <algorithm>

#include <fmt/format.h>

namespace rankbox {

namespace {

bool has_reduction(const Trace& trace) {
  return std::any_of(trace.ranks.begin(), trace.ranks.end(), [](const std::vector<Event>& events) {
    return std::any_of(events.begin(), events.end(),
                       [](const Event& event) { return event.kind == EventKind::kReduce; });
  });
}

}  // namespace

std::string cost_hint(const Cost& expected, const Case& example, const RunReport& report) {
  const Cost& actual = report.cost;

  // Most telling first: one mistake often changes several coefficients.
  if (expected.reduced > 0 && !has_reduction(report.trace)) {
    return "no reduction was seen: use accumulate, +=, *=, maximum or minimum, so that it counts";
  }
  if (actual.bytes > expected.bytes && actual.steps <= expected.steps) {
    return expected.bytes == 0
               ? "the messages should be empty: `Tensor nothing;`"
               : fmt::format("{:.3g} times the bytes: whole tensors where chunks are enough?",
                             actual.bytes / expected.bytes);
  }
  if (actual.reduced > expected.reduced && actual.steps <= expected.steps) {
    return "more is added up than needed: whole tensors where chunks are enough, or the same "
           "share twice?";
  }
  if (actual.steps > expected.steps) {
    return "messages go one after another that could go at once: a sendrecv, or another order?";
  }
  if (example.world_size > 1 && actual.steps == 0) {
    return "no message was sent: how did the data get there?";
  }
  if (actual.steps < expected.steps || actual.bytes < expected.bytes) {
    return "cheaper than this algorithm can be: is it another one?";
  }
  return "";
}

}  // namespace rankbox
