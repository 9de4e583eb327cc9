// One std::thread per rank.
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "comm/errors.h"
#include "sim/executor.h"

namespace rankbox::sim {
namespace {

// With a core for every rank, a wait is usually over before a sleep would have begun: look for some
// 50 µs. With fewer cores than ranks, whoever would end the wait needs this core.
constexpr int kSpinsWithCores = 2000;
constexpr int kSpinsWithout = 0;

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int world_size)
      : beds_(static_cast<std::size_t>(world_size)),
        spins_(static_cast<unsigned>(world_size) <= std::thread::hardware_concurrency()
                   ? kSpinsWithCores
                   : kSpinsWithout) {}

  void run(const std::function<void(int)>& body) override {
    // Ranks wait at a gate until all exist: if one cannot be started, none has begun.
    std::atomic<int> gate = kShut;
    std::vector<std::jthread> threads;
    const int world_size = static_cast<int>(beds_.size());
    threads.reserve(beds_.size());
    try {
      for (int rank = 0; rank < world_size; ++rank) {
        threads.emplace_back([&gate, &body, rank] {
          gate.wait(kShut);
          if (gate == kOpen) body(rank);
        });
      }
    } catch (const std::system_error& error) {
      open(gate, kCancelled);
      throw InvalidArgument(fmt::format(
          "world size {}: this machine started {} threads, then said \"{}\"; use fewer ranks",
          world_size, threads.size(), error.what()));
    }
    open(gate, kOpen);
  }  // joins

  void park(int rank) override {
    std::atomic<unsigned>& awake = beds_[static_cast<std::size_t>(rank)].awake;
    awake.wait(0);
    awake.exchange(0);  // not a store, which could miss what an unpark in between has published
  }

  void unpark(int rank) override {
    std::atomic<unsigned>& awake = beds_[static_cast<std::size_t>(rank)].awake;
    awake.store(1);
    awake.notify_one();
  }

  int spins() const override { return spins_; }

 private:
  enum Gate : int { kShut, kOpen, kCancelled };
  static void open(std::atomic<int>& gate, int how) {
    gate.store(how);
    gate.notify_all();
  }

  struct alignas(64) Bed {
    std::atomic<unsigned> awake{0};
  };
  std::vector<Bed> beds_;
  int spins_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(ExecutorKind kind, int world_size) {
  switch (kind) {
    case ExecutorKind::kThreads:
      return std::make_unique<ThreadExecutor>(world_size);
  }
  throw InvalidArgument(fmt::format("unknown executor {}", static_cast<int>(kind)));
}

}  // namespace rankbox::sim
