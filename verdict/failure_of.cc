#include "verdict/failure_of.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "comm/errors.h"
#include "verdict/cost_hints.h"

namespace rankbox {

namespace {

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) return true;
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    return is_out_of_memory(cause);
  } catch (...) {
    return false;
  }
  return false;
}

FailureKind kind_of(const std::exception& error) {
  if (dynamic_cast<const NotImplemented*>(&error) != nullptr) return FailureKind::kNotImplemented;
  if (dynamic_cast<const DeadlockError*>(&error) != nullptr) return FailureKind::kDeadlock;
  if (dynamic_cast<const MessageMismatch*>(&error) != nullptr) return FailureKind::kMismatch;
  if (dynamic_cast<const CollectiveMismatch*>(&error) != nullptr) return FailureKind::kMismatch;
  if (dynamic_cast<const UnreceivedMessage*>(&error) != nullptr) return FailureKind::kUnreceived;
  if (dynamic_cast<const BufferReused*>(&error) != nullptr) return FailureKind::kSafety;
  if (dynamic_cast<const TimedOut*>(&error) != nullptr) return FailureKind::kTimeout;
  if (is_out_of_memory(error)) return FailureKind::kMemory;
  return FailureKind::kCrash;
}

void point_to(Failure& failure, const Event& event) {
  failure.op = name_of(event);
  failure.peer = event.peer;
  failure.file = event.place.file_name();
  failure.line = static_cast<int>(event.place.line());
}

// The last thing that failure.rank did and that we know a place of; of those, what it received last
// if that is preferred and there is any.
void point_to_last_of(Failure& failure, const Trace& trace, bool prefer_received) {
  const auto rank = static_cast<std::size_t>(failure.rank);
  if (failure.rank < 0 || rank >= trace.ranks.size()) return;
  const Event* last = nullptr;
  const Event* last_received = nullptr;
  for (const Event& event : trace.ranks[rank]) {
    if (event.place.line() == 0) continue;
    last = &event;
    const bool receives = event.kind == EventKind::kRecv || event.kind == EventKind::kCollective;
    if (receives) last_received = &event;
  }
  if (prefer_received && last_received != nullptr) last = last_received;
  if (last != nullptr) point_to(failure, *last);
}

}  // namespace

Failure failure_of(const std::exception& error) {
  Failure failure;
  failure.kind = kind_of(error);
  failure.message = error.what();
  if (const auto* known = dynamic_cast<const Error*>(&error)) {
    failure.rank = known->rank();
    failure.peer = known->peer();
    failure.op = known->op();
    failure.file = known->file();
    failure.line = known->line();
  }
  if (failure.kind == FailureKind::kMemory) {
    failure.message += " (out of memory: does something grow in a loop?)";
  }
  return failure;
}

Failure failure_of(const Difference& difference, int rank, const Case& example,
                   const Trace& trace) {
  Failure failure;
  failure.kind = difference.is_of_memory ? FailureKind::kMemory : FailureKind::kValues;
  failure.rank = rank;
  point_to_last_of(failure, trace, true);

  const std::string element = difference.index < 0 ? "" : fmt::format("[{}]", difference.index);
  failure.message = fmt::format("{}{}", difference.what, element);
  if (rank >= 0) failure.message += fmt::format(" on rank {}", rank);
  failure.message += fmt::format(": expected {}, got {}", difference.expected, difference.actual);
  failure.message += fmt::format(" ({})", to_string(example));
  if (!difference.hint.empty()) failure.message += "; " + difference.hint;
  return failure;
}

std::optional<Failure> failure_of_native(const Trace& trace, const Case& example,
                                         const Subject& subject) {
  Failure failure;
  const Event* native = nullptr;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    for (const Event& event : trace.ranks[rank]) {
      if (event.kind != EventKind::kCollective) continue;
      if (event.collective == CollectiveKind::kSplit) continue;
      const bool moves_data = event.collective != CollectiveKind::kBarrier;
      if (moves_data ? subject.may_call_collectives() : subject.may_call_barrier()) continue;
      const bool better =
          native == nullptr || (moves_data && native->collective == CollectiveKind::kBarrier);
      if (!better) continue;
      native = &event;
      failure.rank = static_cast<int>(rank);
    }
  }
  if (native == nullptr) return std::nullopt;
  point_to(failure, *native);
  if (failure.peer == failure.rank) failure.peer = -1;  // the root itself
  const bool crutch = native->collective == CollectiveKind::kBarrier && !subject.is_a_barrier();
  failure.kind = crutch ? FailureKind::kSafety : FailureKind::kMessages;
  failure.message = fmt::format("it calls the native {} ({}): {}", failure.op, to_string(example),
                                crutch ? "leave it out, the messages themselves keep the order"
                                       : "build it from send and recv");
  return failure;
}

Failure failure_of_cost(const Cost& expected, const Case& example, const RunReport& report) {
  Failure failure;
  failure.kind = FailureKind::kCost;
  const auto busiest =
      std::max_element(report.clocks.begin(), report.clocks.end(),
                       [](const Clock& a, const Clock& b) { return a.cost.steps < b.cost.steps; });
  if (busiest != report.clocks.end()) {
    failure.rank = static_cast<int>(busiest - report.clocks.begin());
    point_to_last_of(failure, report.trace, false);
  }
  failure.message = fmt::format("expected {}, got {} ({})", in_words(expected, example),
                                in_words(report.cost, example), to_string(example));
  const std::string hint = cost_hint(expected, example, report);
  if (!hint.empty()) failure.message += "; " + hint;
  return failure;
}

std::string in_words(const Cost& cost, const Case& example) {
  const double n = static_cast<double>(example.count.value_or(0) * kElementBytes);
  const std::string steps = fmt::format("{:g} step{}", cost.steps, cost.steps == 1 ? "" : "s");
  if (n == 0) return fmt::format("{}, {:g} bytes, {:g} reduced", steps, cost.bytes, cost.reduced);
  return fmt::format("{}, {:.4g} n bytes, {:.4g} n reduced", steps, cost.bytes / n,
                     cost.reduced / n);
}

}  // namespace rankbox
