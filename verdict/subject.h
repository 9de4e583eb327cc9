// A function under judgement, together with what its contract promises.
//
// One class per family of exercises implements this (broadcast.h, reduce.h, …): it knows the
// arguments, prepares the input, calls the function on every rank and compares. Which algorithm it
// is enters through the closed form of its cost (and, for its messages, message_graph.h).
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

namespace rankbox {

/// The first element that is not what it should be.
struct Difference {
  std::string what;         // "gathered", or "rank 3's barrier": what the two below are said of
  std::int64_t index = -1;  // of the element; -1: the tensor as a whole
  std::string expected;
  std::string actual;
  std::string hint;           // where the wrong value seems to come from; may be empty
  int rank = -1;              // whose it is, where it is seen from outside (Subject::after)
  bool is_of_memory = false;  // bytes that a rank held, and no value
};

// For comm/result_bytes.h.
inline auto fields_of(Difference& difference) {
  return std::tie(difference.what, difference.index, difference.expected, difference.actual,
                  difference.hint, difference.rank, difference.is_of_memory);
}

/// What a schedule promises.
struct IdleShare {
  double share = 0;     // of the time
  const char* formula;  // "(p-1)/(m+p-1)"
};

class Subject {
 public:
  virtual ~Subject() = default;

  /// All cases, smallest first. Every one has the same fields set.
  virtual std::vector<Case> cases() const = 0;

  /// Runs on every rank: prepares this rank's arguments, calls the function, compares.
  virtual std::optional<Difference> run(Comm& dist, const Case& example) const = 0;

  /// What the contract promises. Not compared where it has no closed form: then compare_schedule says
  /// all there is to say.
  virtual Cost cost(const Case& example) const = 0;
  virtual bool has_cost_form() const { return true; }

  /// The machine whose virtual clock compare_schedule looks at.
  virtual Cluster cluster(const Case& /*example*/) const { return {}; }

  /// Whether ranks talk to each other at all. If not, only the values are judged.
  virtual bool sends_messages() const { return true; }

  /// Whether the function stands for the native barrier. To others a barrier is a crutch: it makes
  /// a wrong order of messages look right.
  virtual bool is_a_barrier() const { return false; }

  /// Whether the function is to build on native collectives. If not, they are what it has to do
  /// itself. The barrier is a crutch either way, but where ranks wait for something that is no message.
  virtual bool may_call_collectives() const { return false; }
  virtual bool may_call_barrier() const { return false; }

  /// What a cost does not say, or not in words that help, although all values are right: which
  /// collectives there were, or how much of them the computing did not hide. Counts as a cost; judged
  /// in the sandbox only.
  virtual std::optional<Difference> compare_schedule(const RunReport& /*report*/,
                                                     const Case& /*example*/) const {
    return std::nullopt;
  }

  /// Whether the exercise is about memory: then a verdict has the check "memory".
  virtual bool limits_memory() const { return false; }

  /// A rank that held too much, as the report tells. Judged in the sandbox only. (What run() measures
  /// itself, it tells itself: Difference::is_of_memory.)
  virtual std::optional<Difference> compare_memory(const RunReport& /*report*/,
                                                   const Case& /*example*/) const {
    return std::nullopt;
  }

  /// What can be seen only from outside, once all ranks have returned.
  virtual std::optional<Difference> after(const RunReport& /*report*/,
                                          const Case& /*example*/) const {
    return std::nullopt;
  }

  /// The share of the time in which a rank has nothing to do, where messages take none: of exercises whose
  /// ranks say what they compute (comm/label.h). Their schedule is drawn.
  virtual std::optional<IdleShare> idle_share(const Case& /*example*/) const {
    return std::nullopt;
  }

  /// The count that ./rankbox show draws where none is asked for.
  virtual std::int64_t count_to_show() const { return 4096; }

  /// One more line for those who pass; none if empty. `seconds_of` runs a case and gives its virtual
  /// time on the default cluster.
  virtual std::string remark(const std::function<double(const Case&)>& /*seconds_of*/) const {
    return "";
  }
};

/// Bytes of one element of the exercises' tensors.
inline constexpr std::int64_t kElementBytes = sizeof(Tensor::value_type);

/// The closed form of a cost in which neither the root nor the operation matters.
using CostForm = Cost (*)(int world_size, std::int64_t elements, std::int64_t element_bytes);

}  // namespace rankbox
