// A native collective under way.
//
// First the ranks tell each other what they call (agreement.h); then MPI's own collective runs. Both
// are polled, and collectives of one group start in the order of the calls on every rank: each waits
// for those before it.
//
// MPI cannot call a collective off. So it works on copies, which outlive a run that is stopped. (Where
// RunOptions::check_collectives is off, for taking times, calls that block do without all this:
// communicator_collectives.cc.)
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <mpi.h>

#include "comm/collective_call.h"
#include "mpi/agreement.h"
#include "mpi/group.h"
#include "mpi/native.h"

namespace rankbox::mpi {

class Collective {
 public:
  /// Begins it: what the rank says of its call is under way.
  /// @param checked false: nothing is said, and MPI's collective has begun
  Collective(Group& group, const Caller& caller, const CollectiveCall& call, bool checked);

  /// Hears what the others say of their calls.
  void listen();
  /// Moves on as far as possible without waiting.
  /// REQUIRES: those before it in the group have started.
  void advance();
  bool has_started() const { return stage_ >= Stage::kRunning; }
  bool is_done() const { return stage_ == Stage::kDone; }
  /// Nobody wants the result any more: the rank's slices are not touched again.
  void abandon() { abandoned_ = true; }

  /// What two ranks disagree on, once it is known; empty if nothing.
  const std::string& mismatch() const;
  Group& group() const { return group_; }
  const Caller& caller() const { return caller_; }
  const CollectiveCall& call() const { return call_; }

 private:
  enum class Stage { kAgreeing, kRunning, kDone };

  void start();
  void deliver();
  bool has_result() const;

  Group& group_;
  Caller caller_;
  CollectiveCall call_;
  bool abandoned_ = false;
  std::optional<Agreement> agreement_;
  bool agreed_ = false;
  Stage stage_ = Stage::kAgreeing;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::unique_ptr<char[]> in_;  // copies of the rank's slices
  std::unique_ptr<char[]> out_;
  NativeCall native_;
};

/// Lets everything that was begun in the group move on; forgets what is done.
void advance_all(Group& group);

}  // namespace rankbox::mpi
