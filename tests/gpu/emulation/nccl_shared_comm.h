// The ranks of one emulated communicator: matching, and data transfer between their streams.
//
// A kernel is the work that one group of calls enqueues on a stream. On the stream's thread it
// posts its messages and joins its collectives, one after the other. It returns when all of them
// are done, or its rank has aborted. The last rank to arrive does the work, under the lock.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nccl.h>

namespace rankbox::gpu::emulation {

enum class TaskKind : std::uint8_t {
  kSend,
  kRecv,
  kBroadcast,
  kReduce,
  kAllReduce,
  kAllGather,
  kReduceScatter,
};

struct Task {
  TaskKind kind = TaskKind::kSend;
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;  // elements, as in the call
  ncclDataType_t dtype = ncclInt8;
  ncclRedOp_t op = ncclSum;
  int peer = -1;                 // or the root
  std::uint64_t collective = 0;  // the rank's n-th collective, from 0

  bool is_message() const { return kind == TaskKind::kSend || kind == TaskKind::kRecv; }
};

struct Kernel {
  int rank = -1;
  std::vector<Task> tasks;
  bool hangs = false;                          // a test injected it
  std::shared_ptr<std::atomic<bool>> aborted;  // its communicator was aborted
};

/// What the ranks of one communicator share.
class SharedComm {
 public:
  explicit SharedComm(int size) : devices_(static_cast<std::size_t>(size), -1) {}

  int size() const { return static_cast<int>(devices_.size()); }

  // ---- Matching ---

  /// Returns false if the rank has joined already.
  bool join(int rank, int device);
  bool all_have_joined() const;
  /// Returns the lowest other rank on the device of `rank`, or -1. REQUIRES: all have joined.
  int twin_of(int rank) const;

  /// Returns one rank's part in the n-th split; null while some rank has not called it yet.
  struct Place {
    std::shared_ptr<SharedComm> shared_comm;  // null: no color
    int rank = -1;
  };
  void call_split(std::uint64_t n, int rank, int color, int key);
  std::unique_ptr<Place> result_of_split(std::uint64_t n, int rank);

  // ---- On the streams ----

  /// Blocks the stream's thread until the kernel is done.
  void run(const Kernel& kernel);

  /// Makes the kernels check for an abort of their communicator.
  void wake();

 private:
  struct Message {
    const Task* task;
    bool done = false;
  };
  struct Meeting {
    std::vector<const Task*> tasks;  // [rank]; null: has not arrived
    int arrived = 0;
    int left = 0;
    bool done = false;
  };
  struct Split {
    std::vector<std::pair<int, int>> calls;  // [rank] color, key
    std::vector<bool> called;
    std::map<int, std::shared_ptr<SharedComm>> parts;  // by color
  };
  using Queue = std::deque<Message*>;

  template <class Done>
  bool wait(std::unique_lock<std::mutex>& lock, const Kernel& kernel, Done done);
  void post(int rank, Message& message);
  void withdraw(int rank, Message& message);
  bool take_part(std::unique_lock<std::mutex>& lock, const Kernel& kernel, const Task& task);
  Queue& queue(int rank, const Task& task, TaskKind kind);

  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::vector<int> devices_;                               // [rank]; -1: has not joined
  std::map<std::uint64_t, Split> splits_;                  // by number
  std::map<std::pair<int, int>, Queue> sends_, receives_;  // by source and destination
  std::map<std::uint64_t, Meeting> meetings_;              // by number of the collective
};

}  // namespace rankbox::gpu::emulation
