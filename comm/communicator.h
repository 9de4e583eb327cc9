// The contract every backend keeps: what a learner may call on `Comm& dist`.
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
//   isend(slice, dst) -> Request      at once                                     as send
//   irecv(slice, src) -> Request      at once                                     as recv
//   wait(request)                     when what it stands for is done             what is left
//   wait_all(requests)                when all of them are done                   what is left
//
// What may be buffered is for a dial to say (Buffering in comm/run_options.h), for sends, isends
// and the send half of a sendrecv alike; by default nothing is. A slice given to isend or irecv
// must live, and be left alone, until its request was waited for. Every request must be waited for.
//
// Collectives: every rank of the communicator calls the same ones, in the same order, with the same
// arguments. Each also exists as …_async, which returns a Request at once.
//
//   call                              what it does
//   barrier()                         lets nobody go on before everybody has come
//   broadcast(slice, src)             slice of src -> slice everywhere
//   reduce(slice, dst, op)            reduction -> slice of dst; the others' slices are unchanged
//   all_reduce(slice, op)             reduction -> slice everywhere
//   gather(slice, gathered, dst)      all slices, in rank order -> gathered of dst (p x N);
//                                     elsewhere gathered is ignored
//   all_gather(slice, gathered)       all slices, in rank order -> gathered everywhere (p x N)
//   scatter(whole, slice, src)        chunk(whole, r, p) of src (p x N) -> slice of rank r;
//                                     elsewhere whole is ignored
//   reduce_scatter(slice, piece, op)  chunk(slice, r, p) of the reduction -> piece of rank r
//   all_to_all(input, output)         chunk(input, d, p) of rank s -> chunk(output, s, p) of rank d
//
// They block: a rank may be held until all ranks have come, and may be let go as soon as its own
// part is done. Only the barrier promises anything about the others.
//
// Their cost in virtual time counts from when the last rank has come. It is that of whichever known
// algorithm is cheapest for the size and the links; in the sandbox, see collectives/native_cost.h:
//
//   barrier, split                    dissemination: ⌈log2 p⌉ α
//   broadcast                         a tree, or scatter and all-gather
//   reduce                            a tree, or reduce-scatter and gather
//   all_reduce                        butterfly, Rabenseifner's, or ring
//   gather, all_gather, scatter       a tree, or Bruck's: ⌈log2 p⌉ α + (p-1)nβ
//   reduce_scatter                    halving, or ring
//   all_to_all                        pairwise, or Bruck's
//
// In place: the small slice may be that very part of the large one which it stands for, which is
// chunk(gathered, r, p) in gather and all_gather, chunk(whole, r, p) in scatter, and
// chunk(slice, r, p) in reduce_scatter. Any other overlap is refused with InvalidArgument; in
// sendrecv and all_to_all, every overlap is.
//
// The world; of these only split blocks.
//
//   rank(), world_size()              in this communicator
//   node(), local_rank()              in the whole world, also in a communicator that split made
//   split(color, key)                 a collective: makes a communicator of the ranks with the same
//                                     color, ordered by (key, rank). A negative color joins none,
//                                     and gets a communicator that refuses every call
//   compute(seconds)                  spends virtual time
//   compute(seconds, label)           the same, and says on what: up to 8 characters, see label.h
//   synchronize()                     returns when all that this rank has started on its device is
//                                     done; at once where the rank's device is the host
//
// Errors, all from comm/errors.h, each naming the call's place:
//
//   InvalidArgument      a rank that does not exist, a null slice, a const target, another rank's
//                        tensor, sizes that do not go together; nothing has been done then
//   MessageMismatch      a message of another size or dtype than the receiver's slice, thrown on
//                        both ranks; nothing is copied. A sender whose message was buffered has
//                        gone on: it learns of it as Aborted, in whatever call it has come to
//   CollectiveMismatch   the ranks called different collectives, or the same one differently
//   DeadlockError        nobody can go on
//   Aborted              another rank failed
//   TimedOut             a wait took longer than RunOptions::deadline_seconds, where deadlocks are
//                        not proved: on real machines
//
// Thread safety: a communicator, its copies and its requests belong to the one thread that runs
// their rank.
#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "comm/label.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox {

template <class C>
concept Communicator = requires(C& dist, const C& here, Slice slice, typename C::Request request,
                                int rank, ReduceOp op, std::vector<typename C::Request>& requests) {
  { here.rank() } -> std::same_as<int>;
  { here.world_size() } -> std::same_as<int>;
  { here.node() } -> std::same_as<int>;
  { here.local_rank() } -> std::same_as<int>;

  dist.send(slice, rank);
  dist.recv(slice, rank);
  dist.sendrecv(slice, rank, slice, rank);
  { dist.isend(slice, rank) } -> std::same_as<typename C::Request>;
  { dist.irecv(slice, rank) } -> std::same_as<typename C::Request>;
  dist.wait(request);
  dist.wait_all(requests);

  dist.barrier();
  dist.broadcast(slice, rank);
  dist.reduce(slice, rank, op);
  dist.all_reduce(slice, op);
  dist.gather(slice, slice, rank);
  dist.all_gather(slice, slice);
  dist.scatter(slice, slice, rank);
  dist.reduce_scatter(slice, slice, op);
  dist.all_to_all(slice, slice);

  { dist.barrier_async() } -> std::same_as<typename C::Request>;
  { dist.broadcast_async(slice, rank) } -> std::same_as<typename C::Request>;
  { dist.reduce_async(slice, rank, op) } -> std::same_as<typename C::Request>;
  { dist.all_reduce_async(slice, op) } -> std::same_as<typename C::Request>;
  { dist.gather_async(slice, slice, rank) } -> std::same_as<typename C::Request>;
  { dist.all_gather_async(slice, slice) } -> std::same_as<typename C::Request>;
  { dist.scatter_async(slice, slice, rank) } -> std::same_as<typename C::Request>;
  { dist.reduce_scatter_async(slice, slice, op) } -> std::same_as<typename C::Request>;
  { dist.all_to_all_async(slice, slice) } -> std::same_as<typename C::Request>;

  { dist.split(rank, rank) } -> std::same_as<C>;
  dist.compute(1.0);
  dist.compute(1.0, "label");
  dist.synchronize();
};

}  // namespace rankbox
