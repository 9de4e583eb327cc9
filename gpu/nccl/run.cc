#include "gpu/nccl/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <utility>

#include "comm/memory_meter.h"
#include "comm/rank_failure.h"
#include "gpu/device/rank_device.h"
#include "gpu/nccl/rank.h"
#include "sim/executor/executor.h"

namespace rankbox::gpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Marks whose a tensor is. Those of the sandbox's worlds count from 1; these are apart from them.
std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> serial{std::uint64_t{1} << 31};
  return ++serial;
}

struct Life {
  MemoryMeter memory;
  Attendance attendance;
  Clock::time_point begin = Clock::time_point::max();  // of the rank's function
  Clock::time_point end = Clock::time_point::min();
};

/// Where the ranks of this process meet before their functions begin: one that failed at once would
/// otherwise keep others from beginning at all.
class Start {
 public:
  explicit Start(std::size_t ranks) : coming_(static_cast<std::ptrdiff_t>(ranks)) {}
  /// Blocks until all have called this. Returns whether all are in the world.
  bool all_are_there(bool is_there) {
    if (!is_there) all_ = false;
    coming_.arrive_and_wait();
    return all_;
  }

 private:
  std::latch coming_;
  std::atomic<bool> all_{true};
};

/// The world's communicators go before the device whose streams they use.
struct Rank {
  Rank(NcclWorld& world, int rank, int device, std::uint64_t owner)
      : gpu(rank, device), member(world, gpu, owner) {}
  RankDevice gpu;
  NcclRank member;
};

/// Null if some rank of this process cannot: the world is stopped then.
std::unique_ptr<Rank> join(NcclWorld& world, int rank, int device, std::uint64_t owner,
                           Start& start) {
  std::unique_ptr<Rank> made;
  try {
    made = std::make_unique<Rank>(world, rank, device, owner);
  } catch (...) {
    world.stop(with_rank(std::current_exception(), rank));
  }
  return start.all_are_there(made != nullptr) ? std::move(made) : nullptr;
}

void live(NcclRank& member, Life& life, const std::function<void(Communicator&)>& body) {
  try {
    life.begin = Clock::now();
    Communicator dist(NcclCommunicator(member), life.attendance);
    body(dist);
    member.finish();
    life.end = Clock::now();
  } catch (...) {
    life.end = Clock::now();
    member.fail(with_rank(std::current_exception(), member.rank()));
  }
}

void run_rank(NcclWorld& world, int rank, int device, Life& life, Start& start,
              const std::function<void(Communicator&)>& body) {
  MemoryMeter* const outer = std::exchange(current_memory_meter(), &life.memory);
  if (const auto made = join(world, rank, device, life.memory.owner, start))
    live(made->member, life, body);
  current_memory_meter() = outer;
}

}  // namespace

NcclOutcome run_on_nccl(NcclWorld& world, const std::vector<int>& devices,
                        const std::vector<Fault>& faults,
                        const std::function<void(Communicator&)>& body) {
  const std::vector<int>& ranks = world.settings().local_ranks;
  const std::uint64_t serial = next_serial();
  std::vector<Life> lives(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    lives[i].memory.owner = serial << 32 | static_cast<std::uint64_t>(ranks[i] + 1);
    lives[i].attendance.faults = &faults;
  }

  Start start(ranks.size());
  sim::make_executor(ExecutorKind::kThreads, static_cast<int>(ranks.size()))->run([&](int index) {
    const auto i = static_cast<std::size_t>(index);
    run_rank(world, ranks[i], devices[i], lives[i], start, body);
  });

  NcclOutcome outcome;
  Clock::time_point begin = Clock::time_point::max();
  Clock::time_point end = Clock::time_point::min();
  for (const Life& life : lives) {
    begin = std::min(begin, life.begin);
    end = std::max(end, life.end);
    outcome.messages += life.attendance.messages;
    outcome.bytes += life.attendance.bytes;
    outcome.peak_bytes.push_back(life.memory.peak_bytes);
  }
  if (begin < end) outcome.wall_seconds = std::chrono::duration<double>(end - begin).count();
  return outcome;
}

}  // namespace rankbox::gpu
