// A verdict as plain data: for the command line, JSON and tests.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "comm/hint.h"

namespace rankbox {

/// The outcome of a whole exercise. kError is a failure of the grader itself (no compiler, a full
/// disk), never of the learner's program.
enum class Status { kPass, kFail, kNotImplemented, kError };

/// The outcome of one check. A check is skipped if a more basic one failed first, or if the backend
/// cannot decide it.
enum class CheckStatus { kPass, kFail, kSkipped };

/// How a program failed.
enum class FailureKind {
  kValues,          // a wrong element
  kMessages,        // messages of another algorithm, or a native collective in their place
  kCost,            // correct values, but more (or fewer) steps, bytes or additions than promised
  kSafety,          // the outcome depends on buffering or timing
  kMemory,          // too much memory
  kDeadlock,        // ranks wait for each other forever
  kMismatch,        // the two ends of a message, or of a collective, disagree
  kUnreceived,      // a message was sent and never received
  kCrash,           // an exception, a signal, or exit()
  kTimeout,         // still running at the time limit
  kCompile,         // rejected by the compiler or the linker
  kNotImplemented,  // still the stub
};

/// Every verdict has these four checks, in this order.
inline constexpr const char* kCheckNames[] = {"values", "messages", "cost", "safety"};
/// The fifth check, for exercises about memory.
inline constexpr const char* kMemoryCheck = "memory";

/// Returns the check that a failure of this kind fails.
const char* check_named_after(FailureKind kind);

struct Check {
  std::string name;  // one of the names above
  CheckStatus status = CheckStatus::kSkipped;
  std::string expected;
  std::string actual;
  std::string detail;
};

/// No rank, peer or line of a failure is larger: verdict_json.h refuses it.
inline constexpr int kMostNumber = 1 << 24;
inline constexpr std::size_t kMostWarnings = 16;

/// A rank or peer of -1 means none; an empty op or file, and line 0, mean unknown.
struct Failure {
  FailureKind kind = FailureKind::kValues;
  int rank = -1;
  int peer = -1;
  std::string op = {};
  std::string file = {};
  int line = 0;
  std::string message = {};
  std::string replay = {};    // the command that runs this case again
  std::string expected = {};  // for the check that fails
  std::string actual = {};
  Hint hint = {};              // in `message`, too
  const void* code = nullptr;  // where `line` is unknown: an address in the code; not in JSON
};

struct Verdict {
  std::string name;  // of the exercise
  Status status = Status::kPass;
  std::vector<Check> checks;
  std::optional<Failure> failure;       // set unless status is kPass
  std::vector<Failure> others{};        // failures of other checks; not in JSON
  std::vector<std::string> warnings{};  // what passes here, and may fail on other machines

  bool passed() const { return status == Status::kPass; }
  /// Returns the check of that name; null if there is none.
  const Check* find(const std::string& check) const;
};

/// Returns the word used in JSON: "pass", "not_implemented", "skipped", "unreceived", …
const char* name_of(Status status);
const char* name_of(CheckStatus status);
const char* name_of(FailureKind kind);

/// Returns a verdict with every check skipped, and no failure.
Verdict undecided(std::string name);

/// Returns the verdict of a failure before the first case, with every check skipped.
Verdict failed_before_running(std::string name, Failure failure);

/// The same of status kError: why there is no verdict, by no fault of the learner.
Verdict error_of_ours(std::string name, std::string message,
                      FailureKind kind = FailureKind::kCrash);

}  // namespace rankbox
