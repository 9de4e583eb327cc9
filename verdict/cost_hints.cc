#include "verdict/cost_hints.h"

#include <algorithm>

#include <fmt/format.h>

namespace rankbox {

namespace {

struct Calls {
  bool barrier = false;
  const char* native = nullptr;  // a native collective that moves data
  bool reduction = false;
};

Calls calls_in(const Trace& trace) {
  Calls calls;
  for (const std::vector<Event>& events : trace.ranks) {
    for (const Event& event : events) {
      if (event.kind == EventKind::kReduce) calls.reduction = true;
      if (event.kind != EventKind::kCollective) continue;
      if (event.collective == CollectiveKind::kBarrier) {
        calls.barrier = true;
      } else if (event.collective != CollectiveKind::kSplit) {
        calls.native = name_of(event.collective);
      }
    }
  }
  return calls;
}

}  // namespace

std::string cost_hint(const Cost& expected, const Case& example, const RunReport& report) {
  const Cost& actual = report.cost;
  const Calls calls = calls_in(report.trace);

  // Most telling first: one mistake often changes several coefficients.
  if (calls.native != nullptr) {
    return fmt::format("it calls the native {}: build it from send and recv", calls.native);
  }
  if (expected.reduced > 0 && !calls.reduction) {
    return "no reduction was seen: use accumulate, +=, *=, maximum or minimum, so that it counts";
  }
  if (actual.steps > expected.steps && calls.barrier) {
    return "every barrier costs steps: the messages themselves keep the order";
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
