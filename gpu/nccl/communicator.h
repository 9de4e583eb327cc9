// Comm over NCCL: a rank's handle on its communicator. The contract is in comm/communicator.h; this is
// what it means on a GPU.
//
// **Calls return when their work is enqueued**, on the stream of the rank's tensors (stream() of its
// RankDevice), where all that comes after them, arithmetic and to_host() included, sees the result. So
// "blocks" means that the stream does. A program that hangs does so in the first call that waits on
// the host: barrier(), synchronize(), to_host(), split(), or the end of the function. Those end with
// TimedOut when nothing gets done for the deadline, and print what every rank did last.
//
//   call                       on NCCL                                        on stream
//   send, recv                 ncclSend, ncclRecv                             stream()
//   sendrecv                   one group of the two                           stream()
//   isend, irecv               deferred and grouped: see nccl_messages.cc     stream() or their own
//   barrier                    all-reduce of one number; the host waits       stream()
//   broadcast, reduce, all_reduce, all_gather: as they are                    stream()
//   reduce_scatter             ncclReduceScatter if p divides the size,       stream()
//                              else a group of ncclReduce
//   gather, scatter, all_to_all: a group of sends and receives                stream()
//   …_async                    the same                                       side_stream()
//   wait                       stream() waits for it; the host only for a barrier
//
// AVG is a sum, and one division at the end, as everywhere; not ncclAvg, which rounds differently.
// Nothing of 0 elements reaches NCCL: both sides know that there is nothing to wait for. It is
// compared like all others.
//
// What NCCL does not give: messages that were started with isend and irecv are done together with
// those that go to the stream with them, and hold up the later ones of their communicator. A program
// that depends on one of them being done while another one's peer has not come may hang here, with
// messages beyond what NCCL buffers (some MiB), though the contract would let it pass: "isend to all,
// then recv from each" for instance; or two irecv from one rank and an isend to it, of which the first
// is waited for alone. irecv from all, and wait_all, does not. Communicators do not hold up each other.
//
// Mistakes are found where both ranks live in this process (see nccl_group.h); between processes
// they hang, or what arrives is wrong. Each rank is told in its next call, or wait of the host; whoever
// had nothing to wait for any more is not. A message to oneself is a copy; a blocking one that nothing
// goes with is a DeadlockError at once, and so is a call that blocks for a rank which has returned. A
// request that goes without a wait is an UnreceivedMessage in its rank's next call, or at its end.
//
// Cost: what NCCL takes to enqueue (for which it starts a thread each time, because the communicators do
// not block: NcclSettings::blocking_calls), two uncontended locks and a cudaEventRecord. Thread safety:
// as comm's. Errors: as comm's, and NcclError, CudaError.
#pragma once

#include <initializer_list>
#include <span>

#include "comm/label.h"
#include "comm/place.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"
#include "gpu/nccl/request.h"

namespace rankbox {
struct CollectiveCall;
}

namespace rankbox::gpu {

struct NcclMessage;

/// A small value: copy it freely within its rank, never hand it to another rank.
class NcclCommunicator {
 public:
  using Request = NcclRequest;

  /// Of all ranks.
  explicit NcclCommunicator(NcclRank& rank);

  int rank() const;  // -1: this rank was left out
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

  NcclCommunicator split(int color, int key = 0, Place place = Place::current());

  void compute(double seconds, Place place = Place::current());
  void compute(double seconds, Label label, Place place = Place::current());
  void synchronize(Place place = Place::current());

 private:
  NcclCommunicator(NcclRank& rank, NcclMember* member) : rank_(&rank), member_(member) {}

  /// The beginning of every call.
  Caller begin(const char* operation, Place place) const;
  NcclMessage make_message(const Caller& caller, bool sends, Slice slice, int peer, bool blocks);
  void run(const Caller& caller, std::initializer_list<NcclMessage> messages);
  Request start(const Caller& caller, NcclMessage message);
  void run(const Caller& caller, const CollectiveCall& call);
  Request start(const Caller& caller, const CollectiveCall& call);

  NcclRank* rank_;
  NcclMember* member_;  // null: a communicator this rank was left out of
};

}  // namespace rankbox::gpu
