// The contract every backend keeps: what a learner may call on `Comm& dist`.
//
// BasicCommunicator defines each public call once: it checks the arguments, then calls a primitive
// of the backend. A backend is a value that knows this rank in its communicator (below). Each
// backend instantiates it in one source file, from comm/communicator_impl.h; no learner's file
// does.
//
// Below, p = world_size, r = rank, and one rank's slice has N elements, which are n bytes.
//
// Messages match by (source, destination) within one communicator, in the order of the calls; there
// are no tags. Both sides name the same number of elements of the same dtype.
//
//   call                              returns                                     costs
//   send(slice, dst)                  when dst has the data, or it is buffered    α + nβ
//   recv(slice, src)                  when the data is there                      α + nβ
//   sendrecv(out, dst, in, src)       when both halves are done                   the longer half
//   sendrecv_replace(slice, dst, src) the same, in the place of what was sent     as sendrecv
//   isend(slice, dst) -> Request      at once                                     as send
//   irecv(slice, src) -> Request      at once                                     as recv
//   wait(request)                     when what it stands for is done             what is left
//   wait_all(requests)                when all of them are done                   what is left
//
// RunOptions::buffering sets which sends are buffered: sends, isends and the send half of a
// sendrecv alike; by default none is. A slice given to isend or irecv must outlive the operation,
// and must not be touched before its request has been waited for. Every request must be waited for.
// A tensor that is freed earlier is a BufferReused in wait. Until then other calls, blocking or
// not, may read what the operation reads; otherwise a call whose slice overlaps is refused. MPI
// finds these mistakes, too; NCCL finds none.
//
// A message to or from kNoRank does nothing, and costs nothing: ranks at an edge need no branch.
// Its request is empty, as one that nothing was assigned to: to wait for it does nothing.
// sendrecv_replace needs memory for a copy of the slice while it runs.
//
// Collectives: every rank of the communicator calls the same ones, in the same order, with the same
// arguments. Each also exists as …_async, which returns a Request at once.
//
//   call                              what it does
//   barrier()                         returns on no rank before all ranks have called it
//   broadcast(slice, src)             slice of src -> slice everywhere
//   reduce(slice, dst, op)            reduction -> slice of dst; the others' slices are unchanged
//   all_reduce(slice, op)             reduction -> slice everywhere
//   gather(slice, gathered, dst)      all slices, in rank order -> gathered of dst (p x N);
//                                     elsewhere gathered is ignored
//   all_gather(slice, gathered)       slice of rank r -> chunk(gathered, r, p) everywhere
//   scatter(whole, slice, src)        chunk(whole, r, p) of src (p x N) -> slice of rank r;
//                                     elsewhere whole is ignored
//   reduce_scatter(slice, piece, op)  chunk(slice, r, p) of the reduction -> piece of rank r
//   all_to_all(input, output)         chunk(input, d, p) of rank s -> chunk(output, s, p) of rank d
//
// Pieces of any size, also of none: counts[i] elements, in rank order, are the piece of rank i.
// Counts add up to the elements of what they divide, and may change once the call is done.
//
//   gather_v(slice, gathered, counts, dst)      slice of rank i -> piece i of gathered of dst;
//                                               elsewhere gathered and counts are ignored
//   all_gather_v(slice, gathered, counts)       the same everywhere; counts are equal on all ranks
//   scatter_v(whole, counts, slice, src)        piece i of whole of src -> slice of rank i;
//                                               elsewhere whole and counts are ignored
//   all_to_all_v(input, send_counts, output, receive_counts)
//                                               piece d of input of s -> piece s of output of d
//
// all_reduce(x, op) and broadcast(x, src) also take a number (float, double, std::int32_t or
// std::int64_t) and return the result; they cost what a tensor of one element does.
//
// They block: a call may wait until all ranks have called, and may return as soon as this rank's
// part is done. Only the barrier promises anything about the others.
//
// Their cost in virtual time counts from the last rank's call. It is that of a library that was
// measured (modes, comm/cluster.h), else of the cheapest known algorithm for the size and links; in
// the sandbox, see sim/clock/native_cost.h:
//
//   barrier, split                    dissemination: ⌈log2 p⌉ α
//   broadcast                         a tree, scatter and all-gather, or a pipelined ring
//   reduce                            a tree, or reduce-scatter and gather
//   all_reduce                        butterfly, Rabenseifner's, or ring
//   gather, all_gather, scatter       a tree, or Bruck's: ⌈log2 p⌉ α + (p-1)nβ
//   reduce_scatter                    halving, or ring
//   all_to_all                        pairwise, or Bruck's
//   …_v                               the same, as if all pieces were as long as those of the
//                                     busiest rank on average: what it sends to, or receives from
//                                     the others
//
// In place: the small slice may be the part of the large one that it stands for, which is
// chunk(gathered, r, p) in gather and all_gather, chunk(whole, r, p) in scatter, and
// chunk(slice, r, p) in reduce_scatter. Any other overlap is refused with InvalidArgument; in
// sendrecv and all_to_all, every overlap is.
//
// The world; of these calls, only split, duplicate and group block.
//
//   rank(), world_size()              in this communicator
//   node(), local_rank()              in the whole world, also in a communicator that split made
//   split(color, key)                 a collective: makes a communicator of the ranks with the same
//                                     color, ordered by (key, rank). A negative color joins none,
//                                     and gets a communicator that refuses every call
//   duplicate()                       split(0, rank()): the same ranks, with messages and
//                                     collectives apart from those of this communicator
//   group(ranks)                      a collective of all ranks, which name the same ones: makes a
//                                     communicator of these, in this order. The others get one that
//                                     refuses every call
//   compute(seconds)                  spends virtual time
//   compute(seconds, label)           the same, and says on what: up to 8 characters, see label.h
//   synchronize()                     returns when all that this rank has started on its device is
//                                     done; at once where the rank's device is the host
//
// Errors, all from comm/errors.h, each naming the call's place:
//
//   InvalidArgument      a rank that does not exist, a null slice, a const target, another rank's
//                        tensor, sizes that do not match; nothing has been done then
//   MessageMismatch      a message of another size or dtype than the receiver's slice, thrown on
//                        both ranks; nothing is copied. A sender whose message was buffered has
//                        gone on: its next call throws Aborted. MPI finds it at the receiver;
//                        NCCL only names it once the run has failed
//   CollectiveMismatch   the ranks called different collectives, or the same one differently; also
//                        if a rank sends another number of elements than its receiver counts on.
//                        Thrown on all of them once the last one has called, or once none can go
//                        on. The run's error is that of a rank that differs from most
//   DeadlockError        no rank can make progress
//   Aborted              another rank failed
//   TimedOut             a wait took longer than RunOptions::deadline_seconds, where deadlocks are
//                        not proved: on real machines
//
// Over several MPI processes a rank catches InvalidArgument alone: every other failure ends the
// processes with one report (comm/run_failure.h).
//
// Thread safety: a communicator, its copies and its requests belong to the one thread that runs
// their rank.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>

#include "comm/label.h"
#include "comm/place.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"
#include "comm/tensor.h"

namespace rankbox {

/// A peer that does not exist. No arithmetic on ranks gives it by accident.
inline constexpr int kNoRank = std::numeric_limits<int>::min();

/// What all_reduce and broadcast take beside slices.
template <class T>
concept Number = std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

struct Caller;
struct CollectiveCall;

template <class Backend>
class BasicCommunicator;

/// An operation that was started and must be waited for. Copies stand for the same operation; if
/// the last one is destroyed while the operation is unfinished, the run ends with
/// UnreceivedMessage.
template <class Backend>
class BasicRequest {
 public:
  BasicRequest() = default;

 private:
  friend class BasicCommunicator<Backend>;
  explicit BasicRequest(typename Backend::Pending pending) : pending_(std::move(pending)) {}
  typename Backend::Pending pending_;
};

/// A small value: copy it freely within its rank, never hand it to another rank.
///
/// A Backend is a value with these members. `caller` is the call, for errors and the trace; its
/// arguments have been checked.
///
///   Pending                             a started operation; a default one stands for none
///   rank(), size()                      in this communicator; -1 and 0 where split left it out
///   node(), local_rank()                in the whole world
///   caller(operation, place)            who calls
///   begin(caller)                       throws if the run has stopped, or on a thread that is not
///                                       the rank's (check_thread)
///   send(caller, slice, dst)            blocks, as recv and sendrecv
///   recv(caller, slice, src)
///   sendrecv(caller, out, dst, in, src)
///   isend(caller, slice, dst)           returns Pending, as irecv
///   irecv(caller, slice, src)
///   run(caller, call)                   blocks: a native collective
///   start(caller, call)                 returns Pending: the same, started
///   split(caller, call)                 blocks; returns the part's Backend
///   wait(caller, pending)               blocks
///   starter(pending)                    the call that started it; null if it stands for none
///   compute(caller, seconds, label)
///   synchronize(caller)
template <class Backend>
class BasicCommunicator {
 public:
  using Request = BasicRequest<Backend>;
  using Counts = std::span<const std::int64_t>;  // elements, [rank]; a vector converts to it

  explicit BasicCommunicator(Backend backend) : backend_(std::move(backend)) {}

  int rank() const { return backend_.rank(); }  // -1: split left this rank out
  int world_size() const { return backend_.size(); }
  int node() const { return backend_.node(); }
  int local_rank() const { return backend_.local_rank(); }
  /// Returns the backend, for one that is built on another.
  const Backend& backend() const { return backend_; }

  void send(Slice slice, int dst, Place place = Place::current());
  void recv(Slice slice, int src, Place place = Place::current());
  void sendrecv(Slice out, int dst, Slice in, int src, Place place = Place::current());
  void sendrecv_replace(Slice slice, int dst, int src, Place place = Place::current());

  [[nodiscard]] Request isend(Slice slice, int dst, Place place = Place::current());
  [[nodiscard]] Request irecv(Slice slice, int src, Place place = Place::current());
  void wait(const Request& request, Place place = Place::current());
  void wait_all(std::span<const Request> requests, Place place = Place::current());
  void wait_all(std::initializer_list<Request> requests, Place place = Place::current());

  void barrier(Place place = Place::current());
  void broadcast(Slice slice, int src, Place place = Place::current());
  void reduce(Slice slice, int dst, ReduceOp op = ReduceOp::SUM, Place place = Place::current());
  void all_reduce(Slice slice, ReduceOp op = ReduceOp::SUM, Place place = Place::current());
  template <Number T>
  [[nodiscard]] T broadcast(T number, int src, Place place = Place::current()) {
    TensorOf<T> tensor = full<T>(1, number);
    broadcast(Slice(tensor), src, place);
    return to_host(tensor, place).front();
  }
  template <Number T>
  [[nodiscard]] T all_reduce(T number, ReduceOp op = ReduceOp::SUM,
                             Place place = Place::current()) {
    TensorOf<T> tensor = full<T>(1, number);
    all_reduce(Slice(tensor), op, place);
    return to_host(tensor, place).front();
  }
  void gather(Slice slice, Slice gathered, int dst, Place place = Place::current());
  void all_gather(Slice slice, Slice gathered, Place place = Place::current());
  void scatter(Slice whole, Slice slice, int src, Place place = Place::current());
  void reduce_scatter(Slice slice, Slice piece, ReduceOp op = ReduceOp::SUM,
                      Place place = Place::current());
  void all_to_all(Slice input, Slice output, Place place = Place::current());
  void gather_v(Slice slice, Slice gathered, Counts counts, int dst,
                Place place = Place::current());
  void all_gather_v(Slice slice, Slice gathered, Counts counts, Place place = Place::current());
  void scatter_v(Slice whole, Counts counts, Slice slice, int src, Place place = Place::current());
  void all_to_all_v(Slice input, Counts send_counts, Slice output, Counts receive_counts,
                    Place place = Place::current());

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
  [[nodiscard]] Request gather_v_async(Slice slice, Slice gathered, Counts counts, int dst,
                                       Place place = Place::current());
  [[nodiscard]] Request all_gather_v_async(Slice slice, Slice gathered, Counts counts,
                                           Place place = Place::current());
  [[nodiscard]] Request scatter_v_async(Slice whole, Counts counts, Slice slice, int src,
                                        Place place = Place::current());
  [[nodiscard]] Request all_to_all_v_async(Slice input, Counts send_counts, Slice output,
                                           Counts receive_counts, Place place = Place::current());

  BasicCommunicator split(int color, int key = 0, Place place = Place::current());
  BasicCommunicator duplicate(Place place = Place::current());
  BasicCommunicator group(std::span<const int> ranks, Place place = Place::current());
  BasicCommunicator group(std::initializer_list<int> ranks, Place place = Place::current());

  void compute(double seconds, Place place = Place::current());
  void compute(double seconds, Label label, Place place = Place::current());
  void synchronize(Place place = Place::current());

 private:
  /// Begins every call.
  Caller begin(const char* operation, Place place);
  /// A sendrecv whose arguments were checked, or what is left of it without the peers that do not
  /// exist.
  void exchange(const Caller& caller, Slice out, int dst, Slice in, int src);
  /// Starts an async collective.
  Request start(const Caller& caller, const CollectiveCall& call);

  Backend backend_;
};

}  // namespace rankbox
