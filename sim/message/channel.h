// The mailbox between one sender and one receiver of a communicator.
//
// Sends and receives match in posting order. A queue holds the unmatched ones, all of one kind,
// since one of the other kind would have matched. The second rank to arrive moves the data, outside
// the lock, and completes the other operation.
//
// A rank that blocks on its message at once watches the mailbox, not its own operation. A scalar,
// and the flag that it has moved, are on the mailbox's cache line, which both sides must touch
// anyway.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/thread_annotations.h"
#include "sim/message/operation.h"
#include "sim/spin_lock.h"

namespace rankbox::sim {

class Group;

class alignas(64) Channel {
 public:
  explicit Channel(bool closed) : closed_(closed) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Matches `operation` with the oldest one of the other kind, moves the data and completes both;
  /// or queues it. The caller has filled it in, with state kPending. The channel owns a buffered
  /// send from here on. Returns false if the channel is closed; the operation is then done as
  /// stopped.
  bool post(Operation& operation);

  /// Called by the owner of a watched operation after posting it: spins until it is done. Returns
  /// true if it is, with received data in place. Returns false at the spin limit; from then on the
  /// operation's state is valid.
  bool watch(Operation& operation);

  /// Removes an unmatched operation. Returns false if it is matched, and will soon be done.
  bool withdraw(Operation& operation);

  /// As withdraw, for a dropped request. Its place in the order remains. The message that belongs
  /// to it, and all later ones, wait until the world ends, because none may match a later
  /// operation.
  bool abandon(Operation& operation);

  /// Completes all queued operations, and all posted from now on, as stopped.
  void close();

  /// Copies of the descriptors of unmatched operations: messages that were never received.
  /// REQUIRES: no rank runs, because all have returned or wait forever.
  struct Leftover {
    const Operation* operation;  // identifies it; may be destroyed
    OperationKind kind;
    int owner;
    int peer;
    std::int64_t bytes;
    Place place;
    const Group* group = nullptr;  // set by Group::leftovers()
  };
  std::vector<Leftover> leftovers() const NO_THREAD_SAFETY_ANALYSIS;

 private:
  /// The part of the oldest queued operation that the other side needs, on a line that it fetches
  /// anyway.
  struct Front {
    void* data = nullptr;
    std::int64_t bytes = 0;
    DType dtype = DType::kFloat32;
    OperationKind kind = OperationKind::kSend;
    bool buffered = false;
    bool watched = false;
  };

  static Front front_of(const Operation& operation);
  bool take_out(const Operation& operation, bool leaves_gap);
  void append(Operation& operation) REQUIRES(lock_);
  Operation* pop_front() REQUIRES(lock_);
  std::atomic<bool>& moved(OperationKind watched);
  bool move_inline(const Operation& mine) REQUIRES(lock_);
  static void transfer(Operation& mine, Operation& theirs, const Front& their_front);

  static constexpr std::int64_t kInlineBytes = 8;

  SpinLock lock_;
  bool closed_ GUARDED_BY(lock_);
  std::atomic<bool> send_moved_{false};  // the watched send is done
  std::atomic<bool> recv_moved_{false};  // the watched receive is done: its data is in to_recv_
  // The number of queued operations before a dropped one; -1: none was dropped.
  std::int32_t gap_ GUARDED_BY(lock_) = -1;
  Front front_ GUARDED_BY(lock_);  // of *head_
  Operation* head_ GUARDED_BY(lock_) = nullptr;
  Operation* tail_ GUARDED_BY(lock_) = nullptr;
  std::byte from_send_[kInlineBytes];  // the data of the watched send that is queued
  std::byte to_recv_[kInlineBytes];    // the data for the watched receive that was queued
};

static_assert(sizeof(Channel) == 64, "one line holds all that a short message needs");

}  // namespace rankbox::sim
