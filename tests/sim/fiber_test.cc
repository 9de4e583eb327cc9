// Behaviour specific to ranks as fibers.
//
// The other tests in this folder cover behaviour common to all executors.
#include <atomic>
#include <csignal>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/run_ranks.h"
#include "sim/executor/executor.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define RANKBOX_SANITIZED
constexpr int kManyRanks = 128;
constexpr int kRounds = 30;
constexpr int kMostElements = 1000;
#else
constexpr int kManyRanks = 4096;
constexpr int kRounds = 2000;
constexpr int kMostElements = 64 * 40000;
#endif

RunOptions fibers(int world_size, std::uint64_t seed = 0) {
  return {.world_size = world_size, .executor = ExecutorKind::kFibers, .seed = seed};
}

/// Returns the sum of one float of all ranks, on rank 0: a binomial tree.
float sum_up_tree(Comm& dist, float mine) {
  Tensor sum = full(1, mine);
  Tensor theirs = zeros(1);
  for (int distance = 1; distance < dist.world_size(); distance *= 2) {
    if (dist.rank() % (2 * distance) != 0) {
      dist.send(sum, dist.rank() - distance);
      break;
    }
    if (dist.rank() + distance >= dist.world_size()) continue;
    dist.recv(theirs, dist.rank() + distance);
    sum += theirs;
  }
  return to_host(sum).front();
}

TEST_CASE("every rank runs once, and returns its own result") {
  for (int world_size : {1, 2, 3, 4, 5, 7, 8, 17, 64, 300}) {
    const auto run = rankbox::run_ranks(fibers(world_size), [](Comm& dist) { return dist.rank(); });
    for (int rank = 0; rank < world_size; ++rank)
      CHECK(run.results[static_cast<std::size_t>(rank)] == rank);
  }
}

TEST_CASE("an unpark is never lost, however it meets the park") {
  // Tokens circulate on the ring, as many as there are: a rank passes one on for each that it
  // received.
  for (int world_size : {1, 2, 3, 8, 50}) {
    for (int tokens : {1, 2, world_size}) {
      CAPTURE(world_size);
      CAPTURE(tokens);
      const auto executor =
          sim::make_executor({.world_size = world_size, .executor = ExecutorKind::kFibers});
      std::vector<std::atomic<int>> got(static_cast<std::size_t>(world_size));
      for (int token = 0; token < tokens; ++token)
        ++got[static_cast<std::size_t>(token * world_size / tokens)];
      executor->run([&](int rank) {
        const int next = (rank + 1) % world_size;
        for (int round = 0; round < kRounds; ++round) {
          while (got[static_cast<std::size_t>(rank)].load() <= round) executor->park(rank);
          ++got[static_cast<std::size_t>(next)];
          executor->unpark(next);
          if (round % 3 == 0) executor->unpark(next);  // one too many: its next park returns early
        }
      });
      for (const std::atomic<int>& of_rank : got) CHECK(of_rank >= kRounds);
    }
  }
}

TEST_CASE("a tree over thousands of ranks") {
  for (int world_size : {100, kManyRanks}) {
    const auto run = rankbox::run_ranks(fibers(world_size), [](Comm& dist) {
      return sum_up_tree(dist, static_cast<float>(dist.rank() % 2));
    });
    CHECK(run.results.front() == static_cast<float>(world_size / 2));
  }
}

TEST_CASE("collectives of all sizes, among few ranks and many") {
  for (int world_size : {2, 3, 8, 33, 64, 65, 200}) {
    for (int count : {0, 1, 12, 13, 1000, 40000}) {
      if (world_size * count > kMostElements) continue;
      const auto run = rankbox::run_ranks(fibers(world_size), [&](Comm& dist) {
        int wrong = 0;
        for (int round = 0; round < 5; ++round) {
          Tensor sum = full(count, static_cast<float>(dist.rank() == round % dist.world_size()));
          dist.all_reduce(sum);
          for (float value : to_host(sum)) wrong += value != 1.0f;
        }
        return wrong;
      });
      CHECK(run.results == std::vector<int>(static_cast<std::size_t>(world_size), 0));
    }
  }
}

TEST_CASE("a deadlock is proved while thousands sleep") {
  for (int world_size : {1, 2, 3, 8, kManyRanks}) {
    CAPTURE(world_size);
    for_each_schedule(world_size > 100 ? 1 : 20, [&](std::uint64_t seed) {
      std::string what;
      try {
        rankbox::run_world(fibers(world_size, seed), [](Comm& dist) {
          dist.barrier();
          Tensor tensor = zeros(1);
          dist.recv(tensor, (dist.rank() + 1) % dist.world_size());
        });
      } catch (const DeadlockError& error) {
        what = error.what();
        CHECK(error.cycle().size() == static_cast<std::size_t>(world_size));
      }
      CHECK_FALSE(what.empty());
    });
  }
}

/// Communicates with the next rank on destruction, which may be due to an exception.
class Farewell {
 public:
  Farewell(Comm& dist, int& wrong) : dist_(dist), wrong_(wrong) {}
  ~Farewell() {
    const int before = std::uncaught_exceptions();
    Tensor mine = full(1, static_cast<float>(dist_.rank()));
    Tensor theirs = zeros(1);
    for (int round = 0; round < 10; ++round)
      dist_.sendrecv(mine, next_of(dist_), theirs, prev_of(dist_));
    wrong_ += std::uncaught_exceptions() != before;
    wrong_ += to_host(theirs).front() != static_cast<float>(prev_of(dist_));
  }

 private:
  Comm& dist_;
  int& wrong_;
};

TEST_CASE("ranks that talk while they handle exceptions keep their own") {
  for (int world_size : {2, 3, 4, 9}) {
    CAPTURE(world_size);
    for_each_schedule(10, [&](std::uint64_t seed) {
      const auto run = rankbox::run_ranks(fibers(world_size, seed), [](Comm& dist) {
        const std::string mine = "of rank " + std::to_string(dist.rank());
        int wrong = 0;
        // 1. In a handler, with a nested one; some ranks are in none.
        try {
          if (dist.rank() % 3 == 2) {
            sum_up_tree(dist, 1);
          } else {
            throw std::runtime_error(mine);
          }
        } catch (const std::runtime_error&) {
          try {
            sum_up_tree(dist, 1);
            throw;
          } catch (const std::runtime_error& again) {
            wrong += again.what() != mine;
            dist.barrier();
            wrong += what_of(std::current_exception()) != mine;
          }
          dist.barrier();
          wrong += what_of(std::current_exception()) != mine;
        }
        if (dist.rank() % 3 == 2) {
          dist.barrier();
          dist.barrier();
        }
        wrong += std::current_exception() != nullptr;
        // 2. In a destructor, while the stack is unwound; some ranks return normally.
        wrong += std::uncaught_exceptions() != 0;
        try {
          const Farewell farewell(dist, wrong);
          if (dist.rank() % 2 == 0) throw std::runtime_error(mine);
        } catch (const std::runtime_error& error) {
          wrong += error.what() != mine || std::uncaught_exceptions() != 0;
        }
        wrong += std::uncaught_exceptions() != 0;
        return wrong;
      });
      CHECK(run.results == std::vector<int>(static_cast<std::size_t>(world_size), 0));
    });
  }
}

TEST_CASE("tensors are counted for the rank that made them, although ranks take turns") {
  const auto report = rankbox::run_world(fibers(9), [](Comm& dist) {
    std::vector<Tensor> held;
    for (int i = 0; i <= dist.rank(); ++i) {
      held.push_back(zeros(1000));
      sum_up_tree(dist, 1);
    }
    for (int i = dist.rank() + 1; i < dist.world_size(); ++i) sum_up_tree(dist, 1);
  });
  for (int rank = 0; rank < 9; ++rank) {
    const std::int64_t held = 4000 * (rank + 1);
    const std::int64_t peak = report.peak_bytes[static_cast<std::size_t>(rank)];
    CAPTURE(rank);
    CHECK(peak >= held);
    CHECK(peak < held + 100);
  }
}

TEST_CASE("what a rank throws stops the others, asleep or not yet begun") {
  for (int world_size : {2, 3, 50}) {
    for_each_schedule(10, [&](std::uint64_t seed) {
      std::string what;
      try {
        rankbox::run_world(fibers(world_size, seed), [](Comm& dist) {
          if (dist.rank() == 1) throw std::runtime_error("the cause");
          Tensor tensor = zeros(1);
          dist.recv(tensor, 1);
        });
      } catch (const RankFailed& error) {
        CHECK(error.rank() == 1);
        what = error.what();
      }
      CHECK(contains(what, "rank 1"));
    });
  }
}

TEST_CASE("on one thread, ranks run in the same order in every run of a seed") {
  constexpr int kRanks = 6;
  const auto order_of = [](std::uint64_t seed) {
    RunOptions options = fibers(kRanks, seed);
    options.fiber_threads = 1;
    std::vector<int> order;  // of one thread: no lock
    rankbox::run_world(options, [&order](Comm& dist) {
      Tensor mine = full(4, 1.0f);
      for (int step = 1; step < kRanks; ++step) {
        Tensor got(4);
        dist.sendrecv(mine, (dist.rank() + step) % kRanks, got,
                      (dist.rank() + kRanks - step) % kRanks);
        order.push_back(dist.rank());
      }
    });
    return order;
  };
  std::set<std::vector<int>> orders;
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const std::vector<int> order = order_of(seed);
    CHECK(order.size() == kRanks * (kRanks - 1));
    for (int run = 0; run < 5; ++run) CHECK(order_of(seed) == order);
    orders.insert(order);
  }
  CHECK(orders.size() > 1);  // random delays change it
}

#if !defined(RANKBOX_SANITIZED)
// Sanitizers have separate handlers for these errors.

int depth_of(volatile int* last, int depth) {
  volatile int frame[256];
  frame[0] = depth;
  if (last != nullptr && *last < 0) return *last;
  return depth_of(frame, depth + 1) + frame[0];
}

/// Writes far below the caller's frame, as a large array does whose other elements are not used.
__attribute__((noinline)) void jump_over_guard(Comm& dist) {
  volatile char large[(1 << 20) + (1 << 14)];
  large[0] = 1;
  dist.barrier();
  large[1] = large[0];
}

/// Returns the signal that ends a program whose rank 1 of `world_size` runs `body`.
int signal_of(int world_size, const std::function<void(Comm&)>& body) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGABRT, SIG_DFL);
    rankbox::run_world(fibers(world_size), [&](Comm& dist) {
      if (dist.rank() == 1) return body(dist);
      dist.barrier();
    });
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_CASE("a stack that overflows ends the program instead of corrupting another rank's") {
  for (int world_size : {3, 40'000}) {  // beyond what mprotect could guard
    CAPTURE(world_size);
    CHECK(signal_of(world_size, [](Comm&) { depth_of(nullptr, 1); }) == SIGSEGV);
  }
}

TEST_CASE("a frame that jumps over the guard ends the program when the rank waits") {
  CHECK(signal_of(100, jump_over_guard) == SIGABRT);
}
#endif

}  // namespace
}  // namespace rankbox::testing
