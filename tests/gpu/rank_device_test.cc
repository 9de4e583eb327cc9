// A rank's streams, events and waits, on any GPU.
#include "gpu/device/rank_device.h"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/device/devices.h"
#include "gpu/kernels/kernels.h"
#include "tests/gpu/guarded_memory.h"

namespace rankbox::gpu {
namespace {

using Kind = SmallOperation::Kind;

TEST_CASE("a rank's device is the thread's, as long as it lives") {
  CHECK(current_rank_device() == nullptr);
  {
    RankDevice gpu(5, 0);
    CHECK(current_rank_device() == &gpu);
    CHECK(gpu.rank() == 5);
    CHECK(gpu.device() == 0);
    CHECK(gpu.shared() == nullptr);
    std::thread([] { CHECK(current_rank_device() == nullptr); }).join();
  }
  CHECK(current_rank_device() == nullptr);
}

TEST_CASE("a device that does not exist is an error that names the rank") {
  try {
    const RankDevice gpu(5, device_count());
    FAIL("nothing was thrown");
  } catch (const CudaError& error) {
    CHECK(error.rank() == 5);
    CHECK(std::string(error.what()).find("LOCAL_RANK") != std::string::npos);
  }
}

TEST_CASE("an error of a rank's thread names the rank by itself") {
  RankDevice gpu(6, 0);
  try {
    check(cudaErrorInvalidValue, "cudaMemcpyAsync", {.op = "copy"});
    FAIL("nothing was thrown");
  } catch (const CudaError& error) {
    CHECK(error.rank() == 6);
    CHECK(std::string(error.what()).find("rank 6, copy: ") == 0);
  }
}

TEST_CASE("a stream that is ordered after a rank's sees its results") {
  constexpr std::int64_t kCount = 1 << 16;
  RankDevice gpu(0, 0);
  RankDevice other(1, 0);
  auto* const data = static_cast<float*>(gpu.allocate(kCount * 4));
  launch_change(Kind::kFill, data, kCount, DType::kFloat32, small_value(DType::kFloat32, 1.0),
                gpu.stream());
  for (int round = 0; round < 50; ++round) {
    gpu.order_before(other.stream());
    launch_accumulate(data, data, kCount, DType::kFloat32, ReduceOp::SUM, other.stream());
    other.order_before(gpu.stream());
    launch_change(Kind::kScale, data, kCount, DType::kFloat32, small_value(DType::kFloat32, 0.5),
                  gpu.stream());
  }
  CHECK(download(gpu, data, kCount) == std::vector<float>(kCount, 1.0f));
  gpu.release(data);
}

TEST_CASE("ranks with a stream each work side by side on a device") {
  std::vector<std::thread> ranks;
  std::vector<float> results(4);
  for (int rank = 0; rank < 4; ++rank) {
    ranks.emplace_back([rank, &results] {
      RankDevice gpu(rank, 0);
      for (int round = 0; round < 20; ++round) {
        auto* const data = static_cast<float*>(gpu.allocate(1000 * 4));
        launch_change(Kind::kFill, data, 1000, DType::kFloat32,
                      small_value(DType::kFloat32, static_cast<double>(rank)), gpu.stream());
        results[static_cast<std::size_t>(rank)] = download(gpu, data, 1000)[999];
        gpu.release(data);
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  CHECK(results == std::vector<float>{0, 1, 2, 3});
}

}  // namespace
}  // namespace rankbox::gpu
