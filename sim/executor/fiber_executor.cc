#include "sim/executor/fiber_executor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory_resource>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#endif

#include "comm/errors.h"
#include "sim/executor/fiber_stacks.h"
#include "sim/executor/fiber_worker.h"
#include "sim/huge_pages.h"

namespace rankbox::sim {
namespace {

// For a core per rank: there is no other fiber to switch to. (As with threads.)
constexpr int kSpinsAlone = 2000;
// A turn costs some 20 ns for every other fiber that spins, and parking some 100 ns. So ranks spin
// long where fibers are few, and briefly where they are many.
constexpr int kTurnsOfAll = 256;
constexpr int kFewestSpins = 2;

/// The minimum memory of a rank: a page of its stack, its state, its first events.
constexpr std::int64_t kRankBytes = 8 * 1024;

/// Returns the cores that this process may use, which `taskset` or a container may restrict.
int usable_cores() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

class FiberExecutor final : public Executor {
 public:
  FiberExecutor(int world_size, int threads)
      : fibers_(static_cast<std::size_t>(world_size), huge_pages()),
        workers_(static_cast<std::size_t>(std::min(threads, world_size))) {
    for (std::size_t rank = 0; rank < fibers_.size(); ++rank) {
      fibers_[rank].rank = static_cast<int>(rank);
      workers_[rank * workers_.size() / fibers_.size()].add(fibers_[rank]);
    }
  }

  void run(const std::function<void(int)>& body) override {
    const FiberStacks stacks(static_cast<int>(fibers_.size()));
    for (Fiber& fiber : fibers_) fiber.stack = stacks[fiber.rank];

    // Workers wait until all exist: if one cannot be started, no rank has begun.
    std::atomic<int> gate = kShut;
    std::vector<std::jthread> threads;
    try {
      threads.reserve(workers_.size());
      for (FiberWorker& worker : workers_) {
        threads.emplace_back([&gate, &body, &worker] {
          gate.wait(kShut);
          if (gate == kOpen) worker.run(body);
        });
      }
    } catch (const std::exception& error) {
      open(gate, kCancelled);
      throw InvalidArgument(fmt::format(
          "world size {}: of {} threads for fibers this machine started {}, then said \"{}\"; use "
          "fewer ranks",
          fibers_.size(), workers_.size(), threads.size(), error.what()));
    }
    open(gate, kOpen);
  }  // joins, then unmaps the stacks

  void park(int rank) override {
    Fiber& fiber = fibers_[static_cast<std::size_t>(rank)];
    // Not a worker's fiber, for example a thread that the rank's program started: park() may return
    // early.
    if (!fiber.worker->runs(fiber)) return FiberWorker::yield();
    fiber.worker->park(fiber);
  }

  void unpark(int rank) override {
    Fiber& fiber = fibers_[static_cast<std::size_t>(rank)];
    if (fiber.state.exchange(Fiber::kWoken) == Fiber::kParked) fiber.worker->make_ready(fiber);
  }

  int lane(int rank) const override {
    const Fiber& fiber = fibers_[static_cast<std::size_t>(rank)];
    return static_cast<int>(fiber.worker - workers_.data());
  }

  SpinLimit spin_limit() const override {
    const std::size_t sharing = (fibers_.size() + workers_.size() - 1) / workers_.size();
    if (sharing == 1) return {.spins = kSpinsAlone, .yield = nullptr};
    return {.spins = std::max(kTurnsOfAll / static_cast<int>(sharing), kFewestSpins),
            .yield = FiberWorker::yield};
  }

 private:
  enum Gate : int { kShut, kOpen, kCancelled };
  static void open(std::atomic<int>& gate, int how) {
    gate.store(how);
    gate.notify_all();
  }

  std::pmr::vector<Fiber> fibers_;  // [rank]
  std::vector<FiberWorker> workers_;
};

}  // namespace

void check_fiber_world(int world_size) {
  static const std::int64_t machine = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const std::int64_t needed = world_size * kRankBytes;
  if (needed <= machine) return;
  constexpr double kGiB = 1 << 30;
  throw InvalidArgument(fmt::format(
      "world size {}: so many ranks need at least {:.1f} GiB, {} KiB each as fibers, and this "
      "machine has {:.1f} GiB; use at most {} ranks",
      world_size, static_cast<double>(needed) / kGiB, kRankBytes >> 10,
      static_cast<double>(machine) / kGiB, machine / kRankBytes));
}

std::unique_ptr<Executor> make_fiber_executor(int world_size, int threads) {
  return std::make_unique<FiberExecutor>(world_size, threads > 0 ? threads : usable_cores());
}

}  // namespace rankbox::sim
