// The mailbox between one sender and one receiver of a communicator.
//
// Sends and receives meet in the order they were posted: a queue holds those that came first, all
// of one kind, since one of the other kind would have met them. Whoever comes second moves the
// data, outside the lock, and completes the other.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/operation.h"
#include "sim/spin_lock.h"

namespace rankbox::sim {

class alignas(64) Channel {
 public:
  explicit Channel(bool closed) : closed_(closed) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Matches `operation` with the oldest one of the other kind, moves the data and completes both;
  /// or queues it. The caller has filled it in, with state kPending. A buffered send belongs to the
  /// channel from here on. False: the channel is closed, and the operation is done as stopped.
  bool post(Operation& operation);

  /// Takes an operation back that nobody has matched yet. False: it is matched, and will soon be
  /// done.
  bool withdraw(Operation& operation);

  /// Completes everything queued, and all that will ever be posted, as stopped.
  void close();

  /// Copies of the descriptors of unmatched operations: what was never received, once all ranks
  /// have returned.
  struct Leftover {
    OperationKind kind;
    int owner;
    int peer;
    std::int64_t bytes;
    Place place;
  };
  std::vector<Leftover> leftovers() const;

 private:
  /// What the other side must know of the oldest queued operation, kept on the line that it has to
  /// fetch anyway.
  struct Front {
    void* data = nullptr;
    std::int64_t bytes = 0;
    DType dtype = DType::kFloat32;
    OperationKind kind = OperationKind::kSend;
    bool buffered = false;
  };

  void append(Operation& operation);
  Operation* pop_front();
  static void transfer(Operation& mine, Operation& theirs, const Front& their_front);

  SpinLock lock_;
  bool closed_;
  Front front_;  // of *head_
  Operation* head_ = nullptr;
  Operation* tail_ = nullptr;
};

}  // namespace rankbox::sim
