// gpu_machine: prints the machine's GPUs, links and versions as JSON. Without a GPU, says why.
#include <fstream>

#include <fmt/format.h>

#include "cli/gpu/report.h"
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

cli::Machine machine() {
  cli::Machine machine;
  const int count = gpu::device_count();
  for (int device = 0; device < count; ++device) {
    const gpu::DeviceInfo info = gpu::device_info(device);
    machine.gpus.push_back(
        fmt::format("{} ({:.0f} GiB)", info.name, static_cast<double>(info.memory_bytes) / 0x1p30));
  }
  machine.driver = driver();
  machine.cuda_driver = gpu::driver_version();
  machine.cuda_runtime = gpu::runtime_version();
  machine.nccl = gpu::nccl_version();
  const gpu::LinkCounts links = gpu::count_links();
  machine.pairs = links.pairs;
  machine.peer_access = links.with_peer_access;
  machine.native_atomics = links.with_native_atomics;
  return machine;
}

}  // namespace
}  // namespace rankbox

int main() {
  try {
    fmt::print("{}\n", nlohmann::json(rankbox::machine()).dump());
    return 0;
  } catch (const rankbox::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
