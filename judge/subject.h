// A function under judgement and the promises of its contract, as plain data.
//
// A family of exercises (families.h) fills it in. The family prepares the input, calls the function
// on every rank and compares the results. The closed form of the cost and the message rule
// (message_graph.h) identify the algorithm.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "comm/comm.h"
#include "comm/run_options.h"
#include "judge/case.h"
#include "judge/verdict.h"

namespace rankbox {

/// The first element, or other property of a run, that differs from the expected one.
struct Difference {
  std::string what;         // "gathered", "bytes held"
  std::int64_t index = -1;  // of the element; -1: the difference is not in a single element
  std::string expected;
  std::string actual;
  Hint hint;      // the likely cause, if known
  int rank = -1;  // set by a comparison of a report; comparisons on a rank need not set it
  FailureKind kind = FailureKind::kValues;
  const void* code = nullptr;   // the code that made it, if no event of a trace shows it
  const Event* call = nullptr;  // to blame, in the trace of the report that a check compares
};

// For comm/result_bytes.h. An address means nothing to another process.
inline auto fields_of(Difference& difference) {
  return std::tie(difference.what, difference.index, difference.expected, difference.actual,
                  difference.hint, difference.rank, difference.kind);
}

/// A check of a finished run, made on its report.
struct RunCheck {
  FailureKind kind = FailureKind::kValues;  // of a failure; decides the check of the verdict
  /// Skipped on backends that keep no trace.
  bool needs_trace = true;
  std::function<std::optional<Failure>(const RunReport& report, const Case& example)> compare;
  std::string promise = {};  // what holds if it passes, for users; may be empty
};

/// The native collectives that a function may call. (Any function may split its communicator, but
/// see `splits_later`.)
enum class Natives {
  kNone,              // the function must implement them itself
  kCollectives,       // all but the barrier, which would only hide a wrong order of messages
  kBarrierAndOthers,  // also the barrier: ranks wait for something other than a message
};

/// The unit of the bytes in a cost.
struct CostUnit {
  std::string name = {};        // "n", "Ψ"; empty: bytes
  double size = 1;              // what it stands for
  std::string definition = {};  // "n = 388 bytes, 97 elements"; may be empty
};

/// The call that makes a cost another one than promised.
struct Culprit {
  const Event* call = nullptr;  // null: unknown
  Hint hint = {};
};

/// The idle share of a rank's time that a schedule promises.
struct IdleShare {
  double share = 0;
  const char* formula;  // "(p-1)/(m+p-1)"
};

struct Subject {
  /// Returns all cases, smallest first. All have the same fields set.
  std::function<std::vector<Case>()> cases;

  /// Returns cases far beyond the others, such as many ranks: each is run once. May be null.
  std::function<std::vector<Case>()> far_cases = {};

  /// Cases that only a sealed run has, of `limits_memory`: their layers are so large that memory
  /// shows which the kernel counts in pages.
  std::vector<Case> large_cases = {};

  /// Runs on every rank: prepares the arguments, calls the function, compares.
  std::function<std::optional<Difference>(Comm& dist, const Case& example)> run = {};

  /// Returns the promised cost. Null: no closed form; only `checks` compare costs.
  std::function<Cost(const Case& example)> cost = {};

  /// Returns the unit of the contract's cost. Null: n, the bytes of `count` elements.
  std::function<CostUnit(const Case& example)> cost_unit = {};

  /// Names a call of this rank that explains a cost other than the promised one. May be null.
  std::function<Culprit(const Trace& trace, int rank, const Case& example)> culprit = {};

  /// Set if the promised bytes and additions are bounds in some cases: there a run may have fewer,
  /// in as many steps.
  std::function<bool(const Case& example)> may_cost_less = {};

  /// Further checks of a run's report.
  std::vector<RunCheck> checks = {};

  Natives natives = Natives::kNone;
  bool is_barrier = false;     // the function implements the native barrier
  bool splits_later = false;   // it may split also after its first message, which acts as a barrier
  bool sends_messages = true;  // if not, only values are judged
  bool limits_memory = false;  // a verdict has the check "memory"
  Cluster cluster = {};        // of the runs; sets the virtual clock

  /// Set if the ranks label their computation (comm/label.h): their schedule is then drawn. The
  /// share assumes a cluster on which messages take no time.
  std::function<IdleShare(const Case& example)> idle_share = {};

  /// Set if every rank has a tensor of all ranks' elements: world_size times count.
  bool holds_all = false;

  /// The count that ./rankbox show draws by default.
  std::int64_t count_to_show = 4096;

  /// Returns an additional line for a function that passes. `seconds_of` runs a case and returns
  /// its virtual time.
  std::function<std::string(const std::function<double(const Case&)>& seconds_of)> remark = {};
};

/// Bytes of one element of the exercises' tensors.
inline constexpr std::int64_t kElementBytes = sizeof(Tensor::value_type);

}  // namespace rankbox
