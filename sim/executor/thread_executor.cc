#include "sim/executor/thread_executor.h"

#include <atomic>
#include <exception>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::sim {
namespace {

// With a core per rank, a wait is usually over before the thread could park: spin for some 50 µs.
// With fewer cores than ranks, the rank that would end the wait needs this core: yield a few times,
// which is faster than parking and waking.
constexpr SpinLimit kWithCores = {.spins = 2000, .yield = nullptr};
constexpr SpinLimit kWithout = {.spins = 16, .yield = std::this_thread::yield};

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int world_size)
      : slots_(static_cast<std::size_t>(world_size)),
        spin_limit_(static_cast<unsigned>(world_size) <= std::thread::hardware_concurrency()
                        ? kWithCores
                        : kWithout) {}

  void run(const std::function<void(int)>& body) override {
    // Ranks wait until all exist: if one cannot be started, none has begun.
    std::atomic<int> gate = kShut;
    std::vector<std::jthread> threads;
    const int world_size = static_cast<int>(slots_.size());
    try {
      threads.reserve(slots_.size());
      for (int rank = 0; rank < world_size; ++rank) {
        threads.emplace_back([&gate, &body, rank] {
          gate.wait(kShut);
          if (gate == kOpen) body(rank);
        });
      }
    } catch (const std::exception& error) {
      open(gate, kCancelled);
      throw InvalidArgument(
          fmt::format("world size {}: this machine started {} threads, then said \"{}\"; use fewer "
                      "ranks, or fibers",
                      world_size, threads.size(), error.what()));
    }
    open(gate, kOpen);
  }  // joins

  void park(int rank) override {
    std::atomic<unsigned>& awake = slots_[static_cast<std::size_t>(rank)].awake;
    awake.wait(0);
    awake.exchange(0);  // not a store, which could miss data published by an unpark in between
  }

  void unpark(int rank) override {
    std::atomic<unsigned>& awake = slots_[static_cast<std::size_t>(rank)].awake;
    awake.store(1);
    awake.notify_one();
  }

  int lane(int rank) const override { return rank; }

  SpinLimit spin_limit() const override { return spin_limit_; }

 private:
  enum Gate : int { kShut, kOpen, kCancelled };
  static void open(std::atomic<int>& gate, int how) {
    gate.store(how);
    gate.notify_all();
  }

  struct alignas(64) ParkingSlot {
    std::atomic<unsigned> awake{0};
  };
  std::vector<ParkingSlot> slots_;
  SpinLimit spin_limit_;
};

}  // namespace

void check_thread_world(int world_size) {
  // Linux reports the maximum number of threads, which avoids starting a million in vain. Read
  // once: reading takes longer than starting a small world.
  static const int most = [] {
    int threads = std::numeric_limits<int>::max();
    std::ifstream("/proc/sys/kernel/threads-max") >> threads;
    return threads;
  }();
  if (world_size > most) {
    throw InvalidArgument(fmt::format(
        "world size {}: this machine runs at most {} threads; use fewer ranks, or fibers",
        world_size, most));
  }
}

std::unique_ptr<Executor> make_thread_executor(int world_size) {
  return std::make_unique<ThreadExecutor>(world_size);
}

}  // namespace rankbox::sim
