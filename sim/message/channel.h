// The mailbox between one sender and one receiver of a communicator.
//
// Sends and receives match in the order they were posted: a queue holds the unmatched ones, all of
// one kind, since one of the other kind would have matched. The second rank to arrive moves the
// data, outside the lock, and completes the other operation.
//
// A rank that blocks on its message at once watches the mailbox, not its own operation: short data,
// and the flag that it has moved, are on the mailbox's cache lines, which both sides have to touch
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

class alignas(128) Channel {
 public:
  explicit Channel(bool closed) : closed_(closed) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Matches `operation` with the oldest one of the other kind, moves the data and completes both;
  /// or queues it. The caller has filled it in, with state kPending. A buffered send belongs to the
  /// channel from here on. False: the channel is closed, and the operation is done as stopped.
  bool post(Operation& operation);

  /// For the owner of a watched operation, after it was posted: spins until it is done. True: it
  /// is, and received data is in place. False: the spin limit is reached; from now on the
  /// operation's state tells.
  bool watch(Operation& operation);

  /// Removes an operation that is not matched yet. False: it is matched, and will soon be done.
  bool withdraw(Operation& operation);

  /// The same for a request that is dropped. Its place in the order stays: the message that belongs
  /// to it, and all later ones, wait until the world ends, because none may match a later
  /// operation.
  bool abandon(Operation& operation);

  /// Completes everything queued, and everything posted from now on, as stopped.
  void close();

  /// Copies of the descriptors of unmatched operations, while no rank runs: messages that were
  /// never received, once all ranks have returned or wait forever.
  struct Leftover {
    const Operation* operation;  // to tell it from others; may be gone
    OperationKind kind;
    int owner;
    int peer;
    std::int64_t bytes;
    Place place;
  };
  std::vector<Leftover> leftovers() const NO_THREAD_SAFETY_ANALYSIS;

 private:
  /// What the other side needs of the oldest queued operation, on the line that it fetches anyway.
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

  static constexpr std::int64_t kInlineBytes = 40;

  SpinLock lock_;
  bool closed_ GUARDED_BY(lock_);
  std::atomic<bool> send_moved_{false};  // the watched send is done
  std::atomic<bool> recv_moved_{false};  // the watched receive is done: its data is in to_recv_
  // So many of those queued come before one that was dropped; -1: none was.
  std::int32_t gap_ GUARDED_BY(lock_) = -1;
  Front front_ GUARDED_BY(lock_);  // of *head_
  Operation* head_ GUARDED_BY(lock_) = nullptr;
  Operation* tail_ GUARDED_BY(lock_) = nullptr;
  std::byte from_send_[kInlineBytes];  // the data of the watched send that is queued
  std::byte to_recv_[kInlineBytes];    // the data for the watched receive that was queued
};

static_assert(sizeof(Channel) == 128,
              "of two lines, the first holds all that a short message needs");

}  // namespace rankbox::sim
