// Messages that their receiver reads from the sender's memory in its next call.
//
// accumulate(x, buffer) right after a receive into `buffer` is then one kernel, which reads the
// sender's memory once, over the link, and writes x and buffer. If the receiver's next call is any
// other, it first enqueues a copy. Either is on the receiver's stream.
//
// The sender's stream must wait until its memory has been read before it may overwrite it, and the
// receiver may have enqueued nothing yet. So before the sender's next work, it spins until the
// receiver has, 50 µs at most; then the sender enqueues the copy. No rank waits for the next call
// of another one, and stream order proves what it does without peer copies (sim/data_plane.h).
//
// If x overlaps what the rank itself has just sent, as in an exchange between two ranks, there is
// no such kernel: each would have to wait until the other's has read.
//
// Cost: as a copy (plane.h), and an allocation. Blocks for 50 µs, or while the other rank enqueues.
// Thread safety: only the rank's thread, except on PeerCopy. Errors: CudaError, on both ranks of a
// message.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/device/rank_device.h"
#include "gpu/shared/events.h"

namespace rankbox::gpu {

/// One message, shared by its two ranks. If a CUDA call of it fails, it fails on both: whatever the
/// first rank enqueued before may still use either's memory, so neither goes on.
struct PeerCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::int64_t bytes = 0;
  SharedEvents::Mark* received = nullptr;  // the receiver's work before its call, one user's share
  SharedEvents::Mark* sent = nullptr;      // the sender's
  std::atomic<bool> enqueued{false};       // written under the lock
  std::mutex lock;                         // guards who enqueues the copy, and the members below
  SharedEvents::Mark* done = nullptr;      // for the rank that did not
  std::exception_ptr failure;              // what stopped the rank that tried
};

/// A rank's messages of its last call.
class PeerCopies final : public RankDevice::Deferred {
 public:
  /// @param events, gpu outlive this
  PeerCopies(SharedEvents& events, RankDevice& gpu) : events_(events), gpu_(gpu) {}

  /// @param receives whether this rank receives the message; else it sends it
  void add(std::shared_ptr<PeerCopy> copy, bool receives);

  void settle() override;
  bool accumulate(Slice into, Slice from, ReduceOp op) override;

 private:
  bool enqueue(PeerCopy& copy, const std::function<void()>& move);
  void enqueue_copy(PeerCopy& copy, const char* op);

  SharedEvents& events_;
  RankDevice& gpu_;
  std::shared_ptr<PeerCopy> received_;  // null: none
  std::vector<std::shared_ptr<PeerCopy>> sent_;
};

}  // namespace rankbox::gpu
