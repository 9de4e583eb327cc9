// Point-to-point calls, and a rank's access to the world.
//
// The collectives are in communicator_collectives.cc. All calls of Comm are instantiated here, with
// the messages, whose latency is some nanoseconds.
#include "sim/communicator.h"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "comm/communicator_impl.h"
#include "sim/call.h"
#include "sim/message/buffered_send.h"
#include "sim/pending_operation.h"
#include "sim/wait.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

void pause_at_random(RankState& rank) {
  // Usually no pause, often a yield, sometimes a pause long enough for other ranks to park. A sleep
  // would stop all fibers of a thread.
  constexpr int kLongPause = 64;
  const bool are_fibers = rank.world->options().executor == ExecutorKind::kFibers;
  const auto draw = rank.shaker() % 64;
  if (draw == 0 && !are_fibers) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  } else if (draw < 16) {
    const int turns = draw == 0 ? kLongPause : 1;
    for (int i = 0; i < turns; ++i) yield();
  }
}

Operation& fill_operation(Operation& operation, OperationKind kind, const Caller& caller,
                          RankState& rank, Slice slice, Channel& channel, int peer,
                          DataPlane::Transit* transit) {
  operation.owner = &rank;
  operation.data = slice.data();
  operation.bytes = slice.bytes();
  operation.channel = &channel;
  operation.dtype = slice.dtype();
  operation.kind = kind;
  operation.peer = peer;
  operation.place = caller.place;
  operation.outcome.store(Outcome::kOk, std::memory_order_relaxed);
  operation.other_half = nullptr;
  operation.transit = transit;
  operation.watched = false;
  operation.state.store(kPending, std::memory_order_relaxed);
  return operation;
}

void fill_event(Event& event, const Group& group, int peer, Slice slice) {
  event.group = group.id();
  event.peer = peer;
  event.bytes = slice.bytes();
  event.dtype = slice.dtype();
}

void count_message(RankState& rank, Slice slice) {
  ++rank.messages;
  rank.bytes += slice.bytes();
}

/// Posts the copy; the rank can continue. Returns false if the world has stopped.
bool post_buffered(std::unique_ptr<BufferedSend> send, const Caller& caller, RankState& rank,
                   Slice slice, Channel& channel, int peer) {
  // Mailboxes are closed one by one: a rank that was stopped in a call may find this one open.
  if (rank.world->is_stopped()) [[unlikely]]
    return false;
  Operation& operation = send.release()->operation;  // owned by the channel from now on
  void* const copied = operation.data;
  fill_operation(operation, OperationKind::kSend, caller, rank, slice, channel, peer,
                 operation.transit);
  operation.data = copied;
  return channel.post(operation);
}

/// Posts a copy of the data and returns.
void send_buffered(const Caller& caller, RankState& rank, Slice slice, Channel& channel, int peer) {
  if (!post_buffered(make_buffered_send(rank, slice), caller, rank, slice, channel, peer))
    rank.world->throw_stopped(rank, caller.operation, caller.place);
}

/// Returns the slice that an irecv receives into; null for other operations.
Slice received_by(const Operation& operation) {
  if (operation.kind != OperationKind::kRecv) return {};
  return {operation.data, operation.bytes / size_of(operation.dtype), operation.dtype,
          /*read_only=*/true, /*owner=*/0};
}

}  // namespace

int Backend::size() const { return group_ == nullptr ? 0 : group_->size(); }

int Backend::node() const { return state_->world->node_of(state_->rank); }

int Backend::local_rank() const { return state_->rank - state_->world->first_rank_of_node(node()); }

Caller Backend::caller(const char* operation, Place place) const {
  return {state_->rank, state_->memory.owner, index_, size(), operation, place};
}

void Backend::begin(const Caller& caller) {
  // check_thread takes some 4 ns, and a short message 50.
  if (state_->thread != __builtin_thread_pointer()) [[unlikely]]
    check_thread(caller);
  if (state_->world->options().seed != 0) [[unlikely]]
    pause_at_random(*state_);
  state_->recorder.reserve();
}

// Both prefetch the mailbox while the call prepares its operation.

Channel& Backend::channel_to(int dst) {
  if (to_.peer != dst) to_ = {dst, &group_->channel(index_, dst)};
  __builtin_prefetch(to_.channel, /*for writing*/ 1);
  return *to_.channel;
}

Channel& Backend::channel_from(int src) {
  if (from_.peer != src) from_ = {src, &group_->channel(src, index_)};
  __builtin_prefetch(from_.channel, /*for writing*/ 1);
  return *from_.channel;
}

void Backend::send(const Caller& caller, Slice slice, int dst) {
  check_not_open(*state_, caller, slice, Slice());
  Channel& channel = channel_to(dst);
  const int peer = group_->world_rank(dst);
  // Here and below: post first, and record the event while the message is in flight.
  const std::int64_t begin = state_->recorder.now();
  const bool buffered = state_->world->options().buffering.buffers(slice.bytes());
  Operation& operation = state_->send_operation;
  if (buffered) {
    send_buffered(caller, *state_, slice, channel, peer);
  } else {
    DataPlane::Transit* const transit = prepare(*state_);
    fill_operation(operation, OperationKind::kSend, caller, *state_, slice, channel, peer, transit);
    operation.watched = transit == nullptr;
    channel.post(operation);
  }
  Event& event = state_->recorder.begin(EventKind::kSend, caller.place, begin);
  fill_event(event, *group_, peer, slice);
  event.buffered = buffered;
  state_->recorder.note(event, Slice(), slice);
  count_message(*state_, slice);
  if (!buffered) {
    wait_until_done(operation);
    check_outcome(caller, operation);
  }
  state_->recorder.end(event, slice);
}

void Backend::recv(const Caller& caller, Slice slice, int src) {
  check_not_open(*state_, caller, Slice(), slice);
  Channel& channel = channel_from(src);
  const int peer = group_->world_rank(src);
  const std::int64_t begin = state_->recorder.now();
  DataPlane::Transit* const transit = prepare(*state_);
  Operation& operation = fill_operation(state_->recv_operation, OperationKind::kRecv, caller,
                                        *state_, slice, channel, peer, transit);
  operation.watched = transit == nullptr;
  channel.post(operation);
  Event& event = state_->recorder.begin(EventKind::kRecv, caller.place, begin);
  fill_event(event, *group_, peer, slice);
  state_->recorder.note(event, slice, Slice());
  wait_until_done(operation);
  check_outcome(caller, operation);
  state_->recorder.end(event, slice);
}

void Backend::sendrecv(const Caller& caller, Slice out, int dst, Slice in, int src) {
  check_not_open(*state_, caller, out, in);
  Channel& to_dst = channel_to(dst);
  Channel& from_src = channel_from(src);
  const std::int64_t begin = state_->recorder.now();
  const bool buffered = state_->world->options().buffering.buffers(out.bytes());
  DataPlane::Transit* const transit = prepare(*state_);
  // Before posting: the allocation may fail.
  std::unique_ptr<BufferedSend> copied = buffered ? make_buffered_send(*state_, out) : nullptr;
  Operation& recv_half = fill_operation(state_->recv_operation, OperationKind::kRecv, caller,
                                        *state_, in, from_src, group_->world_rank(src), transit);
  Operation& send_half = fill_operation(state_->send_operation, OperationKind::kSend, caller,
                                        *state_, out, to_dst, group_->world_rank(dst), transit);
  if (!buffered) {
    recv_half.other_half = &send_half;
    send_half.other_half = &recv_half;
  }
  from_src.post(recv_half);
  if (buffered) {
    if (!post_buffered(std::move(copied), caller, *state_, out, to_dst, group_->world_rank(dst)))
      send_half.outcome.store(Outcome::kStopped, std::memory_order_relaxed);
    send_half.state.store(kDone, std::memory_order_relaxed);
  } else {
    to_dst.post(send_half);
  }

  Event& send_event = state_->recorder.begin(EventKind::kSend, caller.place, begin);
  fill_event(send_event, *group_, group_->world_rank(dst), out);
  send_event.paired = true;
  state_->recorder.note(send_event, Slice(), out);
  send_event.buffered = buffered;
  Event& recv_event = state_->recorder.begin(EventKind::kRecv, caller.place, begin);
  fill_event(recv_event, *group_, group_->world_rank(src), in);
  state_->recorder.note(recv_event, in, Slice());
  count_message(*state_, out);
  // Neither half may outlive this call: a half that failed withdraws the other one.
  const auto failed = [](const Operation& half) {
    return half.outcome.load(std::memory_order_relaxed) != Outcome::kOk;
  };
  if (!failed(recv_half) || !to_dst.withdraw(send_half)) wait_until_done(send_half, &recv_half);
  if (!failed(send_half) || !from_src.withdraw(recv_half)) wait_until_done(recv_half, &send_half);
  // A half that did not fit first: the other one may have been stopped because of it.
  const bool send_first = send_half.outcome.load(std::memory_order_relaxed) == Outcome::kMismatch;
  check_outcome(caller, send_first ? send_half : recv_half);
  check_outcome(caller, send_first ? recv_half : send_half);
  state_->recorder.end(recv_event, in);
  state_->recorder.end(send_event, out);
}

Backend::Pending Backend::isend(const Caller& caller, Slice slice, int dst) {
  Channel& channel = channel_to(dst);
  const int peer = group_->world_rank(dst);
  const bool buffered = state_->world->options().buffering.buffers(slice.bytes());
  DataPlane::Transit* const transit = buffered ? nullptr : prepare(*state_);
  auto pending = std::make_shared<PendingOperation>(caller, *state_, *group_, state_->requests++);
  pending->set_peer(peer);
  pending->use(slice, Slice());
  Event& event = state_->recorder.begin(EventKind::kSend, caller.place);
  fill_event(event, *group_, peer, slice);
  event.async = true;
  event.request = pending->number();
  state_->recorder.note(event, Slice(), slice);
  count_message(*state_, slice);
  if (state_->world->options().watch_buffers) pending->watch(slice);
  event.buffered = buffered;
  if (buffered) {
    send_buffered(caller, *state_, slice, channel, peer);
  } else {
    channel.post(fill_operation(pending->start_message(), OperationKind::kSend, caller, *state_,
                                slice, channel, peer, transit));
  }
  state_->recorder.end(event, slice);
  return pending;
}

Backend::Pending Backend::irecv(const Caller& caller, Slice slice, int src) {
  Channel& channel = channel_from(src);
  const int peer = group_->world_rank(src);
  DataPlane::Transit* const transit = prepare(*state_);
  auto pending = std::make_shared<PendingOperation>(caller, *state_, *group_, state_->requests++);
  pending->set_peer(peer);
  pending->use(Slice(), slice);
  Event& event = state_->recorder.begin(EventKind::kRecv, caller.place);
  fill_event(event, *group_, peer, slice);
  event.async = true;
  event.request = pending->number();
  state_->recorder.note(event, slice, Slice());
  const bool watches = state_->world->options().watch_buffers;
  channel.post(fill_operation(pending->start_message(), OperationKind::kRecv, caller, *state_,
                              watches ? pending->hold_back(slice) : slice, channel, peer, transit));
  state_->recorder.end(event);
  return pending;
}

const Caller* Backend::starter(const Pending& pending) {
  return pending == nullptr ? nullptr : &pending->caller();
}

void Backend::wait(const Caller& caller, const Pending& pending) {
  PendingOperation& started = *pending;
  const bool continues = std::exchange(state_->continues_wait_all, false);
  if (!caller.continues && !continues) state_->has_waited = false;
  if (started.finished()) return;
  // First: the message may never be received, and this would be the cause.
  if (started.was_freed()) [[unlikely]] {
    const BufferReused error = freed_before_wait(started.caller(), started.peer(), caller.place);
    state_->world->stop(std::make_exception_ptr(error));  // even if the program catches it
    throw error;
  }
  Event& event = state_->recorder.begin(EventKind::kWait, caller.place);
  event.request = started.number();
  event.peer = started.peer();
  event.paired = std::exchange(state_->has_waited, true);
  state_->recorder.note(event, Slice(), Slice());
  wait_until_done(started.operation());
  started.finish();
  check_outcome(started.caller(), started.operation());
  const bool was_changed = started.was_changed();
  started.deliver();
  state_->recorder.end(event, received_by(started.operation()));
  if (was_changed) [[unlikely]]
    throw written_before_wait(started.caller(), started.peer(), caller.place);
}

void Backend::continue_wait_all() const { state_->continues_wait_all = true; }

void Backend::set_recording(bool on) const { state_->recorder.pause(!on); }

void Backend::compute(const Caller& caller, double seconds, Label label) {
  Event& event = state_->recorder.begin(EventKind::kCompute, caller.place);
  event.seconds = seconds;
  event.bytes = label.bits();
  state_->recorder.end(event);
}

}  // namespace rankbox::sim

template class rankbox::BasicCommunicator<rankbox::sim::Backend>;
