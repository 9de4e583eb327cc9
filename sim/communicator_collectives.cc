// The native collectives: check the arguments, arrive, wait.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/call.h"
#include "sim/checks.h"
#include "sim/communicator.h"
#include "sim/pending_operation.h"
#include "sim/wait.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

/// A collective in which every rank has `in`, and `out` where it gets a result. The count to agree
/// on is that of `agreed`.
CollectiveCall make_call(CollectiveKind kind, Slice in, Slice out, Slice agreed) {
  CollectiveCall call;
  call.kind = kind;
  call.in = in;
  call.out = out;
  call.dtype = agreed.dtype();
  call.count = agreed.size();
  return call;
}

// One function per collective turns checked arguments into a call, for the blocking and the
// asynchronous form.

CollectiveCall barrier_call() {
  return make_call(CollectiveKind::kBarrier, Slice(), Slice(), Slice());
}

CollectiveCall broadcast_call(const Caller& caller, int index, Slice slice, int src) {
  check_peer(caller, src, "source");
  index == src ? check_source(caller, slice) : check_target(caller, slice);
  CollectiveCall call = make_call(CollectiveKind::kBroadcast, slice, slice, slice);
  call.root = src;
  return call;
}

CollectiveCall reduce_call(const Caller& caller, int index, Slice slice, int dst, ReduceOp op) {
  check_peer(caller, dst, "destination");
  index == dst ? check_target(caller, slice) : check_source(caller, slice);
  CollectiveCall call = make_call(CollectiveKind::kReduce, slice, slice, slice);
  call.root = dst;
  call.op = op;
  call.reduces = true;
  return call;
}

CollectiveCall all_reduce_call(const Caller& caller, Slice slice, ReduceOp op) {
  check_target(caller, slice);
  CollectiveCall call = make_call(CollectiveKind::kAllReduce, slice, slice, slice);
  call.op = op;
  call.reduces = true;
  return call;
}

CollectiveCall gather_call(const Caller& caller, int index, Slice slice, Slice gathered, int dst) {
  check_peer(caller, dst, "destination");
  check_source(caller, slice);
  if (index == dst) {
    check_target(caller, gathered);
    check_same_dtype(caller, slice, gathered);
    check_size(caller, gathered, slice.size() * caller.group->size(), "gathered", "world_size x N");
    check_in_place(caller, slice, gathered, index * slice.size());
  }
  CollectiveCall call =
      make_call(CollectiveKind::kGather, slice, index == dst ? gathered : Slice(), slice);
  call.root = dst;
  return call;
}

CollectiveCall all_gather_call(const Caller& caller, int index, Slice slice, Slice gathered) {
  check_source(caller, slice);
  check_target(caller, gathered);
  check_same_dtype(caller, slice, gathered);
  check_size(caller, gathered, slice.size() * caller.group->size(), "gathered", "world_size x N");
  check_in_place(caller, slice, gathered, index * slice.size());
  return make_call(CollectiveKind::kAllGather, slice, gathered, slice);
}

CollectiveCall scatter_call(const Caller& caller, int index, Slice whole, Slice slice, int src) {
  check_peer(caller, src, "source");
  check_target(caller, slice);
  if (index == src) {
    check_source(caller, whole);
    check_same_dtype(caller, whole, slice);
    check_size(caller, whole, slice.size() * caller.group->size(), "whole", "world_size x N");
    check_in_place(caller, slice, whole, index * slice.size());
  }
  CollectiveCall call =
      make_call(CollectiveKind::kScatter, index == src ? whole : Slice(), slice, slice);
  call.root = src;
  return call;
}

CollectiveCall reduce_scatter_call(const Caller& caller, int index, Slice slice, Slice piece,
                                   ReduceOp op) {
  check_source(caller, slice);
  check_target(caller, piece);
  check_same_dtype(caller, slice, piece);
  const int p = caller.group->size();
  check_size(caller, piece, chunk(slice, index, p).size(), "piece",
             "chunk(slice, rank, world_size).size()");
  check_in_place(caller, piece, slice, index * slice.size() / p);
  CollectiveCall call = make_call(CollectiveKind::kReduceScatter, slice, piece, slice);
  call.op = op;
  call.reduces = true;
  return call;
}

CollectiveCall all_to_all_call(const Caller& caller, int index, Slice input, Slice output) {
  check_source(caller, input);
  check_target(caller, output);
  check_same_dtype(caller, input, output);
  check_disjoint(caller, input, output);
  check_size(caller, output,
             chunk(input, index, caller.group->size()).size() * caller.group->size(), "output",
             "world_size x chunk(input, rank, world_size).size()");
  return make_call(CollectiveKind::kAllToAll, input, output, input);
}

/// Fills in what others may want to know of a rank that waits in a collective.
void fill(CollectiveOperation& collective, const Caller& caller, RankState& rank, Group& group,
          int index, const CollectiveCall& call) {
  collective.group = &group;
  collective.index = index;
  Operation& operation = collective.operation;
  operation.owner = &rank;
  operation.kind = OperationKind::kCollective;
  operation.collective_kind = call.kind;
  operation.bytes = call.in.bytes();
  operation.dtype = call.dtype;
  operation.place = caller.place;
  operation.job = nullptr;
  operation.outcome.store(Outcome::kOk, std::memory_order_relaxed);
}

/// Joins the group's job. The collective is done now, or will be.
void arrive(CollectiveOperation& collective, const CollectiveCall& call) {
  collective.call = call;
  collective.split_group = nullptr;
  collective.split_index = -1;
  collective.operation.state.store(kPending, std::memory_order_relaxed);
  collective.group->arrive(collective.index, collective);
}

Event& record(RankState& rank, const Caller& caller, const Group& group, const CollectiveCall& call,
              std::int64_t begin) {
  Event& event = rank.recorder.begin(EventKind::kCollective, caller.place, begin);
  event.collective = call.kind;
  event.op = call.op;
  event.dtype = call.dtype;
  event.peer = call.root < 0 ? -1 : group.world_rank(call.root);
  event.group = group.id();
  event.bytes = call.count * size_of(call.dtype);
  return event;
}

void run(const Caller& caller, RankState& rank, Group& group, int index,
         const CollectiveCall& call) {
  // As with messages: publish first and write things down while the others come.
  const std::int64_t begin = rank.recorder.now();
  group.short_collectives().publish(index, call);
  Event& event = record(rank, caller, group, call, begin);
  CollectiveOperation& collective = rank.collective_operation;
  fill(collective, caller, rank, group, index, call);
  switch (group.short_collectives().finish(index, call, collective.operation)) {
    case ShortCollectives::End::kDone:
      break;
    case ShortCollectives::End::kStopped:
      collective.operation.outcome.store(Outcome::kStopped, std::memory_order_relaxed);
      break;
    case ShortCollectives::End::kLong:
      collective.can_help = true;
      arrive(collective, call);
      wait_until_done(collective.operation);
      leave_collective(collective);
  }
  check_outcome(caller, collective.operation);
  rank.recorder.end(event, call.out);
}

std::shared_ptr<PendingOperation> run_async(const Caller& caller, RankState& rank, Group& group,
                                            int index, const CollectiveCall& call) {
  const std::int64_t begin = rank.recorder.now();
  auto pending = std::make_shared<PendingOperation>(caller, rank, group, rank.requests++);
  Event& event = record(rank, caller, group, call, begin);
  event.async = true;
  event.request = pending->number();
  group.short_collectives().publish_async(index);
  fill(pending->start_collective(), caller, rank, group, index, call);
  arrive(pending->start_collective(), call);
  rank.recorder.end(event);
  return pending;
}

}  // namespace

void Communicator::barrier(Place place) {
  const Caller caller{state_, group_, "barrier", place};
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, barrier_call());
}

void Communicator::broadcast(Slice slice, int src, Place place) {
  const Caller caller{state_, group_, "broadcast", place};
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, broadcast_call(caller, index_, slice, src));
}

void Communicator::reduce(Slice slice, int dst, ReduceOp op, Place place) {
  const Caller caller{state_, group_, "reduce", place};
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, reduce_call(caller, index_, slice, dst, op));
}

void Communicator::all_reduce(Slice slice, ReduceOp op, Place place) {
  const Caller caller{state_, group_, "all_reduce", place};
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, all_reduce_call(caller, slice, op));
}

void Communicator::gather(Slice slice, Slice gathered, int dst, Place place) {
  const Caller caller{state_, group_, "gather", place};
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, gather_call(caller, index_, slice, gathered, dst));
}

void Communicator::all_gather(Slice slice, Slice gathered, Place place) {
  const Caller caller{state_, group_, "all_gather", place};
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, all_gather_call(caller, index_, slice, gathered));
}

void Communicator::scatter(Slice whole, Slice slice, int src, Place place) {
  const Caller caller{state_, group_, "scatter", place};
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, scatter_call(caller, index_, whole, slice, src));
}

void Communicator::reduce_scatter(Slice slice, Slice piece, ReduceOp op, Place place) {
  const Caller caller{state_, group_, "reduce_scatter", place};
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, reduce_scatter_call(caller, index_, slice, piece, op));
}

void Communicator::all_to_all(Slice input, Slice output, Place place) {
  const Caller caller{state_, group_, "all_to_all", place};
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, all_to_all_call(caller, index_, input, output));
}

Request Communicator::barrier_async(Place place) {
  const Caller caller{state_, group_, "barrier_async", place};
  begin_call(caller, *state_);
  return Request(run_async(caller, *state_, *group_, index_, barrier_call()));
}

Request Communicator::broadcast_async(Slice slice, int src, Place place) {
  const Caller caller{state_, group_, "broadcast_async", place};
  begin_call(caller, *state_);
  return Request(
      run_async(caller, *state_, *group_, index_, broadcast_call(caller, index_, slice, src)));
}

Request Communicator::reduce_async(Slice slice, int dst, ReduceOp op, Place place) {
  const Caller caller{state_, group_, "reduce_async", place};
  begin_call(caller, *state_);
  return Request(
      run_async(caller, *state_, *group_, index_, reduce_call(caller, index_, slice, dst, op)));
}

Request Communicator::all_reduce_async(Slice slice, ReduceOp op, Place place) {
  const Caller caller{state_, group_, "all_reduce_async", place};
  begin_call(caller, *state_);
  return Request(run_async(caller, *state_, *group_, index_, all_reduce_call(caller, slice, op)));
}

Request Communicator::gather_async(Slice slice, Slice gathered, int dst, Place place) {
  const Caller caller{state_, group_, "gather_async", place};
  begin_call(caller, *state_);
  return Request(run_async(caller, *state_, *group_, index_,
                           gather_call(caller, index_, slice, gathered, dst)));
}

Request Communicator::all_gather_async(Slice slice, Slice gathered, Place place) {
  const Caller caller{state_, group_, "all_gather_async", place};
  begin_call(caller, *state_);
  return Request(run_async(caller, *state_, *group_, index_,
                           all_gather_call(caller, index_, slice, gathered)));
}

Request Communicator::scatter_async(Slice whole, Slice slice, int src, Place place) {
  const Caller caller{state_, group_, "scatter_async", place};
  begin_call(caller, *state_);
  return Request(
      run_async(caller, *state_, *group_, index_, scatter_call(caller, index_, whole, slice, src)));
}

Request Communicator::reduce_scatter_async(Slice slice, Slice piece, ReduceOp op, Place place) {
  const Caller caller{state_, group_, "reduce_scatter_async", place};
  begin_call(caller, *state_);
  return Request(run_async(caller, *state_, *group_, index_,
                           reduce_scatter_call(caller, index_, slice, piece, op)));
}

Request Communicator::all_to_all_async(Slice input, Slice output, Place place) {
  const Caller caller{state_, group_, "all_to_all_async", place};
  begin_call(caller, *state_);
  return Request(
      run_async(caller, *state_, *group_, index_, all_to_all_call(caller, index_, input, output)));
}

Communicator Communicator::split(int color, int key, Place place) {
  const Caller caller{state_, group_, "split", place};
  begin_call(caller, *state_);
  CollectiveCall call = barrier_call();
  call.kind = CollectiveKind::kSplit;
  call.color = color;
  call.key = key;
  run(caller, *state_, *group_, index_, call);
  const CollectiveOperation& result = state_->collective_operation;
  // A group of null makes every call on this communicator an error, and its rank -1.
  Communicator part(*state_, *group_, result.split_index);
  part.group_ = result.split_group;
  return part;
}

}  // namespace rankbox::sim
