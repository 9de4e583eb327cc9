// The native collectives: check the arguments, arrive, wait.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/call.h"
#include "sim/communicator.h"
#include "sim/pending_operation.h"
#include "sim/wait.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

/// Fills in what others may want to know of a rank that waits in a collective.
void fill(CollectiveOperation& collective, const Caller& caller, RankState& rank, Group& group,
          int index, const CollectiveCall& call, DataPlane::Transit* transit) {
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
  operation.transit = transit;
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
  DataPlane::Transit* const transit =
      moves_data(call.kind) ? prepare(rank, /*later=*/false) : nullptr;
  // As with messages: publish first and write things down while the others come.
  const std::int64_t begin = rank.recorder.now();
  group.short_collectives().publish(index, call);
  Event& event = record(rank, caller, group, call, begin);
  CollectiveOperation& collective = rank.collective_operation;
  fill(collective, caller, rank, group, index, call, transit);
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
  finish(rank, collective.operation);
  check_outcome(caller, collective.operation);
  rank.recorder.end(event, call.out);
}

std::shared_ptr<PendingOperation> run_async(const Caller& caller, RankState& rank, Group& group,
                                            int index, const CollectiveCall& call) {
  DataPlane::Transit* const transit =
      moves_data(call.kind) ? prepare(rank, /*later=*/true) : nullptr;
  const std::int64_t begin = rank.recorder.now();
  auto pending = std::make_shared<PendingOperation>(caller, rank, group, rank.requests++);
  Event& event = record(rank, caller, group, call, begin);
  event.async = true;
  event.request = pending->number();
  group.short_collectives().publish_async(index);
  fill(pending->start_collective(), caller, rank, group, index, call, transit);
  arrive(pending->start_collective(), call);
  rank.recorder.end(event);
  return pending;
}

}  // namespace

void Communicator::barrier(Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "barrier", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, barrier_call());
}

void Communicator::broadcast(Slice slice, int src, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "broadcast", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, broadcast_call(caller, slice, src));
}

void Communicator::reduce(Slice slice, int dst, ReduceOp op, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "reduce", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, reduce_call(caller, slice, dst, op));
}

void Communicator::all_reduce(Slice slice, ReduceOp op, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "all_reduce", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, all_reduce_call(caller, slice, op));
}

void Communicator::gather(Slice slice, Slice gathered, int dst, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "gather", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, gather_call(caller, slice, gathered, dst));
}

void Communicator::all_gather(Slice slice, Slice gathered, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "all_gather", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, all_gather_call(caller, slice, gathered));
}

void Communicator::scatter(Slice whole, Slice slice, int src, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "scatter", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, scatter_call(caller, whole, slice, src));
}

void Communicator::reduce_scatter(Slice slice, Slice piece, ReduceOp op, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "reduce_scatter", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, reduce_scatter_call(caller, slice, piece, op));
}

void Communicator::all_to_all(Slice input, Slice output, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "all_to_all", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, all_to_all_call(caller, input, output));
}

Request Communicator::barrier_async(Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "barrier_async", place);
  begin_call(caller, *state_);
  return Request(run_async(caller, *state_, *group_, index_, barrier_call()));
}

Request Communicator::broadcast_async(Slice slice, int src, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "broadcast_async", place);
  begin_call(caller, *state_);
  return Request(run_async(caller, *state_, *group_, index_, broadcast_call(caller, slice, src)));
}

Request Communicator::reduce_async(Slice slice, int dst, ReduceOp op, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "reduce_async", place);
  begin_call(caller, *state_);
  return Request(run_async(caller, *state_, *group_, index_, reduce_call(caller, slice, dst, op)));
}

Request Communicator::all_reduce_async(Slice slice, ReduceOp op, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "all_reduce_async", place);
  begin_call(caller, *state_);
  return Request(run_async(caller, *state_, *group_, index_, all_reduce_call(caller, slice, op)));
}

Request Communicator::gather_async(Slice slice, Slice gathered, int dst, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "gather_async", place);
  begin_call(caller, *state_);
  return Request(
      run_async(caller, *state_, *group_, index_, gather_call(caller, slice, gathered, dst)));
}

Request Communicator::all_gather_async(Slice slice, Slice gathered, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "all_gather_async", place);
  begin_call(caller, *state_);
  return Request(
      run_async(caller, *state_, *group_, index_, all_gather_call(caller, slice, gathered)));
}

Request Communicator::scatter_async(Slice whole, Slice slice, int src, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "scatter_async", place);
  begin_call(caller, *state_);
  return Request(
      run_async(caller, *state_, *group_, index_, scatter_call(caller, whole, slice, src)));
}

Request Communicator::reduce_scatter_async(Slice slice, Slice piece, ReduceOp op, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "reduce_scatter_async", place);
  begin_call(caller, *state_);
  return Request(
      run_async(caller, *state_, *group_, index_, reduce_scatter_call(caller, slice, piece, op)));
}

Request Communicator::all_to_all_async(Slice input, Slice output, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "all_to_all_async", place);
  begin_call(caller, *state_);
  return Request(
      run_async(caller, *state_, *group_, index_, all_to_all_call(caller, input, output)));
}

Communicator Communicator::split(int color, int key, Place place) {
  const Caller caller = caller_of(*state_, group_, index_, "split", place);
  begin_call(caller, *state_);
  run(caller, *state_, *group_, index_, split_call(color, key));
  const CollectiveOperation& result = state_->collective_operation;
  // A group of null makes every call on this communicator an error, and its rank -1.
  Communicator part(*state_, *group_, result.split_index);
  part.group_ = result.split_group;
  return part;
}

}  // namespace rankbox::sim
