// Comm over NCCL, with one GPU per rank: what the contract of comm/communicator.h means on a GPU.
//
// **Calls return when their work is enqueued** on the stream of the rank's tensors (stream() of its
// RankDevice). All later work on it, arithmetic and to_host() included, sees the result. So in a
// call that "blocks", the stream blocks. A program that hangs does so in the first call that waits
// on the host: barrier(), synchronize(), to_host(), split(), or the end of the function. These
// throw TimedOut when nothing completes within the deadline.
//
//   call                       on NCCL                                        on stream
//   send, recv                 ncclSend, ncclRecv                             stream()
//   sendrecv                   one group of the two                           stream()
//   isend, irecv               deferred, then one group: see messages.cc      stream() or their own
//   barrier                    all-reduce of one number; the host waits       stream()
//   broadcast, reduce, all_reduce, all_gather: NCCL's own                     stream()
//   reduce_scatter             ncclReduceScatter if p divides the size,       stream()
//                              else a group of ncclReduce
//   gather, scatter, all_to_all: a group of sends and receives                stream()
//   …_async                    the same                                       the collectives' own
//   wait                       stream() waits for it; the host only for a barrier
//   split                      ncclCommSplit, twice; an equal one is remembered: see split.cc
//
// AVG is a sum and one division at the end, as in every backend. It is not ncclAvg, which rounds
// differently, except while times are taken. NCCL never receives 0 elements: both sides know that
// there is nothing to wait for. A message to the rank itself is a copy.
//
// **Limits of NCCL.** The messages of one group complete together, and a group delays later
// messages of its communicator. So these programs may hang here, although the contract allows them:
//
//   isend to all, then recv from each        the isends join the first recv, which then waits for
//                                            all their receivers; irecv from all, then wait_all
//                                            does not hang
//   two irecv from one rank, the second of   both are one group, which completes when both
//     which is answered only after a send    messages have arrived
//   isend to the next rank, a collective or  the second call launches the isend alone, and the
//     barrier, then recv from the previous   recv comes after it; an irecv before it does not hang
//
//   many calls started before one that they  a rank may have 64 launches in flight: the last one's
//     wait for on another rank               call waits for the oldest of them (launches.h)
//
// Messages that NCCL buffers (some MiB per pair) may complete all the same. Communicators do not
// delay each other, nor do messages and collectives, as long as a GPU's 32 hardware queues suffice
// for the streams: one for the rank, and for each communicator one where it first uses isend or
// irecv, and one where it first starts a collective.
//
// **Mistakes.** Each rank checks its arguments alone, and nothing is compared while a run succeeds.
// A tensor on another GPU, made outside of the run or in an earlier one, is refused: clone() it.
// Calls that do not match hang until the deadline, or leave wrong values. After a failed run, the
// recent calls of all ranks are compared (failure.h), and the error names those that do not match.
// A rank that waits for itself throws DeadlockError at once. A request destroyed without a wait
// throws UnreceivedMessage in its rank's next call, or at its end.
//
// Cost: NCCL's time to enqueue, and a cudaEventRecord, for one call in eight while calls are timed.
// NCCL starts a thread for each call, because the communicators are non-blocking
// (NcclSettings::blocking_calls). Thread safety: as comm's.
// Errors: as comm's, plus NcclError and CudaError.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "comm/call_checks.h"
#include "comm/label.h"
#include "comm/slice.h"

namespace rankbox {
struct CollectiveCall;
}

namespace rankbox::gpu {

class NcclRank;
struct NcclMember;
class NcclPending;

/// This rank's place in a communicator: the primitives of BasicCommunicator.
class NcclBackend {
 public:
  using Pending = std::shared_ptr<NcclPending>;

  /// Represents the rank in the communicator of all ranks.
  explicit NcclBackend(NcclRank& rank);

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
  NcclBackend split(const Caller& caller, const CollectiveCall& call);

  void wait(const Caller& caller, const Pending& pending);
  static const Caller* starter(const Pending& pending);

  void compute(const Caller& /*caller*/, double /*seconds*/, Label /*label*/) {}
  void synchronize(const Caller& caller);

  // See gpu/communicator.h.
  void set_timed(bool timed);
  void call_in_group(const std::function<void()>& calls);

 private:
  /// @param member null: the communicator does not include this rank
  NcclBackend(NcclRank& rank, NcclMember* member, std::shared_ptr<const void> use)
      : rank_(&rank), member_(member), use_(std::move(use)) {}

  NcclRank* rank_;
  NcclMember* member_;
  std::shared_ptr<const void> use_;  // NcclMember::user, shared by the copies of a Comm
};

}  // namespace rankbox::gpu
