// An asynchronous operation: the state behind a Request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "comm/buffers_in_use.h"
#include "comm/call_checks.h"
#include "comm/collective_call.h"
#include "sim/collective/collective.h"
#include "sim/group.h"

namespace rankbox::sim {

/// Shared by the copies of a Request, all on one rank. Listed in RankState::open_requests until it
/// is finished. A rank that ends, or drops a request, therefore leaves nothing behind that others
/// could still write to.
class PendingOperation {
 public:
  /// @param number the rank's count of requests, which links the start to the wait in the trace
  PendingOperation(const Caller& caller, RankState& rank, Group& group, std::uint32_t number);
  ~PendingOperation();
  PendingOperation(const PendingOperation&) = delete;
  PendingOperation& operator=(const PendingOperation&) = delete;

  Operation& operation() { return is_collective_ ? collective_.operation : message_; }
  Operation& start_message() { return message_; }
  CollectiveOperation& start_collective() {
    is_collective_ = true;
    return collective_;
  }
  std::uint32_t number() const { return number_; }
  const Caller& caller() const { return caller_; }
  int peer() const { return peer_; }
  void set_peer(int peer) { peer_ = peer; }

  /// Returns the call with copies of its counts, which live as long as this.
  CollectiveCall keep_counts(CollectiveCall call);

  /// Lists the slices as in use until the request is finished.
  void use(Slice read, Slice written);
  /// Returns whether a tensor of these slices was freed since.
  bool was_freed() const { return in_use_.was_freed(); }

  // RunOptions::watch_buffers. A program that touches a tensor in flight is then always found, or
  // reads what it cannot mistake for data.

  /// Stores a fingerprint of the data to be sent or reduced.
  void watch(Slice read);
  /// Receives into another buffer until deliver(), and fills `target` with bytes that are NaN, or
  /// -1. Returns the other buffer.
  Slice hold_back(Slice target);
  /// Does both for a collective. Returns the call with other buffers for what it writes to.
  CollectiveCall watch(CollectiveCall call, Slice written);
  /// Returns whether the rank wrote to a slice since. Call before deliver().
  bool was_changed() const;
  void deliver();

  /// Marks the request as finished: the owner has waited.
  void finish();
  bool finished() const { return rank_ == nullptr; }

  /// Withdraws the operation, or waits for the rank that is completing it, and records that the
  /// owner never waited for it.
  void drop();

 private:
  using Memory = std::unique_ptr<std::byte[], void (*)(std::byte*)>;

  /// Returns memory by malloc, because the judge counts what `new` returns as the program's.
  static Memory uncounted(std::int64_t bytes);
  Slice hold_back(Slice target, Memory memory);

  Caller caller_;
  RankState* rank_;  // null once finished
  Group& group_;
  std::uint32_t number_;
  int peer_ = -1;
  bool is_collective_ = false;
  BuffersInUse::Entry in_use_;
  Slice watched_;  // null: not watched
  std::size_t fingerprint_ = 0;
  Slice target_;  // null: nothing is held back
  Memory held_back_{nullptr, nullptr};
  Memory input_{nullptr, nullptr};  // a copy of what a collective reads and writes in place
  Memory in_counts_{nullptr, nullptr};
  Memory out_counts_{nullptr, nullptr};
  Operation message_;
  CollectiveOperation collective_;
};

/// Drops the operations that the rank started and never waited for. Call at the end of its
/// function.
void drop_open_requests(RankState& rank);

}  // namespace rankbox::sim
