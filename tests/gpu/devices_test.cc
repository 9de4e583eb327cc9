// Descriptions of the machine's GPUs.
#include "gpu/device/devices.h"

#include <algorithm>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include "comm/errors.h"

namespace rankbox::gpu {
namespace {

TEST_CASE("every GPU is described in one line, and the versions in another") {
  const int count = device_count();
  REQUIRE(count >= 1);
  CHECK(why_no_device().empty());
  const std::string text = describe_devices();
  CHECK(std::count(text.begin(), text.end(), '\n') == count + 1);
  for (int device = 0; device < count; ++device) {
    const DeviceInfo info = device_info(device);
    CHECK(info.device == device);
    CHECK(info.memory_bytes > 0);
    CHECK(info.sm >= 50);
    CHECK(info.multiprocessors >= 1);
    CHECK(info.bus_id.size() >= 12);
    CHECK(text.find(info.name) != std::string::npos);
    CHECK(text.find(info.bus_id) != std::string::npos);
  }
  CHECK(text.find("driver for " + driver_version()) != std::string::npos);
}

TEST_CASE("kernels are loaded at the start: later a load may wait for a rank that loads one, too") {
  CHECK(kernel_loading() == "eager");
}

TEST_CASE("a GPU that does not exist is an error") {
  CHECK_THROWS_AS(device_info(device_count()), Error);
}

TEST_CASE("links are counted in ordered pairs, and no GPU has a link to itself") {
  const int count = device_count();
  const LinkCounts links = count_links();
  CHECK(links.pairs == count * (count - 1));
  std::vector<int> all;
  for (int device = 0; device < count; ++device) all.push_back(device);
  // Those that device 0 reaches are among them.
  CHECK(links.with_peer_access >= static_cast<int>(enable_peer_access(all).size()) - 1);
  CHECK(links.with_native_atomics <= links.with_peer_access);
}

TEST_CASE("enabling peer access twice is fine, and a GPU is in its own reach") {
  const int count = device_count();
  std::vector<int> all;
  for (int device = 0; device < count; ++device) all.push_back(device);
  const std::vector<int> in_reach = enable_peer_access(all);
  CHECK(enable_peer_access(all) == in_reach);
  CHECK(std::count(in_reach.begin(), in_reach.end(), 0) == 1);
  CHECK(cudaGetLastError() == cudaSuccess);
}

}  // namespace
}  // namespace rankbox::gpu
