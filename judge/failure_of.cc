#include "judge/failure_of.h"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "sim/clock/native_cost.h"

namespace rankbox {

namespace {

Hint build_it() { return {"build-from-messages", "build it from send and recv"}; }

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
  const bool is_root = event.kind == EventKind::kCollective && event.peer == failure.rank;
  failure.peer = is_root ? -1 : event.peer;
  failure.file = event.place.file_name();
  failure.line = static_cast<int>(event.place.line());
}

/// Returns whether the place is in a learner's file, and not in the judge's or the course's own
/// functions, which a family calls or which the learner's file does.
bool is_in_learners_file(const Place& place) {
  if (place.line() == 0) return false;
  const std::string_view file = place.file_name();
  return std::ranges::none_of(
      std::array{"judge/", "parallel/", "training/", "collectives/", "compute/"},
      [=](const char* folder) { return file.starts_with(folder); });
}

// Points to the last event of failure.rank in the learner's file. With `prefer_received`, points to
// the last receive if there is one.
void point_to_last_of(Failure& failure, const Trace& trace, bool prefer_received) {
  const auto rank = static_cast<std::size_t>(failure.rank);
  if (failure.rank < 0 || rank >= trace.ranks.size()) return;
  const Event* last = nullptr;
  const Event* last_received = nullptr;
  for (const Event& event : trace.ranks[rank]) {
    if (!is_in_learners_file(event.place)) continue;
    last = &event;
    const bool receives = event.kind == EventKind::kRecv || event.kind == EventKind::kCollective;
    if (receives) last_received = &event;
  }
  if (prefer_received && last_received != nullptr) last = last_received;
  if (last != nullptr) point_to(failure, *last);
}

bool has_reduction(const Trace& trace) {
  return std::any_of(trace.ranks.begin(), trace.ranks.end(), [](const std::vector<Event>& events) {
    return std::any_of(events.begin(), events.end(),
                       [](const Event& event) { return event.kind == EventKind::kReduce; });
  });
}

/// Returns a number of an error if a rank or a line can have it, else `unknown`. A function may
/// throw an Error with any numbers, and readers of a verdict refuse those.
int number_or(int number, int unknown) {
  return number < 0 || number > kMostNumber ? unknown : number;
}

/// Names a `split` or an empty message that explains steps too many; empty if there is none.
Hint hint_of_superfluous(const Cost& expected, const Case& example, const RunReport& report) {
  if (report.cost.steps <= expected.steps) return {};
  const double split =
      cost::native_cost(CollectiveKind::kSplit, example.world_size, 0, {}, 0).steps;
  // Empty chunks are sent where there are fewer elements than ranks, or than segments of them.
  const std::int64_t parts = std::int64_t{example.world_size} * example.segments.value_or(1);
  const bool has_empty_chunks = example.count.value_or(0) < parts;
  for (std::size_t rank = 0; rank < report.trace.ranks.size(); ++rank) {
    int splits = 0;
    for (const Event& event : report.trace.ranks[rank]) {
      if (event.kind == EventKind::kCollective && event.collective == CollectiveKind::kSplit)
        ++splits;
      if (report.cost.steps == expected.steps + splits * split && splits > 0) {
        return {"needless-split",
                fmt::format("a split is a collective, of {:g} step{} on {} ranks: is the one in "
                            "line {} needed?",
                            split, split == 1 ? "" : "s", example.world_size, event.place.line())};
      }
      if (event.kind == EventKind::kSend && event.bytes == 0 && expected.bytes > 0 &&
          !has_empty_chunks) {
        return {"empty-message",
                fmt::format("rank {} sends rank {} an empty message in line {}: one too many?",
                            rank, event.peer, event.place.line())};
      }
    }
  }
  return {};
}

/// Returns the likely cause of a difference in cost; empty if the numbers suggest none.
Hint cost_hint(const Cost& expected, const Case& example, const RunReport& report) {
  const Cost& actual = report.cost;

  // Most specific cause first: one mistake often changes several coefficients.
  // Native collectives reduce without an event of their own.
  if (expected.reduced > 0 && actual.reduced == 0 && !has_reduction(report.trace)) {
    return {"no-reduction",
            "no reduction was seen: use accumulate, +=, *=, maximum or minimum, so that it counts"};
  }
  if (actual.bytes > expected.bytes && actual.steps <= expected.steps) {
    return expected.bytes == 0
               ? Hint("empty-messages", "the messages should be empty: `Tensor nothing;`")
               : Hint("times-the-bytes",
                      fmt::format("{:.3g} times the bytes: whole tensors where chunks are enough?",
                                  actual.bytes / expected.bytes));
  }
  if (actual.reduced > expected.reduced && actual.steps <= expected.steps) {
    return {"more-added-up",
            "more is added up than needed: whole tensors where chunks are enough, or the same "
            "share twice?"};
  }
  if (actual.steps == expected.steps + 1) {
    return {"one-message-more",
            "one message too many, or two one after another that could go at once: a sendrecv, or "
            "another order?"};
  }
  if (actual.steps > expected.steps) {
    return {"one-after-another",
            "messages go one after another that could go at once, or there is a round too many: a "
            "sendrecv, another order, or fewer rounds?"};
  }
  if (example.world_size > 1 && actual.steps == 0) {
    return example.count == 0
               ? Hint("empty-tensor-is-sent",
                      "an empty tensor is sent, too: the others wait for its message")
               : Hint("no-message", "no message was sent: how did the data get there?");
  }
  const bool has_empty_chunks = example.count.value_or(INT64_MAX) < example.world_size;
  if (has_empty_chunks && actual.steps < expected.steps && actual.bytes == expected.bytes) {
    return {"empty-chunks-are-sent",
            "fewer messages, no byte less: empty tensors and chunks travel, too, or others wait"};
  }
  if (actual.steps < expected.steps || actual.bytes < expected.bytes) {
    return {"another-algorithm",
            "cheaper than this algorithm can be: is a message or a round missing, or is it another "
            "one?"};
  }
  return {};
}

/// Ends the message with the hint, if there is one.
void add_hint(Failure& failure, Hint hint) {
  if (!hint.id.empty()) failure.message += "; " + hint.text;
  failure.hint = std::move(hint);
}

}  // namespace

Failure failure_of(const std::exception& error) {
  Failure failure;
  failure.kind = kind_of(error);
  failure.message = error.what();
  failure.actual = name_of(failure.kind);
  if (const auto* deadlock = dynamic_cast<const DeadlockError*>(&error))
    failure.hint = deadlock->hint();
  if (const auto* known = dynamic_cast<const Error*>(&error)) {
    failure.rank = number_or(known->rank(), -1);
    failure.peer = number_or(known->peer(), -1);
    failure.op = known->op();
    failure.file = known->file();
    failure.line = number_or(known->line(), 0);
  }
  if (failure.kind == FailureKind::kMemory) {
    failure.hint = {"grows-in-a-loop", "out of memory: does something grow in a loop?"};
    failure.message += " (" + failure.hint.text + ")";
  }
  return failure;
}

Failure failure_of(const Difference& difference, int rank, const Case& example,
                   const Trace& trace) {
  Failure failure;
  failure.kind = difference.kind;
  failure.rank = rank;
  failure.expected = difference.expected;
  failure.actual = difference.actual;
  failure.code = difference.code;
  if (difference.call != nullptr) {
    point_to(failure, *difference.call);
  } else {
    point_to_last_of(failure, trace, true);
  }

  const std::string element = difference.index < 0 ? "" : fmt::format("[{}]", difference.index);
  failure.message = fmt::format("{}{}", difference.what, element);
  if (rank >= 0) failure.message += fmt::format(" on rank {}", rank);
  failure.message += fmt::format(": expected {}, got {}", difference.expected, difference.actual);
  failure.message += fmt::format(" ({})", to_string(example));
  add_hint(failure, difference.hint);
  return failure;
}

std::optional<Failure> failure_of_split(const Trace& trace, const Case& example,
                                        const Subject& subject) {
  const bool may_wait = subject.natives >= Natives::kBarrierAndOthers || subject.splits_later;
  const bool is_one_call = example.steps.value_or(0) <= 1;
  if (may_wait || !is_one_call) return std::nullopt;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    bool has_begun = subject.is_barrier;
    for (const Event& event : trace.ranks[rank]) {
      const bool splits =
          event.kind == EventKind::kCollective && event.collective == CollectiveKind::kSplit;
      has_begun |= event.kind == EventKind::kSend || event.kind == EventKind::kRecv;
      if (!splits || !has_begun) continue;
      Failure failure;
      failure.rank = static_cast<int>(rank);
      point_to(failure, event);
      failure.kind = subject.is_barrier ? FailureKind::kMessages : FailureKind::kSafety;
      failure.hint =
          subject.is_barrier ? build_it() : Hint("split-first", "split before the first message");
      failure.message =
          fmt::format("it calls split ({}), which waits for all ranks as a barrier does: {}",
                      to_string(example), failure.hint.text);
      failure.expected = "send and recv alone";
      failure.actual = "a split";
      return failure;
    }
  }
  return std::nullopt;
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
      const Natives needed = moves_data ? Natives::kCollectives : Natives::kBarrierAndOthers;
      if (subject.natives >= needed) continue;
      const bool better =
          native == nullptr || (moves_data && native->collective == CollectiveKind::kBarrier);
      if (!better) continue;
      native = &event;
      failure.rank = static_cast<int>(rank);
    }
  }
  if (native == nullptr) return std::nullopt;
  point_to(failure, *native);
  const bool needless_barrier =
      native->collective == CollectiveKind::kBarrier && !subject.is_barrier;
  failure.kind = needless_barrier ? FailureKind::kSafety : FailureKind::kMessages;
  failure.hint = needless_barrier ? Hint("needless-barrier",
                                         "leave it out, the messages themselves keep the order")
                                  : build_it();
  failure.message = fmt::format("it calls the native {} ({}): {}", failure.op, to_string(example),
                                failure.hint.text);
  failure.expected = "send and recv alone";
  failure.actual = "the native " + failure.op;
  return failure;
}

Failure failure_of_cost(const Cost& expected, const Case& example, const RunReport& report,
                        const Subject& subject) {
  Failure failure;
  failure.kind = FailureKind::kCost;
  Hint hint = hint_of_superfluous(expected, example, report);
  const auto busiest =
      std::max_element(report.clocks.begin(), report.clocks.end(),
                       [](const Clock& a, const Clock& b) { return a.cost.steps < b.cost.steps; });
  if (busiest != report.clocks.end()) {
    failure.rank = static_cast<int>(busiest - report.clocks.begin());
    point_to_last_of(failure, report.trace, false);
    if (subject.culprit && hint.id.empty()) {
      const Culprit culprit = subject.culprit(report.trace, failure.rank, example);
      if (culprit.call != nullptr) point_to(failure, *culprit.call);
      hint = culprit.hint;
    }
  }
  const CostUnit unit = unit_of(subject, example);
  failure.expected = in_words(expected, unit);
  failure.actual = in_words(report.cost, unit);
  failure.message = fmt::format("expected {}, got {} ({})", failure.expected, failure.actual,
                                in_words(example, unit));
  add_hint(failure, hint.id.empty() ? cost_hint(expected, example, report) : hint);
  return failure;
}

CostUnit unit_of(const Subject& subject, const Case& example) {
  if (subject.cost_unit) return subject.cost_unit(example);
  const std::int64_t count = example.count.value_or(0);
  if (count == 0) return {};
  const std::int64_t bytes = count * kElementBytes;
  return {"n", static_cast<double>(bytes),
          fmt::format("n = {} bytes, {} element{}", bytes, count, count == 1 ? "" : "s")};
}

std::string in_words(const Cost& cost, const CostUnit& unit) {
  const std::string steps = fmt::format("{:g} step{}", cost.steps, cost.steps == 1 ? "" : "s");
  if (unit.name.empty())
    return fmt::format("{}, {:.10g} bytes, {:.10g} reduced", steps, cost.bytes, cost.reduced);
  return fmt::format("{0}, {2:.4g} {1} bytes, {3:.4g} {1} reduced", steps, unit.name,
                     cost.bytes / unit.size, cost.reduced / unit.size);
}

std::string in_words(const Case& example, const CostUnit& unit) {
  const std::string text = to_string(example);
  return unit.definition.empty() ? text : fmt::format("{}; {}", text, unit.definition);
}

}  // namespace rankbox
