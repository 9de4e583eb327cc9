#include "gpu/nccl_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "comm/memory_meter.h"
#include "comm/rank_failure.h"
#include "gpu/nccl_rank.h"
#include "gpu/rank_device.h"
#include "sim/executor.h"

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

/// The world's communicators go before the device whose streams they use.
void live(NcclWorld& world, int rank, int device, Life& life,
          const std::function<void(Communicator&)>& body) {
  RankDevice gpu(rank, device);
  NcclRank member(world, gpu, life.memory.owner);
  try {
    life.begin = Clock::now();
    Communicator dist(NcclCommunicator(member), life.attendance);
    body(dist);
    member.finish();
    life.end = Clock::now();
  } catch (...) {
    life.end = Clock::now();
    member.fail(with_rank(std::current_exception(), rank));
  }
}

void run_rank(NcclWorld& world, int rank, int device, Life& life,
              const std::function<void(Communicator&)>& body) {
  MemoryMeter* const outer = std::exchange(current_memory_meter(), &life.memory);
  try {
    live(world, rank, device, life, body);
  } catch (...) {  // it never began
    world.stop(with_rank(std::current_exception(), rank));
  }
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

  sim::make_executor(ExecutorKind::kThreads, static_cast<int>(ranks.size()))->run([&](int index) {
    const auto i = static_cast<std::size_t>(index);
    run_rank(world, ranks[i], devices[i], lives[i], body);
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
