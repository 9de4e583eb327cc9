// The contract every backend keeps: what a learner may call on `Comm& dist`.
//
// Point to point. Messages are matched by (source, destination) within one communicator, in the
// order of the calls; there are no tags. A message of another size or dtype than the receiver's
// slice throws MessageMismatch on both ranks.
//   send(slice, dst)                  blocks until the receiver has the data (see Buffering for the
//   dial) recv(slice, src)                  blocks until the data is there sendrecv(out, dst, in,
//   src)       both at once; out and in may not overlap isend(slice, dst), irecv(slice, src) ->
//   Request      start, and go on; the slice must stay alive and untouched wait(request),
//   wait_all(requests)                    block until done; every request must be waited for
//
// Collectives: every rank of the communicator calls the same one with the same arguments, else
// CollectiveMismatch. Each also exists as …_async -> Request.
//   barrier()
//   broadcast(slice, src)             slice of src -> slice everywhere
//   reduce(slice, dst, op)            reduction -> slice of dst; the others' slices are unchanged
//   all_reduce(slice, op)             reduction -> slice everywhere
//   gather(slice, gathered, dst)      gathered on dst: world_size x N, in rank order; ignored
//   elsewhere all_gather(slice, gathered)       gathered everywhere scatter(whole, slice, src)
//   whole on src: world_size x N; ignored elsewhere reduce_scatter(slice, piece, op)  piece is
//   chunk(slice, rank, world_size) of the reduction all_to_all(input, output)         chunk(input,
//   d, p) of rank s -> chunk(output, s, p) of rank d
//
// The world: rank(), world_size(), node(), local_rank(); split(color, key) makes a communicator of
// the ranks with the same color, ordered by (key, rank); a negative color joins none and gets a
// communicator that may not be used. compute(seconds) spends virtual time.
//
// Errors: DeadlockError, Aborted, InvalidArgument and the mismatches, all from comm/errors.h, each
// naming the call's place. Thread safety: a communicator belongs to the one thread that runs its
// rank.
#pragma once

#include <concepts>
#include <utility>
#include <vector>

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
};

}  // namespace rankbox
