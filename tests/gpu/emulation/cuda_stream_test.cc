// The emulated streams and events: asynchronous, and ordered exactly as in CUDA.
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "tests/gpu/emulation/cuda_control.h"

namespace rankbox::gpu::emulation {
namespace {

/// A function on a stream that blocks until the test releases it.
class Gate {
 public:
  ~Gate() { open(); }
  void on(cudaStream_t stream) {
    REQUIRE(enqueue(stream, [open = open_] {
              while (!*open && !exiting())
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }) == cudaSuccess);
  }
  void open() { *open_ = true; }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

struct Stream {
  Stream() { REQUIRE(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking) == cudaSuccess); }
  ~Stream() {
    cudaStreamSynchronize(handle);
    cudaStreamDestroy(handle);
  }
  operator cudaStream_t() const { return handle; }
  cudaStream_t handle = nullptr;
};

struct Event {
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    REQUIRE(cudaEventCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  ~Event() { cudaEventDestroy(handle); }
  operator cudaEvent_t() const { return handle; }
  cudaEvent_t handle = nullptr;
};

/// One float on the device.
struct Value {
  Value() { REQUIRE(cudaMalloc(reinterpret_cast<void**>(&data), sizeof(float)) == cudaSuccess); }
  ~Value() { cudaFree(data); }
  float* data = nullptr;
};

__global__ void set_kernel(float* into, float value) { *into = value; }

void set(const Value& into, float value, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.stream = stream;
  REQUIRE(cudaLaunchKernelEx(&config, set_kernel, into.data, value) == cudaSuccess);
}

float read(const Value& from, cudaStream_t stream) {
  float value = 0;
  REQUIRE(cudaMemcpyAsync(&value, from.data, sizeof value, cudaMemcpyDeviceToHost, stream) ==
          cudaSuccess);
  return value;
}

TEST_CASE("a stream works while the host goes on, in the order of the calls") {
  const Stream stream;
  const Value value;
  Gate gate;
  gate.on(stream);
  set(value, 1, stream);
  set(value, 2, stream);
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  gate.open();
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(read(value, stream) == 2);
}

TEST_CASE("streams do not wait for each other") {
  const Stream blocked;
  const Stream free;
  const Value value;
  Gate gate;
  gate.on(blocked);
  set(value, 3, free);
  CHECK(read(value, free) == 3);
  CHECK(cudaStreamQuery(blocked) == cudaErrorNotReady);
}

TEST_CASE("a stream that waits for an event runs after what came before it") {
  const Stream first;
  const Stream second;
  const Event event;
  const Value value;
  const Value seen;
  Gate gate;
  gate.on(first);
  set(value, 4, first);
  REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(second, event, 0) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(seen.data, value.data, sizeof(float), cudaMemcpyDeviceToDevice, second) ==
          cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaErrorNotReady);
  CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
  gate.open();
  CHECK(read(seen, second) == 4);
  CHECK(cudaEventQuery(event) == cudaSuccess);
}

TEST_CASE("who waits for a recording is not let go by a later one on another stream") {
  const Stream slow;
  const Stream quick;
  const Stream waiting;
  const Event event;
  Gate gate;
  gate.on(slow);
  REQUIRE(cudaEventRecord(event, slow) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(waiting, event, 0) == cudaSuccess);
  REQUIRE(cudaEventRecord(event, quick) == cudaSuccess);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(cudaStreamQuery(waiting) == cudaErrorNotReady);
  gate.open();
  CHECK(cudaStreamSynchronize(waiting) == cudaSuccess);
}

TEST_CASE("an event that was never recorded delays no stream") {
  const Stream stream;
  const Event event;
  CHECK(cudaEventQuery(event) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(stream, event, 0) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
}

TEST_CASE("an event may be destroyed while streams wait for it") {
  const Stream first;
  const Stream second;
  Gate gate;
  gate.on(first);
  {
    const Event event;
    REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(second, event, 0) == cudaSuccess);
  }
  CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
  gate.open();
  CHECK(cudaStreamSynchronize(second) == cudaSuccess);
}

TEST_CASE("events with timing measure what lies between them") {
  const Stream stream;
  const Event begin(cudaEventDefault);
  const Event end(cudaEventDefault);
  const Event untimed;
  float ms = 0;
  const auto start = std::chrono::steady_clock::now();
  cudaEventRecord(begin, stream);
  enqueue(stream, [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  cudaEventRecord(end, stream);
  cudaEventRecord(untimed, stream);
  CHECK(cudaEventElapsedTime(&ms, begin, end) == cudaErrorNotReady);
  cudaStreamSynchronize(stream);
  const auto stop = std::chrono::steady_clock::now();
  CHECK(cudaEventElapsedTime(&ms, begin, end) == cudaSuccess);
  CHECK(ms >= 19.0f);
  CHECK(ms <= std::chrono::duration<float, std::milli>(stop - start).count());
  CHECK(cudaEventElapsedTime(&ms, begin, untimed) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("a destroyed stream still does what it was given") {
  const Value value;
  const Stream other;
  const Event event;
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  Gate gate;
  gate.on(stream);
  set(value, 5, stream);
  cudaEventRecord(event, stream);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamQuery(stream) == cudaErrorInvalidResourceHandle);
  gate.open();
  cudaStreamWaitEvent(other, event, 0);
  CHECK(read(value, other) == 5);
}

TEST_CASE("a host function runs in the stream's order, and must not call CUDA") {
  const Stream stream;
  cudaError_t seen = cudaSuccess;
  const auto call_cuda = [](void* result) {
    *static_cast<cudaError_t*>(result) = cudaStreamQuery(nullptr);
  };
  CHECK(cudaLaunchHostFunc(stream, call_cuda, &seen) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(seen == cudaErrorNotPermitted);
}

TEST_CASE("what is enqueued may block until another stream comes as far") {
  const Stream first;
  const Stream second;
  std::atomic<bool> met = false;
  std::atomic<bool> arrived = false;
  enqueue(first, [&] {
    while (!arrived && !exiting()) std::this_thread::yield();
    met = true;
  });
  CHECK(cudaStreamQuery(first) == cudaErrorNotReady);
  enqueue(second, [&] { arrived = true; });
  CHECK(cudaStreamSynchronize(first) == cudaSuccess);
  CHECK(met);
  CHECK(device_of(first) == 0);
  cudaStream_t none = reinterpret_cast<cudaStream_t>(&met);
  CHECK(device_of(none) == -1);
  CHECK(enqueue(none, [] {}) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("kernels see the indices that real ones would") {
  struct Seen {
    unsigned block, thread, blocks, threads;
  };
  const Stream stream;
  static std::vector<Seen> seen;
  seen.clear();
  const auto note = +[](int) { seen.push_back({blockIdx.x, threadIdx.x, gridDim.x, blockDim.x}); };
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(3);
  config.blockDim = dim3(4);
  config.stream = stream;
  REQUIRE(cudaLaunchKernelEx(&config, note, 0) == cudaSuccess);
  cudaStreamSynchronize(stream);
  REQUIRE(seen.size() == 12);
  for (unsigned i = 0; i < 12; ++i) {
    CHECK(seen[i].block * 4 + seen[i].thread == i);
    CHECK(seen[i].blocks == 3);
    CHECK(seen[i].threads == 4);
  }
  config.blockDim = dim3(1025);
  CHECK(cudaLaunchKernelEx(&config, note, 0) == cudaErrorInvalidConfiguration);
  config.blockDim = dim3(1);
  config.gridDim = dim3(0);
  CHECK(cudaLaunchKernelEx(&config, note, 0) == cudaErrorInvalidConfiguration);
  cudaGetLastError();
}

// The thread sanitizer detects the mistake at once, and would end the test.
#if !defined(__SANITIZE_THREAD__)
TEST_CASE(
    "with delays, a missing wait shows as a wrong value for some seed, and an event mends it") {
  const auto value_seen = [](bool with_event) {
    const Stream first;
    const Stream second;
    const Event event;
    const Value value;
    const Value seen;
    set(value, 1, first);
    if (with_event) {
      cudaEventRecord(event, first);
      cudaStreamWaitEvent(second, event, 0);
    }
    cudaMemcpyAsync(seen.data, value.data, sizeof(float), cudaMemcpyDeviceToDevice, second);
    return read(seen, second);
  };
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    delay_streams(seed);
    CHECK(value_seen(true) == 1);
    const float raced = value_seen(false);
    if (raced != 1) {
      ++wrong;
      CHECK(std::isnan(raced));
    }
  }
  delay_streams(0);
  CHECK(wrong > 0);
}
#endif

}  // namespace
}  // namespace rankbox::gpu::emulation
