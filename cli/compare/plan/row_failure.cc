#include "cli/compare/plan/row_failure.h"

#include <fmt/format.h>

namespace rankbox::cli {
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
