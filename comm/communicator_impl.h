// The bodies of BasicCommunicator, for a backend's source file that instantiates it.
//
//   template class rankbox::BasicCommunicator<rankbox::sim::Backend>;
#pragma once

#include <span>
#include <utility>

#include "comm/call_checks.h"
#include "comm/collective_call.h"
#include "comm/communicator.h"

namespace rankbox {

template <class Backend>
Caller BasicCommunicator<Backend>::begin(const char* operation, Place place) {
  const Caller caller = backend_.caller(operation, place);
  check_member(caller);
  backend_.begin(caller);
  return caller;
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::start(const Caller& caller,
                                                        const CollectiveCall& call) {
  check_not_in_use(caller, call.in, written_by(call, caller.index));
  return Request(backend_.start(caller, call));
}

template <class Backend>
void BasicCommunicator<Backend>::send(Slice slice, int dst, Place place) {
  const Caller caller = begin("send", place);
  check_message_peer(caller, dst, "destination");
  check_source(caller, slice);
  if (dst == kNoRank) return;
  backend_.send(caller, slice, dst);
}

template <class Backend>
void BasicCommunicator<Backend>::recv(Slice slice, int src, Place place) {
  const Caller caller = begin("recv", place);
  check_message_peer(caller, src, "source");
  check_target(caller, slice);
  if (src == kNoRank) return;
  backend_.recv(caller, slice, src);
}

template <class Backend>
void BasicCommunicator<Backend>::sendrecv(Slice out, int dst, Slice in, int src, Place place) {
  const Caller caller = begin("sendrecv", place);
  check_message_peer(caller, dst, "destination");
  check_message_peer(caller, src, "source");
  check_source(caller, out);
  check_target(caller, in);
  check_disjoint(caller, out, in);
  exchange(caller, out, dst, in, src);
}

template <class Backend>
void BasicCommunicator<Backend>::sendrecv_replace(Slice slice, int dst, int src, Place place) {
  const Caller caller = begin("sendrecv_replace", place);
  check_message_peer(caller, dst, "destination");
  check_message_peer(caller, src, "source");
  check_target(caller, slice);
  if (dst == kNoRank || src == kNoRank) return exchange(caller, slice, dst, slice, src);
  const detail::Storage sent(slice.size(), size_of(slice.dtype()));
  const Slice out(sent.data(), slice.size(), slice.dtype(), /*read_only=*/false, sent.owner());
  if (slice.size() > 0) copy(out, slice, place);
  exchange(caller, out, dst, slice, src);
}

template <class Backend>
void BasicCommunicator<Backend>::exchange(const Caller& caller, Slice out, int dst, Slice in,
                                          int src) {
  if (dst != kNoRank && src != kNoRank) return backend_.sendrecv(caller, out, dst, in, src);
  if (dst != kNoRank) backend_.send(caller, out, dst);
  if (src != kNoRank) backend_.recv(caller, in, src);
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::isend(Slice slice, int dst, Place place) {
  const Caller caller = begin("isend", place);
  check_message_peer(caller, dst, "destination");
  check_source(caller, slice);
  if (dst == kNoRank) return Request();
  check_not_in_use(caller, slice, Slice());
  return Request(backend_.isend(caller, slice, dst));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::irecv(Slice slice, int src, Place place) {
  const Caller caller = begin("irecv", place);
  check_message_peer(caller, src, "source");
  check_target(caller, slice);
  if (src == kNoRank) return Request();
  check_not_in_use(caller, Slice(), slice);
  return Request(backend_.irecv(caller, slice, src));
}

template <class Backend>
void BasicCommunicator<Backend>::wait(const Request& request, Place place) {
  wait_all(std::span(&request, 1), place);
}

template <class Backend>
void BasicCommunicator<Backend>::wait_all(std::span<const Request> requests, Place place) {
  bool continues = false;
  for (const Request& request : requests) {
    Caller caller = begin("wait", place);
    const Caller* const starter = Backend::starter(request.pending_);
    if (starter == nullptr) continue;
    caller.continues = std::exchange(continues, true);
    if (starter->owner != caller.owner) refuse_foreign_request(caller, starter->rank);
    backend_.wait(caller, request.pending_);
  }
}

template <class Backend>
void BasicCommunicator<Backend>::wait_all(std::initializer_list<Request> requests, Place place) {
  wait_all(std::span(requests), place);
}

template <class Backend>
void BasicCommunicator<Backend>::barrier(Place place) {
  const Caller caller = begin("barrier", place);
  backend_.run(caller, barrier_call());
}

template <class Backend>
void BasicCommunicator<Backend>::broadcast(Slice slice, int src, Place place) {
  const Caller caller = begin("broadcast", place);
  backend_.run(caller, broadcast_call(caller, slice, src));
}

template <class Backend>
void BasicCommunicator<Backend>::reduce(Slice slice, int dst, ReduceOp op, Place place) {
  const Caller caller = begin("reduce", place);
  backend_.run(caller, reduce_call(caller, slice, dst, op));
}

template <class Backend>
void BasicCommunicator<Backend>::all_reduce(Slice slice, ReduceOp op, Place place) {
  const Caller caller = begin("all_reduce", place);
  backend_.run(caller, all_reduce_call(caller, slice, op));
}

template <class Backend>
void BasicCommunicator<Backend>::gather(Slice slice, Slice gathered, int dst, Place place) {
  const Caller caller = begin("gather", place);
  backend_.run(caller, gather_call(caller, slice, gathered, dst));
}

template <class Backend>
void BasicCommunicator<Backend>::all_gather(Slice slice, Slice gathered, Place place) {
  const Caller caller = begin("all_gather", place);
  backend_.run(caller, all_gather_call(caller, slice, gathered));
}

template <class Backend>
void BasicCommunicator<Backend>::scatter(Slice whole, Slice slice, int src, Place place) {
  const Caller caller = begin("scatter", place);
  backend_.run(caller, scatter_call(caller, whole, slice, src));
}

template <class Backend>
void BasicCommunicator<Backend>::reduce_scatter(Slice slice, Slice piece, ReduceOp op,
                                                Place place) {
  const Caller caller = begin("reduce_scatter", place);
  backend_.run(caller, reduce_scatter_call(caller, slice, piece, op));
}

template <class Backend>
void BasicCommunicator<Backend>::all_to_all(Slice input, Slice output, Place place) {
  const Caller caller = begin("all_to_all", place);
  backend_.run(caller, all_to_all_call(caller, input, output));
}

template <class Backend>
void BasicCommunicator<Backend>::gather_v(Slice slice, Slice gathered, Counts counts, int dst,
                                          Place place) {
  const Caller caller = begin("gather_v", place);
  backend_.run(caller, gather_v_call(caller, slice, gathered, counts, dst));
}

template <class Backend>
void BasicCommunicator<Backend>::all_gather_v(Slice slice, Slice gathered, Counts counts,
                                              Place place) {
  const Caller caller = begin("all_gather_v", place);
  backend_.run(caller, all_gather_v_call(caller, slice, gathered, counts));
}

template <class Backend>
void BasicCommunicator<Backend>::scatter_v(Slice whole, Counts counts, Slice slice, int src,
                                           Place place) {
  const Caller caller = begin("scatter_v", place);
  backend_.run(caller, scatter_v_call(caller, whole, counts, slice, src));
}

template <class Backend>
void BasicCommunicator<Backend>::all_to_all_v(Slice input, Counts send_counts, Slice output,
                                              Counts receive_counts, Place place) {
  const Caller caller = begin("all_to_all_v", place);
  backend_.run(caller, all_to_all_v_call(caller, input, send_counts, output, receive_counts));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::barrier_async(Place place) {
  const Caller caller = begin("barrier_async", place);
  return start(caller, barrier_call());
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::broadcast_async(Slice slice, int src,
                                                                  Place place) {
  const Caller caller = begin("broadcast_async", place);
  return start(caller, broadcast_call(caller, slice, src));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::reduce_async(Slice slice, int dst, ReduceOp op,
                                                               Place place) {
  const Caller caller = begin("reduce_async", place);
  return start(caller, reduce_call(caller, slice, dst, op));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::all_reduce_async(Slice slice, ReduceOp op,
                                                                   Place place) {
  const Caller caller = begin("all_reduce_async", place);
  return start(caller, all_reduce_call(caller, slice, op));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::gather_async(Slice slice, Slice gathered, int dst,
                                                               Place place) {
  const Caller caller = begin("gather_async", place);
  return start(caller, gather_call(caller, slice, gathered, dst));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::all_gather_async(Slice slice, Slice gathered,
                                                                   Place place) {
  const Caller caller = begin("all_gather_async", place);
  return start(caller, all_gather_call(caller, slice, gathered));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::scatter_async(Slice whole, Slice slice, int src,
                                                                Place place) {
  const Caller caller = begin("scatter_async", place);
  return start(caller, scatter_call(caller, whole, slice, src));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::reduce_scatter_async(Slice slice, Slice piece,
                                                                       ReduceOp op, Place place) {
  const Caller caller = begin("reduce_scatter_async", place);
  return start(caller, reduce_scatter_call(caller, slice, piece, op));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::all_to_all_async(Slice input, Slice output,
                                                                   Place place) {
  const Caller caller = begin("all_to_all_async", place);
  return start(caller, all_to_all_call(caller, input, output));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::gather_v_async(Slice slice, Slice gathered,
                                                                 Counts counts, int dst,
                                                                 Place place) {
  const Caller caller = begin("gather_v_async", place);
  return start(caller, gather_v_call(caller, slice, gathered, counts, dst));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::all_gather_v_async(Slice slice, Slice gathered,
                                                                     Counts counts, Place place) {
  const Caller caller = begin("all_gather_v_async", place);
  return start(caller, all_gather_v_call(caller, slice, gathered, counts));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::scatter_v_async(Slice whole, Counts counts,
                                                                  Slice slice, int src,
                                                                  Place place) {
  const Caller caller = begin("scatter_v_async", place);
  return start(caller, scatter_v_call(caller, whole, counts, slice, src));
}

template <class Backend>
BasicRequest<Backend> BasicCommunicator<Backend>::all_to_all_v_async(
    Slice input, Counts send_counts, Slice output, Counts receive_counts, Place place) {
  const Caller caller = begin("all_to_all_v_async", place);
  return start(caller, all_to_all_v_call(caller, input, send_counts, output, receive_counts));
}

template <class Backend>
BasicCommunicator<Backend> BasicCommunicator<Backend>::split(int color, int key, Place place) {
  const Caller caller = begin("split", place);
  return BasicCommunicator(backend_.split(caller, split_call(color, key)));
}

template <class Backend>
BasicCommunicator<Backend> BasicCommunicator<Backend>::duplicate(Place place) {
  const Caller caller = begin("duplicate", place);
  return BasicCommunicator(backend_.split(caller, split_call(0, rank())));
}

template <class Backend>
BasicCommunicator<Backend> BasicCommunicator<Backend>::group(std::span<const int> ranks,
                                                             Place place) {
  const Caller caller = begin("group", place);
  const int place_in_group = check_group(caller, ranks);
  const bool is_in = place_in_group >= 0;
  BasicCommunicator made(backend_.split(caller, split_call(is_in ? 0 : -1, place_in_group)));
  if (is_in) check_group_made(caller, ranks, made.rank(), made.world_size());
  return made;
}

template <class Backend>
BasicCommunicator<Backend> BasicCommunicator<Backend>::group(std::initializer_list<int> ranks,
                                                             Place place) {
  return group(std::span(ranks), place);
}

template <class Backend>
void BasicCommunicator<Backend>::compute(double seconds, Place place) {
  compute(seconds, Label(), place);
}

template <class Backend>
void BasicCommunicator<Backend>::compute(double seconds, Label label, Place place) {
  const Caller caller = begin("compute", place);
  check_seconds(caller, seconds);
  backend_.compute(caller, seconds, label);
}

template <class Backend>
void BasicCommunicator<Backend>::synchronize(Place place) {
  backend_.synchronize(begin("synchronize", place));
}

}  // namespace rankbox
