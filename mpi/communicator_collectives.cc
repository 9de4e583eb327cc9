// The native collectives: check the arguments, agree, let MPI do it.
#include <algorithm>
#include <utility>

#include "mpi/check.h"
#include "mpi/collective.h"
#include "mpi/communicator.h"
#include "mpi/datatype.h"
#include "mpi/pending.h"
#include "mpi/run.h"

namespace rankbox::mpi {
namespace {

/// The same on all members, and another one for every group that they are likely to make.
int id_of_part(const Group& whole, int number, int color) {
  const auto mixed = static_cast<std::uint32_t>(whole.id) * 1000003u +
                     static_cast<std::uint32_t>(number) * 8191u +
                     static_cast<std::uint32_t>(color) + 1u;
  return static_cast<int>(mixed & 0x7fffffff);
}

void check_counts(const Caller& caller, const CollectiveCall& call) {
  check_count(caller, call.in);
  check_count(caller, call.out);
}

}  // namespace

void Communicator::run_collective(const Caller& caller, const CollectiveCall& call) {
  check_counts(caller, call);
  if (!run_->options().check_collectives) {
    // Begun in the order of the calls on all ranks, also between asynchronous ones.
    if (call.kind != CollectiveKind::kBarrier && call.count == 0) return;
    const Watchdog::Watch watch(run_->watchdog(), caller);
    NativeCall native = native_call(*group_, call, call.in.data(), call.out.data());
    run_native(*group_, native, caller);
    end_native(*group_, native);
    return;
  }
  const auto collective = std::make_shared<Collective>(*group_, caller, call, /*checked=*/true);
  group_->collectives.push_back(collective);
  try {
    run_->wait_for(*collective);
  } catch (...) {
    collective->abandon();
    throw;
  }
}

Request Communicator::start_collective(const Caller& caller, const CollectiveCall& call) {
  check_counts(caller, call);
  auto pending = std::make_shared<PendingOperation>(*run_, caller);
  pending->collective =
      std::make_shared<Collective>(*group_, caller, call, run_->options().check_collectives);
  group_->collectives.push_back(pending->collective);
  return Request(std::move(pending));
}

void Communicator::barrier(Place place) {
  const Caller caller = begin("barrier", place);
  run_collective(caller, barrier_call());
}

void Communicator::broadcast(Slice slice, int src, Place place) {
  const Caller caller = begin("broadcast", place);
  run_collective(caller, broadcast_call(caller, slice, src));
}

void Communicator::reduce(Slice slice, int dst, ReduceOp op, Place place) {
  const Caller caller = begin("reduce", place);
  run_collective(caller, reduce_call(caller, slice, dst, op));
}

void Communicator::all_reduce(Slice slice, ReduceOp op, Place place) {
  const Caller caller = begin("all_reduce", place);
  run_collective(caller, all_reduce_call(caller, slice, op));
}

void Communicator::gather(Slice slice, Slice gathered, int dst, Place place) {
  const Caller caller = begin("gather", place);
  run_collective(caller, gather_call(caller, slice, gathered, dst));
}

void Communicator::all_gather(Slice slice, Slice gathered, Place place) {
  const Caller caller = begin("all_gather", place);
  run_collective(caller, all_gather_call(caller, slice, gathered));
}

void Communicator::scatter(Slice whole, Slice slice, int src, Place place) {
  const Caller caller = begin("scatter", place);
  run_collective(caller, scatter_call(caller, whole, slice, src));
}

void Communicator::reduce_scatter(Slice slice, Slice piece, ReduceOp op, Place place) {
  const Caller caller = begin("reduce_scatter", place);
  run_collective(caller, reduce_scatter_call(caller, slice, piece, op));
}

void Communicator::all_to_all(Slice input, Slice output, Place place) {
  const Caller caller = begin("all_to_all", place);
  run_collective(caller, all_to_all_call(caller, input, output));
}

Request Communicator::barrier_async(Place place) {
  const Caller caller = begin("barrier_async", place);
  return start_collective(caller, barrier_call());
}

Request Communicator::broadcast_async(Slice slice, int src, Place place) {
  const Caller caller = begin("broadcast_async", place);
  return start_collective(caller, broadcast_call(caller, slice, src));
}

Request Communicator::reduce_async(Slice slice, int dst, ReduceOp op, Place place) {
  const Caller caller = begin("reduce_async", place);
  return start_collective(caller, reduce_call(caller, slice, dst, op));
}

Request Communicator::all_reduce_async(Slice slice, ReduceOp op, Place place) {
  const Caller caller = begin("all_reduce_async", place);
  return start_collective(caller, all_reduce_call(caller, slice, op));
}

Request Communicator::gather_async(Slice slice, Slice gathered, int dst, Place place) {
  const Caller caller = begin("gather_async", place);
  return start_collective(caller, gather_call(caller, slice, gathered, dst));
}

Request Communicator::all_gather_async(Slice slice, Slice gathered, Place place) {
  const Caller caller = begin("all_gather_async", place);
  return start_collective(caller, all_gather_call(caller, slice, gathered));
}

Request Communicator::scatter_async(Slice whole, Slice slice, int src, Place place) {
  const Caller caller = begin("scatter_async", place);
  return start_collective(caller, scatter_call(caller, whole, slice, src));
}

Request Communicator::reduce_scatter_async(Slice slice, Slice piece, ReduceOp op, Place place) {
  const Caller caller = begin("reduce_scatter_async", place);
  return start_collective(caller, reduce_scatter_call(caller, slice, piece, op));
}

Request Communicator::all_to_all_async(Slice input, Slice output, Place place) {
  const Caller caller = begin("all_to_all_async", place);
  return start_collective(caller, all_to_all_call(caller, input, output));
}

Communicator Communicator::split(int color, int key, Place place) {
  const Caller caller = begin("split", place);
  // 1. Everybody agrees that this is a split. From here on all go through with it, or none.
  const auto agreement = std::make_shared<Collective>(*group_, caller, split_call(color, key),
                                                      /*checked=*/true);
  group_->collectives.push_back(agreement);
  run_->wait_for_split(*agreement);

  // 2. MPI makes the communicators, and blocks; but all ranks are here.
  const int its_color = color < 0 ? MPI_UNDEFINED : color;
  auto group = std::make_unique<Group>();
  check(MPI_Comm_split(group_->messages, its_color, key, &group->messages), "MPI_Comm_split",
        caller, -1, 0);
  const int number = group_->splits++;
  if (color < 0) {
    run_->check_running(caller);
    return {*run_, nullptr};
  }
  check(MPI_Comm_dup(group->messages, &group->agreements), "MPI_Comm_dup", caller, -1, 0);

  // 3. Who is in this one, in MPI's order: by key, then by rank.
  int size = 0;
  check(MPI_Comm_size(group->messages, &size), "MPI_Comm_size");
  check(MPI_Comm_rank(group->messages, &group->index), "MPI_Comm_rank");
  group->members.resize(static_cast<std::size_t>(size));
  const int mine = run_->rank();
  check(MPI_Allgather(&mine, 1, MPI_INT, group->members.data(), 1, MPI_INT, group->messages),
        "MPI_Allgather", caller, -1, 0);
  group->sent.resize(group->members.size());
  group->received.resize(group->members.size());
  group->id = id_of_part(*group_, number, color);
  Group& made = run_->add_group(std::move(group));
  run_->check_running(caller);
  return {*run_, &made};
}

}  // namespace rankbox::mpi
