// Failing waits and running out of memory, on the emulated GPU.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "gpu/device/rank_device.h"
#include "tests/gpu/emulation/cuda_control.h"

namespace rankbox::gpu {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Blocks a stream until the flag is set.
void hold(cudaStream_t stream, const std::shared_ptr<std::atomic<bool>>& go_on) {
  emulation::enqueue(stream, [go_on] {
    while (!*go_on && !emulation::exiting()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

TEST_CASE("a wait ends at its deadline, and says who waited in what") {
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  RankDevice gpu(2, 0);
  hold(gpu.stream(), go_on);
  const Clock::time_point start = Clock::now();
  try {
    gpu.synchronize(0.05, {.op = "all_reduce", .bytes = 64});
    FAIL("nothing was thrown");
  } catch (const TimedOut& error) {
    CHECK(error.rank() == 2);
    CHECK(error.op() == "all_reduce");
    const std::string text = error.what();
    CHECK(text.find("rank 2, all_reduce, 64 bytes: the GPU is not done after 0.05 s") == 0);
  }
  CHECK(seconds_since(start) >= 0.05);
  *go_on = true;
  CHECK_NOTHROW(gpu.synchronize(20));
}

TEST_CASE("what failed on a stream is thrown by who waits for it") {
  RankDevice gpu(1, 0);
  emulation::break_device(0, cudaErrorIllegalAddress);
  CHECK_THROWS_AS(gpu.synchronize(20, {.op = "recv"}), CudaError);
  emulation::break_device(0, cudaSuccess);
}

TEST_CASE("polling leaves no error behind") {
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  RankDevice gpu(0, 0);
  hold(gpu.stream(), go_on);
  CHECK_THROWS_AS(gpu.synchronize(0.01), TimedOut);
  CHECK(cudaGetLastError() == cudaSuccess);
  *go_on = true;
}

TEST_CASE("a rank that ends while its stream hangs leaves it behind, and the next has another") {
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  cudaStream_t hung = nullptr;
  void* block = nullptr;
  {
    RankDevice gpu(0, 0);
    hung = gpu.stream();
    block = gpu.allocate(1000);
    hold(hung, go_on);
    gpu.release(block);
  }
  CHECK(emulation::is_device_memory(block, 1000));  // until the stream gets there
  CHECK(RankDevice(0, 0).stream() != hung);
  *go_on = true;
  CHECK(cudaStreamSynchronize(hung) == cudaSuccess);
  CHECK_FALSE(emulation::is_device_memory(block, 1000));
}

TEST_CASE("a rank that ends well leaves no memory, and its stream to the next one") {
  const emulation::MemoryInUse before = emulation::memory_in_use();
  cudaStream_t stream = nullptr;
  {
    RankDevice gpu(0, 0);
    stream = gpu.stream();
    for (const std::int64_t bytes : {100, 1000, 100000}) gpu.release(gpu.allocate(bytes));
  }
  CHECK(emulation::memory_in_use().allocations == before.allocations);
  const std::int64_t pinned = emulation::calls_of("cudaMallocHost");
  RankDevice next(1, 0);
  CHECK(next.stream() == stream);
  CHECK(next.rank() == 1);
  CHECK(emulation::calls_of("cudaMallocHost") == pinned);
}

TEST_CASE("memory that runs out is an error that names the rank") {
  constexpr std::int64_t kMiB = 1 << 20;
  emulation::set_device_memory(10 * kMiB);
  {
    RankDevice gpu(4, 0);
    void* const large = gpu.allocate(8 * kMiB);
    try {
      gpu.allocate(4 * kMiB);
      FAIL("nothing was thrown");
    } catch (const OutOfMemory& error) {
      CHECK(error.rank() == 4);
      CHECK(std::string(error.what())
                .find("rank 4, allocate, 4194304 bytes: cudaMallocAsync failed") == 0);
    }
    gpu.release(large);
    gpu.release(gpu.allocate(4 * kMiB));
  }
  emulation::set_device_memory(std::size_t{4} << 30);
}

TEST_CASE("a rank whose stream cannot be made leaves nothing behind") {
  RankDevice all(0, 0);  // so that there is nothing to take over
  const std::int64_t events = emulation::calls_of("cudaEventDestroy");
  const std::int64_t pinned = emulation::calls_of("cudaFreeHost");
  emulation::fail_next("cudaStreamCreateWithFlags", cudaErrorLaunchOutOfResources);
  std::thread([] {
    CHECK_THROWS_AS(RankDevice(1, 0), CudaError);
    CHECK(current_rank_device() == nullptr);
  }).join();
  CHECK(emulation::calls_of("cudaEventDestroy") == events + 1);
  CHECK(emulation::calls_of("cudaFreeHost") == pinned + 1);
}

}  // namespace
}  // namespace rankbox::gpu
