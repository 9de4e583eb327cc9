// The emulated NCCL itself: order, aborts and errors as in the real one.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <nccl.h>

#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/nccl_control.h"

namespace rankbox::gpu::emulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A hang.
constexpr milliseconds kPatience = std::chrono::minutes(2);

/// One rank of a test, with its device's memory and stream.
struct Rank {
  int rank;
  int size;
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  float* in = nullptr;
  float* out = nullptr;

  static constexpr int kCount = 64;

  void start() {
    cudaSetDevice(rank);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(reinterpret_cast<void**>(&in), kCount * sizeof(float));
    cudaMalloc(reinterpret_cast<void**>(&out), kCount * sizeof(float));
    for (int i = 0; i < kCount; ++i) {
      in[i] = static_cast<float>(100 * rank + i);
      out[i] = -1;
    }
  }
  void end() {
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(in);
    cudaFree(out);
  }

  ncclResult_t init(bool blocking) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = blocking ? 1 : 0;
    return settle(ncclCommInitRankConfig(&comm, size, id, rank, &config));
  }

  /// Polls until it is no longer in progress.
  ncclResult_t settle(ncclResult_t result) const {
    const auto end = steady_clock::now() + kPatience;
    while (result == ncclInProgress && steady_clock::now() < end) {
      ncclCommGetAsyncError(comm, &result);
      std::this_thread::yield();
    }
    return result;
  }

  /// Returns whether the stream becomes idle within this time.
  bool idle_within(milliseconds patience) const {
    const auto end = steady_clock::now() + patience;
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
      if (steady_clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }
};

/// Runs `body` on two threads, each a rank with its own device.
void on_two_ranks(const std::function<void(Rank&)>& body) {
  set_device_count(2);
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      Rank rank{.rank = r, .size = 2, .id = id};
      rank.start();
      body(rank);
      rank.end();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE(
    "a send blocks its stream until the receive: both sending first hangs, a group does not") {
  std::atomic<int> hung{0};
  std::atomic<int> right{0};
  on_two_ranks([&](Rank& r) {
    const int peer = 1 - r.rank;
    r.init(true);
    ncclGroupStart();
    ncclSend(r.in, 1, ncclFloat32, peer, r.comm, r.stream);
    ncclRecv(r.out, 1, ncclFloat32, peer, r.comm, r.stream);
    ncclGroupEnd();
    if (r.idle_within(kPatience) && r.out[0] == static_cast<float>(100 * peer)) ++right;

    ncclSend(r.in, 1, ncclFloat32, peer, r.comm, r.stream);
    ncclRecv(r.out, 1, ncclFloat32, peer, r.comm, r.stream);
    if (!r.idle_within(milliseconds(50))) ++hung;
    ncclCommAbort(r.comm);
    if (!r.idle_within(kPatience)) hung = -1;
  });
  CHECK(right == 2);
  CHECK(hung == 2);
  CHECK(running_nccl_operations() == 0);
}

TEST_CASE("the operations of a communicator follow each other, also on two streams") {
  std::atomic<int> hung{0};
  on_two_ranks([&](Rank& r) {
    const int peer = 1 - r.rank;
    cudaStream_t other = nullptr;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    r.init(true);
    ncclSend(r.in, 1, ncclFloat32, peer, r.comm, other);
    ncclRecv(r.out, 1, ncclFloat32, peer, r.comm, r.stream);
    if (!r.idle_within(milliseconds(50))) ++hung;
    ncclCommAbort(r.comm);
    cudaStreamSynchronize(other);
    cudaStreamDestroy(other);
  });
  CHECK(hung == 2);
}

TEST_CASE("non-blocking: a call is not done, nor another one possible, until it was asked for") {
  std::atomic<int> refused{0};
  std::atomic<int> came{0};
  on_two_ranks([&](Rank& r) {
    r.init(false);
    for (int i = 0; i < 8; ++i) {
      const auto result = ncclAllReduce(r.in, r.out, 1, ncclFloat32, ncclSum, r.comm, r.stream);
      if (result == ncclInProgress) {
        if (ncclAllReduce(r.in, r.out, 1, ncclFloat32, ncclSum, r.comm, r.stream) ==
            ncclInvalidArgument) {
          ++refused;
        }
      }
      if (r.settle(result) == ncclSuccess) ++came;
    }
    ncclCommDestroy(r.comm);
  });
  CHECK(came == 16);
  CHECK(refused > 0);
}

TEST_CASE("misuse is refused, and names the mistake") {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  Rank r{.rank = 0, .size = 1, .id = id};
  r.start();
  REQUIRE(r.init(true) == ncclSuccess);
  const auto says = [](const char* words) {
    return std::string(ncclGetLastError(nullptr)).find(words) != std::string::npos;
  };
  float host[4] = {};
  CHECK(ncclSend(r.in, 1, ncclFloat32, 1, r.comm, r.stream) == ncclInvalidArgument);
  CHECK(says("invalid root 1"));
  CHECK(ncclAllReduce(host, r.out, 4, ncclFloat32, ncclSum, r.comm, r.stream) ==
        ncclInvalidArgument);
  CHECK(says("device memory"));
  CHECK(ncclSend(r.in, 1, ncclFloat32, 0, r.comm, r.stream) == ncclInvalidUsage);
  CHECK(says("Trying to send to self without a matching recv"));
  CHECK(ncclGroupEnd() == ncclInvalidUsage);
  CHECK(ncclSend(r.in, 1, ncclFloat32, 0, nullptr, r.stream) == ncclInvalidArgument);
  ncclCommDestroy(r.comm);
  r.end();
}

}  // namespace
}  // namespace rankbox::gpu::emulation
