// The emulated NCCL itself: the guarantees of the real one, and its hangs.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
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

  void start(int device) {
    cudaSetDevice(device);
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

  /// Polls until it is no longer in progress, for at most two minutes.
  ncclResult_t settle(ncclResult_t result, int* asked = nullptr) const {
    const auto end = steady_clock::now() + std::chrono::minutes(2);
    while (result == ncclInProgress && steady_clock::now() < end) {
      if (asked != nullptr) ++*asked;
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

/// Runs `body` on one thread per rank, each with a separate device unless `devices` is smaller.
void on_ranks(int size, const std::function<void(Rank&)>& body, int devices = 8) {
  set_device_count(8);
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      Rank rank{.rank = r, .size = size, .id = id};
      rank.start(r % devices);
      body(rank);
      rank.end();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("collectives of the emulated NCCL do what theirs do, blocking or not") {
  for (const bool blocking : {true, false}) {
    for (const int size : {1, 2, 3, 8}) {
      CAPTURE(blocking);
      CAPTURE(size);
      std::atomic<int> wrong{0};
      std::atomic<int> asked{0};
      on_ranks(size, [&](Rank& r) {
        const auto expect = [&](bool right) { wrong += right ? 0 : 1; };
        int looks = 0;
        const auto run = [&](ncclResult_t result) {
          expect(r.settle(result, &looks) == ncclSuccess);
          expect(r.idle_within(kPatience));
        };
        expect(r.init(blocking) == ncclSuccess);
        run(ncclAllReduce(r.in, r.out, 4, ncclFloat32, ncclSum, r.comm, r.stream));
        const float ranks = static_cast<float>(size * (size - 1) / 2 * 100);
        for (int i = 0; i < 4; ++i) {
          expect(r.out[i] == ranks + static_cast<float>(size * i));
        }
        run(ncclBroadcast(r.in, r.out, 4, ncclFloat32, size - 1, r.comm, r.stream));
        expect(r.out[3] == static_cast<float>(100 * (size - 1) + 3));
        r.out[0] = -1;
        run(ncclReduce(r.in, r.out, 1, ncclFloat32, ncclMax, 0, r.comm, r.stream));
        expect(r.out[0] == (r.rank == 0 ? static_cast<float>(100 * (size - 1)) : -1));
        run(ncclAllGather(r.in, r.out, 2, ncclFloat32, r.comm, r.stream));
        for (int other = 0; other < size; ++other) {
          expect(r.out[2 * other + 1] == static_cast<float>(100 * other + 1));
        }
        run(ncclReduceScatter(r.in, r.out, 2, ncclFloat32, ncclMin, r.comm, r.stream));
        expect(r.out[1] == static_cast<float>(2 * r.rank + 1));
        expect(ncclCommDestroy(r.comm) == ncclSuccess);
        asked += looks;
      });
      CHECK(wrong == 0);
      CHECK((asked > 0) == !blocking);
    }
  }
  CHECK(live_nccl_communicators() == 0);
}

TEST_CASE(
    "a send blocks its stream until the receive: both sending first hangs, a group does not") {
  std::atomic<int> hung{0};
  std::atomic<int> right{0};
  on_ranks(2, [&](Rank& r) {
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
  on_ranks(2, [&](Rank& r) {
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

TEST_CASE("a message that does not fit, or a collective that differs, never completes") {
  std::atomic<int> hung{0};
  on_ranks(2, [&](Rank& r) {
    r.init(true);
    if (r.rank == 0) {
      ncclSend(r.in, 3, ncclFloat32, 1, r.comm, r.stream);
    } else {
      ncclRecv(r.out, 4, ncclFloat32, 0, r.comm, r.stream);
    }
    if (!r.idle_within(milliseconds(50))) ++hung;
    ncclCommAbort(r.comm);
  });
  CHECK(hung == 2);
  on_ranks(2, [&](Rank& r) {
    r.init(true);
    const auto count = static_cast<std::size_t>(2 + r.rank);
    ncclAllReduce(r.in, r.out, count, ncclFloat32, ncclSum, r.comm, r.stream);
    if (!r.idle_within(milliseconds(50))) ++hung;
    ncclCommAbort(r.comm);
  });
  CHECK(hung == 4);
}

TEST_CASE(
    "two ranks on one device are refused in the library's words, unless the variable allows it") {
  std::atomic<int> refused{0};
  const auto body = [&](Rank& r) {
    if (r.init(false) == ncclInvalidUsage) ++refused;
    const std::string words = ncclGetLastError(nullptr);
    if (words.find("Duplicate GPU detected : rank") == std::string::npos) refused = -1;
    ncclCommAbort(r.comm);
  };
  on_ranks(2, body, /*devices=*/1);
  CHECK(refused == 2);

  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  std::atomic<int> allowed{0};
  on_ranks(
      2,
      [&](Rank& r) {
        if (r.init(false) == ncclSuccess) ++allowed;
        ncclCommDestroy(r.comm);
      },
      /*devices=*/1);
  unsetenv("NCCL_MULTI_RANK_GPU_ENABLE");
  CHECK(allowed == 2);
}

TEST_CASE("non-blocking: a call is not done, nor another one possible, until it was asked for") {
  std::atomic<int> refused{0};
  std::atomic<int> came{0};
  on_ranks(2, [&](Rank& r) {
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

TEST_CASE("non-blocking: init is in progress until all ranks have come, and can be aborted") {
  set_device_count(8);
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  Rank rank{.rank = 0, .size = 2, .id = id};
  rank.start(0);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  CHECK(ncclCommInitRankConfig(&rank.comm, 2, id, 0, &config) == ncclInProgress);
  ncclResult_t state = ncclSuccess;
  for (int i = 0; i < 20; ++i) {
    ncclCommGetAsyncError(rank.comm, &state);
    CHECK(state == ncclInProgress);
  }
  CHECK(ncclCommAbort(rank.comm) == ncclSuccess);
  rank.end();
  CHECK(live_nccl_communicators() == 0);
}

TEST_CASE("split orders by key and rank, and leaves out who has no color") {
  std::atomic<int> wrong{0};
  on_ranks(5, [&](Rank& r) {
    const auto expect = [&](bool right) { wrong += right ? 0 : 1; };
    r.init(false);
    // 0, 2 and 4 backwards; 1 alone; 3 in none.
    const int color = r.rank == 3 ? NCCL_SPLIT_NOCOLOR : r.rank % 2;
    ncclComm_t part = nullptr;
    expect(ncclCommSplit(r.comm, color, -r.rank, &part, nullptr) == ncclSuccess);
    expect(r.settle(ncclInProgress) == ncclSuccess);
    if (r.rank == 3) {
      expect(part == nullptr);
    } else {
      int size = 0;
      int rank = -1;
      expect(ncclCommCount(part, &size) == ncclSuccess);
      expect(ncclCommUserRank(part, &rank) == ncclSuccess);
      expect(size == (color == 0 ? 3 : 1));
      expect(rank == (color == 0 ? 2 - r.rank / 2 : 0));
      ncclCommDestroy(part);
    }
    ncclCommDestroy(r.comm);
  });
  CHECK(wrong == 0);
  CHECK(live_nccl_communicators() == 0);
}

TEST_CASE("misuse is refused, and names the mistake") {
  set_device_count(8);
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  Rank r{.rank = 0, .size = 1, .id = id};
  r.start(0);
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

TEST_CASE("a test may let an operation fail, fail later, or hang") {
  for (const NcclFault fault :
       {NcclFault::kCallFails, NcclFault::kFailsLater, NcclFault::kHangs, NcclFault::kInitFails}) {
    CAPTURE(static_cast<int>(fault));
    set_device_count(8);
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    Rank r{.rank = 0, .size = 1, .id = id};
    r.start(0);
    order_nccl_fault(0, fault, ncclRemoteError, fault == NcclFault::kInitFails ? 0 : 1);
    if (fault == NcclFault::kInitFails) {
      CHECK(r.init(false) == ncclRemoteError);
      r.end();
      continue;
    }
    REQUIRE(r.init(false) == ncclSuccess);
    const auto reduce = [&] {
      return r.settle(ncclAllReduce(r.in, r.out, 1, ncclFloat32, ncclSum, r.comm, r.stream));
    };
    CHECK(reduce() == ncclSuccess);
    const ncclResult_t second = reduce();
    ncclResult_t state = ncclSuccess;
    ncclCommGetAsyncError(r.comm, &state);
    CHECK(second == (fault == NcclFault::kCallFails                            ? ncclRemoteError
                     : fault == NcclFault::kFailsLater && state != ncclSuccess ? second
                                                                               : ncclSuccess));
    CHECK(state == (fault == NcclFault::kFailsLater ? ncclRemoteError : ncclSuccess));
    const bool ends = fault == NcclFault::kCallFails;
    CHECK(r.idle_within(ends ? kPatience : milliseconds(30)) == ends);
    ncclCommAbort(r.comm);
    CHECK(r.idle_within(kPatience));
    r.end();
  }
  cancel_nccl_faults();
}

/// One reduction of two arrays, with a single type for both.
template <class T>
void check_reduction(ncclDataType_t dtype, ncclRedOp_t op, T a, T b, T expected) {
  CAPTURE(static_cast<int>(dtype));
  CAPTURE(static_cast<int>(op));
  std::atomic<int> right{0};
  on_ranks(2, [&](Rank& r) {
    T* const mine = reinterpret_cast<T*>(r.in);
    mine[0] = r.rank == 0 ? a : b;
    r.init(true);
    ncclAllReduce(r.in, r.in, 1, dtype, op, r.comm, r.stream);
    if (r.idle_within(kPatience) && mine[0] == expected) ++right;
    ncclCommDestroy(r.comm);
  });
  CHECK(right == 2);
}

TEST_CASE("every type reduces") {
  check_reduction<std::int8_t>(ncclInt8, ncclSum, 100, 100, -56);  // wraps around
  check_reduction<std::uint8_t>(ncclUint8, ncclMin, 3, 200, 3);
  check_reduction<std::int32_t>(ncclInt32, ncclAvg, -3, 6, 1);
  check_reduction<std::int32_t>(ncclInt32, ncclProd, 1 << 30, 4, 0);
  check_reduction<std::uint32_t>(ncclUint32, ncclMax, 7, 4000000000u, 4000000000u);
  check_reduction<std::int64_t>(ncclInt64, ncclSum, std::int64_t{1} << 40, 1,
                                (std::int64_t{1} << 40) + 1);
  check_reduction<std::uint64_t>(ncclUint64, ncclProd, 3, 5, 15);
  check_reduction<double>(ncclFloat64, ncclAvg, 1, 4, 2.5);
  check_reduction<float>(ncclFloat32, ncclProd, -2, 4, -8);
  // As bits: 1.5 + 2.25 = 3.75 in binary16, 1 + 2 = 3 in bfloat16.
  check_reduction<std::uint16_t>(ncclFloat16, ncclSum, 0x3e00, 0x4080, 0x4380);
  check_reduction<std::uint16_t>(ncclBfloat16, ncclSum, 0x3f80, 0x4000, 0x4040);
}

}  // namespace
}  // namespace rankbox::gpu::emulation
