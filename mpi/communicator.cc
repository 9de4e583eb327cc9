#include "mpi/communicator.h"

#include "comm/communicator_impl.h"
#include "mpi/datatype.h"
#include "mpi/environment.h"
#include "mpi/run.h"

namespace rankbox::mpi {

namespace {

/// Checks the slices of a blocking call as those of a started one. Nearly always one comparison.
void check_not_open(Run& run, const Caller& caller, Slice read, Slice written) {
  const BuffersInUse& in_use = run.memory().in_use;
  if (!in_use.empty()) [[unlikely]]
    in_use.check(caller, read, written);
}

}  // namespace

int Backend::rank() const { return group_ == nullptr ? -1 : group_->index; }

int Backend::size() const { return group_ == nullptr ? 0 : group_->size(); }

int Backend::node() const {
  const RunOptions& options = run_->options();
  if (options.nodes == 1) return environment().node;
  return static_cast<int>(static_cast<std::int64_t>(run_->rank()) * options.nodes /
                          options.world_size);
}

void Backend::set_timed(bool timed) { run_->set_timed(timed); }

int Backend::local_rank() const {
  const RunOptions& options = run_->options();
  if (options.nodes == 1) return environment().local_rank;
  const std::int64_t ranks = static_cast<std::int64_t>(node()) * options.world_size;
  return run_->rank() - static_cast<int>((ranks + options.nodes - 1) / options.nodes);
}

Caller Backend::caller(const char* operation, Place place) const {
  return {run_->rank(), run_->memory().owner, rank(), size(), operation, place};
}

void Backend::begin(const Caller& caller) {
  check_thread(caller);
  run_->begin();
}

void Backend::send(const Caller& caller, Slice slice, int dst) {
  check_count(caller, slice);
  check_not_open(*run_, caller, slice, Slice());
  Operation message;
  run_->start(message, caller, *group_, FlightKind::kSend, slice, dst, /*async=*/false);
  run_->wait(message);
}

void Backend::recv(const Caller& caller, Slice slice, int src) {
  check_count(caller, slice);
  check_not_open(*run_, caller, Slice(), slice);
  Operation message;
  run_->start(message, caller, *group_, FlightKind::kRecv, slice, src, /*async=*/false);
  run_->wait(message);
}

void Backend::sendrecv(const Caller& caller, Slice out, int dst, Slice in, int src) {
  check_count(caller, out);
  check_count(caller, in);
  check_not_open(*run_, caller, out, in);
  Operation recv_half;
  Operation send_half;
  run_->start(recv_half, caller, *group_, FlightKind::kRecv, in, src, /*async=*/false);
  run_->start(send_half, caller, *group_, FlightKind::kSend, out, dst, /*async=*/false);
  run_->wait(recv_half, &send_half);
}

Backend::Pending Backend::isend(const Caller& caller, Slice slice, int dst) {
  check_count(caller, slice);
  auto pending = std::make_shared<PendingOperation>(*run_, caller, slice, Slice());
  run_->start(pending->operation, caller, *group_, FlightKind::kSend, slice, dst, /*async=*/true);
  return pending;
}

Backend::Pending Backend::irecv(const Caller& caller, Slice slice, int src) {
  check_count(caller, slice);
  auto pending = std::make_shared<PendingOperation>(*run_, caller, Slice(), slice);
  run_->start(pending->operation, caller, *group_, FlightKind::kRecv, slice, src, /*async=*/true);
  return pending;
}

void Backend::run(const Caller& caller, const CollectiveCall& call) {
  check_count(caller, call.in);
  check_count(caller, call.out);
  check_not_open(*run_, caller, call.in, written_by(call, caller.index));
  Operation collective;
  run_->start(collective, caller, *group_, call, /*async=*/false);
  run_->wait(collective);
}

Backend::Pending Backend::start(const Caller& caller, const CollectiveCall& call) {
  check_count(caller, call.in);
  check_count(caller, call.out);
  auto pending =
      std::make_shared<PendingOperation>(*run_, caller, call.in, written_by(call, caller.index));
  run_->start(pending->operation, caller, *group_, call, /*async=*/true);
  return pending;
}

Backend Backend::split(const Caller& caller, const CollectiveCall& call) {
  return {*run_, run_->split(caller, *group_, call)};
}

const Caller* Backend::starter(const Pending& pending) {
  return pending == nullptr ? nullptr : &pending->operation.caller;
}

void Backend::wait(const Caller& caller, const Pending& pending) {
  if (pending->finished()) return;
  if (pending->was_freed()) [[unlikely]] {
    const Operation& started = pending->operation;
    run_->fail(freed_before_wait(started.caller, started.call.peer, caller.place));
  }
  run_->wait_for_request(caller, pending->operation);
  pending->finish();
}

}  // namespace rankbox::mpi

template class rankbox::BasicCommunicator<rankbox::mpi::Backend>;
