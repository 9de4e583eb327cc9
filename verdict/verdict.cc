#include "verdict/verdict.h"

#include <utility>

namespace rankbox {

const Check* Verdict::find(const std::string& check) const {
  for (const Check& candidate : checks) {
    if (candidate.name == check) return &candidate;
  }
  return nullptr;
}

const char* name_of(Status status) {
  switch (status) {
    case Status::kPass:
      return "pass";
    case Status::kFail:
      return "fail";
    case Status::kNotImplemented:
      return "not_implemented";
    case Status::kError:
      return "error";
  }
  return "error";
}

const char* name_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPass:
      return "pass";
    case CheckStatus::kFail:
      return "fail";
    case CheckStatus::kSkipped:
      return "skipped";
  }
  return "skipped";
}

const char* name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kValues:
      return "values";
    case FailureKind::kMessages:
      return "messages";
    case FailureKind::kCost:
      return "cost";
    case FailureKind::kSafety:
      return "safety";
    case FailureKind::kMemory:
      return "memory";
    case FailureKind::kDeadlock:
      return "deadlock";
    case FailureKind::kMismatch:
      return "mismatch";
    case FailureKind::kUnreceived:
      return "unreceived";
    case FailureKind::kCrash:
      return "crash";
    case FailureKind::kTimeout:
      return "timeout";
    case FailureKind::kCompile:
      return "compile";
    case FailureKind::kNotImplemented:
      return "not_implemented";
  }
  return "crash";
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

}  // namespace rankbox
