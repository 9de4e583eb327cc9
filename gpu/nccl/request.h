// An operation on NCCL that was started and must be waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "comm/call_checks.h"

// CUDA's own names: a learner's file includes this header, and is compiled without CUDA's.
struct CUevent_st;
struct CUstream_st;

namespace rankbox::gpu {

class NcclRank;
struct NcclMember;

/// One of a rank's messages in a communicator.
struct MessageId {
  bool sends = false;
  int peer = -1;             // index in the communicator
  std::uint64_t number = 0;  // of this rank's messages to (from) that peer, from 0
};

/// What a request stands for, shared by its copies, all on one rank. Listed by the rank as long as
/// nobody has waited for it.
class NcclPending {
 public:
  /// @param peer a rank of the world; -1: none
  NcclPending(NcclRank& rank, NcclMember& member, const Caller& caller, int peer);
  /// Nobody has waited: the rank is told, and fails at its end.
  ~NcclPending();
  NcclPending(const NcclPending&) = delete;
  NcclPending& operator=(const NcclPending&) = delete;

  /// All that is on the stream now belongs to it: the operation is enqueued.
  void mark(CUstream_st* stream);
  CUevent_st* event() const { return event_; }  // null: not enqueued, or done at once

  /// Not on any stream yet: it goes there together with others.
  bool deferred() const { return deferred_; }
  void defer() { deferred_ = true; }
  /// It needs no stream: there is nothing to move.
  bool done() const { return done_; }
  void finish() { done_ = true; }
  /// Whoever waits for a barrier must not go on before, the host included.
  bool is_barrier() const { return is_barrier_; }
  void set_barrier() { is_barrier_ = true; }

  /// The owner has waited, or the rank is gone: from here on it is only a memory.
  void close();
  bool closed() const { return rank_ == nullptr; }

  const NcclRank* rank() const { return rank_; }  // null once closed
  const Caller& caller() const { return caller_; }
  NcclMember& member() const { return *member_; }
  /// Nothing for a collective.
  const std::optional<MessageId>& message() const { return message_; }
  void set_message(const MessageId& message) { message_ = message; }
  int peer() const { return peer_; }

 private:
  NcclRank* rank_;
  NcclMember* member_;
  Caller caller_;
  int peer_;
  std::optional<MessageId> message_;
  bool deferred_ = false;
  bool done_ = false;
  bool is_barrier_ = false;
  CUevent_st* event_ = nullptr;
};

class NcclRequest {
 public:
  NcclRequest() = default;

 private:
  friend class NcclCommunicator;
  explicit NcclRequest(std::shared_ptr<NcclPending> pending) : pending_(std::move(pending)) {}
  std::shared_ptr<NcclPending> pending_;
};

}  // namespace rankbox::gpu
