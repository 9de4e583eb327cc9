// Comm over MPI: a rank's handle on its communicator. The contract is in comm/communicator.h.
//
// What is particular here:
//
//   * A rank is a process. Sends are MPI_Ssend (what RunOptions::buffering lets through is copied,
//     and goes on at once); receives name their size and type in the tag (tag.h), so that a mismatch
//     is an error on both sides, and costs nothing where there is none.
//   * Native collectives are MPI's. With RunOptions::check_collectives (the default) the ranks first
//     tell each other what they call; without, MPI is called at once, as when taking times.
//   * Deadlocks are not proved: a rank that waits for longer than RunOptions::deadline_seconds
//     throws TimedOut, which tells what all ranks were waiting for. A rank that fails ends the
//     waits of all others with Aborted.
//   * node() and local_rank() are the machine's, unless RunOptions::nodes asks for more than one.
//   * Progress is MPI's: while no rank is in a call, large asynchronous messages may stand still.
//
// Thread safety: calls belong to the thread that runs the rank, which is the main thread.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "comm/collective_call.h"
#include "comm/label.h"
#include "comm/place.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox::mpi {

class PendingOperation;
class Run;
struct Group;

/// An operation that was started and must be waited for. Copies stand for the same operation; if the
/// last one goes while the operation is unfinished, the run ends with UnreceivedMessage.
class Request {
 public:
  Request() = default;

 private:
  friend class Communicator;
  explicit Request(std::shared_ptr<PendingOperation> pending) : pending_(std::move(pending)) {}
  std::shared_ptr<PendingOperation> pending_;
};

/// A small value: copy it freely within its rank.
class Communicator {
 public:
  using Request = mpi::Request;

  /// @param group null: a communicator that this rank was left out of
  Communicator(Run& run, Group* group) : run_(&run), group_(group) {}

  int rank() const;  // -1 where it was left out
  int world_size() const;
  int node() const;
  int local_rank() const;

  void send(Slice slice, int dst, Place place = Place::current());
  void recv(Slice slice, int src, Place place = Place::current());
  void sendrecv(Slice out, int dst, Slice in, int src, Place place = Place::current());

  [[nodiscard]] Request isend(Slice slice, int dst, Place place = Place::current());
  [[nodiscard]] Request irecv(Slice slice, int src, Place place = Place::current());
  void wait(const Request& request, Place place = Place::current());
  void wait_all(std::span<const Request> requests, Place place = Place::current());
  void wait_all(std::initializer_list<Request> requests, Place place = Place::current());

  void barrier(Place place = Place::current());
  void broadcast(Slice slice, int src, Place place = Place::current());
  void reduce(Slice slice, int dst, ReduceOp op = ReduceOp::SUM, Place place = Place::current());
  void all_reduce(Slice slice, ReduceOp op = ReduceOp::SUM, Place place = Place::current());
  void gather(Slice slice, Slice gathered, int dst, Place place = Place::current());
  void all_gather(Slice slice, Slice gathered, Place place = Place::current());
  void scatter(Slice whole, Slice slice, int src, Place place = Place::current());
  void reduce_scatter(Slice slice, Slice piece, ReduceOp op = ReduceOp::SUM,
                      Place place = Place::current());
  void all_to_all(Slice input, Slice output, Place place = Place::current());

  [[nodiscard]] Request barrier_async(Place place = Place::current());
  [[nodiscard]] Request broadcast_async(Slice slice, int src, Place place = Place::current());
  [[nodiscard]] Request reduce_async(Slice slice, int dst, ReduceOp op = ReduceOp::SUM,
                                     Place place = Place::current());
  [[nodiscard]] Request all_reduce_async(Slice slice, ReduceOp op = ReduceOp::SUM,
                                         Place place = Place::current());
  [[nodiscard]] Request gather_async(Slice slice, Slice gathered, int dst,
                                     Place place = Place::current());
  [[nodiscard]] Request all_gather_async(Slice slice, Slice gathered,
                                         Place place = Place::current());
  [[nodiscard]] Request scatter_async(Slice whole, Slice slice, int src,
                                      Place place = Place::current());
  [[nodiscard]] Request reduce_scatter_async(Slice slice, Slice piece, ReduceOp op = ReduceOp::SUM,
                                             Place place = Place::current());
  [[nodiscard]] Request all_to_all_async(Slice input, Slice output, Place place = Place::current());

  Communicator split(int color, int key = 0, Place place = Place::current());

  void compute(double seconds, Place place = Place::current());  // checks its argument
  void compute(double seconds, Label label, Place place = Place::current());
  void synchronize(Place place = Place::current());  // there is no device to wait for

 private:
  /// Every call begins with it.
  Caller begin(const char* operation, Place place) const;
  void run_collective(const Caller& caller, const CollectiveCall& call);
  Request start_collective(const Caller& caller, const CollectiveCall& call);

  Run* run_;
  Group* group_;
};

}  // namespace rankbox::mpi
