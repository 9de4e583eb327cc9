// How the processes of a run hear of failures, and how they leave it together.
//
// Three things are told, all in the lobby, where the learner's messages never are:
//
//   failure     by a process that fails of its own, to all others: they end their waits, and leave
//   departure   once a run has failed, by every process to all others when it leaves: whatever it had
//               no part in yet will go without it
//   farewell    by every process once a run, after its last message. Nobody goes on before all have
//               come: from then on no message is under way, memory may be freed, and everybody knows
//               everybody's part in what went wrong (farewell.h)
//
// A run that goes well costs its farewell alone. A failure is p messages, departures are p² of them.
//
// Thread safety: none; it belongs to the thread that runs the rank.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <mpi.h>

#include "mpi/environment.h"
#include "mpi/farewell.h"

namespace rankbox::mpi {

class Departure {
 public:
  /// @param patience_seconds how long other processes may take to stop, once a run has failed:
  /// whoever computes on and on cannot be called back, and all processes are ended then
  Departure(const Environment& environment, double patience_seconds);

  /// Looks whether a process has failed, this one included.
  bool hears_of_failure();
  /// The same, without looking.
  bool knows_of_failure() const { return state_ != Farewell::State::kReturned; }

  /// Tells all others, unless the run is known to have failed already, or is over.
  /// @param disagreed it is ranks' calls of a collective, which all of them will find out
  void tell_failure(const std::string& cause, bool disagreed = false);

  /// Of the first failure that was heard of, or this process's own.
  const std::string& cause() const { return cause_; }
  bool cause_is_disagreement() const { return cause_is_disagreement_; }
  /// Whether this process failed of its own, not because another one did.
  bool failed_first() const { return state_ == Farewell::State::kFailed; }

  /// Whether one of these processes has left a failed run.
  bool has_left(const std::vector<int>& processes);

  /// Leaves with all others: blocks until the last has come.
  void say_farewell(Farewell mine);

  /// Whether the farewells were exchanged: nobody sends or receives any more.
  bool is_over() const { return !farewells_.empty(); }
  const Farewell& farewell_of(int process) const {
    return farewells_[static_cast<std::size_t>(process)];
  }
  const std::vector<Farewell>& farewells() const { return farewells_; }
  /// Whether any process failed, as all of them know once it is over.
  bool has_failed() const;

  /// Takes what was told and not heard yet, so that the lobby is empty for the next run.
  /// REQUIRES: it is over.
  void settle();

  /// The last resort: ends all processes, saying why.
  [[noreturn]] void end_all_processes(const std::string& why) const;
  double patience_seconds() const { return patience_seconds_; }

 private:
  /// News of a failure, as it travels.
  struct Notice {
    bool disagreed = false;
    std::array<char, 500> text{};
  };

  void tell_departure();

  const Environment& environment_;
  const double patience_seconds_;
  Farewell::State state_ = Farewell::State::kReturned;
  std::string cause_;
  bool cause_is_disagreement_ = false;
  bool told_departure_ = false;
  Notice notice_;                      // this process's own
  std::vector<MPI_Request> requests_;  // of what it tells
  std::vector<bool> heard_failure_;    // [process]
  std::vector<bool> heard_departure_;  // [process]
  std::vector<Farewell> farewells_;    // [process]; empty: this process has not left yet
};

}  // namespace rankbox::mpi
