// Comm over MPI: ranks are processes. The contract is in comm/communicator.h.
//
// Differences from other backends:
//
//   * A send is a polled MPI_Issend. A message that RunOptions::buffering buffers is copied, and
//     the rank continues. The tag (tag.h) of a receive encodes its own size and type; a message
//     that does not fit stays in MPI's queue, and is a MessageMismatch.
//   * Native collectives are MPI's, on the caller's memory.
//   * A failed run ends all processes, after one report (comm/run_failure.h, report.h): a mismatch,
//     a wait longer than RunOptions::deadline_seconds, an exception that leaves a rank's function.
//     An InvalidArgument that a call throws may be caught, as on every backend.
//   * Different collectives need not hang in MPI. Then the end of the run finds the mismatch.
//   * node() and local_rank() are the machine's, unless RunOptions::nodes is more than one.
//   * Progress is MPI's: while no rank is in a call, large asynchronous messages may stall.
//
// Thread safety: only the rank's thread, the main thread, may call it.
#pragma once

#include <memory>

#include "comm/communicator.h"

namespace rankbox::mpi {

class PendingOperation;
class Run;
struct Group;

/// This rank's place in a communicator: the primitives of BasicCommunicator.
class Backend {
 public:
  /// Copies refer to the same operation. If the last copy is destroyed while the operation is
  /// unfinished, the run fails.
  using Pending = std::shared_ptr<PendingOperation>;

  /// @param group null: the communicator does not include this rank
  Backend(Run& run, Group* group) : run_(&run), group_(group) {}

  int rank() const;
  int size() const;
  int node() const;
  int local_rank() const;

  Caller caller(const char* operation, Place place) const;
  void begin(const Caller& caller);

  void send(const Caller& caller, Slice slice, int dst);
  void recv(const Caller& caller, Slice slice, int src);
  void sendrecv(const Caller& caller, Slice out, int dst, Slice in, int src);
  Pending isend(const Caller& caller, Slice slice, int dst);
  Pending irecv(const Caller& caller, Slice slice, int src);

  void run(const Caller& caller, const CollectiveCall& call);
  Pending start(const Caller& caller, const CollectiveCall& call);
  Backend split(const Caller& caller, const CollectiveCall& call);

  void wait(const Caller& caller, const Pending& pending);
  static const Caller* starter(const Pending& pending);

  void compute(const Caller& /*caller*/, double /*seconds*/, Label /*label*/) {}
  void synchronize(const Caller& /*caller*/) {}  // there is no device

  /// See Run::set_timed().
  void set_timed(bool timed);

 private:
  Run* run_;
  Group* group_;
};

using Communicator = BasicCommunicator<Backend>;

}  // namespace rankbox::mpi

extern template class rankbox::BasicCommunicator<rankbox::mpi::Backend>;
