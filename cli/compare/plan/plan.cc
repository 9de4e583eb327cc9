#include "cli/compare/plan/plan.h"

#include <fmt/format.h>

#include "cli/compare/plan/algorithms.h"
#include "cli/support/lists.h"

namespace rankbox::cli {

namespace {

double bus_bandwidth_in(const Row& row, double seconds) {
  if (!(seconds > 0)) return 0;
  return static_cast<double>(row.bytes) * bus_factor(row.collective, row.world_size) / seconds;
}

}  // namespace

double Row::bus_bandwidth() const { return time ? bus_bandwidth_in(*this, time->median) : 0; }

double Row::virtual_bus_bandwidth() const {
  return bus_bandwidth_in(*this, virtual_seconds.value_or(0));
}

std::string label_of(const Row& row) {
  return row.whose == Whose::kYours ? row.algorithm + " (yours)" : row.algorithm;
}

std::string describe(const Row& row) {
  return fmt::format("{} {} on {} rank{}, {}", name_of(row.collective), label_of(row),
                     row.world_size, row.world_size == 1 ? "" : "s", format_bytes(row.bytes));
}

namespace {

template <class E>
bool is(const Error& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

/// Returns the failure kind, as in `check --json`.
const char* kind_of(const Error& error) {
  if (is<NotImplemented>(error)) return "not_implemented";
  if (is<DeadlockError>(error)) return "deadlock";
  if (is<TimedOut>(error)) return "timeout";
  if (is<MessageMismatch>(error) || is<CollectiveMismatch>(error)) return "mismatch";
  if (is<UnreceivedMessage>(error)) return "unreceived";
  if (is<OutOfMemory>(error)) return "memory";
  if (is<BufferReused>(error)) return "safety";
  return "crash";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

RowFailure row_failure_of(const Error& error) {
  return {kind_of(error), first_line(error.what()), error.file(), error.line()};
}

void fail_if_wrong(Row& row) {
  if (row.whose != Whose::kYours || row.wrong.value_or(0) == 0) return;
  row.failure =
      RowFailure{"values", fmt::format("{} elements of the result are wrong", *row.wrong), "", 0};
}

void rethrow_naming(const Error& error, const Row& row) {
  const std::string message = fmt::format("{}: {}", describe(row), error.what());
  if (is<InvalidArgument>(error)) throw InvalidArgument(message, error.context());
  throw Error(message, error.context());
}

std::string in_words(const RowFailure& failure) {
  std::string words = failure.kind;
  // Most messages already begin with the kind, or name the place.
  if (!failure.message.starts_with(failure.kind))
    words += ": " + failure.message;
  else
    words = failure.message;
  const std::string place = fmt::format("{}:{}", failure.file, failure.line);
  if (failure.line > 0 && words.find(place) == std::string::npos) words += " at " + place;
  return words;
}

}  // namespace rankbox::cli
