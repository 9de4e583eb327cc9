#include "judge/verdict.h"

#include <iterator>
#include <utility>

namespace rankbox {

const Check* Verdict::find(const std::string& check) const {
  for (const Check& candidate : checks) {
    if (candidate.name == check) return &candidate;
  }
  return nullptr;
}

const char* name_of(Status status) {
  constexpr const char* kNames[] = {"pass", "fail", "not_implemented", "error"};
  return kNames[static_cast<std::size_t>(status)];
}

const char* name_of(CheckStatus status) {
  constexpr const char* kNames[] = {"pass", "fail", "skipped"};
  return kNames[static_cast<std::size_t>(status)];
}

const char* name_of(FailureKind kind) {
  constexpr const char* kNames[] = {"values", "messages", "cost",     "safety",
                                    "memory", "deadlock", "mismatch", "unreceived",
                                    "crash",  "timeout",  "compile",  "not_implemented"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(FailureKind::kNotImplemented) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

const char* check_named_after(FailureKind kind) {
  switch (kind) {
    case FailureKind::kMismatch:
    case FailureKind::kUnreceived:
    case FailureKind::kMessages:
      return "messages";
    case FailureKind::kCost:
      return "cost";
    case FailureKind::kDeadlock:
    case FailureKind::kSafety:
      return "safety";
    case FailureKind::kMemory:
      return kMemoryCheck;
    default:
      return "values";
  }
}

Verdict undecided(std::string name) {
  Verdict verdict;
  verdict.name = std::move(name);
  for (const char* check : kCheckNames) {
    verdict.checks.push_back({check, CheckStatus::kSkipped, {}, {}, {}});
  }
  return verdict;
}

Verdict failed_before_running(std::string name, Failure failure) {
  Verdict verdict = undecided(std::move(name));
  verdict.status =
      failure.kind == FailureKind::kNotImplemented ? Status::kNotImplemented : Status::kFail;
  verdict.failure = std::move(failure);
  return verdict;
}

Verdict error_of_ours(std::string name, std::string message, FailureKind kind) {
  Verdict verdict =
      failed_before_running(std::move(name), {.kind = kind, .message = std::move(message)});
  verdict.status = Status::kError;
  return verdict;
}

}  // namespace rankbox
