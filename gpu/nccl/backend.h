// Comm over NCCL, a GPU for every rank. The contract is in comm/communicator.h; this is what it
// means on a GPU.
//
// **Calls return when their work is enqueued**, on the stream of the rank's tensors (stream() of
// its RankDevice), where all that comes after them, arithmetic and to_host() included, sees the
// result. So "blocks" means that the stream does. A program that hangs does so in the first call
// that waits on the host: barrier(), synchronize(), to_host(), split(), or the end of the function.
// These end with TimedOut when nothing is done for the deadline.
//
//   call                       on NCCL                                        on stream
//   send, recv                 ncclSend, ncclRecv                             stream()
//   sendrecv                   one group of the two                           stream()
//   isend, irecv               deferred, then one group: see messages.cc      stream() or their own
//   barrier                    all-reduce of one number; the host waits       stream()
//   broadcast, reduce, all_reduce, all_gather: as they are                    stream()
//   reduce_scatter             ncclReduceScatter if p divides the size,       stream()
//                              else a group of ncclReduce
//   gather, scatter, all_to_all: a group of sends and receives                stream()
//   …_async                    the same                                       side_stream()
//   wait                       stream() waits for it; the host only for a barrier
//
// AVG is a sum, and one division at the end, as everywhere; not ncclAvg, which rounds differently.
// Nothing of 0 elements reaches NCCL: both sides know that there is nothing to wait for. A message
// to oneself is a copy.
//
// **What NCCL does not give.** The messages of one group are done together, and a group holds up
// the later messages of its communicator. So these programs may hang here, though the contract
// allows them:
//
//   isend to all, then recv from each           the isends go with the first recv, which then waits for
//                                               all their receivers; irecv from all, and wait_all, does not
//   two irecv from one rank, the second of      both are one group, done when both messages have come
//     which is answered only after a send
//   isend to the next rank, a collective or     the second call launches the isend alone, and the recv
//     barrier, then recv from the previous      comes after it; with irecv instead, before, it does not
//
//   many calls started, before one that         64 launches of a rank may be under way: the next call
//     they wait for on another rank             waits for the oldest of them (launches.h)
//
// A message that NCCL buffers (some MiB a pair) may pass all the same. Communicators do not hold up
// each other, nor do messages and collectives.
//
// **Mistakes.** Arguments are checked by each rank alone, and nothing is compared while a run goes
// well. Calls that do not match hang until the deadline, or leave wrong values. When a run has
// failed, the recent calls of all ranks are compared (failure.h), and the error names those that do
// not match. A rank that waits for itself is a DeadlockError at once. A request that goes without a
// wait is an UnreceivedMessage in its rank's next call, or at its end.
//
// Cost: what NCCL takes to enqueue (for which it starts a thread each time, because the
// communicators do not block: NcclSettings::blocking_calls), and a cudaEventRecord. Thread safety:
// as comm's. Errors: as comm's, and NcclError, CudaError.
#pragma once

#include <memory>

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

  /// In the communicator of all ranks.
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

 private:
  /// @param member null: a communicator that this rank was left out of
  NcclBackend(NcclRank& rank, NcclMember* member) : rank_(&rank), member_(member) {}

  NcclRank* rank_;
  NcclMember* member_;
};

}  // namespace rankbox::gpu
