// When messages are enqueued on a stream.
//
// NCCL executes a communicator's operations one after the other, each to its end: a send kernel
// that waits for its receiver delays every later receive. isend and irecv promise that the rank
// continues, so they cannot be enqueued one by one: "isend to each other, then irecv" would hang.
// They are deferred. The deferred messages of a communicator are launched as one group, whose
// messages move at the same time:
//
//   with the next send, recv or sendrecv of their communicator, on stream();
//   before any other call after which stream() or the host waits for a peer (a message of another
//     communicator, a collective, barrier, split, synchronize, to_host, the end of the function; a
//     wait for a collective, or for one of them; arithmetic, if the queue of stream() is full, and
//     a collective, if as many launches are in flight as a rank may have), on the communicator's
//     message stream, so that they overlap with the work on stream().
//
// Calls that only start a message leave them deferred, and so does a wait for an earlier message.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "gpu/nccl/rank.h"
#include "gpu/nccl/types.h"

namespace rankbox::gpu {
namespace {

/// Returns the error of a rank that waits for itself: no other rank can end that wait.
DeadlockError waits_for_itself(const Caller& caller) {
  const Wait wait{caller.rank, caller.operation,         {caller.rank},
                  0,           caller.place.file_name(), static_cast<int>(caller.place.line())};
  return {fmt::format("deadlock: rank {} waits in {} for itself at {}:{}; hint: a rank cannot wait "
                      "for itself: copy() moves data within a rank",
                      caller.rank, caller.operation, wait.file, wait.line),
          caller.context(caller.rank),
          {wait},
          {caller.rank}};
}

/// Returns whether one of these belongs to a blocking call, so that its other half cannot follow.
bool is_stuck(const std::deque<NcclMessage>& messages) {
  return std::any_of(messages.begin(), messages.end(),
                     [](const NcclMessage& message) { return message.blocks; });
}

MessageMismatch mismatch_with_itself(const Caller& caller, Slice sent, Slice received) {
  return MessageMismatch(
      fmt::format("message mismatch: rank {} sends {} {} to itself, but receives {} {}, in {}; "
                  "nothing was copied (both sides must agree on element count and dtype)",
                  caller.rank, sent.size(), name_of(sent.dtype()), received.size(),
                  name_of(received.dtype()), call_in_words(caller)),
      caller.context(caller.rank));
}

}  // namespace

void NcclRank::launch(const Caller& caller, NcclMember& member,
                      const std::vector<NcclMessage>& messages, cudaStream_t stream) {
  std::int64_t bytes = 0;
  for (const NcclMessage& message : messages) bytes += message.slice.bytes();
  const bool alone = messages.size() == 1;
  const Doing doing = doing_of(caller, alone ? member.world_rank(messages[0].peer) : -1, bytes);
  const char* const name = !alone              ? "a group of messages"
                           : messages[0].sends ? "ncclSend"
                                               : "ncclRecv";
  const auto all_of_them = [&] {
    return grouped([&] {
      ncclResult_t result = ncclSuccess;
      for (const NcclMessage& m : messages) {
        if (!went_well(result)) break;
        result = m.sends ? ncclSend(m.slice.data(), nccl_count(m.slice), nccl_type(m.slice.dtype()),
                                    m.peer, member.messages, stream)
                         : ncclRecv(m.slice.data(), nccl_count(m.slice), nccl_type(m.slice.dtype()),
                                    m.peer, member.messages, stream);
      }
      return result;
    });
  };
  const bool has_requests = std::any_of(messages.begin(), messages.end(),
                                        [](const NcclMessage& message) { return !message.blocks; });
  const std::uint64_t number =
      launch(caller, doing, name, member.messages, stream, all_of_them, {}, has_requests);
  for (const NcclMessage& message : messages) {
    record_.launched(message.record, number);
    if (const auto request = message.request.lock()) request->set_launch(number);
  }
}

void NcclRank::note(const Caller& caller, NcclMember& member, NcclMessage& message) {
  message.record = record_.begin(caller, member, message);
  if (!message.sends) return;
  ++messages_sent_;
  bytes_sent_ += message.slice.bytes();
}

void NcclRank::run(const Caller& caller, NcclMember& member, std::vector<NcclMessage> messages) {
  for (const NcclMessage& message : messages) check_is_here(caller, message.slice);
  std::vector<NcclMessage> group;
  for (NcclMessage& message : messages) {
    note(caller, member, message);
    if (message.peer == member.index) {
      (message.sends ? member.to_self : member.from_self).push_back(message);
    } else if (message.slice.size() == 0) {
      record_.done(message.record);
    } else {
      group.push_back(message);
    }
  }
  copy_to_self(caller, member);
  if (is_stuck(member.to_self) || is_stuck(member.from_self))
    stop_and_throw(waits_for_itself(caller));
  flush(caller, group.empty() ? nullptr : &member);
  if (group.empty()) return;
  group.insert(group.begin(), member.deferred.begin(), member.deferred.end());
  member.deferred.clear();
  launch(caller, member, group, device_.stream());
  make_room(caller);
}

std::shared_ptr<NcclPending> NcclRank::defer(const Caller& caller, NcclMember& member,
                                             NcclMessage message) {
  check_is_here(caller, message.slice);  // a request that exists must be waited for
  auto pending = make_pending(caller, member.world_rank(message.peer));
  message.blocks = false;
  message.request = pending;
  note(caller, member, message);
  pending->set_flight(record_.latest());
  if (message.peer == member.index) {
    (message.sends ? member.to_self : member.from_self).push_back(message);
    copy_to_self(caller, member);
  } else if (message.slice.size() == 0) {
    record_.done(message.record);
    pending->set_done();
  } else {
    member.deferred.push_back(message);
    mark_ready(caller);
  }
  return pending;
}

/// Records that the buffers of deferred messages are ready. Does not wait for room on stream():
/// that would launch a message before the others of its group.
void NcclRank::mark_ready(const Caller& caller) {
  if (!has_new_work_) return;
  check(cudaEventRecord(ready_, device_.stream()), "cudaEventRecord", doing_of(caller));
  has_new_work_ = false;
  ++unmarked_;
}

void NcclRank::flush(const Caller& caller, const NcclMember* but) {
  check_running(caller);  // what was dropped is not to be launched
  for (NcclMember& member : members_) {
    if (member.deferred.empty() || &member == but) continue;
    const cudaStream_t stream = created(caller, member.message_stream);
    check(cudaStreamWaitEvent(stream, ready_, 0), "cudaStreamWaitEvent", doing_of(caller));
    launch(caller, member, std::exchange(member.deferred, {}), stream);
  }
}

/// Copies the messages of which both halves are there.
void NcclRank::copy_to_self(const Caller& caller, NcclMember& member) {
  while (!member.to_self.empty() && !member.from_self.empty()) {
    const NcclMessage send = member.to_self.front();
    const NcclMessage receive = member.from_self.front();
    member.to_self.pop_front();
    member.from_self.pop_front();
    if (send.slice.size() != receive.slice.size() || send.slice.dtype() != receive.slice.dtype())
      stop_and_throw(mismatch_with_itself(caller, send.slice, receive.slice));
    if (send.slice.bytes() > 0) {
      throttle(doing_of(caller));
      check(cudaMemcpyAsync(receive.slice.data(), send.slice.data(),
                            static_cast<std::size_t>(send.slice.bytes()), cudaMemcpyDeviceToDevice,
                            device_.stream()),
            "cudaMemcpyAsync", doing_of(caller, caller.rank, send.slice.bytes()));
    }
    for (const NcclMessage& half : {send, receive}) {
      record_.done(half.record);
      if (const auto request = half.request.lock()) request->set_done();
    }
  }
}

void NcclRank::wait(const Caller& caller, NcclPending& pending) {
  if (pending.is_closed()) return;
  const std::uint64_t record = record_.begin_wait(caller, pending.flight());
  if (pending.is_done()) {
    record_.done(record);
  } else {
    const bool collective = pending.flight().kind == FlightKind::kCollective;
    if (pending.launch() == 0 || collective) flush(caller);
    if (pending.launch() == 0) stop_and_throw(waits_for_itself(caller));
    record_.launched(record, pending.launch());
    throttle(doing_of(caller));
    launches_.order(pending.launch(), device_.stream(), doing_of(caller));
    if (pending.is_barrier())
      wait_until(caller, [&] { return launches_.is_finished(pending.launch()); });
  }
  pending.close();
}

}  // namespace rankbox::gpu
