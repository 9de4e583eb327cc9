// The ranks of one emulated communicator: how they meet, and what happens between their streams.
//
// A kernel is what one group of calls puts on a stream. On the stream's thread it posts its
// messages and takes part in its collectives, one after the other, and returns when all of them are
// done, or its rank has aborted. Whoever comes last does the work, under the clique's lock.
//
// Thread safety: all of it may be used by any thread.
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
  std::size_t count = 0;  // elements, as the call gives them
  ncclDataType_t dtype = ncclInt8;
  ncclRedOp_t op = ncclSum;
  int peer = -1;                 // or the root
  std::uint64_t collective = 0;  // which one of its rank's, counted from 0

  bool is_message() const { return kind == TaskKind::kSend || kind == TaskKind::kRecv; }
};

struct Kernel {
  int rank = -1;
  std::vector<Task> tasks;
  bool hangs = false;                          // by order of a test
  std::shared_ptr<std::atomic<bool>> aborted;  // its communicator was
};

class Clique {
 public:
  explicit Clique(int size) : devices_(static_cast<std::size_t>(size), -1) {}

  int size() const { return static_cast<int>(devices_.size()); }

  // ---- Meeting ----

  /// False: the rank is there already.
  bool join(int rank, int device);
  bool all_have_joined() const;
  /// The lowest other rank on the device of `rank`, -1 if there is none. Once all have joined.
  int twin_of(int rank) const;

  /// One rank's part in the n-th split. Null while some rank has not called it yet.
  struct Place {
    std::shared_ptr<Clique> clique;  // null: of no color
    int rank = -1;
  };
  void call_split(std::uint64_t n, int rank, int color, int key);
  std::unique_ptr<Place> result_of_split(std::uint64_t n, int rank);

  // ---- On the streams ----

  /// Blocks the stream's thread until the kernel is done.
  void run(const Kernel& kernel);

  /// After a communicator was aborted: its kernels look.
  void wake();

 private:
  struct Message {
    const Task* task;
    bool done = false;
  };
  struct Meeting {
    std::vector<const Task*> tasks;  // [rank]; null: has not come
    int arrived = 0;
    int left = 0;
    bool done = false;
  };
  struct Split {
    std::vector<std::pair<int, int>> calls;  // [rank] color, key
    std::vector<bool> called;
    std::map<int, std::shared_ptr<Clique>> parts;  // by color
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
