#include "gpu/nccl/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <optional>
#include <thread>
#include <utility>

#include "comm/memory_meter.h"
#include "comm/rank_failure.h"
#include "gpu/device/device_memory.h"
#include "gpu/device/rank_device.h"
#include "gpu/nccl/rank.h"

namespace rankbox::gpu {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Returns a serial for the owner of tensors. The sandbox's worlds count from 1; these values are
/// separate from them.
std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> serial{std::uint64_t{1} << 31};
  return ++serial;
}

/// The results of one rank.
struct Result {
  MemoryMeter memory;
  RankEnd end;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  SteadyClock::time_point begin = SteadyClock::time_point::max();  // start of the rank's function
  SteadyClock::time_point done = SteadyClock::time_point::min();
};

/// Holds this process's ranks until all have joined the world. A rank that fails at once would
/// otherwise keep others from starting their functions.
class Start {
 public:
  explicit Start(std::size_t ranks) : missing_(static_cast<std::ptrdiff_t>(ranks)) {}
  void arrive(bool joined) {
    if (!joined) all_ = false;
    missing_.count_down();
  }
  /// Returns whether all have joined.
  bool wait() {
    missing_.wait();
    return all_;
  }

 private:
  std::latch missing_;
  std::atomic<bool> all_{true};
};

void run_function(NcclRank& rank, Result& result, const std::function<void(Communicator&)>& body) {
  result.begin = SteadyClock::now();
  try {
    Communicator dist((Backend(NcclBackend(rank))));
    body(dist);
    rank.finish();
  } catch (...) {
    result.end.failure = with_rank(std::current_exception(), rank.rank());
    rank.fail(result.end.failure);
  }
  result.done = SteadyClock::now();
  result.messages = rank.messages_sent();
  result.bytes = rank.bytes_sent();
}

/// @param ended after it no rank of this process communicates
void run_rank(NcclWorld& world, const std::vector<int>& devices, std::size_t index, Result& result,
              Start& start, std::latch& ended, const std::function<void(Communicator&)>& body) {
  MemoryMeter* const outer = std::exchange(current_memory_meter(), &result.memory);
  std::optional<RankDevice> gpu;
  std::optional<NcclRank> rank;
  bool arrived = false;
  try {
    const int device = devices[index];
    const auto here = static_cast<int>(std::count(devices.begin(), devices.end(), device));
    gpu.emplace(result.end.rank, device);
    reserve_memory(bytes_to_reserve(here, world.settings().ranks_per_gpu));
    rank.emplace(world, *gpu, result.memory.owner);
    rank->join();
    arrived = true;
    start.arrive(/*joined=*/true);
    if (start.wait()) run_function(*rank, result, body);
    result.end.log = rank->close_record();
  } catch (...) {
    result.end.failure = with_rank(std::current_exception(), result.end.rank);
    world.stop(result.end.failure);
    if (!arrived) start.arrive(/*joined=*/false);
  }
  ended.arrive_and_wait();
  rank.reset();
  gpu.reset();
  current_memory_meter() = outer;
}

}  // namespace

NcclOutcome run_on_nccl(NcclWorld& world, const std::vector<int>& devices,
                        const std::function<void(Communicator&)>& body) {
  const std::vector<int>& ranks = world.settings().local_ranks;
  const std::uint64_t serial = next_serial();
  std::vector<Result> results(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    results[i].end.rank = results[i].end.log.rank = ranks[i];
    results[i].memory.owner = serial << 32 | static_cast<std::uint64_t>(ranks[i] + 1);
  }

  Start start(ranks.size());
  std::latch ended(static_cast<std::ptrdiff_t>(ranks.size()));
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    try {
      threads.emplace_back([&, i] { run_rank(world, devices, i, results[i], start, ended, body); });
    } catch (...) {  // the system has no thread for it
      results[i].end.failure = with_rank(std::current_exception(), ranks[i]);
      world.stop(results[i].end.failure);
      start.arrive(/*joined=*/false);
      ended.count_down();
    }
  }
  threads.clear();  // joins them

  NcclOutcome outcome;
  SteadyClock::time_point begin = SteadyClock::time_point::max();
  SteadyClock::time_point end = SteadyClock::time_point::min();
  for (Result& result : results) {
    begin = std::min(begin, result.begin);
    end = std::max(end, result.done);
    outcome.report.messages += result.messages;
    outcome.report.bytes += result.bytes;
    outcome.report.peak_bytes.push_back(result.memory.peak_bytes);
    outcome.ends.push_back(std::move(result.end));
  }
  if (begin < end) outcome.report.wall_seconds = std::chrono::duration<double>(end - begin).count();
  return outcome;
}

}  // namespace rankbox::gpu
