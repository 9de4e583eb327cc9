// The native collectives: arrive, wait.
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

/// Fills in the data of a rank that waits in a collective, for a deadlock report.
void prepare_collective(CollectiveOperation& collective, const Caller& caller, RankState& rank,
                        Group& group, int index, const CollectiveCall& call,
                        DataPlane::Transit* transit) {
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

/// Joins the group's job. The collective is done now, or another rank will complete it.
void arrive(CollectiveOperation& collective, const CollectiveCall& call) {
  collective.call = call;
  collective.split_group = nullptr;
  collective.split_index = -1;
  collective.operation.state.store(kPending, std::memory_order_relaxed);
  collective.group->arrive(collective.index, collective);
}

/// Returns the event's bytes (comm/trace.h).
std::int64_t bytes_of(const CollectiveCall& call, int index) {
  switch (call.kind) {
    case CollectiveKind::kGather:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kGatherV:
    case CollectiveKind::kAllGatherV:
      return call.in.bytes();
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterV:
      return call.out.bytes();
    case CollectiveKind::kAllToAllV: {
      // It keeps as many as it gets from itself.
      const std::int64_t own =
          call.in_counts[static_cast<std::size_t>(index)] * size_of(call.dtype);
      return std::max(call.in.bytes(), call.out.bytes()) - own;
    }
    default:
      return call.count * size_of(call.dtype);
  }
}

Event& record(RankState& rank, const Caller& caller, const Group& group, const CollectiveCall& call,
              std::int64_t begin) {
  Event& event = rank.recorder.begin(EventKind::kCollective, caller.place, begin);
  event.collective = call.kind;
  event.op = call.op;
  event.dtype = call.dtype;
  event.peer = call.root < 0 ? -1 : group.world_rank(call.root);
  event.group = group.id();
  event.bytes = bytes_of(call, caller.index);
  return event;
}

}  // namespace

void Backend::run(const Caller& caller, const CollectiveCall& call) {
  if (!state_->open_requests.empty()) [[unlikely]]
    check_not_in_use(caller, call.in, written_by(call, caller.index));
  DataPlane::Transit* const transit = moves_data(call.kind) ? prepare(*state_) : nullptr;
  // As with messages: publish first, and record the event while other ranks arrive.
  const std::int64_t begin = state_->recorder.now();
  group_->short_collectives().publish(index_, call);
  Event& event = record(*state_, caller, *group_, call, begin);
  state_->recorder.note(event, written_by(call, index_), call.in);
  CollectiveOperation& collective = state_->collective_operation;
  prepare_collective(collective, caller, *state_, *group_, index_, call, transit);
  switch (group_->short_collectives().finish(index_, call, collective.operation)) {
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
  state_->recorder.end(event, call.out);
}

Backend::Pending Backend::start(const Caller& caller, const CollectiveCall& call) {
  DataPlane::Transit* const transit = moves_data(call.kind) ? prepare(*state_) : nullptr;
  const std::int64_t begin = state_->recorder.now();
  auto pending = std::make_shared<PendingOperation>(caller, *state_, *group_, state_->requests++);
  Event& event = record(*state_, caller, *group_, call, begin);
  event.async = true;
  event.request = pending->number();
  const Slice written = written_by(call, index_);
  state_->recorder.note(event, written, call.in);
  pending->use(call.in, written);
  group_->short_collectives().publish_async(index_);
  prepare_collective(pending->start_collective(), caller, *state_, *group_, index_, call, transit);
  const bool watches = state_->world->options().watch_buffers;
  const CollectiveCall kept = pending->keep_counts(call);
  arrive(pending->start_collective(), watches ? pending->watch(kept, written) : kept);
  state_->recorder.end(event);
  return pending;
}

Backend Backend::split(const Caller& caller, const CollectiveCall& call) {
  run(caller, call);
  const CollectiveOperation& result = state_->collective_operation;
  // A null group makes every call on this communicator an error, and its rank -1.
  Backend part(*state_, *group_, result.split_index);
  part.group_ = result.split_group;
  return part;
}

}  // namespace rankbox::sim
