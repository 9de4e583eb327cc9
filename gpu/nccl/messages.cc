// When messages go to a stream.
//
// NCCL carries out the operations of a communicator one after the other, and each until it is
// complete: a send kernel that waits for its receiver lets no receive pass. So isend and irecv, which
// promise that the rank goes on, cannot be put on a stream one by one: "isend to each other, then
// irecv" would hang. They are deferred, and put there together, as one group, whose messages move at
// the same time:
//
//   with the next send, recv or sendrecv of the communicator, on stream();
//   when one of them is waited for, on a stream of the communicator's own, so that they overlap with
//     what was put on stream() since. The second messages to and from the same peers, and the third,
//     are left for later unless it is one of them that is waited for: a peer may want an answer to
//     the first before it sends the second;
//   when the host has waited for 1 ms, for something that other ranks are part of, and the message's
//     other side has been called for: that rank may be waiting for the message. (Whether a rank of
//     another process has called, nobody knows: it is believed to have after 2 ms.)
//
// What is in one group is done together: a message that waits for its peer holds up the others of
// its group. That is NCCL's, and what is left of it is documented in nccl_communicator.h.
#include <map>
#include <utility>
#include <vector>

#include "gpu/nccl/rank.h"
#include "gpu/nccl/types.h"

namespace rankbox::gpu {
namespace {

// Seconds. Not at once: what is launched too early is launched alone.
constexpr double kPatience = 1e-3;
constexpr double kPatienceWithOtherProcesses = 2e-3;

/// To or from whom.
using Way = std::pair<bool, int>;

Way way_of(const NcclMessage& message) { return {message.sends, message.peer}; }

}  // namespace

void NcclRank::launch(const Caller& caller, NcclMember& member,
                      const std::vector<NcclMessage>& messages, cudaStream_t stream) {
  std::int64_t bytes = 0;
  for (const NcclMessage& message : messages) bytes += message.slice.bytes();
  const int peer = messages.size() == 1 ? member.group->world_rank(messages[0].peer) : -1;
  const char* const name = messages.size() > 1 ? "a group of messages"
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
  try {
    issue(caller, doing_of(caller, peer, bytes), name, member.messages, all_of_them);
  } catch (const NcclError&) {
    for (const NcclMessage& message : messages) recorder_.failed(message.flight);
    throw;
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    // The two halves of a sendrecv are one operation.
    const bool noted = i > 0 && messages[i].flight == messages[i - 1].flight;
    if (!noted) recorder_.enqueued(messages[i].flight, stream);
    if (const auto request = messages[i].request.lock()) request->mark(stream);
  }
}

void NcclRank::launch_aside(const Caller& caller, NcclMember& member,
                            const std::vector<NcclMessage>& messages) {
  check(cudaStreamWaitEvent(member.message_stream, ready_, 0), "cudaStreamWaitEvent",
        doing_of(caller));
  launch(caller, member, messages, member.message_stream);
}

void NcclRank::defer(NcclMember& member, const NcclMessage& message) {
  member.deferred.push_back(message);
  check(cudaEventRecord(ready_, device_.stream()), "cudaEventRecord");
}

void NcclRank::launch_with(const Caller& caller, NcclMember& member,
                           std::vector<NcclMessage> messages) {
  std::vector<NcclMessage> all = std::exchange(member.deferred, {});
  all.insert(all.end(), messages.begin(), messages.end());
  if (!all.empty()) launch(caller, member, all, device_.stream());
}

int rounds_until(const NcclPending& request) {
  std::map<Way, int> rounds;
  for (const NcclMessage& message : request.member().deferred) {
    const int round = ++rounds[way_of(message)];
    if (message.request.lock().get() == &request) return round;
  }
  return 0;
}

void NcclRank::launch_rounds(const Caller& caller, NcclMember& member, int rounds) {
  std::vector<NcclMessage> now, later;
  std::map<Way, int> taken;
  for (const NcclMessage& message : member.deferred) {
    (++taken[way_of(message)] <= rounds ? now : later).push_back(message);
  }
  member.deferred = std::move(later);
  launch_aside(caller, member, now);
}

void NcclRank::launch_deferred(const Caller& caller) {
  for (NcclMember& member : members_) {
    if (member.deferred.empty()) continue;
    launch_aside(caller, member, std::exchange(member.deferred, {}));
  }
}

void NcclRank::launch_wanted(const Caller& caller, double waited) {
  if (waited < kPatience) return;
  for (NcclMember& member : members_) {
    if (member.deferred.empty() || !recorder_.has_unfinished()) continue;
    std::vector<NcclMessage> now, later;
    for (const NcclMessage& m : member.deferred) {
      const auto other = member.group->other_side(
          m.sends ? member.index : m.peer, m.sends ? m.peer : member.index, m.sends, m.number);
      const bool wanted =
          other == NcclGroup::Other::kHasCome ||
          (other == NcclGroup::Other::kUnknown && waited > kPatienceWithOtherProcesses);
      (wanted ? now : later).push_back(m);
    }
    if (now.empty()) continue;
    member.deferred = std::move(later);
    launch_aside(caller, member, now);
  }
}

void NcclRank::copy_to_self(NcclMember& member) {
  const cudaStream_t stream = device_.stream();
  while (!member.to_self.empty() && !member.from_self.empty()) {
    const NcclMessage send = member.to_self.front();
    const NcclMessage receive = member.from_self.front();
    member.to_self.pop_front();
    member.from_self.pop_front();
    if (send.slice.bytes() > 0) {
      check(cudaMemcpyAsync(receive.slice.data(), send.slice.data(),
                            static_cast<std::size_t>(send.slice.bytes()), cudaMemcpyDeviceToDevice,
                            stream),
            "cudaMemcpyAsync");
    }
    for (const NcclMessage& half : {send, receive}) {
      recorder_.enqueued(half.flight, stream);
      if (const auto request = half.request.lock()) request->mark(stream);
    }
  }
}

}  // namespace rankbox::gpu
