// A function under judgement, together with what its contract promises, as plain data.
//
// A family of exercises (families.h) fills it in: it knows the arguments, prepares the input, calls
// the function on every rank and compares. The algorithm enters through the closed form of its cost
// and the rule on its messages (message_graph.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "comm/comm.h"
#include "comm/run_options.h"
#include "verdict/case.h"
#include "verdict/verdict.h"

namespace rankbox {

/// The first element, or other property of a run, that is not what it should be.
struct Difference {
  std::string what;         // "gathered", "bytes held"
  std::int64_t index = -1;  // of the element; -1: what differs is no single element
  std::string expected;
  std::string actual;
  std::string hint;  // the likely cause; may be empty
  int rank = -1;     // set by what compares a report; a rank that compares need not set it
  FailureKind kind = FailureKind::kValues;
};

// For comm/result_bytes.h.
inline auto fields_of(Difference& difference) {
  return std::tie(difference.what, difference.index, difference.expected, difference.actual,
                  difference.hint, difference.rank, difference.kind);
}

/// A check of a finished run, made on its report.
struct RunCheck {
  FailureKind kind = FailureKind::kValues;  // of a failure; decides the check of the verdict
  /// Where the backend keeps no trace, a check that needs one is left out.
  bool needs_trace = true;
  std::function<std::optional<Failure>(const RunReport& report, const Case& example)> compare;
  std::string promise = {};  // what holds if it passes, in words; may be empty
};

/// The native collectives that a function may call. (Any function may split its communicator.)
enum class Natives {
  kNone,              // the function has to do their work itself
  kCollectives,       // those that move data; a barrier would only hide a wrong order of messages
  kBarrierAndOthers,  // also the barrier: ranks wait for something that is no message
};

/// The share of the time in which a rank is idle, as a schedule promises it.
struct IdleShare {
  double share = 0;
  const char* formula;  // "(p-1)/(m+p-1)"
};

struct Subject {
  /// All cases, smallest first. All have the same fields set.
  std::function<std::vector<Case>()> cases;

  /// Runs on every rank: prepares the arguments, calls the function, compares.
  std::function<std::optional<Difference>(Comm& dist, const Case& example)> run = {};

  /// The promised cost. Null: no closed form, so costs are compared by `checks` alone.
  std::function<Cost(const Case& example)> cost = {};

  /// All else that the report of a run has to show.
  std::vector<RunCheck> checks = {};

  Natives natives = Natives::kNone;
  bool is_barrier = false;     // the function stands for the native barrier
  bool sends_messages = true;  // if not, only values are judged
  bool limits_memory = false;  // a verdict has the check "memory"
  Cluster cluster = {};        // sets the virtual clock of the runs

  /// Set if the ranks label what they compute (comm/label.h): then their schedule is drawn. The
  /// share is that of a cluster on which messages take no time.
  std::function<IdleShare(const Case& example)> idle_share = {};

  /// The count that ./rankbox show draws by default.
  std::int64_t count_to_show = 4096;

  /// One more line for a function that passes. `seconds_of` runs a case and returns its virtual
  /// time.
  std::function<std::string(const std::function<double(const Case&)>& seconds_of)> remark = {};
};

/// Bytes of one element of the exercises' tensors.
inline constexpr std::int64_t kElementBytes = sizeof(Tensor::value_type);

}  // namespace rankbox
