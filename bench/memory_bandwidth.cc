// The bound: no all-reduce in place can take less time than reading and writing
// every rank's tensor once.
//
//   memory_bandwidth BYTES     seconds to read and write BYTES once, one pinned thread per core
//
// STREAM's "scale" done in place, on the same amount of memory as the operation it bounds, so that
// both profit alike from the caches. With the widest vectors of the core, as the all-reduce: scalar
// code takes longer than the caches need, and would be no bound. Prints one number, in seconds.
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include "bench/measure.h"
#include "compute/vectors.h"

namespace {

void pin_to_core(unsigned core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  // Best effort: unpinned is still a bound.
  pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);
}

/// Four vectors at once, as in sim/collective/reduce_kernels.cc. REQUIRES: count % 64 == 0
void scale(float* data, std::size_t count) {
  rankbox::on_vectors([=](auto width) {
    constexpr int kBytes = decltype(width)::value;
    using Vector __attribute__((vector_size(kBytes), aligned(sizeof(float)), may_alias)) = float;
    constexpr std::size_t kLanes = kBytes / sizeof(float);
    constexpr std::size_t kAtOnce = 4;
    for (std::size_t i = 0; i < count; i += kAtOnce * kLanes) {
      for (std::size_t v = 0; v < kAtOnce; ++v)
        *reinterpret_cast<Vector*>(data + i + v * kLanes) *= 1.0001f;
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const long long bytes = argc == 2 ? std::atoll(argv[1]) : 0;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t floats = static_cast<std::size_t>(bytes) / sizeof(float) / cores / 64 * 64;
  if (bytes < 1 || floats == 0) {
    std::fprintf(stderr, "usage: memory_bandwidth BYTES\n");
    return 2;
  }
  std::barrier meet(static_cast<std::ptrdiff_t>(cores));
  std::vector<double> times(cores);
  std::vector<double> results(cores);
  std::vector<std::thread> threads;
  for (unsigned core = 0; core < cores; ++core) {
    threads.emplace_back([&, core] {
      pin_to_core(core);
      std::vector<float> mine(floats, 1.0f);  // placed by the core that touches it first
      float* const data = mine.data();
      const auto max_over_threads = [&](double seconds) {
        times[core] = seconds;
        meet.arrive_and_wait();
        const double largest = *std::max_element(times.begin(), times.end());
        meet.arrive_and_wait();
        return largest;
      };
      results[core] = rankbox::bench::seconds_per_call(
          [&] {
            scale(data, floats);
            asm volatile("" : : "r"(data) : "memory");  // the passes must really happen, one by one
          },
          max_over_threads);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("%.9e\n", *std::max_element(results.begin(), results.end()));
  return 0;
}
