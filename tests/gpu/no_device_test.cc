// A machine without a GPU, or with hidden ones: requests for one get an error with the reason.
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "gpu/device/check.h"
#include "gpu/device/devices.h"
#include "gpu/device/rank_device.h"
#include "tests/support/run_tests.h"

namespace rankbox::gpu {
namespace {

TEST_CASE("asking for the number of GPUs says why there is none, and the way out") {
  CHECK_THROWS_AS(device_count(), CudaError);
  const std::string why = why_no_device();
  CHECK(why.find("looking for GPUs: cudaGetDeviceCount failed: ") == 0);
  CHECK(why.find("; hint: ") != std::string::npos);
  CHECK(why.find("--config=sim") != std::string::npos);
  CHECK(why.find('\n') == std::string::npos);
}

TEST_CASE("describing the GPUs says that there is none") {
  CHECK(describe_devices().find("no GPU: ") == 0);
}

TEST_CASE("a rank cannot start without a GPU, and says which rank") {
  try {
    const RankDevice gpu(3, 0);
    FAIL("nothing was thrown");
  } catch (const CudaError& error) {
    CHECK(error.rank() == 3);
    CHECK(std::string(error.what()).find("rank 3, start: cudaSetDevice failed: ") == 0);
  }
  CHECK(current_rank_device() == nullptr);
}

}  // namespace
}  // namespace rankbox::gpu

int main(int argc, char** argv) {
  // Before CUDA is called for the first time.
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  setenv("RANKBOX_EMULATED_GPUS", "0", 1);
  return rankbox::testing::run_tests(argc, argv);
}
