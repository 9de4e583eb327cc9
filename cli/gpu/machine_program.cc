// gpu_machine: prints the machine's GPUs, links and versions as JSON. Without a GPU, says why.
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "comm/errors.h"
#include "gpu/device/devices.h"
#include "gpu/run_mode.h"

namespace rankbox {
namespace {

/// Returns the version of NVIDIA's kernel module.
std::string driver() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  return std::getline(file, version) ? version : "unknown";
}

/// Returns what gpu_report.py reads (Machine).
nlohmann::json machine() {
  nlohmann::json gpus = nlohmann::json::array();
  const int count = gpu::device_count();
  for (int device = 0; device < count; ++device) {
    const gpu::DeviceInfo info = gpu::device_info(device);
    gpus.push_back(
        fmt::format("{} ({:.0f} GiB)", info.name, static_cast<double>(info.memory_bytes) / 0x1p30));
  }
  const gpu::LinkCounts links = gpu::count_links();
  return {{"gpus", gpus},
          {"driver", driver()},
          {"cuda_driver", gpu::driver_version()},
          {"cuda_runtime", gpu::runtime_version()},
          {"kernel_loading", gpu::kernel_loading()},
          {"nccl", gpu::nccl_version()},
          {"pairs", links.pairs},
          {"peer_access", links.with_peer_access},
          {"native_atomics", links.with_native_atomics}};
}

}  // namespace
}  // namespace rankbox

int main() {
  try {
    fmt::print("{}\n", rankbox::machine().dump());
    return 0;
  } catch (const rankbox::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
